//! A JSON Schema in the forms in which models get it, and what an answer by one of them means.

use std::sync::{Arc, OnceLock};

use serde_json::value::{RawValue, to_raw_value};
use serde_json::{Value as Json, json};

use super::smallest::smallest;
use super::strategy::{FUNCTION, Strategy};
use super::strict::StrictSchema;
use base::schema::{promises_object, wrapped};
use template::value::Value;

/// The member of the object around a schema whose root does not promise an object: models answer with objects only.
pub const WRAPPER: &str = "value";

/// The longest name of a schema that OpenAI takes, in characters.
const NAME_MAX: usize = 64;

/// The name of a schema without a title.
const NAME: &str = "response";

/// A JSON Schema that models are asked to answer by.
#[derive(Debug)]
pub struct OutputSchema {
    original: Arc<Json>,
    /// Whether it stands in an object, as its [`WRAPPER`].
    is_wrapped: bool,
    /// The schema, maybe in its wrapper.
    asked: Box<RawValue>,
    /// The same for OpenAI's strict mode, where that can express it.
    strict: Option<StrictSchema>,
    response_format: Box<RawValue>,
    function: Box<RawValue>,
    /// What the built-in model answers, as JSON.
    smallest: OnceLock<String>,
}

impl OutputSchema {
    /// The forms of a schema.
    ///
    /// # Errors
    /// If it cannot be written as JSON.
    pub fn new(original: Json) -> Result<OutputSchema, serde_json::Error> {
        let is_wrapped = !promises_object(&original);
        let asked = if is_wrapped { wrapped(&original, WRAPPER) } else { original.clone() };
        let strict = StrictSchema::of(&asked);
        let name = name(original.get("title").and_then(Json::as_str).unwrap_or_default());
        let response_format = to_raw_value(&json!({"type": "json_schema", "json_schema": {
            "name": name,
            "schema": strict.as_ref().map_or(&asked, StrictSchema::schema),
            "strict": strict.is_some(),
        }}))?;
        let function = json!({"type": "function", "function": {"name": FUNCTION, "parameters": asked}});
        Ok(OutputSchema {
            original: Arc::new(original),
            is_wrapped,
            asked: to_raw_value(&asked)?,
            strict,
            response_format,
            function: to_raw_value(&function)?,
            smallest: OnceLock::new(),
        })
    }

    /// The schema itself.
    pub fn original(&self) -> &Arc<Json> {
        &self.original
    }

    /// The schema that is asked for in texts.
    pub fn asked(&self) -> &RawValue {
        &self.asked
    }

    /// The `response_format` that asks for it, in the form of strict mode where that can express it.
    pub fn response_format(&self) -> &RawValue {
        &self.response_format
    }

    /// The function whose parameters it is.
    pub fn function(&self) -> &RawValue {
        &self.function
    }

    /// The member in which answers have the value, if there is one.
    pub fn wrapper(&self) -> Option<&'static str> {
        self.is_wrapped.then_some(WRAPPER)
    }

    /// What an answer may mean by the original schema, the likeliest first: without its wrapper, and without the nulls that
    /// only strict mode allowed.
    pub fn meanings(&self, answer: &Value, strategy: Strategy) -> Vec<Value> {
        let strict = self.strict.as_ref().filter(|_| strategy == Strategy::JsonSchema);
        let read = |answer: &Value| strict.map_or_else(|| answer.clone(), |strict| strict.read_back(answer));
        if !self.is_wrapped {
            return vec![read(answer)];
        }
        // A model may leave the wrapper away.
        let bare = read(&in_wrapper(answer)).get(WRAPPER).cloned();
        let inner = read(answer).get(WRAPPER).cloned();
        inner.into_iter().chain(bare).collect()
    }

    /// What the part of an answer means that has come so far.
    pub fn meaning_of_part(&self, part: &Value, strategy: Strategy) -> Value {
        let strict = self.strict.as_ref().filter(|_| strategy == Strategy::JsonSchema);
        match strict {
            None => part.clone(),
            Some(strict) if self.is_wrapped => {
                strict.read_back(&in_wrapper(part)).get(WRAPPER).cloned().unwrap_or_else(|| part.clone())
            }
            Some(strict) => strict.read_back(part),
        }
    }

    /// The smallest value that the schema allows, as a model would answer it: JSON, in the wrapper if there is one. Null where none
    /// was found.
    pub fn smallest(&self) -> &str {
        self.smallest.get_or_init(|| {
            let value = smallest(&self.original).unwrap_or_default();
            if self.is_wrapped { serde_json::json!({ WRAPPER: value }) } else { value }.to_string()
        })
    }
}

fn in_wrapper(answer: &Value) -> Value {
    [(WRAPPER.into(), answer.clone())].into_iter().collect::<template::value::Map>().into()
}

/// A title made to fit `[A-Za-z0-9_-]{1,64}`.
fn name(title: &str) -> String {
    let words = title.split(|c: char| !c.is_ascii_alphanumeric() && c != '_' && c != '-');
    let joined = words.filter(|word| !word.is_empty()).collect::<Vec<_>>().join("_");
    let name: String = joined.chars().take(NAME_MAX).collect();
    if name.is_empty() { NAME.to_owned() } else { name }
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    fn schema(json: Json) -> OutputSchema {
        OutputSchema::new(json).unwrap()
    }

    fn meanings(schema: &OutputSchema, answer: Json, strategy: Strategy) -> Vec<Json> {
        schema.meanings(&answer.into(), strategy).iter().map(Value::to_json).collect()
    }

    #[test]
    fn a_title_is_made_to_fit() {
        for (title, expected) in [
            ("Quality report", "Quality_report"),
            ("a-b_c", "a-b_c"),
            ("  Größe (cm) ", "Gr_e_cm"),
            ("оценка", "response"),
            ("", "response"),
        ] {
            assert_eq!(name(title), expected);
        }
        assert_eq!(name(&"x".repeat(65)), "x".repeat(64));
    }

    #[test]
    fn the_wrapper_is_taken_off_and_may_be_missing() {
        let list = schema(json!({"type": "array", "items": {"type": "integer"}}));
        assert_eq!(list.wrapper(), Some("value"));
        assert_eq!(meanings(&list, json!({"value": [1]}), Strategy::Tools)[0], json!([1]));
        assert_eq!(meanings(&list, json!([1]), Strategy::Tools), [json!([1])]);
        let object = schema(json!({"type": "object", "properties": {"value": {"type": "integer"}}}));
        assert_eq!(object.wrapper(), None);
        assert_eq!(meanings(&object, json!({"value": 1}), Strategy::Tools), [json!({"value": 1})]);
    }

    #[test]
    fn nulls_of_strict_mode_are_removed_where_it_was_asked_for() {
        let schema = schema(json!({"type": "object", "properties": {"a": {"type": "string"}}}));
        assert!(schema.response_format().get().contains(r#""strict":true"#));
        assert_eq!(meanings(&schema, json!({"a": null}), Strategy::JsonSchema), [json!({})]);
        assert_eq!(meanings(&schema, json!({"a": null}), Strategy::Tools), [json!({"a": null})]);
    }
}
