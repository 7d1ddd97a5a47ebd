//! Agents with faults: every one of them is named, wherever people look, and nothing else breaks.

use std::path::Path;

use serde_json::{Value as Json, json};

use super::documents::{document, overrides};
use super::{Travel, started};
use crate::commands::{good, run, text};
use support::app::{Answer, TestApp, write};

/// The messages of the problems of an agent in the detailed list.
async fn problems(app: &TestApp, id: &str) -> Vec<String> {
    let listed = app.get("/api/agents?detail=true").await.body;
    let agent = listed.as_array().unwrap().iter().find(|agent| agent["id"] == id);
    let problems = agent.unwrap_or_else(|| panic!("{listed}"))["problems"].as_array().unwrap();
    problems.iter().map(|problem| problem["message"].as_str().unwrap().to_owned()).collect()
}

/// The paths of the faults that a refusal names.
#[track_caller]
fn paths(answer: &Answer) -> Vec<&str> {
    answer.assert_error(400, "invalid_request_error", "invalid_document");
    let faults = answer.error().3["violations"].as_array().unwrap().iter();
    faults.map(|fault| fault["path"].as_str().unwrap()).collect()
}

#[tokio::test]
async fn a_write_with_faults_of_all_kinds_is_refused_with_every_one_of_them() {
    let app = TestApp::start().await;
    let mut bad = document("other");
    bad["colour"] = "red".into();
    bad["help"] = "{% if %}".into();
    bad["settings"] = json!({"LLM_RETRIES": 99, "CITY_MAXLEN": -1, "CONTEXT_HIST_LIMIT": 3});
    bad["texts"] = json!({"gone": "{{ texts.sorry }}", "which": "{{ settings.NOWHERE }}"});
    bad["steps"]["main"]["outcomes"]["begin"] = json!([]);
    bad["steps"]["cls"]["outcomes"] = json!({"relevant": {"next": "exec"}});
    bad["steps"]["select"]["outcomes"]["none"] =
        json!([{"text": "x", "debug": "y"}, "{{ result }}", "{{ texts.nothing }}"]);
    bad["steps"]["valid"]["outcomes"] = json!({});
    bad["tools"][1]["name"] = "find_trips".into();
    bad["tools"][1]["parameters"] = json!({"type": "object", "properties": {"a": {"type": "strin"}}});
    bad["tools"][1]["on_missing"] = "ask".into();
    bad["tools"][2]["bind"] = json!({"city": {"value": "Oslo"}, "currency": {"setting": "CURRENCY"}});
    bad["tools"][2]["checks"] = json!([{"parameter": "hotel", "max_chars": 3}]);
    let refused = app.put("/api/agents/guide", bad).await;
    let mut found = paths(&refused);
    found.sort_unstable();
    let expected = [
        "",
        "/help",
        "/name",
        "/settings/CONTEXT_HIST_LIMIT",
        "/settings/LLM_RETRIES",
        "/steps/cls/outcomes/irrelevant",
        "/steps/cls/outcomes/llm_error",
        "/steps/cls/outcomes/parse_error",
        "/steps/cls/outcomes/relevant/next",
        "/steps/main/outcomes/begin",
        "/steps/select/outcomes/none/0",
        "/steps/select/outcomes/none/1",
        "/steps/select/outcomes/none/2",
        "/steps/valid/outcomes/confirm",
        "/steps/valid/outcomes/rejected",
        "/texts/gone",
        "/texts/which",
        "/tools/0/bind/currency/setting",
        "/tools/0/checks/0/max_chars/setting",
        "/tools/0/failure/call_failed/0/text",
        "/tools/0/output/0/text",
        "/tools/1/failure/call_failed/0/text",
        "/tools/1/name",
        "/tools/1/on_missing",
        "/tools/1/parameters",
        "/tools/2/bind/city",
        "/tools/2/bind/currency/setting",
        "/tools/2/checks/0",
        "/tools/2/checks/0/parameter",
        "/tools/2/failure/call_failed/0/text",
    ];
    assert_eq!(found, expected, "{refused:?}");
    let told = refused.error().3.to_string();
    for words in [
        "the document calls itself `other`, but is stored as `guide`",
        "must be `main`, `cls` or `select`",
        "must be a text, {",
        "`LLM_RETRIES` must be a whole number from 0 to 2",
        "there is another tool called `find_trips`",
        "`texts` has no such member",
        "there is no setting `CURRENCY`",
        "is said in `/history/limit`",
    ] {
        assert!(told.contains(words) || told.contains(&words.replace('"', "\\\"")), "{words}: {told}");
    }
    assert_eq!(app.get("/api/agents").await.body, json!([]));
    for (body, code) in [("{", "invalid_json"), ("[]", "invalid_document"), ("\"x\"", "invalid_document")] {
        let request =
            app.request("PUT", "/api/agents/guide").header("content-type", "application/json").body(body);
        app.send(request).await.assert_error(400, "invalid_request_error", code);
    }
}

#[tokio::test]
async fn an_agent_whose_parts_are_missing_is_unavailable_until_they_are_there() {
    let travel = Travel::start().await;
    let app = &travel.app;
    let mut lost = document("lost");
    lost["prompts"] = json!({"classify": "lost.classify", "select": "lost.select", "answer": "lost.answer"});
    lost["tools"][0]["tool"] = "lost.search".into();
    lost["tools"][0]["health"] = "lost.health".into();
    let written = app.put("/api/agents/lost", lost).await;
    assert_eq!((written.status, written.body["problems"].as_array().unwrap().len()), (201, 5), "{written:?}");
    let told = problems(app, "lost").await;
    for part in ["lost.classify", "lost.select", "lost.answer", "lost.search", "lost.health"] {
        assert!(told.iter().any(|problem| problem.contains(&format!("`{part}`"))), "{part}: {told:?}");
    }
    let refused = app.post("/api/agents/lost/sessions", json!({})).await;
    refused.assert_error(424, "conflict_error", "agent_unavailable");
    assert_eq!(refused.error().3["problems"].as_array().unwrap().len(), 5, "{refused:?}");
    let status = app.get("/api/status").await.body;
    assert_eq!(status["problems"].as_array().unwrap().len(), 5, "{status}");
    // Other agents go on.
    started(app, "travel", json!({})).await;
    for part in ["classify", "select", "answer"] {
        app.put_prompt(&format!("lost.{part}"), json!({"prompt": "x"})).await;
    }
    for tool in ["lost.search", "lost.health"] {
        let document = json!({"type": "restful", "url": "http://127.0.0.1:9/x"});
        app.put_tool(tool, document).await;
    }
    assert_eq!(problems(app, "lost").await, [""; 0]);
    assert_eq!(app.get("/api/status").await.body["problems"], json!([]));
    started(app, "lost", json!({})).await;
}

#[tokio::test]
async fn overrides_that_cannot_be_make_their_agent_unavailable_and_are_told_everywhere() {
    let tables = json!({"travel": {"colour": "red", "CITY_MAXLEN": "long", "LLM_RETRIES": 9, "exit_commands": [""], "tool_calls_max": true}});
    let travel = Travel::start_with(|settings| settings.agents.0 = overrides(tables)).await;
    let app = &travel.app;
    let expected = [
        "the settings override `colour`, which this agent does not have",
        "the settings override `CITY_MAXLEN`, which must be a number",
        "the settings override `TOOL_CALLS_MAX`, which must be a number",
        "`LLM_RETRIES` must be a whole number from 0 to 2 (the settings override it)",
        "`EXIT_COMMANDS` must be a list of commands, none of them empty (the settings override it)",
    ];
    let mut told = problems(app, "travel").await;
    told.sort();
    let mut sorted = expected.map(str::to_owned);
    sorted.sort();
    assert_eq!(told, sorted);
    let refused = app.post("/api/agents/travel/sessions", json!({})).await;
    refused.assert_error(424, "conflict_error", "agent_unavailable");
    assert!(expected.iter().all(|fault| refused.error().2.contains(fault)), "{refused:?}");
    let status = app.get("/api/status").await.body;
    let listed = status["problems"].as_array().unwrap();
    assert!(
        listed.iter().all(|problem| problem["key"] == "agents.travel" && problem["since"].is_u64()),
        "{status}"
    );
    assert_eq!(listed.len(), expected.len());
}

/// Writes the document of an agent into a package of its own.
fn packaged(dir: &Path, name: &str, document: &str) {
    write(
        dir,
        &format!("packages/{name}/package.json"),
        json!({"name": name, "contributes": {}}).to_string(),
    );
    write(dir, &format!("packages/{name}/agents/{name}.json"), document);
}

#[test]
fn check_names_every_fault_and_the_list_says_which_agents_are_unavailable() {
    let dir = tempfile::tempdir().unwrap();
    let dir = dir.path();
    let mut faulty = document("faulty");
    faulty["colour"] = "red".into();
    faulty["help"] = "{{ nothing }}".into();
    faulty["tools"][1]["name"] = "find_trips".into();
    faulty["steps"]["select"]["outcomes"].as_object_mut().unwrap().shift_remove("none");
    let mut overridden = document("overridden");
    overridden["prompts"] = json!({"select": "skills.system"});
    overridden["tools"].as_array_mut().unwrap().truncate(1);
    overridden["tools"][0]["tool"] = "overridden.search".into();
    packaged(dir, "broken", "{\n  \"name\": \"broken\",,\n}");
    packaged(dir, "faulty", &faulty.to_string());
    packaged(dir, "overridden", &overridden.to_string());
    write(
        dir,
        "ai-prompt-shell.toml",
        "[packages]\ndir = \"packages\"\n[agents.overridden]\ncolour = \"red\"\n[agents.nobody]\nx = 1\n",
    );
    let (code, out, err) = text(&run(dir, &["check"]));
    assert_eq!(code, 1, "{out}{err}");
    for told in [
        "broken/agents/broken.json:2:",
        "'colour' was unexpected",
        "/help: uses `nothing`, which is not known here",
        "/tools/1/name: there is another tool called `find_trips`",
        "/steps/select/outcomes/none: is missing",
        "overridden/agents/overridden.json: the tool `find_trips` names `overridden.search` as its `tool`",
        "overridden/agents/overridden.json: the tool `find_trips` names `trips.health` as its `health`",
        "agents.overridden: the settings override `colour`, which this agent does not have",
        "note: the settings [agents.nobody] are for an agent that does not exist",
    ] {
        assert!(out.contains(told), "{told}: {out}");
    }
    assert!(!out.contains("[agents.overridden]") && out.ends_with("5 problems\n"), "{out}");
    let listed: Json = serde_json::from_str(&good(dir, &["agent", "list", "--json"])).unwrap();
    let of = |id: &str| listed.as_array().unwrap().iter().find(|agent| agent["id"] == id).unwrap().clone();
    for (id, count) in [("broken", 1), ("faulty", 1), ("overridden", 3), ("simple-agent", 0)] {
        let agent = of(id);
        assert_eq!(agent["available"], count == 0, "{agent}");
        assert_eq!(agent["problems"].as_array().unwrap().len(), count, "{agent}");
    }
}
