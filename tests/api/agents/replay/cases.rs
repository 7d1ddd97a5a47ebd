//! The session files of the simple agent, as this test reads them: what a model and services answer, and what must come of it.

use std::path::{Path, PathBuf};

use serde_json::{Map, Value as Json, json};

use support::upstream::{Act, json as reply_json};

/// One case.
#[derive(Debug, Clone)]
pub struct Case {
    /// The file and the name.
    pub name: String,
    json: Json,
    /// What the agent says at the start, by default.
    usual_start: Json,
}

/// What must come of a turn, or of the start.
#[derive(Debug, Default, PartialEq)]
pub struct Told {
    pub output: Vec<String>,
    /// Lines of the log, in which `*` stands for any text.
    pub log: Vec<String>,
}

/// A request that a model must get.
#[derive(Debug, PartialEq)]
pub struct Asked {
    /// The messages after that of the system.
    pub messages: Vec<Json>,
    /// Whether a tool is to be chosen.
    pub is_choice: bool,
}

fn folder() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("extensions/simple-agent/sessions")
}

/// All cases of all files.
pub fn all() -> Vec<Case> {
    let mut files: Vec<PathBuf> =
        std::fs::read_dir(folder()).unwrap().map(|entry| entry.unwrap().path()).collect();
    files.sort();
    let read = |file: &PathBuf| -> Vec<(String, Json)> {
        let cases: Vec<Json> = serde_json::from_slice(&std::fs::read(file).unwrap()).unwrap();
        let topic = file.file_stem().unwrap().to_str().unwrap().to_owned();
        cases.into_iter().map(|case| (topic.clone(), case)).collect()
    };
    let cases: Vec<(String, Json)> = files.iter().flat_map(read).collect();
    let plain = |case: &&(String, Json)| case.1.get("settings").is_none() && case.1.get("start").is_some();
    let usual_start = cases.iter().find(plain).unwrap().1["start"].clone();
    let named = |(topic, json): (String, Json)| Case {
        name: format!("{topic}: {}", json["name"].as_str().unwrap()),
        json,
        usual_start: usual_start.clone(),
    };
    cases.into_iter().map(named).collect()
}

fn texts(json: &Json) -> Vec<String> {
    json.as_array().into_iter().flatten().map(|text| text.as_str().unwrap().to_owned()).collect()
}

fn told(json: &Json) -> Told {
    Told { output: texts(&json["output"]), log: texts(&json["log"]) }
}

impl Case {
    /// What overrides the settings of the agent.
    pub fn settings(&self) -> Map<String, Json> {
        self.json["settings"].as_object().cloned().unwrap_or_default()
    }

    pub fn turns(&self) -> &[Json] {
        self.json["turns"].as_array().unwrap()
    }

    /// What must come of the start.
    pub fn start(&self) -> Told {
        told(self.json.get("start").unwrap_or(&self.usual_start))
    }

    pub fn exit_code(&self) -> Option<i32> {
        self.json["exit_code"].as_i64().map(|code| code.try_into().unwrap())
    }

    /// All messages at the end: `{role, content}` each. None if the case does not say them.
    pub fn history(&self) -> Option<Vec<Json>> {
        let message = |json: &Json| {
            let (role, content) = json.as_object().unwrap().iter().next().unwrap();
            json!({"role": role, "content": content})
        };
        Some(self.json.get("history")?.as_array().unwrap().iter().map(message).collect())
    }

    /// What a model answers, one request after the other.
    pub fn model(&self) -> Vec<Vec<Act>> {
        self.turns().iter().flat_map(|turn| list(turn, "model")).map(reply).collect()
    }

    /// The requests that a model must get: by the history at that time, of which the last messages are sent.
    pub fn asked(&self) -> Vec<Asked> {
        let limit = self.settings().get("CONTEXT_HIST_LIMIT").and_then(Json::as_u64).unwrap_or(10);
        let limit = usize::try_from(limit).unwrap();
        let history = self.history().unwrap_or_else(|| self.lines());
        let (mut asked, mut at) = (Vec::new(), 0);
        for turn in self.turns() {
            let line = turn["line"].as_str().unwrap_or_default().trim();
            for (number, _) in list(turn, "model").enumerate() {
                if number == 0 {
                    let mut rest = history.iter().skip(at);
                    at += 1 + rest.position(|one| *one == json!({"role": "user", "content": line})).unwrap();
                }
                // Before a tool is chosen, the agent has said that the message is relevant.
                let so_far = &history[..at + number];
                let messages = so_far[so_far.len().saturating_sub(limit)..].to_vec();
                asked.push(Asked { messages, is_choice: number == 1 });
            }
        }
        asked
    }

    /// The lines of the user, for a case that leaves its history out because it is long.
    fn lines(&self) -> Vec<Json> {
        let lines = self.turns().iter().map(|turn| turn["line"].as_str().unwrap().trim());
        lines.map(|line| json!({"role": "user", "content": line})).collect()
    }

    /// What a service answers, one request after the other, as its script has it.
    pub fn script(&self, service: &str) -> Vec<Json> {
        self.calls(service).map(answer).collect()
    }

    /// The requests that a service must get.
    pub fn called(&self, service: &str) -> Vec<Json> {
        let seen = |call: &Json| {
            let (_, name) = call["tool"].as_str().unwrap().split_once('.').unwrap();
            json!({"path": format!("/{name}"), "body": call["arguments"]})
        };
        self.calls(service).map(seen).collect()
    }

    fn calls(&self, service: &str) -> impl Iterator<Item = &Json> {
        let calls = self.turns().iter().flat_map(|turn| list(turn, "calls"));
        calls.filter(move |call| call["tool"].as_str().unwrap().split_once('.').unwrap().0 == service)
    }
}

/// What must come of a turn.
pub fn told_in(turn: &Json) -> Told {
    told(turn)
}

/// The steps of a turn.
pub fn steps_of(turn: &Json) -> Vec<String> {
    texts(&turn["steps"])
}

fn list<'j>(turn: &'j Json, name: &str) -> impl Iterator<Item = &'j Json> {
    turn[name].as_array().into_iter().flatten()
}

/// An answer of a model on the wire.
fn reply(answer: &Json) -> Vec<Act> {
    if answer.get("close").is_some() {
        return vec![Act::Cut];
    }
    if let Some(status) = answer["status"].as_u64() {
        let message = answer["message"].as_str().unwrap_or_default();
        return reply_json(status.try_into().unwrap(), json!({"error": {"message": message}}));
    }
    if let Some(body) = answer.get("body") {
        return reply_json(200, body.clone());
    }
    let (message, usual_end) = message(answer);
    let finish_reason = answer["finish_reason"].as_str().unwrap_or(usual_end);
    let choice = json!({"index": 0, "message": message, "finish_reason": finish_reason});
    reply_json(200, json!({"object": "chat.completion", "model": "scripted", "choices": [choice]}))
}

fn message(answer: &Json) -> (Json, &'static str) {
    if let Some(calls) = answer["tool_calls"].as_array() {
        let calls: Vec<Json> = calls.iter().map(tool_call).collect();
        return (json!({"role": "assistant", "content": null, "tool_calls": calls}), "tool_calls");
    }
    if let Some(call) = answer.get("function_call") {
        return (json!({"role": "assistant", "content": "", "function_call": call}), "function_call");
    }
    match answer.get("refusal") {
        Some(refusal) => (json!({"role": "assistant", "content": null, "refusal": refusal}), "stop"),
        None => (json!({"role": "assistant", "content": answer["text"]}), "stop"),
    }
}

/// A call as OpenAI writes it: the arguments are a text.
fn tool_call(call: &Json) -> Json {
    let mut function = json!({"name": call["name"]});
    match &call["arguments"] {
        Json::Null => {}
        Json::String(text) => function["arguments"] = text.as_str().into(),
        arguments => function["arguments"] = arguments.to_string().into(),
    }
    json!({"id": "call_1", "type": "function", "function": function})
}

/// An answer of a service, as its script has it.
fn answer(call: &Json) -> Json {
    if let Some(answer) = call.get("answer") {
        return json!({"body": answer});
    }
    let mut answer = Map::new();
    answer.extend(
        ["status", "text", "close"]
            .iter()
            .filter_map(|name| Some(((*name).to_owned(), call.get(*name)?.clone()))),
    );
    let body = call.get("body");
    answer.extend(body.map(|body| (if body.is_string() { "text" } else { "body" }.to_owned(), body.clone())));
    Json::Object(answer)
}

/// Whether lines are as the patterns say.
pub fn all_match(patterns: &[String], lines: &[String]) -> bool {
    patterns.len() == lines.len() && patterns.iter().zip(lines).all(|(pattern, line)| is_like(pattern, line))
}

fn is_like(pattern: &str, line: &str) -> bool {
    match pattern.split_once('*') {
        None => pattern == line,
        Some((first, rest)) => line.strip_prefix(first).is_some_and(|line| {
            let starts = line.char_indices().map(|(at, _)| at).chain([line.len()]);
            starts.into_iter().any(|at| is_like(rest, &line[at..]))
        }),
    }
}
