//! What those see who watch a session of an agent: each step as it ends, while the model still thinks about the next one.

use futures_util::{SinkExt, StreamExt};
use serde_json::{Value as Json, json};
use tokio_tungstenite::connect_async;
use tokio_tungstenite::tungstenite::Message;

use super::{Travel, calls, relevant, says, tell};
use crate::sessions::streams::{Got, Stream};
use support::app::TestApp;
use support::upstream::Act;

/// The steps of some events: `step/outcome` each.
fn steps(events: &[Got]) -> Vec<String> {
    let steps = events.iter().filter(|event| event.name == "step");
    steps.map(|step| format!("{}/{}", step.data["step"], step.data["outcome"]).replace('"', "")).collect()
}

/// The events up to and with the one that says that the model is asked in this step.
async fn until_at(stream: &mut Stream, step: &str) -> Vec<Got> {
    let mut events = Vec::new();
    loop {
        events.extend(stream.until("state").await);
        if events.last().unwrap().data["at"] == step {
            return events;
        }
    }
}

#[tokio::test]
async fn steps_are_told_as_they_happen_and_once_more_to_those_who_come_late() {
    let travel = Travel::start().await;
    let id = travel.started().await;
    let mut stream = Stream::open(&travel.app, &id, None).await;
    let first = stream.next().await.unwrap();
    assert_eq!((first.name.as_str(), &first.data["state"]), ("state", &json!("waiting")));
    travel.model_says([relevant(true), vec![Act::Hang]]);
    let (other, session) = (TestApp::at(&travel.app.base), id.clone());
    let turn = tokio::spawn(async move { tell(&other, &session, json!({"text": "To Oslo"})).await });
    // The model never answers, and yet the steps before are told.
    let told = until_at(&mut stream, "select").await;
    assert_eq!(steps(&told), ["main/message", "cls/relevant"]);
    let relevant_step = told.iter().rfind(|event| event.name == "step").unwrap();
    assert_eq!(relevant_step.data["output"], json!(["Is it about a journey?"]));
    assert!(relevant_step.data["duration_ms"].is_u64());
    let thinking = told.iter().find(|event| event.data["at"] == "cls").unwrap();
    assert_eq!(
        (&thinking.data["state"], &thinking.data["output"]),
        (&json!("thinking"), &json!(["Is it about a journey?"]))
    );
    travel.app.delete(&format!("/api/sessions/{id}")).await;
    assert_eq!(turn.await.unwrap().status, 409);
    let rest = stream.rest().await;
    assert_eq!(
        (rest.last().unwrap().name.as_str(), &rest.last().unwrap().data["state"]),
        ("end", &json!("cancelled"))
    );
    // Whoever comes back gets what was stored, with the same numbers.
    let late = Stream::open(&travel.app, &id, Some("0")).await.rest().await;
    assert_eq!(steps(&late), ["main/start", "main/message", "cls/relevant"]);
    assert_eq!(late.last().unwrap().name, "end");
    let id_of = |events: &[Got]| events.iter().find(|event| event.data["outcome"] == "relevant").unwrap().id;
    assert_eq!(id_of(&late), id_of(&told));
}

#[tokio::test]
async fn the_log_of_a_session_is_told_to_those_who_watch_if_its_start_asks_for_it() {
    let travel = Travel::start().await;
    for (log, lines) in [("off", 0), ("lines", 1), ("verbose", 3)] {
        let id = super::started(&travel.app, "travel", json!({"log": log})).await;
        let mut stream = Stream::open(&travel.app, &id, None).await;
        travel.model_says([relevant(false)]);
        let answer = travel.say(&id, "x").await;
        let step = stream.until("step").await.pop().unwrap();
        assert_eq!((&step.data["outcome"], &step.data["log"]), (&json!("message"), &json!(null)));
        let step = stream.until("step").await.pop().unwrap();
        assert_eq!(step.data["log"].as_array().map_or(0, Vec::len), lines, "{log}: {step:?}");
        assert_eq!(step.data["log"], answer.body["steps"][1]["log"], "{log}");
        if let Some(line) = step.data["log"].as_array().and_then(|log| log.last()) {
            assert_eq!(
                (&line["level"], &line["prefix"], &line["text"]),
                (&json!("warning"), &json!("topic"), &json!("off topic"))
            );
        }
    }
}

#[tokio::test]
async fn a_whole_conversation_goes_over_a_socket() {
    let travel = Travel::start().await;
    let id = travel.started().await;
    let url = format!("{}/api/sessions/{id}/ws", travel.app.base.replace("http://", "ws://"));
    let mut socket = connect_async(url).await.unwrap().0;
    let mut next = async |message: Option<Json>, wanted: &str| -> Json {
        if let Some(message) = message {
            socket.send(Message::text(message.to_string())).await.unwrap();
        }
        loop {
            let got = tokio::time::timeout(std::time::Duration::from_secs(10), socket.next()).await;
            match got.expect("something comes").unwrap().unwrap() {
                Message::Text(text) => {
                    let got: Json = serde_json::from_str(&text).unwrap();
                    if got["event"] == wanted && got["data"]["state"] != "thinking" {
                        return got["data"].clone();
                    }
                }
                other => assert!(!other.is_close(), "{other:?}"),
            }
        }
    };
    assert_eq!(next(None, "state").await["state"], "waiting");
    travel.model_says([relevant(true), calls("book_seats", &json!({"city": "Rome", "seats": 1}))]);
    let asked = next(Some(json!({"text": "One seat to Rome"})), "state").await;
    assert_eq!(asked["state"], "waiting_confirmation");
    for (message, code) in [
        (json!({"text": "yes"}), "session_state"),
        (json!({"type": "user_message", "text": "yes"}), "invalid_request"),
        (json!([]), "invalid_json"),
    ] {
        assert_eq!(next(Some(message), "error").await["code"], code);
    }
    travel.model_says([says("done"), says("It is booked.")]);
    let booked = next(Some(json!({"approve": true})), "step").await;
    assert_eq!((&booked["step"], &booked["outcome"]), (&json!("exec"), &json!("done")));
    assert_eq!(next(None, "state").await["state"], "waiting");
    let end = next(Some(json!({"text": "bye"})), "end").await;
    assert_eq!((&end["state"], &end["exit_code"]), (&json!("ended"), &json!(0)));
}
