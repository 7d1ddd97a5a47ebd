//! The simple agent in front of a scripted GigaChat, with its tokens, its functions and an authority of its own.

use ai_prompt_shell::settings::Module;
use serde_json::{Value as Json, json};

use super::replay::Service;
use super::{messages, output, started, steps, tell};
use support::app::TestApp;
use support::gigachat::{GigaChat, Reply};
use support::log::{GIGACHAT_KEY, TOKEN};

/// What GigaChat says: it classifies and chooses by calls of functions.
fn reply(body: &Json) -> Reply {
    let functions = body["functions"].as_array().cloned().unwrap_or_default();
    let said = body["messages"].as_array().unwrap().iter().rev().find(|message| message["role"] == "user");
    let said = said.unwrap()["content"].as_str().unwrap().to_owned();
    match functions.as_slice() {
        [one] if one["parameters"]["properties"].get("relevant").is_some() => {
            let name = one["name"].as_str().unwrap().to_owned();
            Reply::Call(name, json!({"relevant": !said.contains("погода")}))
        }
        [_, _] if said.contains("хайку") => {
            Reply::Call("generate_haiku".to_owned(), json!({"theme": " осень "}))
        }
        [_, _] => Reply::Call("rag_search".to_owned(), json!({"question": "Сколько длится отпуск?"})),
        other => panic!("unexpected functions: {other:?}"),
    }
}

#[actix_web::test]
async fn the_simple_agent_talks_to_gigachat() {
    let gigachat = GigaChat::start(reply).await;
    let (rag, haiku) = (Service::start("rag").await, Service::start("haiku").await);
    let app = TestApp::start_with(|settings| {
        settings.packages.builtin = true;
        settings.llm = gigachat.settings();
        for (name, service) in [("rag", &rag), ("haiku", &haiku)] {
            let module = Module { url: Some(service.url.clone()), ..Module::default() };
            settings.tools.modules.insert(name.to_owned(), module);
        }
    })
    .await;
    let id = started(&app, "simple-agent", json!({"log": "lines"})).await;
    let turn = tell(&app, &id, json!({"text": "Напиши хайку про осень"})).await;
    let whole = ["main/message", "cls/relevant", "select/selected", "valid/ok", "exec/done", "main/restart"];
    assert_eq!(steps(&turn), whole);
    let said = output(&turn, "waiting");
    assert!(said.contains(&"Инструмент generate_haiku проверен и готов к вызову. Тема: осень"));
    assert_eq!(said.last(), Some(&"#слов итого: 9"));
    let turn = tell(&app, &id, json!({"text": "Какая погода?"})).await;
    assert_eq!(steps(&turn), ["main/message", "cls/irrelevant", "main/restart"]);
    let turn = tell(&app, &id, json!({"text": "Сколько дней отпуск?"})).await;
    assert_eq!(steps(&turn), whole);
    assert!(output(&turn, "waiting").iter().any(|text| text.starts_with("Ответ RAG: ")));
    // One token served all five chats; the agent's own model was asked, and nothing was refused.
    assert_eq!((gigachat.tokens(), gigachat.refused()), (1, Vec::new()));
    let asked = gigachat.asked();
    assert_eq!(asked.len(), 5);
    assert!(
        asked.iter().all(|body| body["model"] == "GigaChat-2-Max" && body["messages"][0]["role"] == "system")
    );
    let session = super::shown(&app, &id).await;
    assert_eq!(messages(&session)[0], "user: Напиши хайку про осень");
    // A refusal of its own is told in its own words, and ends the conversation.
    gigachat.give_tokens(false);
    gigachat.expire();
    let turn = tell(&app, &id, json!({"text": "Ещё хайку"})).await;
    assert_eq!(steps(&turn).last().map(String::as_str), Some("cls/llm_error"));
    assert_eq!((&turn.body["state"], &turn.body["exit_code"]), (&json!("ended"), &json!(1)));
    let log = turn.body["steps"].as_array().unwrap().last().unwrap()["log"].to_string();
    assert!(log.contains("credentials doesn't match") && log.contains("critical"), "{log}");
    assert!(!log.contains(GIGACHAT_KEY) && !log.contains(TOKEN), "{log}");
    assert_eq!(gigachat.asked().len(), 5);
}
