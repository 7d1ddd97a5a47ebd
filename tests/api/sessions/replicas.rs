//! Several processes that share a store: a session is worked on by one of them at a time, and all of them know how it goes.

use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::Duration;

use futures_util::StreamExt;
use redis::Commands;
use serde_json::{Value as Json, json};

use super::lasting::{
    HANG, SLOW, assert_gone, assert_state, goes_on, model, output, output_meanwhile, service, shown, started,
};
use support::app::TestApp;
use support::redis::RedisServer;
use support::upstream::{self, Act, Upstream, completion};

/// Two services of one model over one store.
async fn two() -> (TestApp, TestApp, Upstream, RedisServer) {
    let (model, redis) = (model().await, RedisServer::start());
    let one = service(&model, &redis.url(), |_| {}).await;
    let other = service(&model, &redis.url(), |_| {}).await;
    (one, other, model, redis)
}

#[tokio::test]
async fn a_session_that_is_started_at_one_replica_goes_on_at_another() {
    let (one, other, model, _redis) = two().await;
    let id = started(&one).await;
    goes_on(&other, &id, 2).await;
    goes_on(&one, &id, 3).await;
    goes_on(&other, &id, 4).await;
    let at_one = shown(&one, &id).await.body;
    assert_eq!(at_one, shown(&other, &id).await.body);
    assert_eq!(at_one["pending"]["command"], "echo 4");
    // All that was said before, at whichever replica, is sent again.
    let (said, sent) = (at_one["messages"].as_array().unwrap(), model.seen().last().unwrap().json());
    assert_eq!(sent["messages"].as_array().unwrap()[..], said[..said.len() - 1]);
}

#[tokio::test]
async fn of_two_events_at_once_one_wins_and_the_model_is_asked_once() {
    let (one, other, model, _redis) = two().await;
    let id = started(&one).await;
    for round in 1..=3 {
        let both = [output_meanwhile(&one, &id, SLOW), output_meanwhile(&other, &id, SLOW)];
        let mut answers = Vec::new();
        for answer in both {
            answers.push(answer.await.unwrap());
        }
        answers.sort_by_key(|answer| answer.status);
        assert_eq!((answers[0].status, &answers[0].body["step"]), (200, &json!(round + 1)), "{answers:?}");
        assert_state(&answers[1], "thinking");
        assert_eq!(model.seen().len(), round + 1);
    }
    assert_eq!(shown(&one, &id).await.body["messages"].as_array().unwrap().len(), 1 + 2 * 4);
}

#[tokio::test]
async fn a_session_that_is_ended_at_one_replica_leaves_the_model_that_another_one_asks() {
    let (one, other, model, _redis) = two().await;
    let id = started(&one).await;
    let path = format!("/api/sessions/{id}");
    let event = output_meanwhile(&one, &id, HANG);
    model.arrived(2).await;
    assert_eq!(shown(&other, &id).await.body["state"], "thinking");
    assert_eq!(other.delete(&path).await.status, 204);
    model.abandoned(1).await;
    assert_state(&event.await.unwrap(), "cancelled");
    for app in [&one, &other] {
        let session = shown(app, &id).await.body;
        assert_eq!((&session["state"], &session["step"]), (&json!("cancelled"), &json!(1)));
        assert_state(&output(app, &id, "x").await, "cancelled");
    }
    assert_eq!(one.delete(&path).await.status, 204);
    assert_gone(&shown(&one, &id).await);
    assert_gone(&shown(&other, &id).await);
}

/// The events of a stream that ends: their names and their data.
fn events(text: &str) -> Vec<(String, Json)> {
    let field =
        |event: &str, name: &str| event.lines().find_map(|line| line.strip_prefix(name)).map(str::to_owned);
    let events = text.split("\n\n").filter_map(|one| Some((field(one, "event: ")?, field(one, "data: ")?)));
    events.map(|(name, data)| (name, serde_json::from_str(&data).unwrap())).collect()
}

#[tokio::test]
async fn whoever_watches_at_one_replica_sees_what_happens_at_another() {
    let (one, other, _model, _redis) = two().await;
    let id = started(&one).await;
    let watching = other.request("GET", &format!("/api/sessions/{id}/stream")).send().await.unwrap();
    for step in 2..6 {
        goes_on(&one, &id, step).await;
    }
    goes_on(&other, &id, 6).await;
    goes_on(&one, &id, 7).await;
    assert_eq!(one.delete(&format!("/api/sessions/{id}")).await.status, 204);
    let seen = events(&watching.text().await.unwrap());
    let commands = seen.iter().filter(|(name, _)| name == "directive").map(|(_, data)| &data["command"]);
    let commands: Vec<&Json> = commands.collect();
    assert_eq!(commands, ["echo 2", "echo 3", "echo 4", "echo 5", "echo 6", "echo 7"]);
    assert_eq!(seen.last(), Some(&("end".to_owned(), json!({"state": "cancelled", "step": 7}))));
}

#[tokio::test]
async fn no_change_of_a_prompt_or_a_setting_touches_a_session() {
    let (model, redis) = (model().await, RedisServer::start());
    let one = service(&model, &redis.url(), |skills| skills.model = Some("first".into())).await;
    let id = started(&one).await;
    one.put_prompt("skills.system", json!({"prompt": "Be brief."})).await;
    let other = service(&model, &redis.url(), |skills| {
        skills.model = Some("second".into());
        skills.temperature = 0.9;
        skills.max_tokens = 7;
        skills.max_steps = 1;
    })
    .await;
    goes_on(&one, &id, 2).await;
    goes_on(&other, &id, 3).await;
    let requests: Vec<Json> = model.seen().iter().map(|seen| seen.json()).collect();
    for request in &requests {
        for member in ["model", "temperature", "max_tokens"] {
            assert_eq!(request[member], requests[0][member]);
        }
        assert_eq!(request["messages"][0], requests[0]["messages"][0]);
    }
    assert_eq!(shown(&other, &id).await.body["max_steps"], 100);
    // Whereas a new session has all that is new.
    started(&other).await;
    let request = model.seen().last().unwrap().json();
    let system = request["messages"][0]["content"].as_str().unwrap();
    assert!(system.starts_with("Be brief.\n\n--- Active Skill: "), "{system}");
    assert_eq!((&request["model"], &request["max_tokens"]), (&json!("second"), &json!(7)));
}

#[tokio::test]
async fn an_event_whose_lease_is_over_goes_on_if_nobody_else_has_the_session() {
    let asked = AtomicUsize::new(0);
    let model = Upstream::start(move |_| {
        let says = ["[CMD] ls", "", "[CMD] pwd"][asked.fetch_add(1, Ordering::Relaxed)];
        let mut acts = vec![Act::Wait(Duration::from_secs(u64::from(says.is_empty())))];
        acts.extend(upstream::json(200, completion(says)));
        acts
    })
    .await;
    let redis = RedisServer::start();
    let app = service(&model, &redis.url(), |_| {}).await;
    let id = started(&app).await;
    let event = output_meanwhile(&app, &id, "a");
    // The model's answer is empty, so that it is asked again.
    model.arrived(2).await;
    let gone: usize = redis.connection().del(format!("shenma:session-leases:{id}")).unwrap();
    assert_eq!(gone, 1);
    let answer = event.await.unwrap();
    assert_eq!((answer.status, &answer.body["directives"][0]["command"]), (200, &json!("pwd")), "{answer:?}");
    assert_eq!(redis.connection().keys::<_, Vec<String>>("*session-leases*").unwrap(), [""; 0]);
}

#[tokio::test]
async fn whoever_answers_as_soon_as_it_is_told_is_not_refused() {
    let (app, _other, _model, _redis) = two().await;
    let id = started(&app).await;
    let watching = app.request("GET", &format!("/api/sessions/{id}/stream")).send().await.unwrap();
    let (mut pieces, mut text, mut events) = (watching.bytes_stream(), String::new(), Vec::new());
    while events.len() < 30 {
        text.push_str(std::str::from_utf8(&pieces.next().await.unwrap().unwrap()).unwrap());
        if text.matches(r#""state":"waiting_cmd""#).count() > events.len() {
            events.push(output_meanwhile(&app, &id, "x"));
        }
    }
    for event in events {
        assert_eq!(event.await.unwrap().status, 200);
    }
}
