//! Batches: JSON lines in and out.

use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

use futures_util::StreamExt;
use serde_json::{Value as Json, json};

use super::{for_a, saying};
use crate::chat::llm;
use support::app::TestApp;
use support::upstream::{Act, Seen, Upstream, json as reply_json};

const LINES: &str = "application/x-ndjson";

async fn service(script: impl Fn(&Seen) -> Vec<Act> + Send + Sync + 'static) -> (TestApp, Upstream) {
    let upstream = Upstream::start(script).await;
    let app = TestApp::start_with(|settings| {
        settings.llm = llm(&upstream.base);
        settings.requests.batch_parallel = 4;
    })
    .await;
    (app, upstream)
}

fn line(content: &str) -> String {
    let mut body = for_a();
    body["context"][0]["content"] = content.into();
    body.to_string()
}

async fn batch(app: &TestApp, path: &str, lines: &[String]) -> Vec<Json> {
    let request = app.request("POST", path).header("content-type", LINES).body(lines.join("\n"));
    let response = request.send().await.unwrap();
    assert_eq!(
        (response.status().as_u16(), &response.headers()["content-type"]),
        (200, &LINES.parse().unwrap())
    );
    response.text().await.unwrap().lines().map(|line| serde_json::from_str(line).unwrap()).collect()
}

/// What the user says.
fn content(seen: &Seen) -> String {
    seen.json()["messages"][0]["content"].as_str().unwrap().to_owned()
}

#[actix_web::test]
async fn a_thousand_lines_are_answered_in_their_order_a_few_at_a_time() {
    let under_way = Arc::new((AtomicUsize::new(0), AtomicUsize::new(0)));
    let count = under_way.clone();
    let script = move |seen: &Seen| {
        let now = count.0.fetch_add(1, Ordering::SeqCst) + 1;
        count.1.fetch_max(now, Ordering::SeqCst);
        let number: u64 = content(seen).parse().unwrap();
        let body = seen.json();
        count.0.fetch_sub(1, Ordering::SeqCst);
        // Later lines are often ready before earlier ones.
        let mut acts = vec![Act::Wait(std::time::Duration::from_millis(7 - number % 7))];
        acts.extend(reply_json(200, saying(&body, &json!({"a": number.to_string()}).to_string())));
        acts
    };
    let (app, upstream) = service(script).await;
    let lines: Vec<String> = (0..1_000).map(|number| line(&number.to_string())).collect();
    let replies = batch(&app, "/api/requests/batch?save=false", &lines).await;
    assert_eq!(replies.len(), 1_000);
    for (number, reply) in replies.iter().enumerate() {
        assert_eq!((&reply["index"], &reply["solution"]["a"]), (&json!(number), &json!(number.to_string())));
        assert_eq!(reply["idea_id"], json!(null));
    }
    assert_eq!(upstream.seen().len(), 1_000);
    assert!(upstream.connections() <= 4, "{} connections", upstream.connections());
}

#[actix_web::test]
async fn an_error_is_that_of_its_line_and_prompts_have_lines_too() {
    let script = |seen: &Seen| match content(seen).as_str() {
        "bad" => reply_json(200, saying(&seen.json(), "bad")),
        _ => reply_json(200, saying(&seen.json(), r#"{"a":"x"}"#)),
    };
    let (app, _upstream) = service(script).await;
    let returns = for_a()["schema"].clone();
    app.put_prompt(
        "p.q",
        json!({"userPrompt": "{{ x }}", "syntax": "jinja", "model": "m", "returns": returns}),
    )
    .await;
    let lines = [
        line("good"),
        line("bad"),
        String::new(),
        "{\"context\": ".to_owned(),
        json!({"prompt": "p.q", "variables": {"x": "y"}}).to_string(),
        json!({"prompt": "p.none"}).to_string(),
        json!({"prompt": "p.q", "variables": {"x": "y"}, "stream": true}).to_string(),
        line("good").replacen('{', "{\"prompt\": 5,", 1),
        line("good").replacen('{', "{\"variables\": {},", 1),
        line("good"),
    ];
    let replies = batch(&app, "/api/requests/batch", &lines).await;
    let codes: Vec<Json> = replies
        .iter()
        .map(|reply| reply.get("error").map_or(reply["solution"].clone(), |error| error["code"].clone()))
        .collect();
    let good = json!({"a": "x"});
    assert_eq!(
        codes,
        [
            &good,
            &json!("solution_invalid"),
            &json!("invalid_json"),
            &good,
            &json!("prompt_not_found"),
            &json!("invalid_request"),
            &json!("invalid_request"),
            &json!("invalid_request"),
            &good
        ]
        .map(Clone::clone)
    );
    assert!(replies.iter().enumerate().all(|(at, reply)| reply["index"] == at));
    let message = replies[2]["error"]["message"].as_str().unwrap();
    assert!(message.starts_with("the line is not valid JSON"), "{message}");
}

#[actix_web::test]
async fn lines_have_to_be_declared_as_such() {
    let (app, _upstream) = service(|seen| reply_json(200, saying(&seen.json(), r#"{"a":"x"}"#))).await;
    let request =
        app.request("POST", "/api/requests/batch").header("content-type", "text/plain").body(line("x"));
    app.send(request).await.assert_error(415, "invalid_request_error", "unsupported_media_type");
    let empty =
        app.request("POST", "/api/requests/batch").header("content-type", "application/jsonl").body("\n");
    assert_eq!(app.send(empty).await.status, 200);
}

#[actix_web::test]
async fn a_client_that_leaves_ends_the_batch() {
    let script = |seen: &Seen| match content(seen).as_str() {
        "0" => reply_json(200, saying(&seen.json(), r#"{"a":"x"}"#)),
        _ => vec![Act::Hang],
    };
    let (app, upstream) = service(script).await;
    let lines: Vec<String> = (0..100).map(|number| line(&number.to_string())).collect();
    let request =
        app.request("POST", "/api/requests/batch").header("content-type", LINES).body(lines.join("\n"));
    let mut replies = request.send().await.unwrap().bytes_stream();
    assert!(replies.next().await.unwrap().is_ok());
    upstream.arrived(5).await;
    drop(replies);
    upstream.abandoned(4).await;
    assert_eq!(upstream.seen().len(), 5, "no further line was begun");
}
