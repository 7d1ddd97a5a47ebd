//! Requests: a context and a schema to a solution that validates, in front of models that can do more or less.

mod batch;
mod command;
mod content;
mod emulation;
mod emulation_choices;
mod emulation_functions;
mod emulation_native;
mod ideas;
mod prompts;
mod refused;
mod repair;
mod shapes;
mod strategies;
mod streams;

use serde_json::{Value as Json, json};

use ai_prompt_shell::settings::{Capabilities, Model};
use support::app::{Answer, TestApp};
use support::upstream::{Act, Seen, json as reply_json};

pub use crate::chat::start_with as start;

/// What a model can do.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Ability {
    JsonSchema,
    Tools,
    JsonObject,
    Text,
}

/// How a request asks for a value.
pub fn asked_for(body: &Json) -> Ability {
    match body["response_format"]["type"].as_str() {
        Some("json_schema") => Ability::JsonSchema,
        Some("json_object") => Ability::JsonObject,
        _ if body["tools"].is_array() => Ability::Tools,
        _ => Ability::Text,
    }
}

/// The schema that a request asks for; the one in a text is on a line of its own.
pub fn asked_schema(body: &Json) -> Json {
    match asked_for(body) {
        Ability::JsonSchema => body["response_format"]["json_schema"]["schema"].clone(),
        Ability::Tools => body["tools"][0]["function"]["parameters"].clone(),
        Ability::JsonObject | Ability::Text => {
            let text = body["messages"][0]["content"].as_str().unwrap();
            text.lines().find_map(|line| serde_json::from_str(line).ok()).unwrap()
        }
    }
}

/// The refusal of what a model cannot do, in OpenAI's words.
pub fn refusal(ability: Ability) -> Vec<Act> {
    let (message, param) = match ability {
        Ability::JsonSchema => (
            "Invalid parameter: 'response_format' of type 'json_schema' is not supported with this model.",
            "response_format",
        ),
        Ability::JsonObject => ("'response_format' is not supported with this model.", "response_format"),
        Ability::Tools => ("This model does not support tools.", "tools"),
        Ability::Text => ("This model answers nothing.", "messages"),
    };
    reply_json(
        400,
        json!({"error": {"message": message, "type": "invalid_request_error", "param": param, "code": null}}),
    )
}

/// A chat completion that says this in the way in which it was asked for.
pub fn saying(body: &Json, text: &str) -> Json {
    let message = match asked_for(body) {
        Ability::Tools => {
            let function = json!({"name": "generate_response", "arguments": text});
            json!({"role": "assistant", "content": null, "tool_calls": [{"id": "call_1", "type": "function", "function": function}]})
        }
        _ => json!({"role": "assistant", "content": text, "refusal": null}),
    };
    of_message(message)
}

pub fn of_message(message: Json) -> Json {
    json!({
        "id": "chatcmpl-scripted", "object": "chat.completion", "created": 1_700_000_000, "model": "scripted",
        "choices": [{"index": 0, "message": message, "logprobs": null, "finish_reason": "stop"}],
        "usage": {"prompt_tokens": 3, "completion_tokens": 2, "total_tokens": 5}
    })
}

/// A model that can do this alone, and says what `text` gives for the body of a request.
pub fn model(
    ability: Ability,
    text: impl Fn(&Json) -> String + Send + Sync + 'static,
) -> impl Fn(&Seen) -> Vec<Act> + Send + Sync + 'static {
    move |seen| {
        let body = seen.json();
        match asked_for(&body) {
            asked if asked == ability => reply_json(200, saying(&body, &text(&body))),
            asked => refusal(asked),
        }
    }
}

/// A model of which everything is declared: it can do this alone.
pub fn declared(name: &str, ability: Ability) -> Model {
    let can = |one| Some(one == ability);
    let capabilities = Capabilities {
        json_schema: can(Ability::JsonSchema),
        tools: can(Ability::Tools),
        json_object: can(Ability::JsonObject),
        functions: None,
    };
    Model { name: name.into(), capabilities, ..Model::default() }
}

/// A request to the model `m` for an object with a text `a`.
pub fn for_a() -> Json {
    json!({
        "context": [{"role": "user", "content": "q"}], "model": "m",
        "schema": {"type": "object", "properties": {"a": {"type": "string"}}, "required": ["a"]},
    })
}

pub async fn request(app: &TestApp, body: Json) -> Answer {
    app.post("/api/requests", body).await
}

/// The solution of a request that must have succeeded.
#[track_caller]
pub fn solution(answer: &Answer) -> &Json {
    assert_eq!(answer.status, 200, "{answer:?}");
    &answer.body["solution"]
}
