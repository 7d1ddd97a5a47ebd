//! JSON Schema: the schemas of our own documents, and validation that reports every violation.
//!
//! - `documents`: our own schemas
//! - `instance`: how the validator sees values
//! - `cost`: what a schema can cost, counted before it runs; `graph`: how its parts apply each other; `pattern`: what patterns cost

mod cost;
mod documents;
mod graph;
mod instance;
mod pattern;
#[cfg(test)]
mod tests;

use std::fmt;
use std::sync::{Arc, LazyLock};

use crate::model::DocumentKind;
use jsonschema::error::ValidationErrorKind;
use serde::Serialize;
use serde_json::Value as Json;

use cost::Costs;
pub use cost::Effort;
pub use documents::{DOCUMENTS, Document, document};
use graph::Graph;
use instance::Values;
use template::value::Value;

/// One way in which a value breaks its schema.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Serialize)]
pub struct Violation {
    /// Where in the value: a JSON Pointer (RFC 6901), empty for the value itself.
    pub path: String,
    /// What is wrong there.
    pub message: String,
    /// The member that is required and absent, when that is what is wrong.
    #[serde(skip)]
    pub missing: Option<String>,
}

impl fmt::Display for Violation {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.path.as_str() {
            "" => f.write_str(&self.message),
            path => write!(f, "{path}: {}", self.message),
        }
    }
}

/// The most violations that are listed.
pub const VIOLATIONS_MAX: usize = 1_000;

/// The most violations that one sentence names.
const IN_WORDS_MAX: usize = 20;

/// The violations in one sentence; of very many, the first ones and how many more there are.
pub fn in_words(violations: &[Violation]) -> String {
    let mut words: Vec<String> = violations.iter().take(IN_WORDS_MAX).map(Violation::to_string).collect();
    let more = violations.len() - words.len();
    if more > 0 {
        words.push(format!("and {more} more"));
    }
    words.join("; ")
}

/// A text that claims to be a JSON Schema and is none, or one that would take too long.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("not a valid JSON Schema: {message}")]
pub struct InvalidSchema {
    /// What is wrong with it.
    pub message: String,
}

impl InvalidSchema {
    fn new(message: impl Into<String>) -> InvalidSchema {
        InvalidSchema { message: message.into() }
    }
}

/// Checking a value against a schema could take more than it may.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
#[error(
    "checking it against its schema could take more than {steps} steps; use a smaller value, or a schema with fewer \
     alternatives, references and patterns"
)]
pub struct TooLong {
    /// The most steps that it may take.
    pub steps: u64,
}

/// The most values that a schema may have, long texts counting as several.
const SIZE_MAX: u64 = 50_000;

/// The most steps of listing what is wrong; beyond, it is only told that something is.
const LISTING_MAX: u64 = 200_000;

/// The most bytes that the places of what is wrong may take in all.
const PLACES_BYTES: u64 = 64 << 20;

/// Schemas whose parts stand deeper in each other are compiled on a stack of their own.
const HEIGHT_INLINE: usize = 100;

/// That stack, in bytes.
const STACK_BYTES: usize = 128 << 20;

/// Our own documents' schemas, so that a schema can refer to them; `None` only if a shipped one were broken.
static OWN_SCHEMAS: LazyLock<Option<jsonschema::Registry<'static>>> = LazyLock::new(|| {
    let texts = DocumentKind::ALL.into_iter().filter_map(DocumentKind::schema);
    let schemas: Vec<Json> = texts.map(serde_json::from_str).collect::<Result<_, _>>().ok()?;
    let named =
        schemas.into_iter().filter_map(|schema| Some((schema.get("$id")?.as_str()?.to_owned(), schema)));
    jsonschema::Registry::new().extend(named).ok()?.prepare().ok()
});

/// The validator of our values.
type Validator = jsonschema::Validator<Values>;

/// A compiled JSON Schema. What it takes to check a value is counted before it is checked, and bounded.
pub struct Schema {
    validator: Validator,
    /// What it can cost; `None` for our own schemas, which are known to be harmless.
    costs: Option<Arc<Costs>>,
}

impl Schema {
    /// Compiles a schema; it may refer to the schemas of our own documents, and to nothing outside.
    ///
    /// # Errors
    /// [`InvalidSchema`] for anything that is not a schema, refers to what is not here, or could take too long.
    pub fn compile(schema: &Json) -> Result<Schema, InvalidSchema> {
        if graph::size(&Value::from(schema)) > SIZE_MAX {
            return Err(InvalidSchema::new(format!(
                "it has more than {SIZE_MAX} values, long texts counting as several; use a smaller schema"
            )));
        }
        let costs = costs(schema)?;
        let validator = match costs.height() {
            0..=HEIGHT_INLINE => build(schema)?,
            _ => build_aside(schema)?,
        };
        Ok(Schema { validator, costs: Some(Arc::new(costs)) })
    }

    /// Compiles one of our own schemas, which need no bounds.
    fn own(schema: &Json) -> Result<Schema, InvalidSchema> {
        Ok(Schema { validator: build(schema)?, costs: None })
    }

    /// All violations of `value` (or [`VIOLATIONS_MAX`] of them, and one that says so), sorted by place; none when it is
    /// valid.
    ///
    /// # Errors
    /// [`TooLong`] when telling could take more than `effort`; then nothing was checked.
    pub fn check(&self, value: &Value, effort: Effort) -> Result<Vec<Violation>, TooLong> {
        let lists = match &self.costs {
            None => 0,
            Some(costs) => costs.weigh(value, effort).ok_or(TooLong { steps: effort.steps })?.lists,
        };
        if self.validator.is_valid(value) {
            return Ok(Vec::new());
        }
        if lists > LISTING_MAX || lists.saturating_mul(longest_path(value)) > PLACES_BYTES {
            let message = "does not fit its schema; listing what is wrong with it would take too long";
            return Ok(vec![Violation::whole(message)]);
        }
        Ok(self.listed(value))
    }

    /// As [`Schema::check`]; that it would take too long to tell is a violation like others.
    pub fn violations(&self, value: &Value, effort: Effort) -> Vec<Violation> {
        self.check(value, effort).unwrap_or_else(|error| vec![Violation::whole(error.to_string())])
    }

    fn listed(&self, value: &Value) -> Vec<Violation> {
        let mut errors = self.validator.iter_errors(value);
        let mut found: Vec<Violation> = errors.by_ref().take(VIOLATIONS_MAX).map(Violation::from).collect();
        found.sort();
        found.dedup();
        if errors.next().is_some() {
            let message = format!("there is more that is wrong; only {VIOLATIONS_MAX} faults are listed");
            found.push(Violation::whole(message));
        }
        found
    }
}

impl fmt::Debug for Schema {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Schema").field("validator", &self.validator).finish_non_exhaustive()
    }
}

/// How many bytes the names on the way to a value inside of this one can have.
fn longest_path(value: &Value) -> u64 {
    let mut longest = 0;
    let mut waiting = vec![(value, 0)];
    while let Some((value, bytes)) = waiting.pop() {
        longest = longest.max(bytes);
        match value {
            Value::List(items) => waiting.extend(items.iter().map(|item| (item, bytes + 8))),
            Value::Map(members) => {
                waiting.extend(members.iter().map(|(name, member)| (member, bytes + name.len() as u64 + 1)));
            }
            _ => {}
        }
    }
    longest
}

/// What a schema can cost.
fn costs(schema: &Json) -> Result<Costs, InvalidSchema> {
    let draft = jsonschema::Draft::Draft202012.detect(schema);
    let Some(known) = OWN_SCHEMAS.as_ref() else {
        return Err(InvalidSchema::new("our own schemas are broken"));
    };
    let unresolved = |error: referencing::Error| InvalidSchema::new(error.to_string());
    let (registry, base) = graph::registry(known, schema, draft).map_err(unresolved)?;
    Costs::of(Graph::of(schema, draft, registry.resolver(base))?)
}

fn build(schema: &Json) -> Result<Validator, InvalidSchema> {
    let patterns = jsonschema::PatternOptions::fancy_regex()
        .backtrack_limit(pattern::BACKTRACKS_MAX)
        .size_limit(pattern::COMPILED_BYTES)
        .dfa_size_limit(pattern::COMPILED_BYTES);
    let mut options = jsonschema::options_for::<Values>().with_pattern_options(patterns);
    if let Some(registry) = OWN_SCHEMAS.as_ref() {
        options = options.with_registry(registry);
    }
    options.build(schema).map_err(|error| InvalidSchema::new(Violation::from(error).to_string()))
}

/// As [`build`], on a deep stack.
fn build_aside(schema: &Json) -> Result<Validator, InvalidSchema> {
    let failed = || InvalidSchema::new("it is too deep to be compiled now");
    std::thread::scope(|scope| {
        let thread = std::thread::Builder::new().name("schema".to_owned()).stack_size(STACK_BYTES);
        let thread = thread.spawn_scoped(scope, || build(schema)).map_err(|_| failed())?;
        thread.join().map_err(|_| failed())?
    })
}

impl Violation {
    /// A violation of the value itself.
    fn whole(message: impl Into<String>) -> Violation {
        Violation { path: String::new(), message: message.into(), missing: None }
    }
}

impl From<jsonschema::ValidationError<'_>> for Violation {
    fn from(error: jsonschema::ValidationError<'_>) -> Violation {
        let mut own = error.absolute_keyword_location().and_then(|uri| documents::message(uri.as_str()));
        let mut missing = None;
        match error.kind() {
            ValidationErrorKind::Required { property } => missing = property.as_str().map(str::to_owned),
            // The validator would count them, and it does not get to see lists (`instance`).
            ValidationErrorKind::AdditionalItems { limit } => {
                own = own.or_else(|| Some(format!("more than {limit} items are not allowed")));
            }
            _ => {}
        }
        Violation {
            path: error.instance_path().to_string(),
            message: own.unwrap_or_else(|| error.masked_with("the value").to_string()),
            missing,
        }
    }
}
