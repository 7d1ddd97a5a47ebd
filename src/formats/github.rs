//! Prompts of GitHub Models: `NAME.prompt.yml`, whose texts have placeholders (`{{name}}`) and no other marks.

use std::collections::BTreeSet;

use serde_json::{Map, Value as Json, json};

use super::fields::{add_examples, fields_of, schema_of};
use super::params::add_params;
use super::placeholders::{is_word, to_jinja, variable};
use super::source::{Found, Refusal, Source};
use super::yaml;

/// The ends of the names of such files.
pub const EXTENSIONS: [&str; 4] = [".prompt.yml", ".prompt.yaml", "_prompt.yml", "_prompt.yaml"];

/// The members that are taken; `testData` in part.
const KNOWN: [&str; 10] = [
    "name",
    "description",
    "model",
    "modelParameters",
    "system",
    "messages",
    "variables",
    "responseFormat",
    "jsonSchema",
    "testData",
];

/// The roles of messages that a prompt may have.
const ROLES: [&str; 4] = ["system", "user", "assistant", "developer"];

/// Reads a file.
///
/// # Errors
/// If it is not YAML, or has no messages with texts.
pub fn read(source: &Source) -> Result<Found, Refusal> {
    let file = yaml::parse(&source.text, yaml::PROMPT_FILE)
        .map_err(|error| Refusal { message: error.message, line: error.line })?;
    let messages = file.get("messages").and_then(Json::as_array).filter(|messages| !messages.is_empty());
    let messages = messages.ok_or_else(|| Refusal::new("it has no list `messages`".to_owned()))?;
    let mut left_out: Vec<String> =
        file.as_object().into_iter().flatten().map(|(name, _)| name.clone()).collect();
    left_out.retain(|name| !KNOWN.contains(&name.as_str()));
    let messages = messages_of(&file, messages, &mut left_out)?;
    let mut document = Map::new();
    for member in ["name", "description", "model"] {
        if let Some(text) = file.get(member).and_then(Json::as_str) {
            document.insert(member.to_owned(), text.into());
        }
    }
    document.insert("syntax".to_owned(), "jinja".into());
    document.insert("messages".to_owned(), messages.into());
    add_parameters(&file, &mut document, &mut left_out);
    add_format(&file, &mut document, &mut left_out)?;
    Ok(Found { format: "GitHub Models", document, left_out })
}

/// The messages with a text, after the one of `system`, which some files have beside them.
fn messages_of(file: &Json, given: &[Json], left_out: &mut Vec<String>) -> Result<Vec<Json>, Refusal> {
    let declared = declared_names(file);
    let expression = |name: &str| (is_word(name) || declared.contains(name)).then(|| variable(name));
    let message = |role: &str, content: &str| json!({"role": role, "content": to_jinja(content, expression)});
    let system = file.get("system").and_then(Json::as_str).map(|content| message("system", content));
    let mut messages: Vec<Json> = system.into_iter().collect();
    for (at, given) in given.iter().enumerate() {
        let text = |member: &str| given.get(member).and_then(Json::as_str);
        match (text("role"), text("content"), given.get("content")) {
            (Some(role), Some(content), _) => {
                let role = role.to_ascii_lowercase();
                if !ROLES.contains(&role.as_str()) {
                    return Err(Refusal::new(format!(
                        "messages[{at}] has the role `{role}`; a prompt's messages are of {}",
                        ROLES.join(", ")
                    )));
                }
                messages.push(message(&role, content));
            }
            (Some(role), None, None | Some(Json::Null)) => {
                left_out.push(format!("messages[{at}] ({role}, without a text)"))
            }
            _ => {
                return Err(Refusal::new(format!(
                    "messages[{at}] needs a `role` and a `content` that are texts"
                )));
            }
        }
    }
    match messages.is_empty() {
        true => Err(Refusal::new("none of its messages has a text".to_owned())),
        false => Ok(messages),
    }
}

/// The names that the file itself gives to variables, which may be any texts.
fn declared_names(file: &Json) -> BTreeSet<&str> {
    let listed = file.get("variables").and_then(fields_of).into_iter().flatten().map(|(name, _)| name);
    let cases = file.get("testData").and_then(Json::as_array).into_iter().flatten();
    let tested = cases.filter_map(|case| case.get("variables").unwrap_or(case).as_object());
    listed.chain(tested.flat_map(|case| case.keys().map(String::as_str))).collect()
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
    let mut schema = file.get("variables").and_then(|fields| schema_of(fields, "variables", left_out));
    for case in
        file.get("testData").and_then(Json::as_array).into_iter().flatten().filter_map(Json::as_object)
    {
        let mut values = case.get("variables").and_then(Json::as_object).unwrap_or(case).clone();
        if values.shift_remove("expected").is_some() && !left_out.iter().any(|name| name == EXPECTED) {
            left_out.push(EXPECTED.to_owned());
        }
        add_examples(&mut schema, &values, "testData[]", left_out);
    }
    document.extend(schema.map(|schema| ("parameters".to_owned(), schema)));
}

const EXPECTED: &str = "testData[].expected";

/// The format of the answer: `returns`, and what an OpenAI-compatible API is told.
fn add_format(
    file: &Json,
    document: &mut Map<String, Json>,
    left_out: &mut Vec<String>,
) -> Result<(), Refusal> {
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
