//! The cases over HTTP.

use std::collections::HashMap;

use ai_prompt_shell::settings::Module;
use serde_json::{Map, Value as Json, json};
use tokio::sync::Mutex;

use super::cases::{self, Case, Told, steps_of, told_in};
use super::{Lane, differ, differ_told, in_lanes};
use crate::chat::llm;
use support::app::TestApp;

/// The services, by the lane and the settings of a case.
#[derive(Default)]
struct Apps(Mutex<HashMap<String, TestApp>>);

impl Apps {
    /// A service with the settings of a case.
    async fn with<T>(&self, lane: &Lane, case: &Case, play: impl AsyncFnOnce(&TestApp) -> T) -> T {
        let settings = case.settings();
        let key = format!("{} {}", lane.model.base, Json::Object(settings.clone()));
        let known = self.0.lock().await.remove(&key);
        let app = match known {
            Some(app) => app,
            None => start(lane, settings).await,
        };
        let played = play(&app).await;
        self.0.lock().await.insert(key, app);
        played
    }
}

async fn start(lane: &Lane, overrides: Map<String, Json>) -> TestApp {
    TestApp::start_with(|settings| {
        settings.packages.builtin = true;
        settings.llm = llm(&lane.model.base);
        settings.agents.0.insert("simple-agent".to_owned(), overrides.into());
        for (name, service) in [("rag", &lane.rag), ("haiku", &lane.haiku)] {
            let module = Module { url: Some(service.url.clone()), ..Module::default() };
            settings.tools.modules.insert(name.to_owned(), module);
        }
    })
    .await
}

#[actix_web::test]
async fn every_case_of_the_simple_agent_over_http() {
    let cases = cases::all();
    assert!(cases.len() >= 60, "there are {} cases", cases.len());
    let apps = Apps::default();
    let faults =
        in_lanes(cases, async |lane, case| apps.with(lane, case, async |app| play(app, case).await).await)
            .await;
    assert!(faults.is_empty(), "{}", faults.join("\n"));
}

async fn play(app: &TestApp, case: &Case) -> Vec<String> {
    let started = app.post("/api/agents/simple-agent/sessions", json!({"log": "lines"})).await;
    assert_eq!(started.status, 201, "{}: {started:?}", case.name);
    let session = format!("/api/sessions/{}", started.body["session_id"].as_str().unwrap());
    let log = json!([{"log": started.body["log"]}]);
    let mut faults = differ_told(&case.start(), &told(&started.body["output"], &log));
    let lines = case.turns().iter().filter(|turn| turn.get("line").is_some());
    let mut last = json!({});
    for turn in lines {
        let answer = app.post(&format!("{session}/messages"), json!({"text": turn["line"]})).await;
        faults.extend(differ("status", &200, &answer.status));
        faults.extend(differ_told(&told_in(turn), &told(&answer.body["output"], &answer.body["steps"])));
        faults.extend(differ("steps", &steps_of(turn), &steps(&answer.body["steps"])));
        last = answer.body;
    }
    let has_ended =
        case.turns().last().is_some_and(|turn| turn.get("line").is_some()) && case.exit_code().is_some();
    if has_ended {
        faults.extend(differ("state", &json!("ended"), &last["state"]));
        faults.extend(differ("exit code", &json!(case.exit_code()), &last["exit_code"]));
        let late = app.post(&format!("{session}/messages"), json!({"text": "ещё"})).await;
        faults.extend(differ("a message after the end", &409, &late.status));
    }
    let shown = app.get(&session).await.body;
    faults.extend(
        case.history().and_then(|history| differ("history", &json!(history), &shown["messages"]).pop()),
    );
    let state = if has_ended { "ended" } else { "waiting" };
    faults.extend(differ("the state at the end", &json!(state), &shown["state"]));
    faults
}

fn told(output: &Json, steps: &Json) -> Told {
    let output = output.as_array().unwrap().iter().map(|text| text.as_str().unwrap().to_owned()).collect();
    let lines =
        steps.as_array().unwrap().iter().flat_map(|step| step["log"].as_array().into_iter().flatten());
    let text = |line: &Json, member: &str| line[member].as_str().unwrap().to_owned();
    let log = lines.map(|line| {
        format!("{} [{}] {}", text(line, "level").to_uppercase(), text(line, "prefix"), text(line, "text"))
    });
    Told { output, log: log.collect() }
}

fn steps(steps: &Json) -> Vec<String> {
    let name = |step: &Json, member: &str| step[member].as_str().unwrap().to_owned();
    steps
        .as_array()
        .unwrap()
        .iter()
        .map(|step| format!("{}/{}", name(step, "step"), name(step, "outcome")))
        .collect()
}
