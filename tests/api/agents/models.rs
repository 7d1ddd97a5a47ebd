//! Models of agents: how long they may take, how often they are asked again, and which one is asked.

use ai_prompt_shell::settings::{Capabilities, Model};
use serde_json::json;

use super::{Script, Travel, output, relevant, started, steps, tell};
use crate::chat::llm;
use support::app::TestApp;
use support::upstream::{Act, Upstream, completion, json as reply_json};

/// A service whose agent waits so long for a model, and asks so often once more.
async fn patient(timeout_ms: u64, retries: u64) -> Travel {
    let tables = json!({"travel": {"LLM_TIMEOUT_MS": timeout_ms, "LLM_RETRIES": retries}});
    Travel::start_with(|settings| settings.agents.0 = tables.as_object().unwrap().clone()).await
}

#[tokio::test]
async fn a_model_that_hangs_is_waited_for_as_long_as_the_agent_says() {
    let travel = patient(300, 0).await;
    for answers in [vec![vec![Act::Hang]], vec![relevant(true), vec![Act::Hang]]] {
        let id = travel.started().await;
        let exit = if answers.len() == 1 { 1 } else { 7 };
        travel.script.add(answers);
        let ended = travel.say(&id, "To Oslo").await;
        assert_eq!(output(&ended, "ended").last(), Some(&"My model is away. Come back later."));
        assert_eq!(ended.body["exit_code"], exit);
        let last = steps(&ended).pop().unwrap();
        assert!(last.ends_with("/llm_error"), "{ended:?}");
    }
    travel.model.abandoned(2).await;
    assert_eq!(travel.model.seen().len(), 3);
}

#[tokio::test]
async fn a_model_that_fails_is_asked_again_as_often_as_the_agent_says() {
    for retries in [0, 1, 2] {
        let travel = patient(20_000, retries).await;
        let id = travel.started().await;
        let failing = || reply_json(500, json!({"error": {"message": "overloaded"}}));
        travel.model_says([failing(), failing(), failing(), failing()]);
        let begun = travel.app.post("/api/agents/travel/sessions", json!({"log": "lines"})).await;
        let logged = begun.body["session_id"].as_str().unwrap();
        let ended = travel.say(&id, "To Oslo").await;
        assert_eq!(steps(&ended), ["main/message", "cls/llm_error"]);
        assert_eq!(travel.model.seen().len() as u64, retries + 1);
        travel.script.clear();
        travel.script.add([relevant(true), failing(), failing(), failing(), failing()]);
        let (other, asked) = (travel.started().await, travel.model.seen().len() as u64);
        assert_eq!(steps(&travel.say(&other, "To Oslo").await)[2], "select/llm_error");
        assert_eq!(travel.model.seen().len() as u64 - asked, 1 + retries + 1);
        travel.script.clear();
        travel.script.add(vec![failing(); 4]);
        let ended = travel.say(logged, "To Oslo").await;
        let log = ended.body["steps"][1]["log"].as_array().unwrap();
        let levels: Vec<&str> = log.iter().map(|line| line["level"].as_str().unwrap()).collect();
        assert_eq!(levels, ["critical", "critical"], "the helper's line and the step's: {log:?}");
        assert!(log[1]["text"].as_str().unwrap().contains("overloaded"), "{log:?}");
    }
    // After a failure that passes, the answer counts.
    let travel = patient(20_000, 1).await;
    let id = travel.started().await;
    travel.model_says([reply_json(503, json!({})), relevant(false)]);
    assert_eq!(steps(&travel.say(&id, "x").await)[1], "cls/irrelevant");
}

#[tokio::test]
async fn an_agent_without_a_model_of_its_own_asks_the_service_s() {
    let script = Script::default();
    let model: Upstream = script.model().await;
    let app = TestApp::start_with(|settings| {
        settings.llm = llm(&model.base);
        settings.llm.default_model = Some("usual".into());
    })
    .await;
    app.put_prompt("plain.select", json!({"prompt": "Choose."})).await;
    app.put_tool("plain.tool", json!({"type": "restful", "url": "http://127.0.0.1:9/"})).await;
    let failing = json!({"outcomes": {"llm_error": ["gone"], "parse_error": ["what?"], "none": ["none"]}});
    let document = json!({
        "name": "plain", "help": "h", "commands": {"exit": []}, "prompts": {"select": "plain.select"},
        "steps": {"main": {}, "select": failing, "valid": {}, "exec": {}},
        "tools": [{"name": "t", "tool": "plain.tool", "failure": {"call_failed": ["no"]}}],
    });
    let stored = app.put("/api/agents/plain", document).await;
    assert_eq!(stored.status, 201, "{stored:?}");
    let id = started(&app, "plain", json!({})).await;
    script.add([reply_json(200, completion("nothing"))]);
    let answer = tell(&app, &id, json!({"text": "x"})).await;
    assert_eq!(output(&answer, "waiting"), ["none"]);
    assert_eq!(model.seen()[0].json()["model"], "usual");
}

#[tokio::test]
async fn a_model_that_knows_functions_alone_is_offered_functions() {
    let travel = Travel::start_with(|settings| {
        let capabilities = Capabilities { functions: Some(true), ..Capabilities::default() };
        let model = Model { name: "traveller-1".to_owned(), capabilities, ..Model::default() };
        settings.llm.models = vec![model];
    })
    .await;
    let mut answer = completion("");
    answer["choices"][0]["message"] = json!({
        "role": "assistant", "content": null,
        "function_call": {"name": "book_seats", "arguments": {"city": "Oslo", "seats": 2}},
    });
    answer["choices"][0]["finish_reason"] = "function_call".into();
    travel.model_says([relevant(true), reply_json(200, answer)]);
    let id = travel.started().await;
    let asked = travel.say(&id, "Two seats to Oslo").await;
    assert_eq!(output(&asked, "waiting_confirmation").last(), Some(&"Book 2 seats to Oslo?"));
    let bodies = travel.asked(0);
    assert!(bodies.iter().all(|body| body.get("tools").is_none()), "{bodies:?}");
    let names: Vec<&str> =
        bodies[1]["functions"].as_array().unwrap().iter().map(|one| one["name"].as_str().unwrap()).collect();
    assert_eq!(
        (names, &bodies[1]["function_call"]),
        (vec!["find_trips", "add_up", "book_seats"], &json!("auto"))
    );
}
