//! The form of a JSON Schema that OpenAI's strict mode takes, and what an answer in that form means by the original schema.
//!
//! In the strict form every object requires all of its members and allows no others. A member that was optional may be null instead,
//! and such nulls are taken out of the answer again. Keywords that strict mode does not know are left out: the strict form may accept
//! more than the original, by which the answer is to be checked.
//!
//! - `types`: sets of types; `keywords`: what a subschema says, as far as it matters here
//! - `graph`: the subschemas of the original and how they apply one another, with its `builder` and `facts`; references are never
//!   inlined, so that it is not larger than the document
//! - `writer`: the strict form; `definitions`: the names of what it refers to; `nullable`: null in the place of an absent member;
//!   `limits`: how large it may be
//! - `reader`: what an answer means; `fit`: whether a value fits a subschema by itself

mod builder;
mod definitions;
mod facts;
mod fit;
mod graph;
mod keywords;
mod limits;
mod nullable;
#[cfg(test)]
mod property_tests;
mod reader;
#[cfg(test)]
mod reading_tests;
#[cfg(test)]
mod rules;
#[cfg(test)]
mod tests;
mod types;
#[cfg(test)]
mod wild_tests;
mod writer;

use serde_json::Value as Json;

use graph::Graph;
use template::value::Value;

/// A JSON Schema in the form that strict mode takes.
#[derive(Debug)]
pub struct StrictSchema {
    schema: Json,
    original: Graph,
}

impl StrictSchema {
    /// The strict form of a schema whose root is an object schema (`type: object`), by itself or by reference; `None` if strict
    /// mode cannot express it.
    pub fn of(schema: &Json) -> Option<StrictSchema> {
        let sources = builder::sources(schema)?;
        let schema = writer::strict_form(&sources)?;
        Some(StrictSchema { schema, original: sources.into_graph() })
    }

    /// The schema as it is sent.
    pub fn schema(&self) -> &Json {
        &self.schema
    }

    /// What an answer in the strict form means by the original schema: without the nulls that only the normalisation allowed. Where
    /// that cannot be told, as in an answer that fits neither form, it stays as it is.
    pub fn read_back(&self, answer: &Value) -> Value {
        reader::read_back(&self.original, answer)
    }
}
