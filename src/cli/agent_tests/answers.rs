//! Reads what models and tools answer in a session file.

use serde_json::{Map as JsonMap, Value as Json, json};

use super::file::messages;
use crate::agents::GivenCall;
use crate::llm::GivenReply;
use agent::Message;
use base::model::Id;
use base::schema::{Members, Violation};
use template::value::RawObject;

/// A call of a tool that is expected.
#[derive(Debug)]
pub struct ExpectedCall {
    /// The tool of the catalog.
    pub tool: String,
    /// Its arguments, if they matter.
    pub arguments: Option<JsonMap<String, Json>>,
}

/// A call of a function, as a model asks for it.
#[derive(serde::Deserialize)]
#[serde(deny_unknown_fields)]
struct FunctionCall {
    name: String,
    arguments: Option<Json>,
}

/// What a model answers, and the messages of the history that it must be sent for it.
pub type ReadReply = (GivenReply, Option<Vec<Message>>);

/// An answer of a model.
///
/// # Errors
/// Everything that is wrong.
pub fn reply(body: RawObject) -> Result<ReadReply, Vec<Violation>> {
    let mut members = Members::new(body);
    let sent = messages(&mut members, "sent");
    let given = given_reply(&mut members);
    members.finish("is no member of an answer of the model")?;
    let closed = GivenReply::Closed;
    Ok((given.unwrap_or(closed), sent))
}

fn given_reply(members: &mut Members) -> Option<GivenReply> {
    let finish: Option<String> = members.take("finish_reason", "a text");
    let message: Option<String> = members.take("message", "a text: the message of the error");
    let replies = [
        members
            .take("text", "a text: what the model says")
            .map(|text: String| completion(json!({"content": text}), finish.as_deref().unwrap_or("stop"))),
        tool_calls(members, finish.as_deref()),
        function_call(members, finish.as_deref()),
        members
            .take("refusal", "a text: why the model does not answer")
            .map(|refusal: String| completion(json!({"content": null, "refusal": refusal}), "stop")),
        members
            .take("body", "an object: a whole body")
            .map(|body: JsonMap<String, Json>| reply_of(200, &body)),
        members
            .number("status", 100, 599)
            .and_then(|status| u16::try_from(status).ok())
            .map(|status| reply_of(status, &json!({"error": {"message": message.unwrap_or_default()}}))),
        closed(members).map(|()| GivenReply::Closed),
    ];
    let all = "`text`, `tool_calls`, `function_call`, `refusal`, `body`, `status` and `close`";
    only(members, replies, all)
}

fn tool_calls(members: &mut Members, finish: Option<&str>) -> Option<GivenReply> {
    let what = "a list of {\"name\", \"arguments\"}";
    let calls: Vec<FunctionCall> = members.take("tool_calls", what)?;
    let calls = calls.into_iter().enumerate().map(|(at, FunctionCall { name, arguments })| {
        let mut function = json!({"name": name});
        if let (Some(arguments), Some(function)) = (arguments, function.as_object_mut()) {
            // OpenAI writes them as a JSON text; a text is sent as it is.
            let text = arguments.as_str().map_or_else(|| arguments.to_string(), str::to_owned);
            function.insert("arguments".to_owned(), text.into());
        }
        json!({"id": format!("call_{at}"), "type": "function", "function": function})
    });
    let message = json!({"content": null, "tool_calls": calls.collect::<Vec<_>>()});
    Some(completion(message, finish.unwrap_or("tool_calls")))
}

/// A call in GigaChat's form, whose arguments are an object.
fn function_call(members: &mut Members, finish: Option<&str>) -> Option<GivenReply> {
    let call: FunctionCall = members.take("function_call", "an object with `name` and `arguments`")?;
    let mut function = json!({"name": call.name});
    if let (Some(arguments), Some(function)) = (call.arguments, function.as_object_mut()) {
        function.insert("arguments".to_owned(), arguments);
    }
    let message = json!({"content": "", "function_call": function});
    Some(completion(message, finish.unwrap_or("function_call")))
}

fn completion(mut message: Json, finish: &str) -> GivenReply {
    if let Some(members) = message.as_object_mut() {
        members.insert("role".to_owned(), "assistant".into());
    }
    let choice = json!({"index": 0, "message": message, "finish_reason": finish});
    reply_of(200, &json!({"object": "chat.completion", "choices": [choice]}))
}

fn reply_of(status: u16, body: &impl serde::Serialize) -> GivenReply {
    // It holds only what was JSON before.
    GivenReply::Answer { status, body: serde_json::to_vec(body).unwrap_or_default().into() }
}

/// A call of a tool: what is expected of it, and its answer.
///
/// # Errors
/// Everything that is wrong.
pub fn call(body: RawObject) -> Result<(GivenCall, ExpectedCall), Vec<Violation>> {
    let mut members = Members::new(body);
    let tool: Option<String> = members.need("tool", "the id of a tool of the catalog");
    if let Some(Err(error)) = tool.as_deref().map(Id::parse) {
        members.add("/tool", error.to_string());
    }
    let arguments = members.take("arguments", "an object");
    let given = given_call(&mut members);
    members.finish("is no member of a call")?;
    let expected = ExpectedCall { tool: tool.unwrap_or_default(), arguments };
    Ok((given.unwrap_or(GivenCall::Closed), expected))
}

fn given_call(members: &mut Members) -> Option<GivenCall> {
    let body: Option<Json> = members.take("body", "JSON: the body of the error");
    let message = match body {
        Some(Json::String(text)) => text,
        body => body.map(|body| body.to_string()).unwrap_or_default(),
    };
    let calls = [
        members.take("answer", "JSON").map(GivenCall::Answer),
        members.take("text", "a text").map(GivenCall::Text),
        members.number("status", 300, 599).map(|status| failed(status, message)),
        closed(members).map(|()| GivenCall::Closed),
    ];
    only(members, calls, "`answer`, `text`, `status` and `close`")
}

fn failed(status: usize, message: String) -> GivenCall {
    let code = u16::try_from(status).ok().and_then(|code| http::StatusCode::from_u16(code).ok());
    GivenCall::Failed { status: code.map_or_else(|| status.to_string(), |code| code.to_string()), message }
}

/// Whether the connection is closed.
fn closed(members: &mut Members) -> Option<()> {
    let close: Option<bool> = members.take("close", "true");
    if close == Some(false) {
        members.add("/close", "must be true");
    }
    close.map(|_| ())
}

/// The only one that is given.
fn only<T, const N: usize>(members: &mut Members, given: [Option<T>; N], all: &str) -> Option<T> {
    let mut given = given.into_iter().flatten();
    match (given.next(), given.next()) {
        (Some(one), None) => Some(one),
        _ => {
            members.add("", format!("needs exactly one of {all}"));
            None
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use template::value::parse_json;

    fn raw(json: &Json) -> RawObject {
        parse_json(json.to_string().as_bytes()).unwrap()
    }

    fn body(answer: Json) -> Json {
        match reply(raw(&answer)).unwrap() {
            (GivenReply::Answer { body, .. }, _) => serde_json::from_slice(&body).unwrap(),
            (closed, _) => panic!("{closed:?}"),
        }
    }

    #[test]
    fn answers_of_models_are_written_as_openai_and_gigachat_do() {
        let text = body(json!({"text": "Hi", "finish_reason": "length"}));
        assert_eq!(text["choices"][0]["message"], json!({"content": "Hi", "role": "assistant"}));
        assert_eq!(text["choices"][0]["finish_reason"], "length");
        let calls = [json!({"name": "f", "arguments": {"a": 1}}), json!({"name": "g", "arguments": "["})];
        let calls = body(json!({"tool_calls": calls}));
        let functions = calls.pointer("/choices/0/message/tool_calls").unwrap();
        assert_eq!(functions[0]["function"], json!({"name": "f", "arguments": "{\"a\":1}"}));
        assert_eq!(functions[1]["function"]["arguments"], "[");
        let call = body(json!({"function_call": {"name": "f", "arguments": {"a": 1}}}));
        let function = call.pointer("/choices/0/message/function_call");
        assert_eq!(function, Some(&json!({"name": "f", "arguments": {"a": 1}})));
        assert_eq!(body(json!({"status": 500, "message": "busy"})), json!({"error": {"message": "busy"}}));
        assert_eq!(body(json!({"body": {"choices": []}})), json!({"choices": []}));
        assert_eq!(reply(raw(&json!({"close": true}))).unwrap().0, GivenReply::Closed);
    }

    #[test]
    fn answers_of_tools_are_json_texts_statuses_or_none() {
        let given = |json: Json| call(raw(&json)).unwrap().0;
        assert_eq!(given(json!({"tool": "a", "answer": [1]})), GivenCall::Answer(json!([1])));
        assert_eq!(given(json!({"tool": "a", "text": "x"})), GivenCall::Text("x".into()));
        let failed =
            GivenCall::Failed { status: "503 Service Unavailable".into(), message: "{\"e\":1}".into() };
        assert_eq!(given(json!({"tool": "a", "status": 503, "body": {"e": 1}})), failed);
        assert_eq!(given(json!({"tool": "a", "close": true})), GivenCall::Closed);
    }
}
