//! JSON Schemas that would take for ever are refused, or not run, at every door, and the service goes on serving.

use std::time::{Duration, Instant};

use redis::Commands;
use serde_json::{Map, Value as Json, json};

use crate::chat;
use support::app::{Answer, TestApp};
use support::redis::RedisServer;
use support::upstream::{completion, json as reply};

/// What a busy machine may take for what takes milliseconds.
const SOON: Duration = Duration::from_secs(20);

/// A schema of a few kilobytes that takes 2^60 steps.
fn doubling(keyword: &str) -> Json {
    let next = |at: usize| json!({"$ref": format!("#/$defs/d{}", at + 1)});
    let levels = (0..60).map(|at| (format!("d{at}"), json!({keyword: [next(at), next(at)]})));
    let last = ("d60".to_owned(), json!({"type": "string"}));
    json!({"$ref": "#/$defs/d0", "$defs": levels.chain([last]).collect::<Map<_, _>>()})
}

/// A schema that doubles with each step that it descends, and a value that is deep.
fn descending() -> (Json, Json) {
    let schema = json!({"properties": {"a": {"anyOf": [{"$ref": "#"}, {"$ref": "#"}]}}, "maxProperties": 5});
    let value = (0..90).fold(json!({}), |inner, _| json!({"a": inner}));
    (schema, value)
}

/// A pattern that goes back again and again, and a text that makes it.
fn backtracking() -> (Json, Json) {
    (
        json!({"properties": {"t": {"pattern": "^(?=a)(a|aa)*$"}}}),
        json!({"t": format!("{}b", "a".repeat(50_000))}),
    )
}

/// Asks, and asserts that nothing was held up: neither the answer nor the answers to others.
async fn ask(app: &TestApp, answer: impl Future<Output = Answer>) -> Answer {
    let began = Instant::now();
    let health = async {
        for _ in 0..5 {
            assert_eq!(app.get("/healthz").await.status, 200);
        }
    };
    let (answer, ()) = futures_util::future::join(answer, health).await;
    assert!(began.elapsed() < SOON, "{:?}", began.elapsed());
    answer
}

#[actix_web::test]
async fn documents_with_such_a_schema_are_refused_with_the_reason() {
    let app = TestApp::start().await;
    for keyword in ["anyOf", "allOf", "oneOf"] {
        let prompt = json!({"prompt": "x", "parameters": doubling(keyword)});
        let answer = ask(&app, app.put("/api/prompts/x.y", prompt)).await;
        assert_eq!(answer.status, 400, "{answer:?}");
        assert!(answer.body.to_string().contains("can take"), "{answer:?}");
        for member in ["parameters", "returns"] {
            let tool =
                json!({"module": "m", "name": "t", "type": "restful", "url": "/", member: doubling(keyword)});
            let answer = ask(&app, app.put("/api/tools/m.t", tool)).await;
            assert_eq!(answer.status, 400, "{answer:?}");
            assert!(answer.body.to_string().contains("can take"), "{answer:?}");
        }
    }
}

#[actix_web::test]
async fn variables_and_arguments_that_a_schema_makes_too_much_of_are_refused() {
    let app = TestApp::start().await;
    for (schema, value) in [descending(), backtracking()] {
        app.put_prompt("x.y", json!({"prompt": "x", "parameters": schema})).await;
        let answer = ask(&app, app.render("x.y", value.clone())).await;
        assert_eq!(answer.status, 400, "{answer:?}");
        assert!(answer.body.to_string().contains("could take more than"), "{answer:?}");
        let tool =
            json!({"type": "restful", "url": "http://127.0.0.1:1/", "parameters": schema, "default": "none"});
        app.put_tool("m.t", tool).await;
        let called = app.preview("jinja", "{{ m_t(variables.v) }}", json!({"v": value}));
        let answer = ask(&app, called).await;
        assert_eq!(answer.rendered(), "none", "{answer:?}");
    }
}

#[actix_web::test]
async fn a_chat_that_brings_such_a_schema_is_refused() {
    let (app, _upstream) = chat::start(|_| reply(200, completion("fine"))).await;
    app.put_prompt("x.y", json!({"prompt": "x"})).await;
    let bombs =
        [(doubling("anyOf"), json!({"a": 1})), (doubling("allOf"), json!({})), descending(), backtracking()];
    for (schema, input) in bombs {
        let message = json!({"type": "input", "input": input, "schema": schema});
        let answer = ask(&app, app.post("/api/chat/prompts/x.y", json!({"messages": [message]}))).await;
        assert_eq!(answer.status, 400, "{answer:?}");
    }
    let message =
        json!({"type": "input", "input": {"q": 1}, "schema": {"properties": {"q": {"type": "integer"}}}});
    let answer =
        ask(&app, app.post("/api/chat/prompts/x.y", json!({"model": "m", "messages": [message]}))).await;
    assert_eq!(answer.status, 200, "{answer:?}");
}

#[actix_web::test]
async fn such_a_schema_in_redis_is_a_problem_and_the_last_good_version_serves() {
    let server = RedisServer::start();
    let mut redis = server.connection();
    let bomb = json!({"prompt": "bad", "parameters": doubling("anyOf")}).to_string();
    let _: () = redis.set("shenma:templates:x:new", &bomb).unwrap();
    let _: () = redis.set("shenma:templates:x:y", r#"{"prompt":"good"}"#).unwrap();
    let url = server.url();
    let app = TestApp::start_with(|settings| settings.store.url = url).await;
    let _: () = redis.set("shenma:templates:x:y", &bomb).unwrap();
    let two =
        |answer: &Answer| answer.body["problems"].as_array().is_some_and(|problems| problems.len() >= 2);
    let status = app.eventually("/api/status", two).await;
    assert!(status.body["problems"].to_string().contains("can take"), "{status:?}");
    assert_eq!(app.render("x.y", json!({})).await.rendered(), "good");
}
