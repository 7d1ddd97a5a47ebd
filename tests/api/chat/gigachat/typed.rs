//! What our own loops read: calls of functions in either form, from either protocol, and in which form they have to offer them.

use ai_prompt_shell::app::App;
use ai_prompt_shell::llm::{FinishReason, Request, ToolForm};
use ai_prompt_shell::settings::{Capabilities, Llm, Model};
use base::caller::Caller;
use serde_json::{Value as Json, json};
use template::value::{RawObject, parse_json};

use super::tool;
use crate::chat::{ask, llm};
use support::app::TestApp;
use support::gigachat::{GigaChat, Reply};
use support::upstream::{Upstream, json as reply_json};

/// The services with these settings.
pub async fn services(llm: Llm) -> std::sync::Arc<App> {
    let mut settings = TestApp::settings_of("[store]\nurl = \"memory:\"\n[packages]\nbuiltin = false\n");
    settings.llm = llm;
    App::open(&settings).await.unwrap()
}

fn raw(json: &Json) -> RawObject {
    parse_json(json.to_string().as_bytes()).unwrap()
}

/// The answer to a chat has one call, of `look`, with these arguments.
async fn assert_call(app: &App, payload: &Json, arguments: &str) {
    let caller = Caller::new("r-1", None, None);
    let answered = app.llm.answer(&caller, Request::Chat(&raw(payload))).await.unwrap();
    let choice = &answered.completion.choices[0];
    assert_eq!(choice.finish_reason, Some(FinishReason::ToolCalls));
    let [call] = &choice.tool_calls[..] else { panic!("{choice:?}") };
    assert_eq!((call.name.as_str(), call.arguments.as_str()), ("look", arguments));
    assert!(!call.id.is_empty());
}

#[actix_web::test]
async fn calls_are_read_in_either_form_from_either_protocol() {
    let call = |arguments: Json| json!({"name": "look", "arguments": arguments});
    let messages = [
        json!({"tool_calls": [{"id": "c", "type": "function", "function": call(json!("{\"x\":1.0}"))}]}),
        json!({"tool_calls": [{"id": "c", "type": "function", "function": call(json!({"x": 1.0}))}]}),
        json!({"content": "", "function_call": call(json!("{\"x\":1.0}"))}),
        json!({"content": "", "function_call": call(json!({"x": 1.0})), "functions_state_id": "s"}),
    ];
    for message in messages {
        let choice = json!({"index": 0, "message": message, "finish_reason": "function_call"});
        let answer = json!({"choices": [choice]});
        let upstream = Upstream::start(move |_| reply_json(200, answer.clone())).await;
        assert_call(&*services(llm(&upstream.base)).await, &ask("q"), "{\"x\":1.0}").await;
    }
    let gigachat = GigaChat::start(|_| Reply::Call("look".to_owned(), json!({"x": 1.0}))).await;
    let app = services(gigachat.settings()).await;
    let with = |member: &str, functions: Json| {
        let mut payload = ask("q");
        payload[member] = functions;
        payload
    };
    assert_call(&app, &with("tools", json!([tool("look")])), "{\"x\":1.0}").await;
    assert_call(&app, &with("functions", json!([{"name": "look"}])), "{\"x\":1.0}").await;
}

#[actix_web::test]
async fn a_streamed_call_of_gigachat_is_collected_with_its_id() {
    let gigachat = GigaChat::start(|_| Reply::Call("look".to_owned(), json!({"x": 1}))).await;
    let app = services(gigachat.settings()).await;
    let mut payload = ask("q");
    payload["tools"] = json!([tool("look")]);
    payload["stream"] = true.into();
    let payload = raw(&payload);
    let caller = Caller::new("r-1", None, None);
    let mut streamed = app.llm.stream_answer(&caller, Request::Chat(&payload), true).await.unwrap();
    let mut collector = app.llm.collector();
    while let Some(piece) = futures_util::StreamExt::next(&mut streamed.events).await {
        collector.push(&piece.unwrap()).unwrap();
    }
    let completion = collector.completion().unwrap();
    let call = &completion.choices[0].tool_calls[0];
    assert_eq!(
        (call.name.as_str(), call.arguments.as_str(), completion.usage.total_tokens),
        ("look", "{\"x\":1}", Some(12))
    );
    assert!(call.id.ends_with("77d3fb14-457a-46ba-937e-000000000001"), "{call:?}");
}

#[actix_web::test]
async fn the_form_is_that_of_the_model() {
    let gigachat = GigaChat::parrot().await;
    let capabilities = Capabilities { functions: Some(true), ..Capabilities::default() };
    let model = |name: &str| Model { name: name.into(), capabilities, ..Model::default() };
    let old = Model { base_url: Some("http://h/v1".into()), ..model("old") };
    let models = vec![
        model("giga"),
        old.clone(),
        Model { name: "new".into(), capabilities: Capabilities::default(), ..old },
    ];
    let app = services(Llm { models, ..gigachat.settings() }).await;
    for (model, form) in [
        (Some("old"), ToolForm::Functions),
        (Some("new"), ToolForm::Tools),
        (Some("giga"), ToolForm::Tools),
        (Some("echo"), ToolForm::Tools),
        (None, ToolForm::Tools),
    ] {
        assert_eq!(app.llm.tool_form(model), form, "{model:?}");
    }
}
