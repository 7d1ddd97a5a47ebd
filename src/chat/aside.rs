//! What a request says beside its body, for clients that cannot add members to the body: variables in a header, and in the name
//! of the model.

use base::model::{Id, Prompt};
use serde_json::Value as Json;
use template::value::{Map, SmolStr, Value, parse_json};

use super::error::ChatError;
use crate::llm::PROMPT;
use crate::render::RenderError;

/// The header with variables.
pub const VARIABLES_HEADER: &str = "x-prompt-variables";

/// The place of variables in the name of a model, as errors name it.
const MODEL_NAME: &str = "the name of the model";

/// The place of variables in the body, as errors name it.
const BODY: &str = "the body";

/// What a request says beside its body.
#[derive(Debug, Default)]
pub struct Aside {
    /// The header `x-prompt-variables`: variables as a JSON object.
    pub variables: Option<Vec<u8>>,
    /// Whether the answer is to tell how the prompt was rendered.
    pub explain: bool,
}

/// A prompt that the name of a model names: `prompt:{id}`, or `prompt:{id}?name=value&…`.
#[derive(Debug)]
pub struct PromptName {
    /// The id, not checked yet.
    pub id: String,
    /// The names and texts behind the question mark, percent-decoded.
    pub variables: Vec<(String, String)>,
}

impl PromptName {
    /// Reads the name of a model; `None` if it names no prompt.
    pub fn read(model: &str) -> Option<PromptName> {
        let name = model.strip_prefix(PROMPT)?;
        let (id, query) = name.split_once('?').unwrap_or((name, ""));
        Some(PromptName {
            id: id.to_owned(),
            variables: form_urlencoded::parse(query.as_bytes()).into_owned().collect(),
        })
    }

    /// The id of the prompt.
    ///
    /// # Errors
    /// If it is none.
    pub fn id(&self) -> Result<Id, ChatError> {
        Ok(Id::parse(&self.id)?)
    }
}

/// The variables of a request, by their places. A variable may stand in one of them.
#[derive(Debug, Default)]
pub struct GivenVariables {
    /// In the body.
    pub body: Option<Value>,
    /// Whether those in the body are texts in place of other values, too; the variables of OpenAI's reusable prompts are.
    pub body_is_untyped: bool,
    /// In the header, still as JSON.
    pub header: Option<Vec<u8>>,
    /// In the name of the model.
    pub model: Vec<(String, String)>,
}

impl GivenVariables {
    /// All variables. The texts of the model's name, and those of an untyped body, take the types that `prompt` declares.
    ///
    /// # Errors
    /// If a variable stands in several places, the header is not a JSON object, or the name of the model is not UTF-8.
    pub fn merged(self, prompt: Option<&Prompt>) -> Result<Option<Value>, ChatError> {
        let GivenVariables { body, body_is_untyped, header, model } = self;
        let body = if body_is_untyped { body.map(|body| with_types(prompt, body)) } else { body };
        let mut more: Vec<(&'static str, SmolStr, Value)> = Vec::new();
        for (name, value) in
            header.map(|json| read_header(&json)).transpose()?.iter().flat_map(|map| map.iter())
        {
            more.push((VARIABLES_HEADER, name.clone(), value.clone()));
        }
        for (name, text) in model {
            if [&name, &text].iter().any(|decoded| decoded.contains(char::REPLACEMENT_CHARACTER)) {
                let message =
                    format!("names the variable `{name}` with text that is not UTF-8, percent-encoded");
                return Err(ChatError::invalid("model", message));
            }
            let value = typed(prompt, &name, &text);
            more.push((MODEL_NAME, SmolStr::from(name), value));
        }
        if more.is_empty() {
            return Ok(body);
        }
        let map = match &body {
            None | Some(Value::Null) => Map::default(),
            Some(Value::Map(map)) => (**map).clone(),
            // Not variables at all, which is told when they are checked.
            Some(_) => return Ok(body),
        };
        let mut entries: Vec<(SmolStr, Value)> =
            map.iter().map(|(name, value)| (name.clone(), value.clone())).collect();
        let mut places: Vec<&'static str> = vec![BODY; entries.len()];
        for (place, name, value) in more {
            if let Some(known) = entries.iter().position(|(known, _)| *known == name) {
                let places = vec![places.get(known).copied().unwrap_or(BODY), place];
                return Err(RenderError::AmbiguousVariables { name: Some(name.to_string()), places }.into());
            }
            entries.push((name, value));
            places.push(place);
        }
        Ok(Some(Value::from(Map::from_entries(entries))))
    }
}

fn read_header(json: &[u8]) -> Result<Map, ChatError> {
    let invalid =
        |problem: &str| ChatError::invalid(VARIABLES_HEADER, format!("must be a JSON object: {problem}"));
    match parse_json(json) {
        Ok(Value::Map(map)) => Ok((*map).clone()),
        Ok(_) => Err(invalid("it is another kind of value")),
        Err(error) => Err(invalid(&error.to_string())),
    }
}

/// A text as the value of a variable: if the prompt declares another type for it than text, and the text is JSON, that value.
/// Whether it fits is checked with all variables.
pub(super) fn typed(prompt: Option<&Prompt>, name: &str, text: &str) -> Value {
    let declared =
        prompt.and_then(|prompt| prompt.parameters.as_ref()?.get("properties")?.get(name)?.get("type"));
    let is_text = match declared {
        None => true,
        Some(Json::Array(types)) => types.iter().any(|kind| kind == "string"),
        Some(kind) => kind == "string",
    };
    if is_text {
        return Value::from(text);
    }
    parse_json(text.as_bytes()).unwrap_or_else(|_| Value::from(text))
}

/// Variables in which texts have become values of the declared types.
fn with_types(prompt: Option<&Prompt>, variables: Value) -> Value {
    let Value::Map(map) = &variables else { return variables };
    let entry = |(name, value): (&SmolStr, &Value)| {
        let value = value.as_str().map_or_else(|| value.clone(), |text| typed(prompt, name, text));
        (name.clone(), value)
    };
    Value::from(Map::from_entries(map.iter().map(entry).collect()))
}

#[cfg(test)]
mod tests {
    use super::*;
    use base::model::Origin;
    use serde_json::json;

    fn named(model: &str) -> (String, Vec<(String, String)>) {
        let PromptName { id, variables } = PromptName::read(model).unwrap();
        (id, variables)
    }

    fn pair(name: &str, text: &str) -> (String, String) {
        (name.to_owned(), text.to_owned())
    }

    #[test]
    fn a_model_may_be_a_prompt_with_variables() {
        assert!(PromptName::read("gpt-5?x=1").is_none());
        assert_eq!(named("prompt:a.b"), ("a.b".to_owned(), vec![]));
        assert_eq!(
            named("prompt:a.b?tone=very%20brief&q=1%2B1&n+x=a+b&flag"),
            (
                "a.b".to_owned(),
                vec![pair("tone", "very brief"), pair("q", "1+1"), pair("n x", "a b"), pair("flag", "")]
            )
        );
    }

    fn merged(body: Json, header: Option<&str>, model: &[(&str, &str)]) -> Result<Json, String> {
        let document = json!({"userPrompt": "x", "parameters": {"type": "object", "properties": {
            "n": {"type": "integer"}, "s": {"type": "string"}, "either": {"type": ["string", "null"]}, "l": {"type": "array"},
        }}});
        let prompt = Prompt::from_document(Id::parse("a.b").unwrap(), Origin::Direct, document);
        let given = GivenVariables {
            body: Some(Value::from(body)),
            header: header.map(|text| text.as_bytes().to_vec()),
            model: model.iter().map(|(name, text)| pair(name, text)).collect(),
            ..GivenVariables::default()
        };
        given.merged(Some(&prompt)).map(|value| json!(value)).map_err(|error| error.to_string())
    }

    #[test]
    fn the_places_complete_each_other_and_texts_take_the_declared_types() {
        assert_eq!(
            merged(
                json!({"a": 1}),
                Some(r#"{"b": [2]}"#),
                &[("n", "3"), ("s", "3"), ("either", "4"), ("l", "[5]"), ("free", "6")]
            ),
            Ok(json!({"a": 1, "b": [2], "n": 3, "s": "3", "either": "4", "l": [5], "free": "6"}))
        );
        assert_eq!(merged(json!(null), None, &[("n", "three")]), Ok(json!({"n": "three"})));
        assert_eq!(merged(json!([1]), None, &[("n", "3")]), Ok(json!([1])));
    }

    #[test]
    fn a_variable_stands_in_one_place() {
        for (header, model) in [
            (Some(r#"{"a": 2}"#), &[][..]),
            (None, &[("a", "2")][..]),
            (Some(r#"{"b": 2}"#), &[("b", "2")][..]),
            (None, &[("b", "1"), ("b", "2")][..]),
        ] {
            let error = merged(json!({"a": 1}), header, model).unwrap_err();
            assert!(error.contains("more than once, in "), "{error}");
        }
        let error = merged(json!({}), None, &[("a", "\u{fffd}")]).unwrap_err();
        assert!(error.contains("the variable `a` with text that is not UTF-8"), "{error}");
        for header in ["[1]", "{", "\u{fffd}"] {
            let error = merged(json!({}), Some(header), &[]).unwrap_err();
            assert!(error.contains("`x-prompt-variables` must be a JSON object"), "{error}");
        }
    }
}
