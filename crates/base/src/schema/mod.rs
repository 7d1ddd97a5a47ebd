//! JSON Schema: the schemas of our own documents, and validation that reports every violation within bounded time.
//!
//! - `documents`: our own schemas
//! - `embed`: schemas as parts of other schemas
//! - [`Members`]: the members of what somebody sends, without a schema
//! - `instance`: lets the validator read our values
//! - `cost`: bounds the cost of a check before it runs; `graph`: the subschemas and how they apply one another; `pattern`:
//!   the cost of regular expressions

mod cost;
mod documents;
mod embed;
mod graph;
mod instance;
mod members;
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
pub use embed::{embedded, promises_object, token, wrapped};
use graph::Graph;
use instance::Values;
pub use members::Members;
use template::value::Value;

/// A place where a value does not fit its schema.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Serialize)]
pub struct Violation {
    /// The place in the value: a JSON Pointer (RFC 6901), empty for the value itself.
    pub path: String,
    /// What is wrong there; it never repeats the value.
    pub message: String,
    /// The name of the missing member, if the violated keyword is `required`.
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

/// The most violations that one check lists.
pub const VIOLATIONS_MAX: usize = 1_000;

/// The most violations that one sentence names.
const IN_WORDS_MAX: usize = 20;

/// The violations as one text, joined by `; `: the first 20, and how many more there are.
pub fn in_words(violations: &[Violation]) -> String {
    let mut words: Vec<String> = violations.iter().take(IN_WORDS_MAX).map(Violation::to_string).collect();
    let more = violations.len() - words.len();
    if more > 0 {
        words.push(format!("and {more} more"));
    }
    words.join("; ")
}

/// The error of a schema that is not valid, or that could take too long to check.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("not a valid JSON Schema: {message}")]
pub struct InvalidSchema {
    /// What is wrong with the schema.
    pub message: String,
}

impl InvalidSchema {
    fn new(message: impl Into<String>) -> InvalidSchema {
        InvalidSchema { message: message.into() }
    }
}

/// The error of a check that could take more than its [`Effort`]. The value was not checked.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
#[error(
    "checking it against its schema could take more than {steps} steps; use a smaller value, or a schema with fewer \
     alternatives, references and patterns"
)]
pub struct EffortError {
    /// The most steps that the check was allowed to take.
    pub steps: u64,
}

/// The most JSON values that a schema may have, long texts counting as several.
const SIZE_MAX: u64 = 50_000;

/// The most steps that listing violations may take; beyond this, one violation says that the value does not fit.
const LISTING_MAX: u64 = 200_000;

/// The most bytes that the paths of all violations may take together.
const PATHS_BYTES: u64 = 64 << 20;

/// Schemas that nest deeper than this are compiled on a thread with a deep stack.
const HEIGHT_INLINE: usize = 100;

/// The size of that stack, in bytes.
const STACK_BYTES: usize = 128 << 20;

/// The registry of our own documents' schemas, which any schema can refer to; `None` only if a shipped schema were broken.
static OWN_SCHEMAS: LazyLock<Option<jsonschema::Registry<'static>>> = LazyLock::new(|| {
    let texts = DocumentKind::ALL.into_iter().filter_map(DocumentKind::schema);
    let schemas: Vec<Json> = texts.map(serde_json::from_str).collect::<Result<_, _>>().ok()?;
    let named =
        schemas.into_iter().filter_map(|schema| Some((schema.get("$id")?.as_str()?.to_owned(), schema)));
    jsonschema::Registry::new().extend(named).ok()?.prepare().ok()
});

/// Everything that keeps a value from being a JSON Schema: its violations of the meta-schema, or, where it has none, the `error` of
/// compiling it.
pub fn violations_of_schema(schema: &Json, error: &InvalidSchema) -> Vec<Violation> {
    let meta = schema.get("$schema").and_then(Json::as_str).unwrap_or(META_SCHEMA);
    let found = Schema::compile(&serde_json::json!({"$ref": meta}))
        .map(|meta| meta.violations(&Value::from(schema), Effort::MEDIUM))
        .unwrap_or_default();
    match found.is_empty() {
        true => vec![Violation::whole(error.message.clone())],
        false => found.into_iter().map(of_meta_schema).collect(),
    }
}

/// The meta-schema's own words for a `type` that does not exist are about its subschemas.
fn of_meta_schema(violation: Violation) -> Violation {
    match violation.path.ends_with("/type") {
        true => {
            Violation { message: format!("must be a JSON type, or a list of some: {TYPES}"), ..violation }
        }
        false => violation,
    }
}

/// The types of JSON Schema.
const TYPES: &str = "`array`, `boolean`, `integer`, `null`, `number`, `object`, `string`";

/// The meta-schema of schemas that name none.
const META_SCHEMA: &str = "https://json-schema.org/draft/2020-12/schema";

/// A validator that reads our values.
type Validator = jsonschema::Validator<Values>;

/// A compiled JSON Schema. The cost of a check is bounded before the check runs.
pub struct Schema {
    validator: Validator,
    /// The costs of the schema; `None` for our own schemas, which are known to take linear time.
    costs: Option<Arc<Costs>>,
}

impl Schema {
    /// Compiles a schema. It may refer to the schemas of our own documents and to meta-schemas; nothing is fetched.
    ///
    /// # Errors
    /// If the schema is not valid, has an unresolved reference, is too large, or could take too long.
    pub fn compile(schema: &Json) -> Result<Schema, InvalidSchema> {
        if graph::size(&Value::from(schema)) > SIZE_MAX {
            return Err(InvalidSchema::new(format!(
                "it has more than {SIZE_MAX} values, long texts counting as several; use a smaller schema"
            )));
        }
        let costs = costs(schema)?;
        let validator = match costs.height() {
            0..=HEIGHT_INLINE => build(schema)?,
            _ => build_on_deep_stack(schema)?,
        };
        Ok(Schema { validator, costs: Some(Arc::new(costs)) })
    }

    /// Compiles one of our own schemas, without counting its costs.
    fn own(schema: &Json) -> Result<Schema, InvalidSchema> {
        Ok(Schema { validator: build(schema)?, costs: None })
    }

    /// Checks `value`, and lists its violations, sorted by path; the list is empty if the value is valid.
    ///
    /// Of more than [`VIOLATIONS_MAX`] violations, the first ones are listed, and one more says so.
    ///
    /// # Errors
    /// [`EffortError`] if the check could take more than `effort`. The value was not checked then.
    pub fn check(&self, value: &Value, effort: Effort) -> Result<Vec<Violation>, EffortError> {
        let lists = match &self.costs {
            None => 0,
            Some(costs) => costs.weigh(value, effort).ok_or(EffortError { steps: effort.steps })?.lists,
        };
        if self.validator.is_valid(value) {
            return Ok(Vec::new());
        }
        if lists > LISTING_MAX || lists.saturating_mul(longest_path(value)) > PATHS_BYTES {
            let message = "does not fit its schema; listing the violations would take too long";
            return Ok(vec![Violation::whole(message)]);
        }
        Ok(self.listed(value))
    }

    /// As [`Schema::check`], but a check that could take too long gives a violation that says so.
    pub fn violations(&self, value: &Value, effort: Effort) -> Vec<Violation> {
        self.check(value, effort).unwrap_or_else(|error| vec![Violation::whole(error.to_string())])
    }

    fn listed(&self, value: &Value) -> Vec<Violation> {
        let mut errors = self.validator.iter_errors(value);
        let mut found: Vec<Violation> = errors.by_ref().take(VIOLATIONS_MAX).map(Violation::from).collect();
        found.sort();
        found.dedup();
        if errors.next().is_some() {
            let message = format!("there are more violations; only {VIOLATIONS_MAX} are listed");
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

/// The length of the longest path to a value inside `value`, in bytes; about 8 for an index.
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

/// Counts the costs of a schema.
fn costs(schema: &Json) -> Result<Costs, InvalidSchema> {
    let draft = jsonschema::Draft::Draft202012.detect(schema);
    let Some(known) = OWN_SCHEMAS.as_ref() else {
        return Err(InvalidSchema::new("our own schemas are broken"));
    };
    let (registry, base) = graph::registry(known, schema, draft).map_err(graph::unresolved)?;
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

/// As [`build`], on a thread with a deep stack.
fn build_on_deep_stack(schema: &Json) -> Result<Validator, InvalidSchema> {
    let failed = || InvalidSchema::new("it nests too deep to be compiled now");
    std::thread::scope(|scope| {
        let thread = std::thread::Builder::new().name("schema".to_owned()).stack_size(STACK_BYTES);
        let thread = thread.spawn_scoped(scope, || build(schema)).map_err(|_| failed())?;
        thread.join().map_err(|_| failed())?
    })
}

impl Violation {
    /// A violation at a place.
    pub fn new(path: impl Into<String>, message: impl Into<String>) -> Violation {
        Violation { path: path.into(), message: message.into(), missing: None }
    }

    /// The violation as one of what has this value at a place, a JSON Pointer.
    pub fn below(self, place: &str) -> Violation {
        Violation { path: format!("{place}{}", self.path), ..self }
    }

    /// A violation that concerns the value as a whole.
    fn whole(message: impl Into<String>) -> Violation {
        Violation::new("", message)
    }
}

/// How much of a value or of a schema stands in a message, in bytes.
const SHOWN: usize = 200;

/// The text, or its beginning.
fn shortened(text: &str) -> String {
    match text.get(..text.floor_char_boundary(SHOWN)) {
        Some(beginning) if beginning.len() < text.len() => format!("{beginning}…"),
        _ => text.to_owned(),
    }
}

impl From<jsonschema::ValidationError<'_>> for Violation {
    fn from(error: jsonschema::ValidationError<'_>) -> Violation {
        let mut own = error.absolute_keyword_location().and_then(|uri| documents::message(uri.as_str()));
        let mut missing = None;
        match error.kind() {
            ValidationErrorKind::Required { property } => missing = property.as_str().map(str::to_owned),
            // The validator's own message counts the items, but it sees an empty list (`instance::to_value`).
            ValidationErrorKind::AdditionalItems { limit } => {
                own = own.or_else(|| Some(format!("more than {limit} items are not allowed")));
            }
            // The validator's own messages repeat all of these, however long they are.
            ValidationErrorKind::Constant { expected_value } => {
                own = own.or_else(|| Some(format!("must be {}", shortened(&expected_value.to_string()))));
            }
            ValidationErrorKind::Not { schema } => {
                own = own
                    .or_else(|| Some(format!("must not fit the schema {}", shortened(&schema.to_string()))));
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
