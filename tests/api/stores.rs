//! The service over a real Redis: foreign writes, bad documents, and Redis going away.

use redis::Commands;
use serde_json::{Value as Json, json};

use support::app::TestApp;
use support::redis::RedisServer;

async fn start(server: &RedisServer) -> TestApp {
    let url = server.url();
    TestApp::start_with(|settings| settings.store.url = url).await
}

#[actix_web::test]
async fn what_others_write_into_redis_is_seen_within_the_scan_time_and_gone_when_they_delete_it() {
    let server = RedisServer::start();
    let app = start(&server).await;
    let mut redis = server.connection();
    let _: () =
        redis.set("shenma:templates:x:y", r#"{"userPrompt":"{{.vscode.lang}} {{.variables.a}}"}"#).unwrap();
    let _: () = redis.set("shenma:environs:vscode:lang", r#""go""#).unwrap();
    app.eventually("/api/prompts", |answer| answer.body == json!(["x.y"])).await;
    app.eventually("/api/environs", |answer| answer.body == json!(["vscode.lang"])).await;
    assert_eq!(app.render("x.y", json!({"a": "1"})).await.rendered(), "go 1");
    let _: () = redis.del("shenma:templates:x:y").unwrap();
    app.eventually("/api/prompts", |answer| answer.body == json!([])).await;
    app.render("x.y", json!({})).await.assert_error(404, "not_found_error", "prompt_not_found");
}

#[actix_web::test]
async fn a_document_that_breaks_shows_on_the_status_page_while_the_old_one_serves() {
    let server = RedisServer::start();
    let mut redis = server.connection();
    let _: () = redis.set("shenma:templates:x:y", r#"{"prompt":"good {{.variables.a}}"}"#).unwrap();
    let app = start(&server).await;
    for (broken, expected, line) in [
        ("{\"prompt\":\n oops}", "not valid JSON", json!(2)),
        (r#"{"prompt":"a","userPrompt":"b"}"#, "exactly one of", json!(null)),
        (r#"{"syntax":"go","prompt":"ok\n{{if}}"}"#, "missing value for if", json!(2)),
    ] {
        let _: () = redis.set("shenma:templates:x:y", broken).unwrap();
        let found = |answer: &support::app::Answer| {
            answer.body["problems"][0]["message"].as_str().is_some_and(|message| message.contains(expected))
        };
        let status = app.eventually("/api/status", found).await;
        let problem = &status.body["problems"][0];
        assert_eq!((&problem["key"], &problem["line"]), (&json!("shenma:templates:x:y"), &line), "{problem}");
        assert!(problem["since"].as_u64().unwrap() > 1_700_000_000);
        assert_eq!(app.render("x.y", json!({"a": "1"})).await.rendered(), "good 1");
        assert!(!app.get("/api/prompts/x.y").await.body["problems"].as_array().unwrap().is_empty());
    }
    let _: () = redis.set("shenma:templates:x:y", r#"{"prompt":"better {{.variables.a}}"}"#).unwrap();
    app.eventually("/api/status", |answer| answer.body["problems"] == json!([])).await;
    assert_eq!(app.render("x.y", json!({"a": "1"})).await.rendered(), "better 1");
}

#[actix_web::test]
async fn odd_keys_are_problems_and_take_nothing_else_down() {
    let server = RedisServer::start();
    let mut redis = server.connection();
    let _: () = redis.rpush("shenma:environs:a:list", "x").unwrap();
    let _: () = redis.set("shenma:environs:a:utf8", b"\xff\xfe".as_slice()).unwrap();
    let _: () = redis.set("shenma:environs:a:b d", "1").unwrap();
    let _: () = redis.set("shenma:tools:a:b", r#"{"name":"b"}"#).unwrap();
    let _: () =
        redis.set("shenma:tools:m:f_g", r#"{"module":"m","name":"f_g","type":"restful","url":"/"}"#).unwrap();
    let _: () =
        redis.set("shenma:tools:m_f:g", r#"{"module":"m_f","name":"g","type":"restful","url":"/"}"#).unwrap();
    let _: () = redis.set("shenma:environs:a:good", "[1]").unwrap();
    let _: () = redis.set("shenma:templates:x:never", "{").unwrap();
    let app = start(&server).await;
    let status = app.get("/api/status").await;
    let problems: Vec<(String, String)> = status.body["problems"]
        .as_array()
        .unwrap()
        .iter()
        .map(|p| (p["key"].as_str().unwrap().to_owned(), p["message"].as_str().unwrap().to_owned()))
        .collect();
    for (key, expected) in [
        ("shenma:environs:a:list", "list"),
        ("shenma:environs:a:utf8", "not valid JSON"),
        ("shenma:environs:a:b d", "not an id"),
        ("shenma:tools:a:b", "required"),
        ("shenma:tools:m_f:g", "m_f_g"),
        ("shenma:templates:x:never", "not valid JSON"),
    ] {
        assert!(problems.iter().any(|(k, m)| k == key && m.contains(expected)), "{key}: {problems:#?}");
    }
    assert_eq!(app.get("/api/environs").await.body, json!(["a.good"]));
    assert_eq!(app.get("/api/tools").await.body, json!(["m.f_g"]));
    // Never seen good: it is listed, and rendering it says why it cannot be used.
    assert_eq!(app.get("/api/prompts").await.body, json!(["x.never"]));
    app.render("x.never", json!({})).await.assert_error(400, "invalid_request_error", "invalid_template");
}

#[actix_web::test]
async fn when_redis_goes_away_renders_go_on_writes_answer_503_and_all_is_well_again_afterwards() {
    let mut server = RedisServer::start();
    let mut redis = server.connection();
    let _: () = redis.set("shenma:templates:x:y", r#"{"prompt":"p"}"#).unwrap();
    drop(redis);
    let app = start(&server).await;
    server.kill();
    app.eventually("/readyz", |answer| answer.body["status"] == "degraded").await;
    assert_eq!(app.render("x.y", json!({})).await.rendered(), "p");
    let write = app.put("/api/prompts/x.z", json!({"prompt": "z"})).await;
    write.assert_error(503, "unavailable_error", "store_unavailable");
    server.restart();
    app.eventually("/readyz", |answer| answer.body["status"] == "ready").await;
    app.put_prompt("x.z", json!({"prompt": "z"})).await;
    assert_eq!(app.render("x.z", json!({})).await.rendered(), "z");
}

#[actix_web::test]
async fn the_prefix_of_the_keys_is_a_setting() {
    let server = RedisServer::start();
    let url = server.url();
    let app = TestApp::start_with(|settings| {
        settings.store.url = url;
        settings.store.prefix = "team-a:".into();
    })
    .await;
    app.put_prompt("x.y", json!({"prompt": "p"})).await;
    let stored: String = server.connection().get("team-a:templates:x:y").unwrap();
    assert_eq!(stored, r#"{"prompt":"p"}"#);
}

#[actix_web::test]
async fn a_broken_partial_is_the_only_problem_while_its_last_good_version_serves_those_that_include_it() {
    let server = RedisServer::start();
    let mut redis = server.connection();
    let _: () =
        redis.set("shenma:templates:b:part", r#"{"syntax":"go","prompt":"part {{.variables.a}}"}"#).unwrap();
    let _: () =
        redis.set("shenma:templates:a:main", r#"{"prompt":"main {{template \"b.part\" .}}"}"#).unwrap();
    let app = start(&server).await;
    let _: () = redis.set("shenma:templates:b:part", r#"{"syntax":"go","prompt":"{{if}}"}"#).unwrap();
    let _: () =
        redis.set("shenma:templates:a:main", r#"{"prompt":"new {{template \"b.part\" .}}"}"#).unwrap();
    let status = app.eventually("/api/status", |answer| answer.body["problems"] != json!([])).await;
    let problems = status.body["problems"].as_array().unwrap();
    assert_eq!(problems.len(), 1, "{problems:?}");
    assert_eq!(problems[0]["key"], "shenma:templates:b:part");
    assert_eq!(app.render("a.main", json!({"a": "1"})).await.rendered(), "new part 1");
}

#[actix_web::test]
async fn a_write_replaces_what_others_put_there_of_another_type() {
    let server = RedisServer::start();
    let app = start(&server).await;
    redis::cmd("RPUSH").arg("shenma:environs:a").arg("x").exec(&mut server.connection()).unwrap();
    app.eventually("/api/status", |answer| answer.body["problems"][0].is_object()).await;
    assert_eq!(app.put("/api/environs/a", json!(1)).await.status, 200);
    assert_eq!(app.get("/api/environs/a").await.body, json!(1));
    assert_eq!(app.get("/api/status").await.body["problems"], json!([]));
}

#[actix_web::test]
async fn a_prompt_that_compiles_only_beside_a_failing_one_stays_at_its_last_good_version() {
    let server = RedisServer::start();
    let app = start(&server).await;
    let mut redis = server.connection();
    let mut write = |x: Json, p: Json| {
        redis::cmd("MSET")
            .arg("shenma:templates:a:x")
            .arg(x.to_string())
            .arg("shenma:templates:a:p")
            .arg(p.to_string())
            .exec(&mut redis)
            .unwrap();
    };
    write(json!({"messages": [{"role": "user", "content": "m"}]}), json!({"userPrompt": "one"}));
    app.eventually("/api/prompts/a.p", |answer| answer.status == 200).await;
    let broken = json!({"userPrompt": "x", "parameters": {"type": "nonsense"}});
    write(broken, json!({"userPrompt": "{% include 'x' %}"}));
    let status = app.eventually("/api/status", |answer| answer.body["problems"][1].is_object()).await;
    let keys: Vec<&Json> = status.body["problems"].as_array().unwrap().iter().map(|p| &p["key"]).collect();
    assert_eq!(keys, ["shenma:templates:a:p", "shenma:templates:a:x"]);
    assert_eq!(app.render("a.p", json!({})).await.rendered(), "one");
    write(json!({"userPrompt": "X"}), json!({"userPrompt": "{% include 'x' %}!"}));
    app.eventually("/api/status", |answer| answer.body["problems"] == json!([])).await;
    assert_eq!(app.render("a.p", json!({})).await.rendered(), "X!");
}
