//! Skills as documents: in the store, over HTTP and on the command line.

use serde_json::{Value as Json, json};

use crate::commands::{good, run, text};
use support::app::{Answer, TestApp, write};

const SKILL: &str = "---
name: commit
description: Commits what has changed
params:
  - name: message
    description: The message
    required: true
allowed-tools: Bash(git status:*), Bash(git diff:*)
temperature: 0
license: MIT
---

# Commit

Run `git status` first.
";

async fn put_text(app: &TestApp, id: &str, text: &str) -> Answer {
    let request = app.request("PUT", &format!("/api/skills/{id}"));
    app.send(request.header("content-type", "text/markdown; charset=utf-8").body(text.to_owned())).await
}

async fn raw(app: &TestApp, id: &str) -> (String, String) {
    let response = app.request("GET", &format!("/api/skills/{id}?raw=store")).send().await.unwrap();
    let media_type = response.headers()["content-type"].to_str().unwrap().to_owned();
    (media_type, response.text().await.unwrap())
}

#[actix_web::test]
async fn a_skill_is_stored_as_markdown_shown_in_parts_and_kept_as_it_was_written() {
    let app = TestApp::start().await;
    assert_eq!(put_text(&app, "git.commit", SKILL).await.status, 201);
    assert_eq!(app.get("/api/skills").await.body, json!(["git.commit"]));
    let expected = json!({
        "id": "git.commit",
        "name": "commit",
        "description": "Commits what has changed",
        "params": [{"name": "message", "description": "The message", "required": true}],
        "history_mode": "full",
        "history_max": 10,
        "model": null,
        "temperature": 0.0,
        "max_tokens": null,
        "allowed_tools": ["Bash(git status:*)", "Bash(git diff:*)"],
        "argument_hint": null,
        "disable_model_invocation": false,
        "source": "store",
        "problems": [],
        "content": "# Commit\n\nRun `git status` first.",
        "front_matter": {
            "name": "commit",
            "description": "Commits what has changed",
            "params": [{"name": "message", "description": "The message", "required": true}],
            "allowed-tools": "Bash(git status:*), Bash(git diff:*)",
            "temperature": 0,
            "license": "MIT",
        },
        "files": [],
    });
    assert_eq!(app.get("/api/skills/git.commit").await.body, expected);
    let (media_type, stored) = raw(&app, "git.commit").await;
    assert_eq!((media_type.as_str(), stored.as_str()), ("text/markdown; charset=utf-8", SKILL));
    let listed = app.get("/api/skills?detail=true").await.body;
    assert_eq!((&listed[0]["id"], listed[0].get("content")), (&json!("git.commit"), None));
    assert_eq!(app.get("/api/status").await.body["counts"]["skills"], 1);
}

#[actix_web::test]
async fn the_last_segment_finds_a_skill_if_only_one_has_it() {
    let app = TestApp::start().await;
    put_text(&app, "git.commit", SKILL).await;
    for path in ["/api/skills/commit", "/api/skills/commit?raw=any"] {
        assert_eq!(app.get(path).await.status, 200, "{path}");
    }
    assert_eq!(app.get("/api/skills/commit").await.body["id"], "git.commit");
    app.delete("/api/skills/commit").await.assert_error(404, "not_found_error", "skill_not_found");
    put_text(&app, "svn.commit", SKILL).await;
    app.get("/api/skills/commit").await.assert_error(404, "not_found_error", "skill_not_found");
    put_text(&app, "commit", SKILL).await;
    assert_eq!(app.get("/api/skills/commit").await.body["id"], "commit");
    assert_eq!(app.delete("/api/skills/commit").await.status, 204);
    assert_eq!(app.get("/api/skills").await.body, json!(["git.commit", "svn.commit"]));
}

#[actix_web::test]
async fn json_holds_the_whole_text_and_members_beside_it_come_first() {
    let app = TestApp::start().await;
    let alone = app.put("/api/skills/a.commit", json!({"content": SKILL})).await;
    assert_eq!((alone.status, alone.body.get("problems")), (201, None));
    assert_eq!(app.get("/api/skills/a.commit").await.body["name"], "commit");
    let document = json!({"name": "other", "description": "Another", "content": SKILL});
    app.put("/api/skills/b.other", document.clone()).await;
    let shown = app.get("/api/skills/b.other").await.body;
    assert_eq!((&shown["name"], &shown["description"]), (&json!("other"), &json!("Another")));
    assert_eq!(
        (&shown["temperature"], &shown["content"]),
        (&json!(0.0), &json!("# Commit\n\nRun `git status` first."))
    );
    assert_eq!(app.get("/api/skills/b.other?raw=store").await.body, document);
    let plain = json!({"name": "plain", "description": "No front matter", "content": "Do it."});
    app.put("/api/skills/c.plain", plain).await;
    assert_eq!(app.get("/api/skills/c.plain").await.body["content"], "Do it.");
}

#[actix_web::test]
async fn what_cannot_be_used_is_refused_with_all_that_is_wrong() {
    let app = TestApp::start().await;
    let broken = json!({"name": 1, "description": ["x"], "params": [{"name": ""}], "temperature": -1});
    let answer = app.put("/api/skills/x", broken).await;
    answer.assert_error(400, "invalid_request_error", "invalid_document");
    let violations = answer.error().3["violations"].as_array().unwrap();
    let paths: Vec<&str> = violations.iter().filter_map(|v| v["path"].as_str()).collect();
    for path in ["/name", "/description", "/params/0/name", "/temperature"] {
        assert!(paths.contains(&path), "{path}: {paths:?}");
    }
    assert!(answer.error().2.contains("content"), "{answer:?}");
    put_text(&app, "x", " \n").await.assert_error(400, "invalid_request_error", "invalid_document");
    put_text(&app, "x", "a\0b").await.assert_error(400, "invalid_request_error", "invalid_document");
    let text = app.request("PUT", "/api/skills/x").header("content-type", "application/json").body(SKILL);
    app.send(text).await.assert_error(400, "invalid_request_error", "invalid_json");
    let html = app.request("PUT", "/api/skills/x").header("content-type", "text/html").body(SKILL);
    app.send(html).await.assert_error(415, "invalid_request_error", "unsupported_media_type");
    let prompt = app.request("PUT", "/api/prompts/x.y").header("content-type", "text/markdown").body("Hi");
    app.send(prompt).await.assert_error(415, "invalid_request_error", "unsupported_media_type");
    assert_eq!(app.get("/api/skills").await.body, json!([]));
}

#[actix_web::test]
async fn what_agentskills_would_not_take_is_a_problem_with_its_line_and_serves() {
    let app = TestApp::start().await;
    let text = "---\nname: Do It\ndescription: Use when: asked\nhistory_mode: none\n---\nDo it.";
    let answer = put_text(&app, "x.doit", text).await;
    assert_eq!(answer.status, 201);
    let problems = answer.body["problems"].to_string();
    let shown = app.get("/api/skills/x.doit").await.body;
    assert_eq!(shown["description"], "Use when: asked");
    let status = app.get("/api/status").await.body["problems"].clone();
    for told in [problems, shown["problems"].to_string(), status.to_string()] {
        for part in ["read line by line", "it has a `D`", "`history_mode` must be"] {
            assert!(told.contains(part), "{part}: {told}");
        }
    }
    let lines: Vec<&Json> = status.as_array().unwrap().iter().map(|problem| &problem["line"]).collect();
    assert!(lines.contains(&&json!(2)) && lines.contains(&&json!(4)), "{status}");
    assert!(
        status.as_array().unwrap().iter().all(|p| p["kind"] == "skill" && p["key"] == "shenma:skills:x:doit")
    );
}

#[actix_web::test]
async fn writes_have_conditions_as_those_of_all_documents() {
    let app = TestApp::start().await;
    let etag = put_text(&app, "x", SKILL).await.headers["etag"].clone();
    assert_eq!(app.get("/api/skills/x").await.headers["etag"], etag);
    let put = |header: &'static str, value: &str| {
        let request = app.request("PUT", "/api/skills/x").header("content-type", "text/markdown");
        app.send(request.header(header, value).body("Other."))
    };
    put("if-none-match", "*").await.assert_error(412, "conflict_error", "etag_mismatch");
    assert_eq!(put("if-match", etag.to_str().unwrap()).await.status, 200);
    put("if-match", etag.to_str().unwrap()).await.assert_error(412, "conflict_error", "etag_mismatch");
}

#[actix_web::test]
async fn the_schema_of_skills_is_served() {
    let app = TestApp::start().await;
    let schema = app.get("/schemas/skill.json").await.body;
    assert_eq!(schema["required"], json!(["content"]));
}

#[test]
fn skills_are_set_shown_listed_and_removed_as_markdown_on_the_command_line() {
    let dir = tempfile::tempdir().unwrap();
    let dir = dir.path();
    write(dir, "commit.md", SKILL);
    let store = ["-s", "packages.builtin=false"];
    let with = |words: &[&'static str]| [words, &store[..]].concat();
    assert_eq!(good(dir, &with(&["skill", "set", "git.commit", "commit.md"])), "skill git.commit created\n");
    assert_eq!(good(dir, &with(&["skill", "list"])), "git.commit\n");
    assert_eq!(good(dir, &with(&["skill", "show", "commit"])).trim(), SKILL.trim());
    let shown: Json =
        serde_json::from_str(&good(dir, &with(&["skill", "show", "commit", "--json"]))).unwrap();
    assert_eq!(shown["name"], "commit");
    assert_eq!(good(dir, &with(&["skill", "rm", "git.commit"])), "skill git.commit removed\n");
    let (code, _, err) = text(&run(dir, &with(&["skill", "show", "commit"])));
    assert_eq!((code, err.contains("no skill `commit`")), (1, true), "{err}");
}

#[test]
fn exported_skills_are_markdown_files_and_come_back() {
    let dir = tempfile::tempdir().unwrap();
    let dir = dir.path();
    write(dir, "commit.md", SKILL);
    let object = json!({"name": "other", "content": SKILL}).to_string();
    write(dir, "other.json", &object);
    good(dir, &["skill", "set", "git.commit", "commit.md"]);
    good(dir, &["skill", "set", "git.deep.other", "other.json"]);
    good(dir, &["skill", "set", "alone", "commit.md"]);
    assert_eq!(good(dir, &["export", "saved"]), "3 documents written to saved\n");
    assert_eq!(std::fs::read_to_string(dir.join("saved/skills/git/commit/SKILL.md")).unwrap(), SKILL);
    let shown = |store: &'static str, id: &'static str| {
        let json = good(dir, &["skill", "show", id, "--json", "--store", store]);
        serde_json::from_str::<Json>(&json).unwrap()
    };
    assert_eq!(good(dir, &["import", "saved", "--store", "embedded:two"]), "3 of 3 documents stored\n");
    for id in ["git.commit", "git.deep.other", "alone"] {
        let before = shown("embedded:data", id);
        assert_eq!(shown("embedded:two", id), before, "{id}");
    }
    assert_eq!(shown("embedded:two", "git.deep.other")["name"], "other");
}
