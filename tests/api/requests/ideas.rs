//! Ideas: stored, fetched, replayed, reused.

use redis::Commands;
use serde_json::{Value as Json, json};
use sha2::{Digest, Sha256};

use super::{Ability, for_a, model, request, solution, start};
use support::app::{Answer, TestApp};
use support::redis::RedisServer;
use support::upstream::{Upstream, json as reply_json};

async fn service() -> (TestApp, Upstream) {
    let count = std::sync::atomic::AtomicUsize::new(0);
    let text = move |_: &Json| {
        let count = count.fetch_add(1, std::sync::atomic::Ordering::SeqCst);
        json!({"a": count.to_string()}).to_string()
    };
    start(model(Ability::JsonSchema, text), |_| {}).await
}

fn id(answer: &Answer) -> String {
    assert_eq!(answer.status, 200, "{answer:?}");
    answer.body["idea_id"].as_str().unwrap().to_owned()
}

/// Posts a body as it is written.
async fn post(app: &TestApp, path: &str, body: &str) -> Answer {
    app.send(app.request("POST", path).header("content-type", "application/json").body(body.to_owned())).await
}

#[actix_web::test]
async fn an_idea_is_kept_as_it_came_under_the_hash_of_its_canonical_json() {
    let (app, _upstream) = service().await;
    let mut body = for_a();
    body["context"] = json!([{"type": "state", "state": {"b": 1, "a": 2}}, {"role": "user", "content": "q"}]);
    let answer = request(&app, body.clone()).await;
    let idea = app.get(&format!("/api/ideas/{}", id(&answer))).await;
    assert_eq!((idea.status, &idea.body["context"]), (200, &body["context"]));
    assert_eq!((&idea.body["schema"], &idea.body["solution"]), (&body["schema"], &json!({"a": "0"})));
    assert_eq!(idea.body["model"], "m");
    assert!(idea.body["created_at"].as_u64().unwrap() > 1_700_000_000, "{idea:?}");
    let text = format!(
        r#"{{"context":{},"schema":{},"solution":{}}}"#,
        body["context"], body["schema"], answer.body["solution"]
    );
    let hash: String = Sha256::digest(text).iter().map(|byte| format!("{byte:02x}")).collect();
    assert_eq!(id(&answer), hash);
}

#[actix_web::test]
async fn the_same_triple_has_the_same_id_however_it_is_written() {
    let (app, _upstream) = start(model(Ability::JsonSchema, |_| r#"{"a":"x"}"#.into()), |_| {}).await;
    let first = post(
        &app,
        "/api/requests",
        r#"{"model":"m","context":[{"role":"user","content":"é/"}],"schema":{"type":"object","properties":{"a":{"type":"string"}}}}"#,
    );
    let again = post(
        &app,
        "/api/requests",
        r#" { "schema" : {"type": "obj\u0065ct" , "properties":{"a":{ "type":"string"}}},
              "context": [ {"role": "user", "content": "\u00e9\/"} ], "model": "m" } "#,
    );
    let (first, again) = (first.await, again.await);
    assert_eq!(id(&first), id(&again));
    let other = post(
        &app,
        "/api/requests",
        r#"{"model":"m","context":[{"role":"user","content":"é/"}],"schema":{"properties":{"a":{"type":"string"}},"type":"object"}}"#,
    );
    assert_ne!(id(&first), id(&other.await));
}

#[actix_web::test]
async fn a_replay_gives_the_old_and_the_new_solution() {
    let (app, upstream) = service().await;
    let first = id(&request(&app, for_a()).await);
    let replay = app.post(&format!("/api/ideas/{first}/replay"), json!({})).await;
    assert_eq!(replay.status, 200, "{replay:?}");
    assert_eq!((&replay.body["old"], &replay.body["new"]), (&json!({"a": "0"}), &json!({"a": "1"})));
    assert_eq!((&replay.body["is_equal"], &replay.body["model"]), (&json!(false), &json!("m")));
    assert_ne!(replay.body["idea_id"], first);
    assert_eq!(upstream.seen()[0].json(), upstream.seen()[1].json());
    let other = json!({"model": "other", "params": {"temperature": 0}});
    let replay = app.post(&format!("/api/ideas/{first}/replay?explain=true"), other).await;
    assert_eq!(replay.body["model"], "other");
    assert_eq!(upstream.seen()[2].json()["temperature"], 0);
    let idea = app.get(&format!("/api/ideas/{first}")).await;
    assert_eq!(idea.body["solution"], json!({"a": "0"}), "an idea does not change");
    let refused = app.post(&format!("/api/ideas/{first}/replay"), json!({"schema": {}})).await;
    refused.assert_error(400, "invalid_request_error", "invalid_request");
}

#[actix_web::test]
async fn an_equal_request_may_take_the_last_idea() {
    let (app, upstream) = service().await;
    let mut body = for_a();
    body["reuse"] = true.into();
    assert_eq!(solution(&request(&app, body.clone()).await), &json!({"a": "0"}));
    assert_eq!(
        solution(&request(&app, for_a()).await),
        &json!({"a": "1"}),
        "without `reuse` the model is asked"
    );
    let reused = request(&app, body.clone()).await;
    assert_eq!(solution(&reused), &json!({"a": "1"}));
    assert_eq!(reused.body["attempts"], 0);
    assert_eq!(reused.body["strategy"], json!(null));
    let unsaved = app.post("/api/requests?save=false", body.clone()).await;
    assert_eq!((solution(&unsaved), &unsaved.body["idea_id"]), (&json!({"a": "1"}), &json!(null)));
    assert_eq!(upstream.seen().len(), 2);
    for (name, value) in [
        ("model", json!("other")),
        ("params", json!({"temperature": 0})),
        ("context", json!([{"role": "user", "content": "r"}])),
        ("checks", json!([{"test": "solution.a == 'new'", "message": "m"}])),
    ] {
        let mut changed = body.clone();
        changed[name] = value;
        changed["max_repairs"] = 0.into();
        let asked = upstream.seen().len();
        request(&app, changed).await;
        assert_eq!(upstream.seen().len(), asked + 1, "another {name} is another request");
    }
}

#[actix_web::test]
async fn a_preview_of_a_replay_asks_nobody() {
    let (app, upstream) = service().await;
    let id = id(&request(&app, for_a()).await);
    let preview = app.post(&format!("/api/ideas/{id}/replay?dry_run=true"), json!({})).await;
    assert_eq!((preview.status, &preview.body["strategy"]), (200, &json!("json_schema")), "{preview:?}");
    assert_eq!(preview.body["body"], upstream.seen()[0].json());
    assert_eq!(upstream.seen().len(), 1);
}

#[actix_web::test]
async fn a_context_that_no_idea_can_have_is_refused_and_told() {
    let (app, _upstream) = service().await;
    let body = for_a().to_string().replace(
        "\"model\"",
        "\"context\": [{\"role\": \"user\", \"content\": \"q\", \"x\": 1e400}], \"model\"",
    );
    let refused = post(&app, "/api/requests", &body).await;
    refused.assert_error(400, "invalid_request_error", "invalid_request");
    assert_eq!(refused.body["error"]["details"]["violations"][0]["path"], "/context");
    assert!(refused.body["error"]["message"].as_str().unwrap().contains("?save=false"), "{refused:?}");
    let unsaved = post(&app, "/api/requests?save=false", &body.replace("\"m\"", "\"echo\"")).await;
    assert_eq!((unsaved.status, &unsaved.body["idea_id"]), (200, &json!(null)));
}

#[actix_web::test]
async fn nothing_is_kept_where_that_is_not_wanted_or_where_there_is_no_solution() {
    let (app, _upstream) = service().await;
    let answer = app.post("/api/requests?save=false", for_a()).await;
    assert_eq!((answer.status, &answer.body["idea_id"]), (200, &json!(null)));
    let upstream = Upstream::start(|seen| reply_json(200, super::saying(&seen.json(), r#"{"a":"x"}"#))).await;
    let app = TestApp::start_with(|settings| {
        settings.llm = crate::chat::llm(&upstream.base);
        settings.requests.keep_ideas = false;
    })
    .await;
    let answer = request(&app, for_a()).await;
    assert_eq!((answer.status, &answer.body["idea_id"]), (200, &json!(null)));
    for unknown in ["0".repeat(64), "x".to_owned(), "last:x".to_owned()] {
        let answer = app.get(&format!("/api/ideas/{unknown}")).await;
        answer.assert_error(404, "not_found_error", "idea_not_found");
        let answer = app.post(&format!("/api/ideas/{unknown}/replay"), json!({})).await;
        answer.assert_error(404, "not_found_error", "idea_not_found");
    }
}

#[actix_web::test]
async fn ideas_are_kept_in_redis_for_their_time() {
    let redis = RedisServer::start();
    let upstream = Upstream::start(|seen| reply_json(200, super::saying(&seen.json(), r#"{"a":"x"}"#))).await;
    let app = TestApp::start_with(|settings| {
        settings.llm = crate::chat::llm(&upstream.base);
        settings.store.url = redis.url();
        settings.requests.ideas_ttl_seconds = 1_000;
    })
    .await;
    let first = id(&request(&app, for_a()).await);
    assert_eq!(id(&request(&app, for_a()).await), first);
    assert_eq!(app.get(&format!("/api/ideas/{first}")).await.body["solution"], json!({"a": "x"}));
    let key = format!("shenma:ideas:{first}");
    let ttl: i64 = redis.connection().ttl(&key).unwrap();
    assert!((900..=1_000).contains(&ttl), "{ttl}");
    // Other programs may take it away: then it is written again.
    redis::cmd("FLUSHALL").exec(&mut redis.connection()).unwrap();
    assert_eq!(id(&request(&app, for_a()).await), first);
    assert_eq!(app.get(&format!("/api/ideas/{first}")).await.status, 200);
}
