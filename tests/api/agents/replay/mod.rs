//! Every case of the simple agent's session files for real: over HTTP and on the command line, with a scripted model and the services
//! that ship with the agent.

mod cases;
mod command;
mod http;
mod services;

use std::collections::{BTreeSet, VecDeque};
use std::sync::{Arc, Mutex, PoisonError};

use serde_json::{Value as Json, json};

use cases::{Asked, Case, Told, all_match};
pub use services::Service;
use support::upstream::{Act, Seen, Upstream, json as reply_json};

/// How many cases are played at the same time.
const LANES: usize = 3;

type Script = Arc<Mutex<VecDeque<Vec<Act>>>>;

/// A model and the two services, which play one case after the other.
struct Lane {
    model: Upstream,
    script: Script,
    rag: Service,
    haiku: Service,
}

impl Lane {
    async fn new() -> Lane {
        let script = Script::default();
        let answers = script.clone();
        let model = Upstream::start(move |_| {
            let next = answers.lock().unwrap_or_else(PoisonError::into_inner).pop_front();
            next.unwrap_or_else(|| {
                reply_json(400, json!({"error": {"message": "there is no more in the script"}}))
            })
        });
        let (model, rag, haiku) = tokio::join!(model, Service::start("rag"), Service::start("haiku"));
        Lane { model, script, rag, haiku }
    }

    /// Has the model and the services answer as a case says.
    async fn prepare(&self, case: &Case) -> usize {
        *self.script.lock().unwrap() = case.model().into();
        for (name, service) in [("rag", &self.rag), ("haiku", &self.haiku)] {
            service.script(&case.script(name)).await;
        }
        self.model.seen().len()
    }

    /// What the model and the services were asked, and should not have been, or the other way round; `before` requests are older.
    async fn faults(&self, case: &Case, before: usize) -> Vec<String> {
        let asked = self.model.seen().split_off(before);
        let mut faults =
            differ("what the model is sent", &case.asked(), &asked.iter().map(read).collect::<Vec<_>>());
        faults.extend(asked.iter().filter_map(|seen| unusual(&seen.json())));
        for (name, service) in [("rag", &self.rag), ("haiku", &self.haiku)] {
            let (seen, left) = service.script(&[]).await;
            faults.extend(differ(name, &case.called(name), &seen));
            faults.extend((left > 0).then(|| format!("{left} answers of {name} are left")));
        }
        faults
    }
}

/// A request to the model, as cases tell it.
fn read(seen: &Seen) -> Asked {
    let body = seen.json();
    let messages = body["messages"].as_array().unwrap();
    Asked { messages: messages[1..].to_vec(), is_choice: body.get("response_format").is_none() }
}

/// What is wrong with a request to the model, whatever the case.
fn unusual(body: &Json) -> Option<String> {
    let names: Vec<&str> = body["tools"]
        .as_array()
        .into_iter()
        .flatten()
        .filter_map(|tool| tool["function"]["name"].as_str())
        .collect();
    let offered = body["tools"].to_string();
    let is_good = body["model"] == "GigaChat-2-Max"
        && body["messages"][0]["role"] == "system"
        && (body.get("response_format").is_some() || names == ["rag_search", "generate_haiku"])
        && !offered.contains("top_k");
    (!is_good).then(|| format!("an unusual request: {body}"))
}

fn differ<T: PartialEq + std::fmt::Debug>(what: &str, expected: &T, found: &T) -> Vec<String> {
    let line = || format!("{what}: expected {expected:?}, got {found:?}");
    (expected != found).then(line).into_iter().collect()
}

/// How texts and lines of the log differ.
fn differ_told(expected: &Told, found: &Told) -> Vec<String> {
    let mut faults = differ("output", &expected.output, &found.output);
    if !all_match(&expected.log, &found.log) {
        faults.push(format!("log: expected {:?}, got {:?}", expected.log, found.log));
    }
    faults
}

/// Plays cases in lanes. Gives everything that is not as it should be.
async fn in_lanes(cases: Vec<Case>, play: impl AsyncFn(&Lane, &Case) -> Vec<String>) -> Vec<String> {
    let waiting = Mutex::new(VecDeque::from(cases));
    let lane = async || {
        let lane = Lane::new().await;
        let mut faults = Vec::new();
        loop {
            let next = waiting.lock().unwrap().pop_front();
            let Some(case) = next else { return faults };
            let before = lane.prepare(&case).await;
            let mut found = play(&lane, &case).await;
            found.extend(lane.faults(&case, before).await);
            faults.extend(found.into_iter().map(|fault| format!("{}: {fault}", case.name)));
        }
    };
    let lanes = futures_util::future::join_all((0..LANES).map(|_| lane())).await;
    lanes.concat()
}

#[test]
fn the_cases_reach_every_outcome_of_the_document() {
    let package = std::path::Path::new(env!("CARGO_MANIFEST_DIR")).join("extensions/simple-agent");
    let read =
        |path: &std::path::Path| -> Json { serde_json::from_slice(&std::fs::read(path).unwrap()).unwrap() };
    let document = read(&package.join("agents/simple-agent.json"));
    let names = |json: &Json| {
        json.as_object().into_iter().flatten().map(|(name, _)| name.clone()).collect::<Vec<_>>()
    };
    let mut outcomes = BTreeSet::from(["valid/ok".to_owned(), "exec/done".to_owned()]);
    for (step, texts) in document["steps"].as_object().unwrap() {
        outcomes.extend(names(&texts["outcomes"]).iter().map(|name| format!("{step}/{name}")));
    }
    for tool in document["tools"].as_array().unwrap() {
        outcomes.extend(names(&tool["failure"]).iter().map(|name| format!("exec/{name}")));
        let rules = tool["checks"].as_array().unwrap().iter().flat_map(names);
        let rules = rules.filter(|name| ["missing", "empty", "too_long"].contains(&name.as_str()));
        outcomes.extend(rules.map(|name| format!("valid/{name}")));
    }
    // What every session begins with is no step of a turn.
    outcomes.remove("main/start");
    let mut reached = BTreeSet::new();
    for file in std::fs::read_dir(package.join("sessions")).unwrap() {
        let cases = read(&file.unwrap().path());
        let turns = cases.as_array().unwrap().iter().flat_map(|case| case["turns"].as_array().unwrap());
        let steps = turns.flat_map(|turn| turn["steps"].as_array().into_iter().flatten());
        reached.extend(steps.map(|step| step.as_str().unwrap().to_owned()));
    }
    let missing: Vec<&String> = outcomes.difference(&reached).collect();
    assert!(outcomes.len() > 20 && missing.is_empty(), "{missing:?}");
}
