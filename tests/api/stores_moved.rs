//! The service over a Redis that is slow, that is emptied, or that another server takes the place of.

use std::time::{Duration, Instant};

use redis::Commands;
use serde_json::{Value as Json, json};

use support::app::{Answer, TestApp};
use support::proxy::Proxy;
use support::redis::RedisServer;

/// Fills a server with so many small prompts.
fn fill(server: &RedisServer, prompts: std::ops::Range<usize>) {
    let mut connection = server.connection();
    for chunk in prompts.collect::<Vec<_>>().chunks(5_000) {
        let mut pipeline = redis::pipe();
        for n in chunk {
            pipeline.set(format!("shenma:templates:many:p{n}"), format!(r#"{{"prompt":"{n}"}}"#)).ignore();
        }
        pipeline.exec(&mut connection).unwrap();
    }
}

async fn start(url: String, keep_missing_seconds: u64) -> TestApp {
    TestApp::start_with(|settings| {
        settings.store.url = url;
        settings.store.keep_missing_seconds = keep_missing_seconds;
    })
    .await
}

/// Waits until the first prompt has this text.
async fn wait_until_seen(app: &TestApp, text: &str, limit: Duration) {
    let written = Instant::now();
    while app.render("many.p0", json!({})).await.rendered() != text {
        assert!(written.elapsed() < limit, "{:?}", app.get("/api/status").await);
        tokio::time::sleep(Duration::from_millis(50)).await;
    }
}

fn prompts(status: &Answer) -> u64 {
    status.body["counts"]["prompts"].as_u64().unwrap()
}

#[actix_web::test]
async fn a_fail_over_in_the_middle_of_a_scan_loses_no_document() {
    const COUNT: usize = 30_000;
    let (first, second) = (RedisServer::start(), RedisServer::start());
    for server in [&first, &second] {
        fill(server, 0..COUNT);
    }
    let proxy = Proxy::before(first.port);
    let app = start(proxy.url(), 60).await;
    assert_eq!(prompts(&app.get("/api/status").await), COUNT as u64);
    // Wherever in a scan the move comes, no document may be missing, not for a moment.
    for (requests, server) in [(20, &second), (10, &first), (30, &second)] {
        proxy.move_after(requests, b"shenma:templates:", server.port);
        let since = Instant::now();
        while proxy.will_move() || since.elapsed() < Duration::from_millis(2_500) {
            assert!(since.elapsed() < Duration::from_secs(60), "no scan came to the move");
            assert_eq!(prompts(&app.get("/api/status").await), COUNT as u64);
            tokio::time::sleep(Duration::from_millis(20)).await;
        }
    }
    // And what is only at the new server is found.
    fill(&second, COUNT..COUNT + 1);
    app.eventually("/api/status", |status| prompts(status) == COUNT as u64 + 1).await;
}

#[actix_web::test]
async fn an_emptied_store_goes_on_serving_says_so_and_is_believed_after_a_while() {
    let server = RedisServer::start();
    fill(&server, 0..3);
    let _: () = server.connection().set("shenma:environs:team:tone", r#""dry""#).unwrap();
    let app = start(server.url(), 4).await;
    redis::cmd("FLUSHALL").exec(&mut server.connection()).unwrap();
    let status = app.eventually("/api/status", |status| status.body["store"]["state"] == "emptied").await;
    let store = &status.body["store"];
    assert_eq!(store["missing"]["prompts"], json!({"gone": 3, "known": 3}), "{store}");
    assert_eq!(store["missing"]["environs"], json!({"gone": 1, "known": 1}), "{store}");
    assert!(store["why"].as_str().unwrap().contains("3 of 3 prompts"), "{store}");
    let ready = app.get("/readyz").await;
    assert_eq!((ready.status, &ready.body["status"]), (200, &json!("degraded")));
    assert_eq!(ready.body["why"], store["why"]);
    assert_eq!(app.render("many.p1", json!({})).await.rendered(), "1");
    // It goes on taking writes, and what is deleted here is gone.
    app.put_prompt("many.p2", json!({"prompt": "two"})).await;
    assert_eq!(app.delete("/api/prompts/many.p0").await.status, 204);
    app.render("many.p0", json!({})).await.assert_error(404, "not_found_error", "prompt_not_found");
    assert_eq!(app.render("many.p1", json!({})).await.rendered(), "1");

    app.eventually("/api/prompts", |answer| answer.body == json!(["many.p2"])).await;
    app.eventually("/readyz", |answer| answer.body == json!({"status": "ready"})).await;
    assert_eq!(app.get("/api/status").await.body["store"]["missing"], Json::Null);
    assert_eq!(app.get("/api/environs").await.body, json!([]));
}

#[actix_web::test]
async fn an_emptied_store_is_believed_at_once_when_somebody_confirms_it() {
    let server = RedisServer::start();
    fill(&server, 0..100);
    let app = start(server.url(), 3600).await;
    assert_eq!(app.post("/api/store/confirm", json!({})).await.body, json!({"forgotten": 0}));
    redis::cmd("FLUSHALL").exec(&mut server.connection()).unwrap();
    app.eventually("/readyz", |answer| answer.body["status"] == "degraded").await;
    assert_eq!(prompts(&app.get("/api/status").await), 100);
    fill(&server, 7..8);
    let confirmed = app.post("/api/store/confirm", Json::Null).await;
    assert_eq!((confirmed.status, confirmed.body), (200, json!({"forgotten": 99})));
    assert_eq!(app.get("/api/prompts").await.body, json!(["many.p7"]));
    app.eventually("/readyz", |answer| answer.body["status"] == "ready").await;
    assert_eq!(app.get("/api/prompts").await.body, json!(["many.p7"]));
}

#[actix_web::test]
async fn documents_that_come_back_are_no_loss_any_more() {
    let mut server = RedisServer::start();
    fill(&server, 0..10);
    let app = start(server.url(), 3600).await;
    server.restart();
    app.eventually("/api/status", |status| status.body["store"]["state"] == "emptied").await;
    fill(&server, 0..10);
    app.eventually("/api/status", |status| status.body["store"]["state"] == "ok").await;
    assert_eq!(prompts(&app.get("/api/status").await), 10);
}

#[actix_web::test]
async fn less_than_half_that_is_deleted_in_the_store_is_gone_at_once() {
    let server = RedisServer::start();
    fill(&server, 0..5);
    let app = start(server.url(), 3600).await;
    let _: () = server.connection().del(&["shenma:templates:many:p0", "shenma:templates:many:p1"]).unwrap();
    app.eventually("/api/status", |status| prompts(status) == 3).await;
    assert_eq!(app.get("/readyz").await.body, json!({"status": "ready"}));
}

#[actix_web::test]
async fn a_write_that_was_given_up_on_does_not_win_over_a_later_one() {
    let server = RedisServer::start();
    let proxy = Proxy::before(server.port);
    let app = start(proxy.url(), 60).await;
    app.put_prompt("a.b", json!({"prompt": "version 0"})).await;
    app.put_prompt("a.c", json!({"prompt": "x"})).await;
    for cut in [false, true] {
        proxy.hold(b"version 1");
        let (lost, ()) = tokio::join!(app.put("/api/prompts/a.b", json!({"prompt": "version 1"})), async {
            proxy.wait_until_holding().await;
            if cut {
                proxy.cut();
            }
        });
        // The later write brings back just what was there when the first one began.
        app.put_prompt("a.b", json!({"prompt": "version 0"})).await;
        proxy.release();
        tokio::time::sleep(Duration::from_millis(300)).await;
        let stored: String = server.connection().get("shenma:templates:a:b").unwrap();
        assert_eq!(stored, r#"{"prompt":"version 0"}"#);
        assert_eq!(app.render("a.b", json!({})).await.rendered(), "version 0");
        lost.assert_error(503, "unavailable_error", "store_unavailable");
        assert_eq!(lost.error().3["may_have_been_done"], true, "{lost:?}");
        assert!(lost.error().2.contains("may have been done"), "{lost:?}");
    }
}

#[actix_web::test]
async fn a_write_that_did_not_reach_the_store_says_that_it_was_not_done() {
    let mut server = RedisServer::start();
    let app = start(server.url(), 60).await;
    server.kill();
    let failed = app.put("/api/prompts/a.b", json!({"prompt": "x"})).await;
    failed.assert_error(503, "unavailable_error", "store_unavailable");
    assert_eq!(failed.error().3["may_have_been_done"], false, "{failed:?}");
    assert!(failed.error().2.contains("was not done"), "{failed:?}");
}

#[actix_web::test]
async fn a_change_in_a_slow_redis_is_seen_soon() {
    let server = RedisServer::start();
    fill(&server, 0..5);
    let proxy = Proxy::before(server.port);
    let app = start(proxy.url(), 60).await;
    proxy.delay(Duration::from_millis(400));
    // So that the scan before was a slow one as well.
    tokio::time::sleep(Duration::from_secs(4)).await;
    let _: () = server.connection().set("shenma:templates:many:p0", r#"{"prompt":"new"}"#).unwrap();
    wait_until_seen(&app, "new", Duration::from_secs(20)).await;
    let store = &app.get("/api/status").await.body["store"];
    assert!(store["age_seconds"].as_u64().is_some_and(|age| age < 20), "{store}");
}

#[actix_web::test]
async fn keys_of_others_beside_the_documents_cost_few_requests() {
    let server = RedisServer::start();
    fill(&server, 0..5);
    let mut connection = server.connection();
    for chunk in 0..20 {
        let mut pipeline = redis::pipe();
        for n in 0..10_000 {
            pipeline.set(format!("others:{chunk}:{n}"), "x").ignore();
        }
        pipeline.exec(&mut connection).unwrap();
    }
    let proxy = Proxy::before(server.port);
    let app = start(proxy.url(), 60).await;
    let before = proxy.passed();
    assert_eq!(prompts(&app.get("/api/status").await), 5);
    let _: () = connection.set("shenma:templates:many:p0", r#"{"prompt":"new"}"#).unwrap();
    wait_until_seen(&app, "new", Duration::from_secs(20)).await;
    // Two walks over 200,000 keys, or three if the change came in the middle of one.
    assert!(proxy.passed() - before < 100, "{} requests", proxy.passed() - before);
}
