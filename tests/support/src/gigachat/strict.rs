//! What GigaChat refuses.

use serde_json::Value as Json;

use crate::upstream::Seen;

/// The members of a chat.
const MEMBERS: [&str; 18] = [
    "model",
    "messages",
    "temperature",
    "top_p",
    "n",
    "stream",
    "max_tokens",
    "repetition_penalty",
    "update_interval",
    "profanity_check",
    "function_call",
    "functions",
    "flags",
    "storage",
    "function_ranker",
    "response_format",
    "reasoning_effort",
    "stop",
];

/// The members of a message.
const MEMBERS_OF_MESSAGE: [&str; 7] =
    ["role", "content", "function_call", "name", "attachments", "functions_state_id", "reasoning_content"];

/// The keywords of schemas that it does not know.
const KEYWORDS: [&str; 13] = [
    "$ref",
    "$dynamicRef",
    "$defs",
    "definitions",
    "anyOf",
    "oneOf",
    "allOf",
    "const",
    "if",
    "then",
    "else",
    "dependentSchemas",
    "additionalItems",
];

type Checked<T> = Result<T, String>;

/// The id of a request for a token: a UUID of version 4 that was not used before.
pub fn token_request(seen: &Seen, used: &[String]) -> Checked<String> {
    check(seen.method == "POST", || "POST is needed".to_owned())?;
    let form = Some("application/x-www-form-urlencoded");
    check(seen.header("content-type") == form, || "a form is needed".to_owned())?;
    let id = seen.header("rquid").unwrap_or_default().to_owned();
    let parts: Vec<usize> = id.split('-').map(str::len).collect();
    let is_uuid =
        parts == [8, 4, 4, 4, 12] && id.as_bytes()[14] == b'4' && b"89ab".contains(&id.as_bytes()[19]);
    check(is_uuid && !used.contains(&id), || format!("RqUID {id:?} is no new UUID of version 4"))?;
    let scopes = ["GIGACHAT_API_PERS", "GIGACHAT_API_B2B", "GIGACHAT_API_CORP"];
    let body = String::from_utf8_lossy(&seen.body).into_owned();
    let is_known = body.strip_prefix("scope=").is_some_and(|scope| scopes.contains(&scope));
    check(is_known, || format!("scope data format invalid: {body}")).map(|()| id)
}

/// The texts to embed.
pub fn embeddings(seen: &Seen) -> Checked<Vec<String>> {
    let body = body(seen)?;
    let members: Vec<&str> = body.as_object().unwrap().keys().map(String::as_str).collect();
    check(members.iter().all(|name| ["model", "input"].contains(name)), || {
        format!("unknown members: {members:?}")
    })?;
    let texts = serde_json::from_value(body["input"].clone());
    texts.map_err(|_| "input: a list of texts is needed".to_owned())
}

/// The body of a chat. The states of functions that its history names have to be among these.
pub fn chat(seen: &Seen, states: &[String]) -> Checked<Json> {
    let body = body(seen)?;
    for (name, value) in body.as_object().unwrap() {
        check(MEMBERS.contains(&name.as_str()), || format!("unknown member {name}"))?;
        check(!value.is_null(), || format!("{name} is null"))?;
    }
    let temperature = body.get("temperature").map_or(1.0, |value| value.as_f64().unwrap_or_default());
    check(temperature > 0.0, || "temperature: must be more than 0".to_owned())?;
    let messages = body["messages"].as_array().ok_or("messages: a list is needed")?;
    check(!messages.is_empty(), || "messages: is empty".to_owned())?;
    for (at, message) in messages.iter().enumerate() {
        let before = at.checked_sub(1).and_then(|before| messages.get(before));
        self::message(at, message, before, states).map_err(|error| format!("messages[{at}]: {error}"))?;
    }
    functions(&body)?;
    Ok(body)
}

fn body(seen: &Seen) -> Checked<Json> {
    check(seen.header("content-type") == Some("application/json"), || "JSON is needed".to_owned())?;
    let body: Json = serde_json::from_slice(&seen.body).map_err(|error| error.to_string())?;
    check(body.is_object() && body["model"].is_string(), || "model: is missing".to_owned())?;
    Ok(body)
}

fn message(at: usize, message: &Json, before: Option<&Json>, states: &[String]) -> Checked<()> {
    let members = message.as_object().ok_or("an object is needed")?;
    let unknown = members.keys().find(|name| !MEMBERS_OF_MESSAGE.contains(&name.as_str()));
    check(unknown.is_none(), || format!("unknown member {unknown:?}"))?;
    let content = message["content"].as_str().ok_or("content: a text is needed")?;
    match message["role"].as_str() {
        Some("system") => check(at == 0, || "system message must be the first message".to_owned()),
        Some("user") => Ok(()),
        Some("assistant") => match message.get("function_call") {
            Some(call) => {
                let is_call = call["name"].is_string() && call["arguments"].is_object();
                check(is_call, || format!("function_call: {call}"))?;
                let state = message["functions_state_id"].as_str().unwrap_or_default();
                check(states.iter().any(|known| known == state), || format!("no state {state:?}"))
            }
            None => Ok(()),
        },
        Some("function") => {
            let name = message["name"].as_str().ok_or("name is missing")?;
            let called = before.and_then(|before| before["function_call"]["name"].as_str());
            check(called == Some(name), || "no call of this function before it".to_owned())?;
            let is_object = serde_json::from_str::<Json>(content).is_ok_and(|content| content.is_object());
            check(is_object, || "content: the text of a JSON object is needed".to_owned())
        }
        role => Err(format!("role {role:?}")),
    }
}

fn functions(body: &Json) -> Checked<()> {
    let functions = body.get("functions").map(|list| list.as_array().unwrap().clone()).unwrap_or_default();
    for function in &functions {
        check(function["name"].is_string(), || "functions: a name is missing".to_owned())?;
        check(function["parameters"]["type"] == "object", || {
            "functions: parameters are no object".to_owned()
        })?;
        schema(&function["parameters"])?;
    }
    match body.get("function_call") {
        None => Ok(()),
        Some(Json::String(word)) => {
            check(["auto", "none"].contains(&word.as_str()), || format!("function_call: {word}"))
        }
        Some(call) => {
            let is_known = functions.iter().any(|function| function["name"] == call["name"]);
            check(is_known, || format!("function_call: {call}"))
        }
    }
}

fn schema(schema: &Json) -> Checked<()> {
    let members = schema.as_object().ok_or("a schema is no object")?;
    let unknown = KEYWORDS.into_iter().find(|keyword| members.contains_key(*keyword));
    check(unknown.is_none(), || format!("a schema has {unknown:?}"))?;
    check(schema["type"].is_string(), || format!("a schema has no type: {schema}"))?;
    match schema["type"].as_str() {
        Some("object") => {
            let properties = schema["properties"].as_object().ok_or("an object has no properties")?;
            properties.values().try_for_each(self::schema)
        }
        Some("array") => self::schema(&schema["items"]),
        _ => Ok(()),
    }
}

fn check(holds: bool, message: impl FnOnce() -> String) -> Checked<()> {
    if holds { Ok(()) } else { Err(message()) }
}
