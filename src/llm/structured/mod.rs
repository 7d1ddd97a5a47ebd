//! Structured outputs on the wire: how a model is made to answer by a JSON Schema, whatever it can do.
//!
//! - [`Strategy`]: the three ways of OpenAI's API; [`Plan`]: which of them may be tried; `ladder`: those that a model has
//! - [`OutputSchema`]: a schema in the forms in which it is sent, and what an answer by it means; `strict`: OpenAI's strict mode
//! - [`StructuredRequest`]: a request for a value; `body`: the chat completion that is asked for in its place
//! - `smallest`: what the built-in model answers

mod body;
mod ladder;
mod plan;
mod request;
mod schema;
mod smallest;
mod strategy;
mod strict;

pub use ladder::{Ladder, Step, StructuredOffers};
pub use plan::{Plan, Way};
pub use request::{FailedAnswer, StructuredRequest};
pub use schema::OutputSchema;
pub use smallest::smallest;
pub use strategy::{FUNCTION, Parameter, Refusal, Strategy};
