//! What lasts: sessions of agents that outlive their process, and those that move between replicas.

use std::path::Path;
use std::time::Duration;

use redis::Commands;
use serde_json::json;

use super::{Script, Travel, calls, messages, output, packages, relevant, says, shown, started, steps, tell};
use crate::sessions::streams::Stream;
use support::app::TestApp;
use support::process::Service;
use support::redis::RedisServer;
use support::upstream::{Act, Upstream};

/// A service of its own with the agent, whose tools nobody calls.
async fn process(model: &Upstream, store: &str) -> Service {
    let packages = packages();
    Service::start(&format!(
        "[llm]\nbase_url = {:?}\n[store]\nurl = {store:?}\n[packages]\ndir = {packages:?}\nbuiltin = false\n",
        model.base
    ))
    .await
}

fn embedded(folder: &Path) -> String {
    format!("embedded:{}", folder.display())
}

#[tokio::test]
async fn a_session_whose_process_died_while_the_model_was_thinking_goes_on_with_the_next_message() {
    let (script, folder) = (Script::default(), tempfile::tempdir().unwrap());
    let (model, store) = (script.model().await, embedded(folder.path()));
    let first = process(&model, &store).await;
    let id = started(first.client(), "travel", json!({"variables": {"who": "Ada"}})).await;
    script.add([relevant(false), relevant(true), vec![Act::Hang]]);
    tell(first.client(), &id, json!({"text": "The weather?"})).await;
    let (other, session) = (TestApp::at(&first.client().base), id.clone());
    let lost = tokio::spawn(async move {
        other.post(&format!("/api/sessions/{session}/messages"), json!({"text": "To Oslo"})).await
    });
    model.arrived(3).await;
    assert_eq!(shown(first.client(), &id).await["state"], "thinking");
    first.stop();
    assert!(lost.await.is_err(), "nobody answers");
    let second = process(&model, &store).await;
    let app = second.client();
    let session = shown(app, &id).await;
    let said = ["user: The weather?", "assistant: I only know about journeys.", "user: To Oslo"];
    assert_eq!(
        (&session["state"], messages(&session)),
        (&json!("waiting"), said.map(str::to_owned).to_vec())
    );
    script.add([relevant(true), calls("book_seats", &json!({"city": "Oslo", "seats": 2}))]);
    let asked = tell(app, &id, json!({"text": "Two seats"})).await;
    assert_eq!(output(&asked, "waiting_confirmation").last(), Some(&"Book 2 seats to Oslo?"));
    let sent = model.seen().last().unwrap().json();
    assert_eq!(sent["messages"].as_array().unwrap().last().unwrap()["content"], "To Oslo\nTwo seats");
    // Also a call that waits for approval outlives its process.
    second.stop();
    let third = process(&model, &store).await;
    let app = third.client();
    assert_eq!(shown(app, &id).await["pending"]["arguments"], json!({"city": "Oslo", "seats": 2}));
    let rejected = tell(app, &id, json!({"reject": true})).await;
    assert_eq!(output(&rejected, "waiting"), ["Nothing was booked."]);
    assert_eq!(tell(app, &id, json!({"text": "bye"})).await.body["state"], "ended");
}

/// Two replicas over one store.
async fn two() -> (Travel, TestApp, RedisServer) {
    let redis = RedisServer::start();
    let url = redis.url();
    let one = Travel::start_with(|settings| settings.store.url = url.clone()).await;
    let model = one.model.base.clone();
    let other = TestApp::start_with(|settings| {
        settings.packages.dir = packages();
        settings.llm = crate::chat::llm(&model);
        settings.store.url = url.clone();
    })
    .await;
    (one, other, redis)
}

#[tokio::test]
async fn a_session_that_is_started_at_one_replica_goes_on_at_another() {
    let (one, other, _redis) = two().await;
    let id = one.started().await;
    one.model_says([relevant(true), calls("find_trips", &json!({}))]);
    assert_eq!(
        output(&tell(&other, &id, json!({"text": "Away!"})).await, "waiting").last(),
        Some(&"Which city?")
    );
    // The question was asked at the other replica, whose tools are nowhere.
    one.model_says([says("none"), says("There it is.")]);
    assert_eq!(output(&one.say(&id, "Oslo").await, "waiting"), ["Oslo for 120 EUR", "There it is."]);
    assert_eq!(shown(&one.app, &id).await, shown(&other, &id).await);
    one.model_says([relevant(false)]);
    let answer = tell(&other, &id, json!({"text": "The weather?"})).await;
    assert_eq!(steps(&answer)[1], "cls/irrelevant");
    assert_eq!(
        one.asked(4)[0]["messages"].as_array().unwrap().len(),
        6,
        "one for each turn of a role, after the prompt"
    );
    assert_eq!(one.say(&id, "bye").await.body["state"], "ended");
    let late = tell(&other, &id, json!({"text": "x"})).await;
    late.assert_error(409, "conflict_error", "session_state");
}

#[tokio::test]
async fn whoever_watches_at_one_replica_sees_the_steps_of_another_before_the_turn_has_ended() {
    let (one, other, redis) = two().await;
    let id = one.started().await;
    let mut stream = Stream::open(&other, &id, None).await;
    one.model_says([relevant(true), vec![Act::Hang]]);
    let (client, session) = (TestApp::at(&one.app.base), id.clone());
    let turn = tokio::spawn(async move { tell(&client, &session, json!({"text": "To Oslo"})).await });
    let mut seen = Vec::new();
    while seen.last() != Some(&json!("relevant")) {
        seen.push(stream.until("step").await.pop().unwrap().data["outcome"].clone());
    }
    assert_eq!(seen, ["message", "relevant"]);
    one.model.arrived(2).await;
    // If the process died now, the session would be free a minute later: the model has 20 s, and all else 30 s.
    let mut keys = redis.connection();
    let leases: Vec<String> = keys.keys(format!("*{id}")).unwrap();
    let lives = leases.iter().map(|key| keys.pttl::<_, i64>(key).unwrap()).min().unwrap();
    assert!((1..=50_000).contains(&lives), "{leases:?} {lives}");
    let refused = tell(&other, &id, json!({"text": "Me, too"})).await;
    refused.assert_error(409, "conflict_error", "session_state");
    assert_eq!(other.delete(&format!("/api/sessions/{id}")).await.status, 204);
    one.model.abandoned(1).await;
    assert_eq!(turn.await.unwrap().error().3["state"], "cancelled");
    assert_eq!(stream.rest().await.last().unwrap().data["state"], "cancelled");
}

#[tokio::test]
async fn an_approval_counts_once_also_if_whoever_gave_it_leaves_during_the_call() {
    let travel = Travel::start().await;
    let file = packages().join("travel/agents/travel.json");
    let mut document: serde_json::Value = serde_json::from_slice(&std::fs::read(file).unwrap()).unwrap();
    document["name"] = "careful".into();
    document["tools"][0]["confirm"] = true.into();
    assert_eq!(travel.app.put("/api/agents/careful", document).await.status, 201);
    let id = started(&travel.app, "careful", json!({})).await;
    travel.model_says([relevant(true), calls("find_trips", &json!({"city": "Hades"}))]);
    output(&travel.say(&id, "Down").await, "waiting_confirmation");
    let (base, path) = (travel.app.base.clone(), format!("/api/sessions/{id}/messages"));
    let approval =
        tokio::spawn(async move { TestApp::at(&base).post(&path, json!({"approve": true})).await });
    for _ in 0..1_000 {
        if !travel.trips.searches().is_empty() {
            break;
        }
        tokio::time::sleep(Duration::from_millis(10)).await;
    }
    assert_eq!(travel.trips.searches().len(), 1);
    approval.abort();
    let mut state = shown(&travel.app, &id).await["state"].clone();
    for _ in 0..1_000 {
        if state != "thinking" {
            break;
        }
        tokio::time::sleep(Duration::from_millis(10)).await;
        state = shown(&travel.app, &id).await["state"].clone();
    }
    assert_eq!(state, "waiting");
    travel.tell(&id, json!({"approve": true})).await.assert_error(409, "conflict_error", "session_state");
}
