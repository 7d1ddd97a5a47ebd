//! Requests for a value that fits a schema of 30 members, beside plain chats of the same service and the same upstream, in turns.

use std::path::{Path, PathBuf};

use serde_json::{Value as Json, json};

use crate::completions::VALUE;
use crate::connection::Connection;
use crate::model_server::ModelServer;
use crate::options::Options;
use crate::process::Server;
use crate::{Outcome, wrk};
use ai_prompt_benches::statistics::{median, ratios};

/// How many members the value has.
const MEMBERS: usize = 30;

/// What is asked for, the chat that the others are compared with first; each with the body for a request to a path.
const KINDS: [(&str, &str); 4] = [
    ("plain chat", "/v1/chat/completions"),
    ("request, json_schema", "/api/requests"),
    ("request, json_schema, no idea kept", "/api/requests?save=false"),
    ("request, tools", "/api/requests"),
];

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
    let (folder, bodies) = (tempfile::tempdir()?, tempfile::tempdir()?);
    let settings = folder.path().join("settings.toml");
    std::fs::write(&settings, settings_for(&models.base))?;
    let flags = ["--config", settings.to_str().ok_or("the path is no text")?];
    let ours = Server::service(None, None, &flags).await?;
    let mut targets: Vec<(String, PathBuf)> = Vec::new();
    for (number, (_, path)) in KINDS.into_iter().enumerate() {
        let (url, body) = (ours.url(path), body(number).to_string());
        verify(&url, body.as_bytes())?;
        targets.push((url, written(bodies.path(), number, &body)?));
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

fn body(kind: usize) -> Json {
    let messages = json!([
        {"role": "system", "content": "You read tickets."},
        {"role": "user", "content": "The router does not come back after the update. ".repeat(20)},
    ]);
    let model = if kind == 3 { format!("{VALUE}-by-tools") } else { VALUE.to_owned() };
    match kind {
        0 => json!({"model": model, "messages": messages}),
        _ => json!({"model": model, "context": messages, "schema": schema()}),
    }
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

fn written(folder: &Path, number: usize, body: &str) -> Outcome<PathBuf> {
    let file = folder.join(format!("{number}.json"));
    std::fs::write(&file, body)?;
    Ok(file)
}

fn print_table(rows: &[Row]) {
    println!(
        "a schema of {MEMBERS} members: requests per second, 64 connections, medians; ratios to plain chats (lowest..highest of a round), processor time of a request"
    );
    let [plain, ..] = rows else { return };
    for ((name, _), row) in KINDS.iter().zip(rows) {
        let (figures, ratios) = (median(&row.per_second), ratios(&row.per_second, &plain.per_second));
        println!("{name:44} {figures:7.0} {ratios:>20} {:7.1} us", median(&row.cpu));
    }
}
