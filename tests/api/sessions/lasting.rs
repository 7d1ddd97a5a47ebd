//! What lasts: sessions that outlive their process, their store's bad hours and each other, and those whose time is over.

use std::path::Path;
use std::time::Duration;

use ai_prompt_shell::settings::{Settings, Skills};
use reqwest::{RequestBuilder, Response};
use serde_json::json;
use tokio::task::{JoinHandle, JoinSet};

use crate::chat::llm;
use support::app::{Answer, TestApp};
use support::process::Service;
use support::redis::RedisServer;
use support::upstream::{self, Act, Seen, Upstream, completion, delta, sse};

/// The output of a command that the model thinks about for longer than a second.
pub const SLOW: &str = "slow";

/// The output of a command that the model never answers.
pub const HANG: &str = "hang";

/// A model whose command of step N is `echo N`.
pub async fn model() -> Upstream {
    Upstream::start(|seen: &Seen| {
        let body = seen.json();
        let messages = body["messages"].as_array().unwrap();
        let last = messages.last().unwrap()["content"].as_str().unwrap();
        let says = format!("[CMD] echo {}", messages.len() / 2);
        let mut acts = match last {
            last if last.contains(HANG) => vec![Act::Hang],
            last if last.contains(SLOW) => vec![Act::Wait(Duration::from_millis(1_500))],
            _ => Vec::new(),
        };
        acts.extend(match body["stream"] == true {
            true => sse(&[delta(&says), upstream::event("[DONE]")]),
            false => upstream::json(200, completion(&says)),
        });
        acts
    })
    .await
}

/// A service of this model over the store at an address.
pub async fn service(model: &Upstream, store: &str, change: impl FnOnce(&mut Skills)) -> TestApp {
    TestApp::start_with(|settings: &mut Settings| {
        settings.llm = llm(&model.base);
        settings.llm.default_model = Some("m".into());
        settings.store.url = store.to_owned();
        change(&mut settings.skills);
    })
    .await
}

/// The same as a process of its own.
async fn process(model: &Upstream, store: &str, timeout_ms: u64) -> Service {
    let llm = format!("[llm]\nbase_url = {:?}\ndefault_model = \"m\"\n", model.base);
    let skills = format!("[skills]\ntimeout_ms = {timeout_ms}\n");
    Service::start(&format!("{llm}[store]\nurl = {store:?}\n{skills}")).await
}

/// The address of an embedded store in a folder.
fn embedded(folder: &Path) -> String {
    format!("embedded:{}", folder.display())
}

/// Starts a session; gives its id.
pub async fn started(app: &TestApp) -> String {
    let answer = app.post("/api/sessions", json!({"skill": {"content": "---\nname: s\n---\nDo it."}})).await;
    assert_eq!((answer.status, &answer.body["state"]), (201, &json!("waiting_cmd")), "{answer:?}");
    answer.body["session_id"].as_str().unwrap().to_owned()
}

/// The request that tells what a command has written.
fn output_request(app: &TestApp, id: &str, stdout: &str) -> RequestBuilder {
    let event = json!({"type": "command_result", "stdout": stdout, "exit_code": 0});
    app.request("POST", &format!("/api/sessions/{id}/events")).json(&event)
}

/// Tells what a command has written.
pub async fn output(app: &TestApp, id: &str, stdout: &str) -> Answer {
    app.send(output_request(app, id, stdout)).await
}

/// An event whose answer never comes.
pub fn hanging(app: &TestApp, id: &str) -> JoinHandle<reqwest::Result<Response>> {
    tokio::spawn(output_request(app, id, HANG).send())
}

/// The same, while something else happens.
pub fn output_meanwhile(app: &TestApp, id: &str, stdout: &'static str) -> JoinHandle<Answer> {
    let (other, id) = (TestApp::at(&app.base), id.to_owned());
    tokio::spawn(async move { output(&other, &id, stdout).await })
}

/// Asserts that the session takes an output and is in this step then.
pub async fn goes_on(app: &TestApp, id: &str, step: usize) {
    let answer = output(app, id, &format!("output {}", step - 1)).await;
    assert_eq!(answer.status, 200, "{answer:?}");
    let expected = json!({"state": "waiting_cmd", "step": step, "directives": [
        {"type": "CMD", "content": format!("[CMD] echo {step}"), "command": format!("echo {step}")}]});
    assert_eq!(answer.body, expected);
}

/// The session as it is shown, or the error.
pub async fn shown(app: &TestApp, id: &str) -> Answer {
    app.get(&format!("/api/sessions/{id}")).await
}

/// Asserts that an event was refused because of the session's state.
#[track_caller]
pub fn assert_state(answer: &Answer, state: &str) {
    answer.assert_error(409, "conflict_error", "session_state");
    assert_eq!(answer.error().3["state"], state, "{answer:?}");
}

#[track_caller]
pub fn assert_gone(answer: &Answer) {
    answer.assert_error(404, "not_found_error", "session_not_found");
}

/// The ids of a list of sessions.
async fn listed(app: &TestApp, query: &str) -> Vec<String> {
    let answer = app.get(&format!("/api/sessions{query}")).await;
    assert_eq!(answer.status, 200, "{answer:?}");
    let sessions = answer.body.as_array().unwrap().iter();
    sessions.map(|session| session["session_id"].as_str().unwrap().to_owned()).collect()
}

/// Asserts that a session goes on after its process was killed and another one was started.
async fn survives_its_process(store: &str) {
    let model = model().await;
    let first = process(&model, store, 30_000).await;
    let id = started(first.client()).await;
    goes_on(first.client(), &id, 2).await;
    let before = shown(first.client(), &id).await.body;
    first.stop();
    let second = process(&model, store, 30_000).await;
    assert_eq!(shown(second.client(), &id).await.body, before);
    goes_on(second.client(), &id, 3).await;
    let sent = model.seen().last().unwrap().json();
    let (kept, sent) = (before["messages"].as_array().unwrap(), sent["messages"].as_array().unwrap());
    assert_eq!(sent[..kept.len()], kept[..]);
}

#[tokio::test]
async fn a_session_of_an_embedded_store_goes_on_after_a_kill_and_a_restart() {
    let folder = tempfile::tempdir().unwrap();
    survives_its_process(&embedded(folder.path())).await;
}

#[tokio::test]
async fn a_session_in_redis_goes_on_after_a_kill_and_a_restart() {
    let redis = RedisServer::start();
    survives_its_process(&redis.url()).await;
}

#[tokio::test]
async fn a_session_of_an_embedded_store_whose_process_died_while_the_model_was_thinking_goes_on_at_once() {
    let (model, folder) = (model().await, tempfile::tempdir().unwrap());
    let store = embedded(folder.path());
    let first = process(&model, &store, 600_000).await;
    let id = started(first.client()).await;
    let lost = hanging(first.client(), &id);
    model.arrived(2).await;
    assert_eq!(shown(first.client(), &id).await.body["state"], "thinking");
    first.stop();
    assert!(lost.await.unwrap().is_err(), "nobody answers");
    let second = process(&model, &store, 600_000).await;
    assert_eq!(shown(second.client(), &id).await.body["state"], "waiting_cmd");
    goes_on(second.client(), &id, 2).await;
}

#[tokio::test]
async fn a_session_in_redis_whose_process_died_while_the_model_was_thinking_goes_on_after_the_lease() {
    let (model, redis) = (model().await, RedisServer::start());
    let first = process(&model, &redis.url(), 6_000).await;
    let second = service(&model, &redis.url(), |_| {}).await;
    let id = started(first.client()).await;
    let lost = hanging(first.client(), &id);
    model.arrived(2).await;
    first.stop();
    assert!(lost.await.unwrap().is_err(), "nobody answers");
    assert_state(&output(&second, &id, "again").await, "thinking");
    assert_eq!(shown(&second, &id).await.body["state"], "thinking");
    assert_eq!(listed(&second, "?state=thinking").await, std::slice::from_ref(&id));
    second.eventually(&format!("/api/sessions/{id}"), |answer| answer.body["state"] == "waiting_cmd").await;
    goes_on(&second, &id, 2).await;
    assert_eq!(model.seen().len(), 3);
}

#[tokio::test]
async fn an_event_fails_while_the_store_is_away_and_the_session_goes_on_when_it_is_back() {
    let (model, redis) = (model().await, RedisServer::start());
    let app = service(&model, &redis.url(), |skills| skills.timeout_ms = 8_000).await;
    let id = started(&app).await;
    let event = output_meanwhile(&app, &id, SLOW);
    model.arrived(2).await;
    redis.pause();
    event.await.unwrap().assert_error(503, "unavailable_error", "store_unavailable");
    output(&app, &id, "x").await.assert_error(503, "unavailable_error", "store_unavailable");
    shown(&app, &id).await.assert_error(503, "unavailable_error", "store_unavailable");
    redis.go_on();
    // The lease that could not be given back may last for its time.
    app.eventually(&format!("/api/sessions/{id}"), |answer| answer.body["state"] == "waiting_cmd").await;
    assert_eq!(shown(&app, &id).await.body["step"], 1);
    goes_on(&app, &id, 2).await;
}

#[tokio::test]
async fn what_cannot_be_read_under_the_key_of_a_session_has_failed_and_can_be_removed() {
    let (model, redis) = (model().await, RedisServer::start());
    let app = service(&model, &redis.url(), |_| {}).await;
    let id = "0123456789abcdef0123456789abcdef";
    let key = format!("shenma:sessions:{id}");
    for garbage in [
        redis::cmd("SET").arg(&key).arg("garbage"),
        redis::cmd("SET").arg(&key).arg(r#"{"head": {"state": "idle"}}"#),
        redis::cmd("SET").arg(&key).arg(b"\xff\x00".as_slice()),
        redis::cmd("RPUSH").arg(&key).arg("x"),
    ] {
        let path = format!("/api/sessions/{id}");
        garbage.exec(&mut redis.connection()).unwrap();
        let answer = shown(&app, id).await;
        assert_eq!((answer.status, &answer.body["state"]), (200, &json!("failed")), "{answer:?}");
        assert_eq!(listed(&app, "?state=failed").await, [id]);
        assert_state(&output(&app, id, "x").await, "failed");
        let stream = app.request("GET", &format!("{path}/stream")).send().await.unwrap();
        assert!(stream.text().await.unwrap().contains(r#""state":"failed""#));
        assert_eq!(app.delete(&path).await.status, 204);
        assert_gone(&shown(&app, id).await);
        assert_eq!(listed(&app, "").await, [""; 0]);
    }
}

/// Asserts that sessions live for four seconds after their last event, and those that have ended for one.
async fn lives_for_its_time(app: &TestApp) {
    let ended = started(app).await;
    assert_eq!(app.delete(&format!("/api/sessions/{ended}")).await.status, 204);
    let id = started(app).await;
    let watching = app.request("GET", &format!("/api/sessions/{id}/stream")).send().await.unwrap();
    for step in 2..5 {
        tokio::time::sleep(Duration::from_millis(1_500)).await;
        goes_on(app, &id, step).await;
    }
    assert_gone(&shown(app, &ended).await);
    assert_eq!(listed(app, "").await, std::slice::from_ref(&id));
    assert_gone(&app.eventually(&format!("/api/sessions/{id}"), |answer| answer.status != 200).await);
    assert_eq!(listed(app, "").await, [""; 0]);
    assert_gone(&output(app, &id, "x").await);
    assert_gone(&app.delete(&format!("/api/sessions/{id}")).await);
    assert_gone(&app.get(&format!("/api/sessions/{id}/stream")).await);
    let rest = tokio::time::timeout(Duration::from_secs(30), watching.text()).await;
    assert!(rest.expect("the stream ends").unwrap().contains("echo 4"));
}

#[tokio::test]
async fn a_session_does_not_expire_while_the_model_is_thinking() {
    let (model, redis) = (model().await, RedisServer::start());
    for store in ["memory:", &redis.url()] {
        let app = service(&model, store, |skills| skills.ttl_waiting_seconds = 1).await;
        let id = started(&app).await;
        let answer = output(&app, &id, SLOW).await;
        assert_eq!((answer.status, &answer.body["step"]), (200, &json!(2)), "{answer:?}");
    }
}

fn short_lives(skills: &mut Skills) {
    skills.ttl_seconds = 1;
    skills.ttl_waiting_seconds = 4;
}

#[tokio::test]
async fn sessions_of_an_embedded_store_live_for_their_time_after_the_last_event() {
    let model = model().await;
    lives_for_its_time(&service(&model, "memory:", short_lives).await).await;
}

#[tokio::test]
async fn sessions_in_redis_live_for_their_time_after_the_last_event() {
    let (model, redis) = (model().await, RedisServer::start());
    lives_for_its_time(&service(&model, &redis.url(), short_lives).await).await;
}

#[tokio::test]
async fn the_list_of_a_thousand_sessions_begins_with_the_newest() {
    const COUNT: usize = 1_000;
    let (model, redis) = (model().await, RedisServer::start());
    let app = service(&model, &redis.url(), |_| {}).await;
    let mut others = JoinSet::new();
    let mut oldest = Vec::new();
    for _ in 0..5 {
        oldest.insert(0, started(&app).await);
        tokio::time::sleep(Duration::from_millis(5)).await;
    }
    for _ in 0..10 {
        let app = TestApp::at(&app.base);
        others.spawn(async move {
            for _ in 0..(COUNT - 10) / 10 {
                started(&app).await;
            }
        });
    }
    others.join_all().await;
    let mut newest = Vec::new();
    for _ in 0..5 {
        tokio::time::sleep(Duration::from_millis(5)).await;
        newest.insert(0, started(&app).await);
    }
    let ids = listed(&app, "").await;
    assert_eq!((ids.len(), &ids[..5], &ids[COUNT - 5..]), (COUNT, &newest[..], &oldest[..]));
    assert_eq!(listed(&app, "?kind=skill").await, ids);
    for id in &ids[..3] {
        app.delete(&format!("/api/sessions/{id}")).await;
    }
    assert_eq!(listed(&app, "?state=cancelled").await, ids[..3]);
    assert_eq!(listed(&app, "?state=waiting_cmd&kind=skill").await, ids[3..]);
    assert_eq!(listed(&app, "?state=done").await, [""; 0]);
    // More than a thousand are not listed: the oldest ones are left out.
    let last = started(&app).await;
    let ids = listed(&app, "").await;
    assert_eq!((ids.len(), &ids[0], &ids[COUNT - 1]), (COUNT, &last, &oldest[3]));
}
