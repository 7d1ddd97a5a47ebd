//! Requests of OpenAI's clients for models that may have what they ask for: nothing of the emulation may stand in their way.

use serde_json::{Value as Json, json};

use super::emulation::{ask, call, chat};
use super::{Ability, asked_for, declared, model, refusal, saying, start};
use crate::chat::{MOMENT, llm, read_stream};
use support::app::TestApp;
use support::upstream::{Act, Seen, Upstream, delta, event, json as reply_json, sse};

/// Schemas that clients send and servers take, but that are none.
fn odd_schemas() -> [Json; 5] {
    let of = |a: Json| json!({"type": "object", "properties": {"a": a}});
    [
        of(json!({"type": "integer", "minimum": 0, "exclusiveMinimum": true})),
        of(json!({"type": "string", "required": true})),
        of(json!({"type": "any"})),
        of(json!({"$ref": "#/$defs/Missing"})),
        json!("object"),
    ]
}

/// The requests with this schema: for a text, and for a call.
fn with_schema(schema: &Json) -> [(Json, &'static str, Ability); 2] {
    let (mut format, mut function) = (chat(), call());
    format["response_format"]["json_schema"]["schema"] = schema.clone();
    function["tools"] = json!([
        {"type": "other"},
        {"type": "function", "function": {"name": "save", "parameters": schema}},
    ]);
    function["tool_choice"] = "required".into();
    [
        (format, "response_format.json_schema.schema", Ability::JsonSchema),
        (function, "tools[1].function.parameters", Ability::Tools),
    ]
}

#[actix_web::test]
async fn a_schema_that_is_none_goes_to_a_model_that_may_take_it_and_is_an_error_for_others() {
    for schema in odd_schemas() {
        for (body, member, ability) in with_schema(&schema) {
            let (app, upstream) = start(model(ability, |_| "{}".into()), |_| {}).await;
            let answer = ask(&app, &body).await;
            assert_eq!((answer.status, &answer.body), (200, &saying(&body, "{}")), "{schema}");
            assert_eq!(upstream.seen()[0].json(), body);
            let (app, upstream) = start(model(Ability::Text, |_| "{}".into()), |llm| {
                llm.models = vec![declared("m", Ability::Text)];
            })
            .await;
            let answer = ask(&app, &body).await;
            answer.assert_error(400, "invalid_request_error", "invalid_schema");
            assert_eq!(answer.body["error"]["param"], member, "{schema}");
            assert!(answer.body["error"]["message"].as_str().unwrap().contains(member), "{answer:?}");
            assert!(upstream.seen().is_empty());
        }
    }
}

#[actix_web::test]
async fn a_function_without_parameters_may_be_null_or_absent() {
    let [_, (body, _, _)] = with_schema(&json!(null));
    let (app, upstream) = start(model(Ability::Tools, |_| "{}".into()), |_| {}).await;
    assert_eq!(ask(&app, &body).await.status, 200);
    assert_eq!(upstream.seen()[0].json(), body);
    let (app, _upstream) = start(model(Ability::Text, |_| "{\"b\": 1}".into()), |llm| {
        llm.models = vec![declared("m", Ability::Text)];
    })
    .await;
    let answer = ask(&app, &body).await;
    let function = &answer.body["choices"][0]["message"]["tool_calls"][0]["function"];
    assert_eq!(function, &json!({"name": "save", "arguments": "{\"b\":1}"}), "{answer:?}");
}

/// A service whose requests for values have a millisecond, in front of a model that takes longer.
async fn slow(ability: Ability, is_declared: bool) -> (TestApp, Upstream) {
    let script = move |seen: &Seen| {
        let body = seen.json();
        let answer = match (asked_for(&body) == ability, body["stream"] == true) {
            (true, true) => sse(&[delta("{\"a\":\"x\"}"), event("[DONE]")]),
            (true, false) => reply_json(200, saying(&body, "{\"a\":\"x\"}")),
            (false, _) => return refusal(asked_for(&body)),
        };
        [vec![Act::Wait(MOMENT)], answer].concat()
    };
    let upstream = Upstream::start(script).await;
    let app = TestApp::start_with(|settings| {
        settings.llm = llm(&upstream.base);
        settings.requests.timeout_ms = 1;
        if is_declared {
            settings.llm.models = vec![declared("m", ability)];
        }
    })
    .await;
    (app, upstream)
}

#[actix_web::test]
async fn the_time_for_a_request_is_that_of_its_emulation() {
    let (app, _upstream) = slow(Ability::JsonSchema, false).await;
    assert_eq!(ask(&app, &chat()).await.body, saying(&chat(), "{\"a\":\"x\"}"));
    let mut stream = chat();
    stream["stream"] = true.into();
    let (read, _) = read_stream(&app, "/v1/chat/completions", &stream).await;
    assert_eq!(read, delta("{\"a\":\"x\"}") + &event("[DONE]"));
    for is_declared in [true, false] {
        let (app, _upstream) = slow(Ability::Tools, is_declared).await;
        for body in [chat(), stream.clone()] {
            ask(&app, &body).await.assert_error(503, "timeout_error", "request_timeout");
        }
    }
}
