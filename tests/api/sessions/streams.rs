//! Server-sent events of sessions: as they happen, and once more.

use std::time::Duration;

use futures_util::StreamExt;
use serde_json::{Value as Json, json};

use super::{event, output, scripted, session, shown, start};
use support::app::TestApp;
use support::upstream::{Act, delta, event as upstream_event, sse};

/// An event as a client gets it.
#[derive(Debug, Clone, PartialEq)]
pub struct Got {
    pub id: Option<u64>,
    pub name: String,
    pub data: Json,
}

/// A client of a stream.
pub struct Stream {
    bytes: futures_util::stream::BoxStream<'static, reqwest::Result<bytes::Bytes>>,
    text: String,
}

impl Stream {
    pub async fn open(app: &TestApp, id: &str, last: Option<&str>) -> Stream {
        let mut request = app.request("GET", &format!("/api/sessions/{id}/stream"));
        if let Some(last) = last {
            request = request.header("last-event-id", last);
        }
        let response = request.send().await.unwrap();
        assert_eq!(response.status(), 200);
        assert_eq!(response.headers()["content-type"], "text/event-stream");
        Stream { bytes: response.bytes_stream().boxed(), text: String::new() }
    }

    /// The next event; none at the end.
    pub async fn next(&mut self) -> Option<Got> {
        loop {
            while let Some((one, rest)) = self.text.split_once("\n\n") {
                let got = read(one);
                self.text = rest.to_owned();
                if got.is_some() {
                    return got;
                }
            }
            let next = tokio::time::timeout(Duration::from_secs(10), self.bytes.next()).await;
            let piece = next.expect("an event comes within ten seconds")?;
            self.text.push_str(std::str::from_utf8(&piece.unwrap()).unwrap());
        }
    }

    /// The events up to and with the first of this name.
    pub async fn until(&mut self, name: &str) -> Vec<Got> {
        let mut found = Vec::new();
        loop {
            let got = self.next().await.expect("the stream goes on");
            found.push(got.clone());
            if got.name == name {
                return found;
            }
        }
    }

    pub async fn rest(&mut self) -> Vec<Got> {
        let mut found = Vec::new();
        while let Some(got) = self.next().await {
            found.push(got);
        }
        found
    }
}

fn read(text: &str) -> Option<Got> {
    let field = |name: &str| text.lines().find_map(|line| line.strip_prefix(name)?.strip_prefix(": "));
    Some(Got {
        id: field("id").map(|id| id.parse().unwrap()),
        name: field("event")?.to_owned(),
        data: serde_json::from_str(field("data")?).unwrap(),
    })
}

pub fn names(events: &[Got]) -> Vec<&str> {
    events.iter().map(|event| event.name.as_str()).collect()
}

/// A model that speaks in pieces when it is asked for a stream.
pub fn speaking(pieces: &'static [&'static str]) -> impl Fn(&support::upstream::Seen) -> Vec<Act> {
    move |seen| match seen.json()["stream"] == true {
        true => {
            let mut events: Vec<String> = pieces.iter().map(|piece| delta(piece)).collect();
            events.push(upstream_event("[DONE]"));
            sse(&events)
        }
        false => support::upstream::json(200, support::upstream::completion("[CMD] ls")),
    }
}

#[tokio::test]
async fn what_happens_is_told_as_the_model_speaks() {
    let (app, upstream) = scripted(speaking(&["[ASK] Wh", "ich", " one?"]), |_| {}).await;
    let id = session(&app).await;
    let mut stream = Stream::open(&app, &id, None).await;
    let first = stream.next().await.unwrap();
    assert_eq!(first.name, "state");
    assert_eq!(
        (&first.data["state"], &first.data["pending"]["command"]),
        (&json!("waiting_cmd"), &json!("ls"))
    );

    assert_eq!(event(&app, &id, output("a")).await.status, 200);
    let mut told = stream.until("directive").await;
    told.push(stream.next().await.unwrap());
    let thinking = &told[0];
    assert_eq!((thinking.name.as_str(), &thinking.data), ("state", &json!({"state": "thinking", "step": 1})));
    let spoken: String =
        told.iter().filter(|one| one.name == "delta").map(|one| one.data["text"].as_str().unwrap()).collect();
    assert_eq!(spoken, "[ASK] Which one?");
    let directive = &told[told.len() - 2];
    assert_eq!(directive.data["question"], "Which one?");
    assert_eq!(told[told.len() - 1].data, json!({"state": "waiting_user", "step": 2}));
    let ids: Vec<u64> = told.iter().map(|one| one.id.unwrap()).collect();
    assert!(ids.is_sorted() && ids[0] > first.id.unwrap(), "{ids:?}");
    assert_eq!(upstream.seen().last().unwrap().json()["stream"], true);
}

#[tokio::test]
async fn events_are_told_again_after_the_last_one_that_a_client_has() {
    let (app, _upstream) = start(&["[CMD] ls", "[MESSAGE] m", "[DONE]"]).await;
    let id = session(&app).await;
    // From the beginning, also what happened before anybody watched.
    let mut stream = Stream::open(&app, &id, Some("0")).await;
    let first = [stream.next().await.unwrap(), stream.next().await.unwrap()];
    assert_eq!(names(&first), ["directive", "state"]);
    event(&app, &id, output("a")).await;
    let rest = stream.rest().await;
    assert_eq!(rest.last().unwrap().name, "end");
    assert_eq!(rest.last().unwrap().data, json!({"state": "done", "step": 3}));
    // The stream of a session that has ended ends, and can be read again from each place.
    let all: Vec<_> = first.iter().chain(&rest).cloned().collect();
    for at in 0..all.len() - 1 {
        let last = all[at].id.unwrap().to_string();
        assert_eq!(Stream::open(&app, &id, Some(&last)).await.rest().await, all[at + 1..], "after {last}");
    }
    let now = Stream::open(&app, &id, None).await.rest().await;
    assert_eq!((names(&now), &now[0].data["state"]), (vec!["state", "end"], &json!("done")));
    // Nothing comes after the last one, and no browser is to come back for it.
    let last = all.last().unwrap().id.unwrap().to_string();
    let request = app.request("GET", &format!("/api/sessions/{id}/stream")).header("last-event-id", last);
    assert_eq!(app.send(request).await.status, 204);
}

#[tokio::test]
async fn an_event_that_is_gone_is_answered_with_the_whole_session() {
    let (app, _upstream) = start(&["[CMD] ls"]).await;
    let id = session(&app).await;
    for gone in ["999", "x", "-1"] {
        let mut stream = Stream::open(&app, &id, Some(gone)).await;
        let reset = stream.next().await.unwrap();
        assert_eq!(reset.name, "reset");
        assert_eq!(reset.data, shown(&app, &id).await);
        event(&app, &id, output("a")).await;
        let next = stream.until("directive").await;
        assert!(next.iter().all(|one| one.id > reset.id), "{next:?}");
    }
}

#[tokio::test]
async fn the_last_thousand_events_are_kept() {
    const PIECES: usize = 600;
    let script = |seen: &support::upstream::Seen| match seen.json()["stream"] == true {
        true => {
            let mut events = vec![delta("[CMD] ")];
            events.extend((0..PIECES).map(|_| delta("a")));
            events.push(upstream_event("[DONE]"));
            let mut acts = vec![Act::Send(support::upstream::stream_head())];
            // Each piece comes by itself.
            for event in &events {
                acts.push(Act::Send(support::upstream::chunk(event.as_bytes())));
                acts.push(Act::Wait(Duration::from_micros(300)));
            }
            acts.push(Act::Send(support::upstream::last_chunk()));
            acts
        }
        false => support::upstream::json(200, support::upstream::completion("[CMD] ls")),
    };
    let (app, _upstream) = scripted(script, |_| {}).await;
    let id = session(&app).await;
    drop(Stream::open(&app, &id, None).await);
    let mut told = 0;
    while told < 1_200 {
        assert_eq!(event(&app, &id, output("x")).await.status, 200);
        let mut stream = Stream::open(&app, &id, None).await;
        told = stream.next().await.unwrap().id.unwrap();
    }
    let since = |last: u64| {
        let app = &app;
        let id = &id;
        async move { Stream::open(app, id, Some(&last.to_string())).await.next().await.unwrap() }
    };
    assert_eq!(since(told - 999).await.id, Some(told - 998));
    assert_eq!(since(told - 1_001).await.name, "reset");
}

#[tokio::test]
async fn a_failed_call_and_a_cancelled_session_are_told() {
    let asked = std::sync::atomic::AtomicUsize::new(0);
    let script =
        move |_: &support::upstream::Seen| match asked.fetch_add(1, std::sync::atomic::Ordering::Relaxed) {
            0 => support::upstream::json(200, support::upstream::completion("[CMD] ls")),
            _ => support::upstream::json(400, json!({"error": {"message": "too long"}})),
        };
    let (app, _upstream) = scripted(script, |_| {}).await;
    let id = session(&app).await;
    let mut stream = Stream::open(&app, &id, None).await;
    stream.next().await;
    event(&app, &id, output("a")).await;
    let mut told = stream.until("error").await;
    assert!(told.last().unwrap().data["message"].as_str().unwrap().contains("too long"));
    told.push(stream.next().await.unwrap());
    assert_eq!(told.last().unwrap().data["state"], "waiting_cmd");
    app.delete(&format!("/api/sessions/{id}")).await;
    let rest = stream.rest().await;
    assert_eq!(names(&rest), ["state", "end"]);
    assert_eq!(rest[1].data["state"], "cancelled");
    let gone = app.get("/api/sessions/00000000000000000000000000000000/stream").await;
    gone.assert_error(404, "not_found_error", "session_not_found");
}
