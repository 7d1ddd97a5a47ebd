//! Agents as documents: written, shown, listed, exported, replaced by other programs, and overridden by settings.

use redis::Commands;
use serde_json::{Map, Value as Json, json};

use super::{Travel, output, packages, started, tell};
use crate::commands::{good, run, text};
use support::app::{Answer, write};
use support::redis::RedisServer;

/// The document of the agent `travel`, under another name.
pub fn document(name: &str) -> Json {
    let text = std::fs::read(packages().join("travel/agents/travel.json")).unwrap();
    let mut document: Json = serde_json::from_slice(&text).unwrap();
    document["name"] = name.into();
    document
}

#[tokio::test]
async fn an_agent_is_written_shown_listed_and_removed_like_every_document() {
    let travel = Travel::start().await;
    let app = &travel.app;
    let written = document("guide");
    let created = app.put("/api/agents/guide", written.clone()).await;
    assert_eq!((created.status, &created.body), (201, &json!({"id": "guide", "created": true})));
    assert_eq!(app.put("/api/agents/guide", written.clone()).await.status, 200);
    assert_eq!(app.get("/api/agents").await.body, json!(["guide", "travel"]));
    let shown = app.get("/api/agents/guide").await;
    let mut expected = written;
    expected["available"] = true.into();
    expected["problems"] = json!([]);
    assert_eq!((&shown.body, &shown.headers["etag"]), (&expected, &created.headers["etag"]));
    let summary = json!({
        "id": "guide", "description": "Finds trips, adds up what they cost, and books seats.",
        "tools": ["find_trips", "add_up", "book_seats"], "available": true, "problems": []
    });
    assert_eq!(app.get("/api/agents?detail=true").await.body[0], summary);
    assert_eq!(app.get("/api/status").await.body["counts"]["agents"], 2);
    let id = started(app, "guide", json!({})).await;
    assert_eq!(output(&tell(app, &id, json!({"text": "bye"})).await, "ended"), ["Have a good trip!"]);
    let schema = app.get("/schemas/agent.json").await;
    assert_eq!(schema.body["$id"], "https://ai-prompt-shell.dev/schemas/agent.json");
    assert_eq!(app.delete("/api/agents/guide").await.status, 204);
    for gone in [
        app.get("/api/agents/guide").await,
        app.post("/api/agents/guide/sessions", json!({})).await,
        app.delete("/api/agents/guide").await,
    ] {
        gone.assert_error(404, "not_found_error", "agent_not_found");
    }
    // What a package brings can only be covered.
    assert_eq!(app.delete("/api/agents/travel").await.status, 409);
}

#[tokio::test]
async fn the_last_good_version_serves_when_another_program_writes_a_bad_one() {
    let redis = RedisServer::start();
    let mut keys = redis.connection();
    let url = redis.url();
    // A document of another program is taken by its key.
    let _: () = keys.set("shenma:agents:guide", document("tour-guide").to_string()).unwrap();
    let travel = Travel::start_with(|settings| settings.store.url = url).await;
    let app = &travel.app;
    assert_eq!(app.get("/api/agents").await.body, json!(["guide", "travel"]));
    let id = started(app, "guide", json!({})).await;
    assert_eq!(super::shown(app, &id).await["agent"], "guide");
    for bad in ["{".to_owned(), json!({"name": "guide"}).to_string(), {
        let mut bad = document("guide");
        bad["help"] = "{{".into();
        bad.to_string()
    }] {
        let _: () = keys.set("shenma:agents:guide", &bad).unwrap();
        let has = |answer: &Answer| answer.body["problems"].to_string().contains("shenma:agents:guide");
        let status = app.eventually("/api/status", has).await;
        assert_eq!(status.body["problems"].as_array().unwrap().len(), 1, "{status:?}");
        let shown = app.get("/api/agents/guide").await.body;
        assert_eq!((&shown["name"], &shown["available"]), (&json!("tour-guide"), &json!(true)));
        started(app, "guide", json!({})).await;
        let _: () = keys.set("shenma:agents:guide", document("tour-guide").to_string()).unwrap();
        app.eventually("/api/status", |answer| answer.body["problems"] == json!([])).await;
    }
    // One that never was good is listed, so that people see why it is not there.
    let _: () = keys.set("shenma:agents:new", "{").unwrap();
    app.eventually("/api/agents", |answer| answer.body == json!(["guide", "new", "travel"])).await;
    let refused = app.post("/api/agents/new/sessions", json!({})).await;
    refused.assert_error(424, "conflict_error", "agent_unavailable");
    assert!(refused.error().3["problems"][0]["message"].as_str().unwrap().contains("not valid JSON"));
    let _: () = keys.del("shenma:agents:new").unwrap();
    app.eventually("/api/agents", |answer| answer.body == json!(["guide", "travel"])).await;
}

/// The table of overrides for an agent.
pub fn overrides(tables: Json) -> Map<String, Json> {
    tables.as_object().unwrap().clone()
}

#[tokio::test]
async fn settings_override_those_of_the_document_in_any_case() {
    let tables = json!({
        "TRAVEL": {"currency": "NOK", "Exit-Commands": "leave, go", "HELP_COMMANDS": ["how"], "context_hist_limit": "2",
            "message_maxlen": 10}
    });
    let travel = Travel::start_with(|settings| settings.agents.0 = overrides(tables)).await;
    let begun = travel.app.post("/api/agents/travel/sessions", json!({})).await;
    let id = begun.body["session_id"].as_str().unwrap();
    let help = begun.body["output"][1].as_str().unwrap();
    assert!(help.ends_with("Ask me with how; leave with leave or go."), "{help}");
    assert_eq!(
        output(&travel.say(id, "01234567890").await, "waiting"),
        ["11 characters are too many; 10 are enough."]
    );
    for round in 0..2 {
        travel.model_says([super::relevant(false)]);
        travel.say(id, &format!("{round}")).await;
    }
    travel.model_says([
        super::relevant(true),
        super::calls("find_trips", &json!({"city": "Oslo"})),
        super::says("-"),
        super::says("Yes."),
    ]);
    let found = travel.say(id, "Oslo").await;
    assert_eq!(output(&found, "waiting")[2], "Oslo for 120 NOK");
    assert_eq!(travel.trips.searches(), [json!({"city": "Oslo", "currency": "NOK"})]);
    assert_eq!(travel.asked(2)[0]["messages"].as_array().unwrap().len(), 3, "the prompt and two messages");
    assert_eq!(output(&travel.say(id, "GO").await, "ended").len(), 1);
}

#[test]
fn agents_are_set_listed_shown_exported_imported_and_removed_on_the_command_line() {
    let dir = tempfile::tempdir().unwrap();
    let dir = dir.path();
    write(dir, "guide.json", document("guide").to_string());
    assert_eq!(good(dir, &["agent", "set", "guide", "guide.json"]), "agent guide created\n");
    assert_eq!(good(dir, &["agent", "list"]), "guide\nsimple-agent\n");
    let shown: Json = serde_json::from_str(&good(dir, &["agent", "show", "guide"])).unwrap();
    assert_eq!((&shown["name"], &shown["available"]), (&json!("guide"), &json!(false)));
    let bad = run(dir, &["agent", "set", "x", "--value", r#"{"name": "x", "tools": []}"#]);
    let (code, _, err) = text(&bad);
    assert!(code == 1 && err.contains("/tools") && err.contains("\"help\" is a required property"), "{err}");
    good(dir, &["export", "out"]);
    assert_eq!(good(dir, &["agent", "rm", "guide"]), "agent guide removed\n");
    assert_eq!(good(dir, &["agent", "list"]), "simple-agent\n");
    good(dir, &["import", "out"]);
    let again: Json = serde_json::from_str(&good(dir, &["agent", "show", "guide"])).unwrap();
    assert_eq!(again, shown);
    let (code, _, err) = text(&run(dir, &["agent", "rm", "simple-agent"]));
    assert!(code == 1 && err.contains("package"), "{err}");
}
