//! Prompts of GitHub Models: `NAME.prompt.yml`, whose texts have placeholders (`{{name}}`) and no other marks.

use serde_json::{Map, Value as Json, json};

use super::fields::{add_examples, add_params};
use super::placeholders::to_jinja;
use super::source::{Found, Refusal, Source};
use super::yaml;

/// The ends of the names of such files.
pub const EXTENSIONS: [&str; 2] = [".prompt.yml", ".prompt.yaml"];

/// The members that are taken; `testData` in part.
const KNOWN: [&str; 8] =
    ["name", "description", "model", "modelParameters", "messages", "responseFormat", "jsonSchema", "testData"];

/// Reads a file.
///
/// # Errors
/// If it is not YAML, or has no messages with texts.
pub fn read(source: &Source) -> Result<Found, Refusal> {
    let file = yaml::parse(&source.text).map_err(|error| Refusal { message: error.message, line: error.line })?;
    let messages = file.get("messages").and_then(Json::as_array).filter(|messages| !messages.is_empty());
    let messages = messages.ok_or_else(|| Refusal::new("it has no list `messages`".to_owned()))?;
    let messages: Result<Vec<Json>, Refusal> =
        messages.iter().enumerate().map(|(at, given)| message(at, given)).collect();
    let mut document = Map::new();
    for member in ["name", "description", "model"] {
        if let Some(text) = file.get(member).and_then(Json::as_str) {
            document.insert(member.to_owned(), text.into());
        }
    }
    document.insert("syntax".to_owned(), "jinja".into());
    document.insert("messages".to_owned(), messages?.into());
    let mut left_out: Vec<String> = file.as_object().into_iter().flatten().map(|(name, _)| name.clone()).collect();
    left_out.retain(|name| !KNOWN.contains(&name.as_str()));
    add_parameters(&file, &mut document, &mut left_out);
    add_format(&file, &mut document, &mut left_out)?;
    Ok(Found { format: "GitHub Models", document, left_out })
}

fn message(at: usize, given: &Json) -> Result<Json, Refusal> {
    let text = |member: &str| given.get(member).and_then(Json::as_str);
    match (text("role"), text("content")) {
        (Some(role), Some(content)) => Ok(json!({"role": role, "content": to_jinja(content, |_| true)})),
        _ => Err(Refusal::new(format!("messages[{at}] needs a `role` and a `content` that are texts"))),
    }
}

/// The sampling parameters, and the variables of the test data as examples. What a model should answer is left out.
fn add_parameters(file: &Json, document: &mut Map<String, Json>, left_out: &mut Vec<String>) {
    let mut params = Map::new();
    if let Some(given) = file.get("modelParameters") {
        add_params(&mut params, given, "modelParameters", left_out);
    }
    if !params.is_empty() {
        document.insert("params".to_owned(), params.into());
    }
    let mut schema = None;
    for case in file.get("testData").and_then(Json::as_array).into_iter().flatten().filter_map(Json::as_object) {
        let mut values = case.clone();
        if values.shift_remove("expected").is_some() && !left_out.iter().any(|name| name == EXPECTED) {
            left_out.push(EXPECTED.to_owned());
        }
        add_examples(&mut schema, &values);
    }
    document.extend(schema.map(|schema| ("parameters".to_owned(), schema)));
}

const EXPECTED: &str = "testData[].expected";

/// The format of the answer: `returns`, and what an OpenAI-compatible API is told.
fn add_format(file: &Json, document: &mut Map<String, Json>, left_out: &mut Vec<String>) -> Result<(), Refusal> {
    let text = match file.get("responseFormat").and_then(Json::as_str) {
        None | Some("text") => return Ok(()),
        Some(format) => format,
    };
    let mut format = json!({"type": text});
    if text == "json_schema" {
        let schema = match file.get("jsonSchema") {
            Some(Json::String(text)) => serde_json::from_str(text)
                .map_err(|error| Refusal::new(format!("its `jsonSchema` is not valid JSON: {error}")))?,
            Some(schema) => schema.clone(),
            None => return Err(Refusal::new("it has no `jsonSchema` for its `responseFormat`".to_owned())),
        };
        let returns = schema.get("schema").unwrap_or(&schema);
        document.insert("returns".to_owned(), returns.clone());
        format = json!({"type": text, "json_schema": schema});
    } else if text != "json_object" {
        left_out.push(format!("responseFormat ({text})"));
        return Ok(());
    }
    let params = document.entry("params").or_insert_with(|| json!({}));
    if let Some(params) = params.as_object_mut() {
        params.insert("response_format".to_owned(), format);
    }
    Ok(())
}
