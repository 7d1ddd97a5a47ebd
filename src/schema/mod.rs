//! JSON Schema: the schemas of our own documents, and validation that reports every violation.

mod documents;

use std::sync::LazyLock;

use serde::Serialize;
use serde_json::Value as Json;

pub use documents::{DOCUMENTS, Document, document};

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

impl std::fmt::Display for Violation {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
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

/// A text that claims to be a JSON Schema and is none.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("not a valid JSON Schema: {message}")]
pub struct InvalidSchema {
    /// What is wrong with it.
    pub message: String,
}

/// Our own documents' schemas, so that a schema can refer to them; `None` only if a shipped one were broken.
static OWN_SCHEMAS: LazyLock<Option<jsonschema::Registry<'static>>> = LazyLock::new(|| {
    let texts = documents::TEXTS.map(|(_, text)| serde_json::from_str::<Json>(text));
    let schemas = texts.into_iter().collect::<Result<Vec<Json>, _>>().ok()?;
    let named =
        schemas.into_iter().filter_map(|schema| Some((schema.get("$id")?.as_str()?.to_owned(), schema)));
    jsonschema::Registry::new().extend(named).ok()?.prepare().ok()
});

/// A compiled JSON Schema.
#[derive(Debug, Clone)]
pub struct Schema {
    validator: jsonschema::Validator,
}

impl Schema {
    /// Compiles a schema; it may refer to the schemas of our own documents, and to nothing outside.
    ///
    /// # Errors
    /// [`InvalidSchema`] for anything that is not a schema, or refers to what is not here.
    pub fn compile(schema: &Json) -> Result<Schema, InvalidSchema> {
        let mut options = jsonschema::options();
        if let Some(registry) = OWN_SCHEMAS.as_ref() {
            options = options.with_registry(registry);
        }
        let validator = options
            .build(schema)
            .map_err(|error| InvalidSchema { message: Violation::from(error).to_string() })?;
        Ok(Schema { validator })
    }

    /// Whether `value` is valid.
    pub fn is_valid(&self, value: &Json) -> bool {
        self.validator.is_valid(value)
    }

    /// All violations of `value` (or [`VIOLATIONS_MAX`] of them, and one that says so), sorted by place; none when it is
    /// valid.
    pub fn violations(&self, value: &Json) -> Vec<Violation> {
        let mut errors = self.validator.iter_errors(value);
        let mut found: Vec<Violation> = errors.by_ref().take(VIOLATIONS_MAX).map(Violation::from).collect();
        found.sort();
        found.dedup();
        if errors.next().is_some() {
            let message = format!("there is more that is wrong; only {VIOLATIONS_MAX} faults are listed");
            found.push(Violation { path: String::new(), message, missing: None });
        }
        found
    }
}

impl From<jsonschema::ValidationError<'_>> for Violation {
    fn from(error: jsonschema::ValidationError<'_>) -> Violation {
        let missing = match error.kind() {
            jsonschema::error::ValidationErrorKind::Required { property } => {
                property.as_str().map(str::to_owned)
            }
            _ => None,
        };
        let own = error.absolute_keyword_location().and_then(|uri| documents::message(uri.as_str()));
        Violation {
            path: error.instance_path().to_string(),
            message: own.unwrap_or_else(|| error.masked_with("the value").to_string()),
            missing,
        }
    }
}
