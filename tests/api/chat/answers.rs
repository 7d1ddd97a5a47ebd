//! Answers that are read: the way of our own loops to a model, over the same routes, retries and limits.

use std::sync::Arc;

use ai_prompt_shell::app::App;
use ai_prompt_shell::llm::{
    Answered, Choice, FinishReason, LlmError, Request, ToolCall, UpstreamError, Usage,
};
use ai_prompt_shell::settings::{Llm, Model, Settings};
use base::caller::Caller;
use serde_json::{Value as Json, json};

use super::{ask, ask_for_stream, llm};
use support::upstream::{Act, Seen, Upstream, completion, json as reply_json, reply};

/// The services, in front of an upstream that answers as `script` says.
async fn services(
    script: impl Fn(&Seen) -> Vec<Act> + Send + Sync + 'static,
    change: impl FnOnce(&mut Llm),
) -> (Arc<App>, Upstream) {
    let upstream = Upstream::start(script).await;
    let mut settings = Settings::default();
    settings.store.url = "memory:".into();
    settings.packages.builtin = false;
    settings.packages.dir = "/nowhere".into();
    settings.llm = llm(&upstream.base);
    change(&mut settings.llm);
    (App::open(&settings).await.unwrap(), upstream)
}

/// Asks in a task of its own, as a loop does that outlives its request.
async fn answer(app: &Arc<App>, payload: Json) -> Result<(Choice, Usage), LlmError> {
    let app = app.clone();
    let asking = async move {
        let payload = serde_json::from_value(payload).unwrap();
        let asked = app.llm.answer(&Caller::new("r-1", None, None), Request::Chat(&payload)).await;
        asked.map(|Answered { completion, .. }| (completion.choices[0].clone(), completion.usage))
    };
    tokio::spawn(asking).await.unwrap()
}

#[actix_web::test]
async fn an_answer_is_read_and_the_request_is_that_of_any_chat() {
    let message = json!({"role": "assistant", "content": null, "tool_calls": [
        {"id": "call_a", "type": "function", "function": {"name": "look", "arguments": "{\"q\": 1}"}},
    ]});
    let told = json!({"choices": [{"index": 0, "message": message, "finish_reason": "tool_calls"}]});
    let (app, upstream) = services(move |_| reply_json(200, told.clone()), |_| {}).await;
    let (read, _) = answer(&app, ask("q")).await.unwrap();
    let call = ToolCall { id: "call_a".into(), name: "look".into(), arguments: "{\"q\": 1}".into() };
    assert_eq!((read.text.as_str(), read.tool_calls), ("", vec![call]));
    assert_eq!(read.finish_reason, Some(FinishReason::ToolCalls));
    let seen = &upstream.seen()[0];
    assert_eq!((seen.path.as_str(), seen.json()), ("/v1/chat/completions", ask("q")));
    assert_eq!(seen.header("x-request-id"), Some("r-1"));
}

#[actix_web::test]
async fn it_is_tried_again_and_its_refusal_is_told() {
    let (app, upstream) = services(
        |seen| match seen.json()["n"].as_u64() {
            Some(status) => reply_json(status as u16, json!({"error": {"message": "no"}})),
            None => reply_json(200, completion("good")),
        },
        |_| {},
    )
    .await;
    assert_eq!(answer(&app, ask("q")).await.unwrap().1.total_tokens, Some(5));
    let with_status = |status: u16| {
        let mut payload = ask("q");
        payload["n"] = status.into();
        payload
    };
    let error = answer(&app, with_status(503)).await.unwrap_err();
    assert!(matches!(error, LlmError::Unavailable { attempts: 3, .. }), "{error:?}");
    let error = answer(&app, with_status(400)).await.unwrap_err();
    assert!(matches!(error, LlmError::Refused { status: 400, .. }), "{error:?}");
    assert_eq!(upstream.seen().len(), 1 + 3 + 1);
}

#[actix_web::test]
async fn an_answer_that_is_none_is_not_asked_for_again_but_a_fallback_is() {
    let empty = |_: &Seen| reply_json(200, json!({"choices": []}));
    let (app, upstream) = services(empty, |_| {}).await;
    let error = answer(&app, ask("q")).await.unwrap_err();
    let LlmError::Unavailable { attempts: 1, cause, .. } = error else { panic!("{error:?}") };
    assert!(matches!(cause, UpstreamError::Unusable { .. }), "{cause}");
    assert_eq!(upstream.seen().len(), 1);

    let in_body = json!({"error": {"message": "no credit", "code": 402}});
    for body in [json!({"choices": []}), in_body] {
        let script = move |_: &Seen| reply_json(200, body.clone());
        let fallback = |llm: &mut Llm| {
            llm.models = vec![Model { name: "m".into(), fallback: vec!["echo".into()], ..Model::default() }];
        };
        let (app, upstream) = services(script, fallback).await;
        assert_eq!(answer(&app, ask("q")).await.unwrap().0.text, "q");
        assert_eq!(upstream.seen().len(), 1);
    }
    let html = |_: &Seen| reply(200, &[("content-type", "text/html")], b"<h1>Log in</h1>");
    let (app, _upstream) = services(html, |_| {}).await;
    let error = answer(&app, ask("q")).await.unwrap_err().to_string();
    assert!(error.contains("content-type: text/html"), "{error}");
}

#[actix_web::test]
async fn it_keeps_the_limits_of_any_chat() {
    let (app, _upstream) = services(|_| vec![Act::Hang], |llm| llm.timeout_ms = 500).await;
    let error = answer(&app, ask("q")).await.unwrap_err();
    let LlmError::Unavailable { cause, .. } = error else { panic!("{error:?}") };
    assert!(matches!(cause, UpstreamError::Timeout { .. }), "{cause}");

    let long = completion(&"x".repeat(10_000));
    let (app, _upstream) =
        services(move |_| reply_json(200, long.clone()), |llm| llm.answer_bytes = 5_000).await;
    assert!(answer(&app, ask("q")).await.unwrap_err().to_string().contains("llm.answer_bytes"));

    let (app, upstream) = services(|_| vec![Act::Hang], |llm| llm.parallel = 1).await;
    let first = tokio::spawn({
        let app = app.clone();
        async move { answer(&app, ask("q")).await }
    });
    upstream.arrived(1).await;
    let error = answer(&app, ask("q")).await.unwrap_err();
    assert!(matches!(error, LlmError::Overloaded { parallel: 1 }), "{error:?}");
    first.abort();
}

#[actix_web::test]
async fn echo_answers_too_and_a_stream_cannot_be_read() {
    let (app, upstream) = services(|_| vec![Act::Cut], |llm| llm.default_model = Some("echo".into())).await;
    let (read, usage) =
        answer(&app, json!({"messages": [{"role": "user", "content": "one two"}]})).await.unwrap();
    assert_eq!((read.text.as_str(), read.finish_reason), ("one two", Some(FinishReason::Stop)));
    assert_eq!((usage.prompt_tokens, usage.total_tokens), (Some(2), Some(4)));
    let error = answer(&app, ask_for_stream("q")).await.unwrap_err();
    assert!(matches!(error, LlmError::Invalid { param: "stream", .. }), "{error:?}");
    assert!(upstream.seen().is_empty());
}
