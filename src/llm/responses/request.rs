//! A request in the format of the Responses API, and the same as a request for a chat completion.

use std::borrow::Cow;

use serde::Deserialize;
use serde_json::value::RawValue;
use serde_json::{Map, Value as Json, json};

use super::input;
use super::items;
use super::kept::KeptItems;
use super::params::Params;
use super::tools;
use crate::llm::error::LlmError;
use template::value::RawObject;

/// A request in the format of the Responses API.
#[derive(Debug)]
pub struct ResponseRequest {
    /// The request; for a prompt, without `input`.
    pub payload: RawObject,
    /// For a prompt, its messages and the items of the request, in their order.
    pub turns: Option<Vec<Turn>>,
    /// Parameters that chat completions have and responses do not, for upstreams that are asked for a chat completion.
    pub chat_params: Map<String, Json>,
}

/// A message of a prompt, or an item of a request.
#[derive(Debug)]
pub enum Turn {
    /// A message of the prompt, as chat completions have it.
    Message(Box<RawValue>),
    /// An item of the request, and its place in `input`.
    Item(usize, Box<RawValue>),
}

/// Members that need a store of answers, which an upstream may have, and this service does not.
const STATE: [&str; 3] = ["previous_response_id", "conversation", "background"];

/// Members that chat completions do not have, or have under another name.
const ONLY_IN_RESPONSES: [&str; 17] = [
    "input",
    "instructions",
    "text",
    "reasoning",
    "tools",
    "tool_choice",
    "max_output_tokens",
    "max_tool_calls",
    "include",
    "truncation",
    "store",
    "prompt",
    "stream_options",
    "background",
    "conversation",
    "previous_response_id",
    // Chat completions have it, but a response has one answer.
    "n",
];

#[derive(Deserialize)]
struct Text {
    format: Option<Format>,
    verbosity: Option<Json>,
}

#[derive(Deserialize)]
struct Format {
    #[serde(rename = "type", default)]
    kind: String,
    #[serde(flatten)]
    schema: Map<String, Json>,
}

#[derive(Deserialize)]
struct Reasoning {
    effort: Option<Box<RawValue>>,
}

fn invalid(param: &'static str, message: impl Into<String>) -> LlmError {
    LlmError::Invalid { param, message: message.into() }
}

/// The member `name` as a `T`.
fn member<T: serde::de::DeserializeOwned>(
    payload: &RawObject,
    name: &'static str,
    what: &str,
) -> Result<Option<T>, LlmError> {
    payload.read(name).map_err(|_| invalid(name, format!("must be {what}")))
}

/// What is wrong with a request: one error names all of it.
#[derive(Default)]
struct Problems(Vec<(&'static str, String)>);

impl Problems {
    /// The result, unless it is one of the problems.
    fn check<T>(&mut self, result: Result<T, LlmError>) -> Option<T> {
        match result {
            Ok(value) => return Some(value),
            Err(LlmError::Invalid { param, message }) => self.0.push((param, message)),
            Err(other) => self.0.push(("input", other.to_string())),
        }
        None
    }

    fn finish(self) -> Result<(), LlmError> {
        let mut problems = self.0.into_iter();
        let Some((param, first)) = problems.next() else { return Ok(()) };
        let more: String = problems.map(|(param, message)| format!("; `{param}` {message}")).collect();
        Err(invalid(param, first + &more))
    }
}

/// Refuses what only a store of answers could do.
///
/// # Errors
/// [`LlmError::Invalid`], which names all such members.
pub fn refuse_state(payload: &RawObject) -> Result<(), LlmError> {
    let is_given =
        |name: &str| payload.get(name).is_some_and(|value| !matches!(value.get(), "null" | "false"));
    let mut problems = Problems::default();
    for name in STATE.into_iter().filter(|name| is_given(name)) {
        problems.0.push((
            name,
            "is not supported: this service keeps no conversations; send all items in `input`".to_owned(),
        ));
    }
    if is_given("store") {
        let message = "is not supported: this service keeps no conversations; leave it out, or send false";
        problems.0.push(("store", message.to_owned()));
    }
    problems.finish()
}

impl ResponseRequest {
    /// A request that is no prompt's.
    pub fn plain(payload: RawObject) -> ResponseRequest {
        ResponseRequest { payload, turns: None, chat_params: Map::new() }
    }

    /// The request for a prompt: its messages and the items of the request, and parameters for those that the request does not
    /// have.
    ///
    /// # Errors
    /// If a parameter cannot be written.
    pub fn of_prompt(
        mut payload: RawObject,
        turns: Vec<Turn>,
        params: Params,
    ) -> Result<ResponseRequest, serde_json::Error> {
        payload.remove("input");
        params.fill(&mut payload)?;
        Ok(ResponseRequest { payload, turns: Some(turns), chat_params: params.chat })
    }

    /// The request for an upstream that has the Responses API.
    ///
    /// # Errors
    /// [`LlmError::Invalid`] if the messages of the prompt cannot be items.
    pub fn native(&self, kept: &KeptItems) -> Result<Cow<'_, RawObject>, LlmError> {
        let items = match (&self.turns, self.payload.get("input")) {
            (Some(turns), _) => Some(items::of_turns(turns, kept)?),
            (None, Some(input)) => items::with_kept(input, kept)?,
            (None, None) => None,
        };
        let Some(items) = items else { return Ok(Cow::Borrowed(&self.payload)) };
        let mut payload = self.payload.clone();
        set(&mut payload, "input", &items)?;
        Ok(Cow::Owned(payload))
    }

    /// The request as one for a chat completion. Members that neither API has go on as they are.
    ///
    /// # Errors
    /// [`LlmError::Invalid`], which names everything that chat completions do not offer.
    pub fn as_chat(&self, kept: &KeptItems) -> Result<RawObject, LlmError> {
        let payload = &self.payload;
        let mut problems = Problems::default();
        problems.check(refuse_state(payload));
        let messages = problems.check(input::messages(self, kept)).unwrap_or_default();
        let tools = problems.check(tools::of_chat(payload)).flatten();
        let choice = problems.check(tools::choice_of_chat(payload)).flatten();
        let text = problems.check(text_of_chat(payload)).unwrap_or_default();
        let reasoning: Option<Option<Reasoning>> = problems.check(member(payload, "reasoning", "an object"));
        let logprobs = problems.check(wants_logprobs(payload)).unwrap_or_default();
        problems.finish()?;

        let mut chat = payload.clone();
        ONLY_IN_RESPONSES.iter().for_each(|name| drop(chat.remove(name)));
        set(&mut chat, "messages", &messages)?;
        if let Some(tools) = tools {
            set(&mut chat, "tools", &tools)?;
        }
        // Servers refuse a choice between no tools, which some clients send nevertheless.
        let says_nothing = |choice: &Json| matches!(choice.as_str(), Some("auto" | "none"));
        if let Some(choice) = choice.filter(|choice| chat.get("tools").is_some() || !says_nothing(choice)) {
            set(&mut chat, "tool_choice", &choice)?;
        }
        if let Some(limit) = payload.get("max_output_tokens").filter(|limit| limit.get() != "null") {
            set(&mut chat, self.token_limit(), limit)?;
        }
        for (name, value) in text {
            set(&mut chat, name, &value)?;
        }
        if let Some(Reasoning { effort: Some(effort) }) = reasoning.flatten() {
            set(&mut chat, "reasoning_effort", &effort)?;
        }
        if logprobs {
            set(&mut chat, "logprobs", &true)?;
        }
        if payload.get("stream").is_some_and(|stream| stream.get() == "true") {
            set(&mut chat, "stream_options", &json!({"include_usage": true}))?;
        }
        chat.fill(self.chat_params.iter()).map_err(|error| invalid("params", error.to_string()))?;
        Ok(chat)
    }

    /// What a chat completion calls the limit on tokens. Many servers know `max_tokens` alone; a prompt for one that does not
    /// says the newer name.
    fn token_limit(&self) -> &'static str {
        let newer = "max_completion_tokens";
        if self.chat_params.contains_key(newer) { newer } else { "max_tokens" }
    }
}

/// What `text` says, under its names in a chat completion.
fn text_of_chat(payload: &RawObject) -> Result<Vec<(&'static str, Json)>, LlmError> {
    let Some(Text { format, verbosity }) = member(payload, "text", "{format, verbosity}")? else {
        return Ok(Vec::new());
    };
    let format = format.map(response_format).transpose()?.flatten();
    let members = [("response_format", format), ("verbosity", verbosity.filter(|value| !value.is_null()))];
    Ok(members.into_iter().filter_map(|(name, value)| Some((name, value?))).collect())
}

/// Whether the probabilities of the answer's tokens are wanted.
fn wants_logprobs(payload: &RawObject) -> Result<bool, LlmError> {
    let count: Option<u32> = member(payload, "top_logprobs", "a whole number from 0")?;
    let include: Option<Vec<String>> = member(payload, "include", "a list of texts")?;
    let is_included =
        include.is_some_and(|include| include.iter().any(|name| name == "message.output_text.logprobs"));
    Ok(is_included || count.is_some_and(|count| count > 0))
}

fn set<T: serde::Serialize + ?Sized>(
    chat: &mut RawObject,
    name: &'static str,
    value: &T,
) -> Result<(), LlmError> {
    chat.set(name, value).map_err(|error| invalid(name, format!("cannot be written: {error}")))
}

/// `text.format` as `response_format`; nothing for plain text.
fn response_format(Format { kind, mut schema }: Format) -> Result<Option<Json>, LlmError> {
    match kind.as_str() {
        "text" => Ok(None),
        "json_object" => Ok(Some(json!({"type": kind}))),
        "json_schema" => {
            schema.retain(|_, member| !member.is_null());
            Ok(Some(json!({"type": kind, "json_schema": schema})))
        }
        _ => Err(invalid("text", "has a `format` that is neither `text`, `json_object` nor `json_schema`")),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use template::value::parse_json;

    fn chat(request: &Json) -> Result<Json, String> {
        let payload = parse_json(request.to_string().as_bytes()).unwrap();
        ResponseRequest::plain(payload)
            .as_chat(&KeptItems::new(0))
            .map(|chat| json!(chat))
            .map_err(|error| error.to_string())
    }

    #[test]
    fn members_get_their_names_in_chat_completions_and_unknown_ones_go_on() {
        let schema = json!({"type": "object"});
        let request = json!({
            "model": "m", "input": "q", "instructions": "Be brief.", "temperature": 0, "max_output_tokens": 5,
            "text": {"format": {"type": "json_schema", "name": "n", "schema": schema, "strict": true, "description": null}},
            "reasoning": {"effort": "low", "summary": "auto"}, "stream": true, "store": false, "include": [],
            "truncation": "disabled", "top_k": 7, "previous_response_id": null, "metadata": {"k": "v"},
        });
        let expected = json!({
            "model": "m", "temperature": 0, "stream": true, "top_k": 7, "metadata": {"k": "v"},
            "messages": [{"role": "system", "content": "Be brief."}, {"role": "user", "content": "q"}],
            "max_tokens": 5, "reasoning_effort": "low", "stream_options": {"include_usage": true},
            "response_format": {"type": "json_schema", "json_schema": {"name": "n", "schema": schema, "strict": true}},
        });
        assert_eq!(chat(&request), Ok(expected));
        let plain = json!({"input": [], "text": {"format": {"type": "text"}}, "max_output_tokens": null});
        assert_eq!(chat(&plain), Ok(json!({"messages": []})));
    }

    #[test]
    fn what_needs_a_store_is_refused() {
        for (name, value) in [
            ("previous_response_id", json!("resp_1")),
            ("conversation", json!({"id": "conv_1"})),
            ("background", json!(true)),
            ("store", json!(true)),
        ] {
            let error = chat(&json!({"input": "q", name: value})).unwrap_err();
            assert!(
                error.starts_with(&format!("`{name}` is not supported: this service keeps no conversations")),
                "{error}"
            );
        }
        assert!(chat(&json!({"input": "q", "background": false})).is_ok());
        assert!(chat(&json!({"input": "q", "text": {"format": {"type": "grammar"}}})).is_err());
        assert!(chat(&json!({"input": "q", "text": 5})).is_err());
    }
}
