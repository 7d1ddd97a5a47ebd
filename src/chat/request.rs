//! A chat request that names a prompt: the prompt, its variables, and the members for the model.

use std::fmt;

use serde::de::{Deserialize, Deserializer, MapAccess, Visitor};
use serde_json::value::RawValue;

use super::aside::{Aside, GivenVariables, PromptName};
use super::error::ChatError;
use crate::render::{RenderError, only_one};
use base::model::Id;
use template::value::{Map, RawObject, SmolStr, Value, parse_json};

/// A request to render a prompt and have it answered.
#[derive(Debug)]
pub struct PromptRequest {
    /// The id of the prompt.
    pub id: Id,
    /// The variables of the prompt.
    pub variables: GivenVariables,
    /// The request to the model, without the members that name the prompt and its variables.
    pub body: RawObject,
    /// The API in whose format the body is.
    pub api: Api,
    /// Whether the answer is to tell how the prompt was rendered.
    pub explain: bool,
}

/// An API of OpenAI for chats.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Api {
    /// Chat completions.
    Completions,
    /// Text completions, the older API.
    Text,
    /// Responses.
    Responses,
}

/// The body of a request for a prompt: the variables are parsed, all other members are kept as they were written.
#[derive(Debug, Default)]
pub struct PromptBody {
    variables: Option<Value>,
    args: Option<Value>,
    rest: RawObject,
}

impl<'de> Deserialize<'de> for PromptBody {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<PromptBody, D::Error> {
        struct Members;

        impl<'de> Visitor<'de> for Members {
            type Value = PromptBody;

            fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str("a JSON object")
            }

            fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<PromptBody, A::Error> {
                let mut body = PromptBody::default();
                while let Some(name) = map.next_key::<String>()? {
                    match name.as_str() {
                        "variables" => body.variables = map.next_value()?,
                        "args" => body.args = map.next_value()?,
                        _ => body.rest.push(name, map.next_value()?)?,
                    }
                }
                Ok(body)
            }
        }

        deserializer.deserialize_map(Members)
    }
}

impl PromptBody {
    /// The variables, and all other members.
    ///
    /// # Errors
    /// If there are variables in both `variables` and `args`.
    pub fn into_parts(self) -> Result<(Option<Value>, RawObject), RenderError> {
        let PromptBody { variables, args, rest } = self;
        Ok((only_one([("variables", variables), ("args", args)])?, rest))
    }
}

/// OpenAI's `prompt` object.
#[derive(serde::Deserialize)]
struct PromptObject {
    id: Option<String>,
    variables: Option<Box<RawValue>>,
}

impl PromptRequest {
    /// A request for the prompt `id`, with its variables in `variables` or `args`.
    ///
    /// # Errors
    /// If the body has both.
    pub fn of(id: Id, body: PromptBody, aside: Aside) -> Result<PromptRequest, ChatError> {
        let (body, rest) = body.into_parts()?;
        let Aside { variables: header, explain } = aside;
        let variables = GivenVariables { body, header, ..GivenVariables::default() };
        Ok(PromptRequest { id, variables, body: rest, api: Api::Completions, explain })
    }

    /// A request in OpenAI's format that names a prompt, by `"model": "prompt:{id}"` or by the object `prompt`. The variables
    /// are in `variables`, in `metadata.variables` (an object, or a string with its JSON, since metadata are strings), or in
    /// `prompt.variables` (texts take the types that the prompt declares); more of them may stand beside the body, or in the name of the model. A request that names no prompt
    /// is returned unchanged as the inner `Err`.
    ///
    /// # Errors
    /// [`ChatError`] if the request is ambiguous.
    pub fn in_openai_form(
        api: Api,
        mut body: RawObject,
        aside: Aside,
    ) -> Result<Result<PromptRequest, RawObject>, ChatError> {
        let by_model = model_name(&body).and_then(|name| PromptName::read(&name));
        let object = prompt_object(&body)?;
        let by_object = object.as_ref().and_then(|object| object.id.clone());
        let id = match (&by_model, by_object) {
            (None, None) => return Ok(Err(body)),
            (Some(one), Some(other)) if one.id != other => {
                let message = format!("names `{other}`, and `model` names `{}`", one.id);
                return Err(ChatError::invalid("prompt", message));
            }
            (Some(name), _) => name.id.clone(),
            (None, Some(id)) => id,
        };
        if by_model.is_some() {
            body.remove("model");
        }
        if object.is_some() {
            body.remove("prompt");
        }
        let in_object = object.and_then(|object| object.variables);
        let body_is_untyped = in_object.is_some();
        let in_body = only_one([
            ("variables", read_variables("variables", body.remove("variables"))?),
            ("args", read_variables("args", body.remove("args"))?),
            ("prompt.variables", read_variables("prompt", in_object)?.map(with_plain_texts)),
            ("metadata.variables", take_metadata(&mut body)?),
        ])?;
        let Aside { variables: header, explain } = aside;
        let model = by_model.map(|name| name.variables).unwrap_or_default();
        let variables = GivenVariables { body: in_body, body_is_untyped, header, model };
        Ok(Ok(PromptRequest { id: Id::parse(&id)?, variables, body, api, explain }))
    }
}

/// The member `prompt`, if it is an object; in requests of the older completions API it is a string.
fn prompt_object(body: &RawObject) -> Result<Option<PromptObject>, ChatError> {
    match body.get("prompt").is_some_and(|prompt| prompt.get().starts_with('{')) {
        true => body.read("prompt").map_err(|_| ChatError::invalid("prompt", "is not {id, variables}")),
        false => Ok(None),
    }
}

fn model_name(body: &RawObject) -> Option<String> {
    body.find("model")
}

/// Takes the variables out of the metadata; removes the metadata if they contained nothing else.
fn take_metadata(body: &mut RawObject) -> Result<Option<Value>, ChatError> {
    let Ok(Some(mut metadata)) = body.read::<RawObject>("metadata") else { return Ok(None) };
    let Some(variables) = metadata.remove("variables") else { return Ok(None) };
    match metadata.is_empty() {
        true => drop(body.remove("metadata")),
        false => {
            body.set("metadata", &metadata).map_err(|e| ChatError::invalid("metadata", e.to_string()))?
        }
    }
    let text: Option<String> = serde_json::from_str(variables.get()).ok();
    let written = text.map(RawValue::from_string).transpose();
    let written = written.map_err(|_| ChatError::invalid("metadata", "has `variables` that are not JSON"))?;
    read_variables("metadata", Some(written.unwrap_or(variables)))
}

fn read_variables(param: &'static str, raw: Option<Box<RawValue>>) -> Result<Option<Value>, ChatError> {
    let read = |raw: Box<RawValue>| parse_json(raw.get().as_bytes());
    raw.filter(|raw| raw.get() != "null")
        .map(read)
        .transpose()
        .map_err(|error| ChatError::invalid(param, format!("cannot be read: {error}")))
}

/// The variables with plain texts in the place of OpenAI's objects for texts: `{"type": "input_text", "text": …}`.
fn with_plain_texts(variables: Value) -> Value {
    let Value::Map(map) = &variables else { return variables };
    let text_of = |value: &Value| {
        let is_text = value.get("type").and_then(Value::as_str) == Some("input_text");
        value.get("text").filter(|text| is_text && text.as_str().is_some()).cloned()
    };
    let plain =
        |(name, value): (&SmolStr, &Value)| (name.clone(), text_of(value).unwrap_or_else(|| value.clone()));
    Value::from(Map::from_entries(map.iter().map(plain).collect()))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn body(text: &str) -> RawObject {
        parse_json(text.as_bytes()).unwrap()
    }

    /// The prompt, its variables, and the body for the model.
    fn meant(text: &str) -> (String, Option<Value>, String) {
        let request =
            PromptRequest::in_openai_form(Api::Completions, body(text), Aside::default()).unwrap().unwrap();
        let variables = request.variables.merged(None).unwrap();
        (request.id.to_string(), variables, serde_json::to_string(&request.body).unwrap())
    }

    #[test]
    fn a_prompt_is_meant_by_its_model_or_by_its_object_and_what_named_it_does_not_go_on() {
        let variables = Some(Value::from(serde_json::json!({"n": 1})));
        for (text, rest) in [
            (r#"{"model":"prompt:a.b","variables":{"n":1},"x":1.0}"#, r#"{"x":1.0}"#),
            (r#"{"model":"prompt:a:b","args":{"n":1},"variables":null}"#, "{}"),
            (r#"{"model":"m","prompt":{"id":"a.b","version":"2","variables":{"n":1}}}"#, r#"{"model":"m"}"#),
            (r#"{"model":"prompt:a.b","prompt":{"id":"a.b"},"variables":{"n":1}}"#, "{}"),
            (r#"{"model":"prompt:a.b?","prompt":{"id":"a.b"},"variables":{"n":1}}"#, "{}"),
            (r#"{"model":"prompt:a.b","prompt":{"variables":{"n":1}}}"#, "{}"),
            (r#"{"model":"prompt:a.b","metadata":{"variables":"{\"n\":1}"}}"#, "{}"),
            (
                r#"{"model":"prompt:a.b","metadata":{"variables":{"n":1},"k":"v"}}"#,
                r#"{"metadata":{"k":"v"}}"#,
            ),
        ] {
            assert_eq!(meant(text), ("a.b".to_owned(), variables.clone(), rest.to_owned()), "{text}");
        }
    }

    #[test]
    fn variables_may_be_the_text_objects_of_openai() {
        let text = r#"{"prompt":{"id":"a.b","variables":{"t":{"type":"input_text","text":"x"},"o":{"type":"other","text":"x"}}}}"#;
        let (_, variables, _) = meant(text);
        let expected = serde_json::json!({"t": "x", "o": {"type": "other", "text": "x"}});
        assert_eq!(variables, Some(Value::from(expected)));
    }

    #[test]
    fn any_other_request_goes_on_as_it_is() {
        let text = r#"{"model":"m","variables":{"n":1},"prompt":"text","metadata":{"variables":"x"}}"#;
        let rest = PromptRequest::in_openai_form(Api::Completions, body(text), Aside::default())
            .unwrap()
            .unwrap_err();
        assert_eq!(serde_json::to_string(&rest).unwrap(), text);
    }

    #[test]
    fn what_is_not_clear_is_refused() {
        for text in [
            r#"{"model":"prompt:a.b","prompt":{"id":"a.c"}}"#,
            r#"{"model":"prompt:a.b","variables":{},"args":{}}"#,
            r#"{"model":"prompt:a.b","variables":{},"metadata":{"variables":"{}"}}"#,
            r#"{"model":"prompt:a.b","metadata":{"variables":"{"}}"#,
            r#"{"model":"prompt:a b"}"#,
        ] {
            assert!(
                PromptRequest::in_openai_form(Api::Completions, body(text), Aside::default()).is_err(),
                "{text}"
            );
        }
    }
}
