//! Requests for a value that fits a schema of 30 members, beside chats through the same service to the same upstream, in turns.

use std::path::PathBuf;

use serde_json::{Value as Json, json};

use crate::completions::VALUE;
use crate::connection::Connection;
use crate::model_server::ModelServer;
use crate::options::Options;
use crate::process::Server;
use crate::{Outcome, workload, wrk};
use ai_prompt_benches::statistics::{median, ratios};

/// How many members the value has.
const MEMBERS: usize = 30;

/// One kind of request.
struct Kind {
    name: &'static str,
    path: &'static str,
    asked: Asked,
    /// The kinds of chats that it is compared with, by their places: a plain one, and one that carries the same schema.
    chats: [usize; 2],
}

/// What a body asks for.
#[derive(Clone, Copy, PartialEq)]
enum Asked {
    /// A chat.
    Chat,
    /// A chat that carries the schema, which is only passed on.
    ChatWithSchema,
    /// A value by `response_format`.
    Value,
    /// A value by a function.
    ValueByTools,
    /// A value, each time with another context, so that each makes a new idea.
    NewValue,
    /// A chat with a rendered prompt.
    PromptChat,
    /// The same, which carries the schema.
    PromptChatWithSchema,
    /// The value that a prompt returns.
    PromptValue,
}

/// The places of the chats that requests with a context are compared with, and of those with the rendered prompt.
const CHATS: [usize; 2] = [0, 1];
const PROMPT_CHATS: [usize; 2] = [6, 7];

/// Where chats go, and where those with the prompt.
const CHAT: &str = "/v1/chat/completions";
const PROMPT_CHAT: &str = "/api/chat/prompts/bench.value";

const KINDS: [Kind; 10] = [
    kind("chat", CHAT, Asked::Chat, CHATS),
    kind("chat with the schema", CHAT, Asked::ChatWithSchema, CHATS),
    kind("request", "/api/requests", Asked::Value, CHATS),
    kind("request, save=false", "/api/requests?save=false", Asked::Value, CHATS),
    kind("request, by tools", "/api/requests", Asked::ValueByTools, CHATS),
    kind("request, new ideas", "/api/requests", Asked::NewValue, CHATS),
    kind("prompt, chat", PROMPT_CHAT, Asked::PromptChat, PROMPT_CHATS),
    kind("prompt, chat with the schema", PROMPT_CHAT, Asked::PromptChatWithSchema, PROMPT_CHATS),
    kind("prompt, request", "/api/requests/prompts/bench.value", Asked::PromptValue, PROMPT_CHATS),
    kind(
        "prompt, request, save=false",
        "/api/requests/prompts/bench.value?save=false",
        Asked::PromptValue,
        PROMPT_CHATS,
    ),
];

const fn kind(name: &'static str, path: &'static str, asked: Asked, chats: [usize; 2]) -> Kind {
    Kind { name, path, asked, chats }
}

/// What was measured of a kind.
#[derive(Default)]
struct Row {
    per_second: Vec<f64>,
    /// The processor time of the service for each request, in microseconds.
    cpu: Vec<f64>,
}

/// Measures and prints a table.
pub async fn run(options: &Options) -> Outcome {
    let models = ModelServer::start()?;
    let (folder, packages) = (tempfile::tempdir()?, tempfile::tempdir()?);
    workload::write_package(packages.path(), Some(&schema()))?;
    let settings = folder.path().join("settings.toml");
    std::fs::write(&settings, settings_for(&models.base))?;
    let flags = ["--config", settings.to_str().ok_or("the path is no text")?];
    let ours = Server::service(None, Some(packages.path()), &flags).await?;
    let mut targets: Vec<(String, PathBuf)> = Vec::new();
    for Kind { name, path, asked, .. } in &KINDS {
        let (url, body) = (ours.url(path), body(*asked)?.to_string());
        verify(&url, body.as_bytes())?;
        let file = folder.path().join(format!("{name}.json"));
        std::fs::write(&file, body)?;
        targets.push((url, file));
    }
    let mut rows: Vec<Row> = KINDS.iter().map(|_| Row::default()).collect();
    for round in 1..=options.rounds(7) {
        eprintln!("structured: round {round}");
        for at in order(round) {
            let (url, body) = &targets[at];
            let (began, duration) = (ours.cpu_time()?, options.duration(4));
            let per_second = wrk::load(url, body, duration).await?;
            let cpu = (ours.cpu_time()? - began).as_secs_f64();
            rows[at].per_second.push(per_second);
            rows[at].cpu.push(cpu * 1e6 / (per_second * duration.as_secs_f64()));
        }
    }
    print_table(&rows);
    Ok(())
}

/// Each comes as often before the others as after them.
fn order(round: usize) -> Vec<usize> {
    let order = 0..KINDS.len();
    if round.is_multiple_of(2) { order.collect() } else { order.rev().collect() }
}

fn settings_for(base_url: &str) -> String {
    format!(
        "[llm]\nbase_url = \"{base_url}\"\napi_key = \"bench\"\n\
         [[llm.models]]\nname = \"{VALUE}\"\ncapabilities = {{ json_schema = true }}\n\
         [[llm.models]]\nname = \"{VALUE}-by-tools\"\ncapabilities = {{ json_schema = false, tools = true }}\n"
    )
}

fn body(asked: Asked) -> Outcome<Json> {
    // A number in the place of the mark makes each request another one.
    let first = if asked == Asked::NewValue {
        format!("You read tickets. {}", wrk::MARK)
    } else {
        "You read tickets.".to_owned()
    };
    let messages = json!([
        {"role": "system", "content": first},
        {"role": "user", "content": "The router does not come back after the update. ".repeat(20)},
    ]);
    Ok(match asked {
        Asked::Chat => json!({"model": VALUE, "messages": messages}),
        Asked::ChatWithSchema => {
            json!({"model": VALUE, "messages": messages, "response_format": response_format()})
        }
        Asked::Value | Asked::NewValue => json!({"model": VALUE, "context": messages, "schema": schema()}),
        Asked::ValueByTools => {
            json!({"model": format!("{VALUE}-by-tools"), "context": messages, "schema": schema()})
        }
        Asked::PromptChat | Asked::PromptChatWithSchema | Asked::PromptValue => {
            let mut body = workload::body("small")?;
            body["model"] = json!(VALUE);
            if asked == Asked::PromptChatWithSchema {
                body["response_format"] = response_format();
            }
            body
        }
    })
}

fn response_format() -> Json {
    json!({"type": "json_schema", "json_schema": {"name": "response", "strict": true, "schema": schema()}})
}

fn schema() -> Json {
    let member = |number: usize| {
        let kind = match number % 3 {
            0 => json!({"type": "string", "description": "A member of the ticket."}),
            1 => json!({"type": "integer", "minimum": 0}),
            _ => json!({"type": "array", "items": {"type": "string"}}),
        };
        (format!("member_{number}"), kind)
    };
    let properties: serde_json::Map<String, Json> = (0..MEMBERS).map(member).collect();
    let required: Vec<&String> = properties.keys().collect();
    json!({"type": "object", "required": required, "additionalProperties": false, "properties": properties})
}

/// The value that the upstream answers.
pub fn value() -> Json {
    let member = |number: usize| {
        let value = match number % 3 {
            0 => json!("restart the router"),
            1 => json!(number),
            _ => json!(["a", "b"]),
        };
        (format!("member_{number}"), value)
    };
    (0..MEMBERS).map(member).collect()
}

/// Asserts that a server gives the value.
fn verify(url: &str, body: &[u8]) -> Outcome {
    let answer: Json = serde_json::from_str(&Connection::open(url, body)?.exchange()?)?;
    let of_chat = answer["choices"][0]["message"]["content"].as_str();
    let found = of_chat.map_or_else(|| Ok(answer["solution"].clone()), serde_json::from_str)?;
    match found == value() {
        true => Ok(()),
        false => Err(format!("{url} answers {answer}").into()),
    }
}

fn print_table(rows: &[Row]) {
    println!(
        "values by a schema of {MEMBERS} members, medians; ratios to plain chats and to chats that carry the schema (lowest..highest of a round)"
    );
    println!("{:30} {:>8} {:>10} {:>20} {:>20}", "", "a second", "processor", "to plain", "to carrying");
    for (Kind { name, chats, .. }, row) in KINDS.iter().zip(rows) {
        let [plain, carrying] = chats.map(|at| ratios(&row.per_second, &rows[at].per_second));
        let (per_second, cpu) = (median(&row.per_second), median(&row.cpu));
        println!("{name:30} {per_second:8.0} {cpu:7.1} us {plain:>20} {carrying:>20}");
    }
}
