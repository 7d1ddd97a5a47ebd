//! OpenAI's `response_format` with a JSON Schema, for models that do not have it.

use serde_json::{Value as Json, json};

use super::{Ability, asked_for, declared, model, of_message, refusal, saying, start};
use crate::chat::{datas, llm, read_stream};
use support::app::{Answer, TestApp};
use support::upstream::{Act, Seen, Upstream, delta, event, json as reply_json, sse};

/// A chat that asks for an object with a text `a`.
pub fn chat() -> Json {
    let schema = json!({
        "type": "object", "properties": {"a": {"type": "string"}}, "required": ["a"], "additionalProperties": false,
    });
    json!({
        "model": "m", "messages": [{"role": "user", "content": "q"}],
        "response_format": {"type": "json_schema", "json_schema": {"name": "N", "schema": schema, "strict": true}},
    })
}

pub async fn ask(app: &TestApp, body: &Json) -> Answer {
    app.post("/v1/chat/completions", body.clone()).await
}

#[actix_web::test]
async fn models_that_have_it_get_the_request_and_clients_the_answer_as_they_are() {
    for is_declared in [true, false] {
        let (app, upstream) =
            start(model(Ability::JsonSchema, |_| r#"{ "a": "x" , "odd": 1}"#.into()), |llm| {
                if is_declared {
                    llm.models = vec![declared("m", Ability::JsonSchema)];
                }
            })
            .await;
        let answer = ask(&app, &chat()).await;
        assert_eq!(answer.body, saying(&chat(), r#"{ "a": "x" , "odd": 1}"#));
        assert_eq!(upstream.seen()[0].json(), chat());
    }
}

#[actix_web::test]
async fn other_models_are_asked_in_their_own_way_and_answer_in_openais_shape() {
    for ability in [Ability::Tools, Ability::JsonObject, Ability::Text] {
        for is_declared in [true, false] {
            let (app, upstream) = start(model(ability, |_| " {\"a\" : \"x\"}\n".into()), |llm| {
                if is_declared {
                    llm.models = vec![declared("m", ability)];
                }
            })
            .await;
            let answer = ask(&app, &chat()).await;
            assert_eq!(answer.status, 200, "{answer:?}");
            let choice = &answer.body["choices"][0];
            assert_eq!(
                choice["message"],
                json!({"role": "assistant", "content": "{\"a\":\"x\"}", "refusal": null})
            );
            assert_eq!(
                (&choice["finish_reason"], &answer.body["object"]),
                (&json!("stop"), &json!("chat.completion"))
            );
            assert_eq!(
                (&answer.body["model"], &answer.body["usage"]["total_tokens"]),
                (&json!("m"), &json!(5))
            );
            assert_eq!(asked_for(&upstream.seen().last().unwrap().json()), ability);
        }
    }
}

#[actix_web::test]
async fn answers_are_repaired_and_the_end_is_an_error() {
    let script = |seen: &Seen| {
        let body = seen.json();
        let is_first = body["messages"].as_array().unwrap().len() == 1;
        let never = body["messages"][0]["content"] == "never";
        let text = if is_first || never { "{\"a\":1}" } else { "{\"a\":\"x\"}" };
        reply_json(200, saying(&body, text))
    };
    let (app, _upstream) = start(script, |llm| llm.models = vec![declared("m", Ability::Tools)]).await;
    let answer = ask(&app, &chat()).await;
    assert_eq!(answer.body["choices"][0]["message"]["content"], "{\"a\":\"x\"}");
    assert_eq!(answer.body["usage"]["total_tokens"], 10);
    let mut never = chat();
    never["messages"][0]["content"] = "never".into();
    ask(&app, &never).await.assert_error(422, "invalid_request_error", "solution_invalid");
}

#[actix_web::test]
async fn refusals_filters_and_cut_answers_are_told_in_openais_way() {
    for (message, reason, expected, finish) in [
        (json!({"content": null, "refusal": "No."}), "stop", json!([null, "No."]), "stop"),
        (json!({"content": ""}), "content_filter", json!([null, null]), "content_filter"),
        (json!({"content": "{\"a"}), "length", json!(["{\"a", null]), "length"),
    ] {
        let script = move |_: &Seen| {
            let mut answer = of_message(message.clone());
            answer["choices"][0]["finish_reason"] = reason.into();
            reply_json(200, answer)
        };
        let (app, _upstream) = start(script, |llm| llm.models = vec![declared("m", Ability::Tools)]).await;
        let answer = ask(&app, &chat()).await;
        let choice = &answer.body["choices"][0];
        assert_eq!(
            json!([choice["message"]["content"], choice["message"]["refusal"]]),
            expected,
            "{answer:?}"
        );
        assert_eq!(choice["finish_reason"], finish);
    }
}

#[actix_web::test]
async fn a_stream_begins_when_the_value_is_there() {
    let script = |seen: &Seen| {
        let body = seen.json();
        match (asked_for(&body), body["stream"] == true) {
            (Ability::Tools, true) => {
                let call = |arguments: &str| {
                    let call = json!({"index": 0, "id": "c", "function": {"name": "generate_response", "arguments": arguments}});
                    event(&json!({"choices": [{"index": 0, "delta": {"tool_calls": [call]}}]}).to_string())
                };
                let more = |arguments: &str| call(arguments).replace("generate_response", "");
                sse(&[call("{\"a\""), more(":\"x\"}"), event("[DONE]")])
            }
            (asked, _) => refusal(asked),
        }
    };
    let (app, _upstream) = start(script, |_| {}).await;
    let mut body = chat();
    body["stream"] = true.into();
    let (read, orderly) = read_stream(&app, "/v1/chat/completions", &body).await;
    let datas = datas(&read);
    assert!(orderly && datas.last().unwrap() == "[DONE]", "{read}");
    let text: String = datas[..datas.len() - 1]
        .iter()
        .map(|data| serde_json::from_str::<Json>(data).unwrap())
        .map(|chunk| chunk["choices"][0]["delta"]["content"].as_str().unwrap_or_default().to_owned())
        .collect();
    assert_eq!(text, "{\"a\":\"x\"}");
}

#[actix_web::test]
async fn a_stream_of_a_model_that_has_it_is_passed_on() {
    let script = |_: &Seen| sse(&[delta("{\"a\":"), delta("\"x\"}"), event("[DONE]")]);
    let (app, _upstream) = start(script, |_| {}).await;
    let mut body = chat();
    body["stream"] = true.into();
    let (read, _) = read_stream(&app, "/v1/chat/completions", &body).await;
    assert_eq!(read, delta("{\"a\":") + &delta("\"x\"}") + &event("[DONE]"));
}

#[actix_web::test]
async fn the_functions_of_a_client_go_along_and_its_calls_come_back() {
    let script = |seen: &Seen| {
        let body = seen.json();
        let names: Vec<&str> = body["tools"]
            .as_array()
            .unwrap()
            .iter()
            .map(|tool| tool["function"]["name"].as_str().unwrap())
            .collect();
        assert_eq!((names, &body["tool_choice"]), (vec!["look", "generate_response"], &json!("required")));
        let function = json!({"name": "look", "arguments": "{}"});
        reply_json(
            200,
            of_message(
                json!({"content": null, "tool_calls": [{"id": "c", "type": "function", "function": function}]}),
            ),
        )
    };
    let (app, _upstream) = start(script, |llm| llm.models = vec![declared("m", Ability::Tools)]).await;
    let mut body = chat();
    body["tools"] =
        json!([{"type": "function", "function": {"name": "look", "parameters": {"type": "object"}}}]);
    let answer = ask(&app, &body).await;
    assert_eq!(answer.body["choices"][0]["message"]["tool_calls"][0]["function"]["name"], "look");
    assert_eq!(answer.body["id"], "chatcmpl-scripted", "the answer is the upstream's own");
}

#[actix_web::test]
async fn prompts_and_the_built_in_model_have_it_too() {
    let (app, _upstream) = start(model(Ability::Tools, |_| r#"{"a":"x"}"#.into()), |llm| {
        llm.models = vec![declared("m", Ability::Tools)];
    })
    .await;
    app.put_prompt("p.q", json!({"userPrompt": "Q {{ x }}", "syntax": "jinja", "model": "m"})).await;
    let mut body = chat();
    body["model"] = "prompt:p.q".into();
    body["variables"] = json!({"x": 1});
    let answer = ask(&app, &body).await;
    assert_eq!(answer.body["choices"][0]["message"]["content"], "{\"a\":\"x\"}", "{answer:?}");
    body["model"] = "echo".into();
    let answer = ask(&app, &body).await;
    assert_eq!(answer.body["choices"][0]["message"]["content"], "{\"a\":\"\"}", "{answer:?}");
}

#[actix_web::test]
async fn it_can_be_switched_off_and_a_schema_that_is_none_is_told() {
    let upstream = Upstream::start(model(Ability::Tools, |_| "{}".into())).await;
    let app = TestApp::start_with(|settings| {
        settings.llm = llm(&upstream.base);
        settings.requests.emulate = false;
    })
    .await;
    assert_eq!(ask(&app, &chat()).await.status, 400);
    assert_eq!(upstream.seen().len(), 1);
    let (app, _upstream) = start(model(Ability::Tools, |_| "{}".into()), |llm| {
        llm.models = vec![declared("m", Ability::Tools)];
    })
    .await;
    let mut body = chat();
    body["response_format"]["json_schema"]["schema"] = json!({"type": "objekt"});
    let answer = ask(&app, &body).await;
    answer.assert_error(400, "invalid_request_error", "invalid_schema");
    assert_eq!(answer.body["error"]["param"], "response_format.json_schema.schema");
}

#[actix_web::test]
async fn a_fallback_that_does_not_have_it_is_asked_in_its_own_way() {
    let script = |seen: &Seen| -> Vec<Act> {
        let body = seen.json();
        match body["model"].as_str() {
            Some("m") => reply_json(503, json!({"error": {"message": "busy"}})),
            _ if asked_for(&body) == Ability::Tools => reply_json(200, saying(&body, r#"{"a":"x"}"#)),
            _ => refusal(asked_for(&body)),
        }
    };
    let (app, _upstream) = start(script, |llm| {
        let mut first = declared("m", Ability::JsonSchema);
        first.fallback = vec!["second".into()];
        llm.models = vec![first, declared("second", Ability::Tools)];
    })
    .await;
    let answer = ask(&app, &chat()).await;
    assert_eq!(answer.body["choices"][0]["message"]["content"], "{\"a\":\"x\"}", "{answer:?}");
    assert_eq!(answer.body["model"], "second");
}

#[actix_web::test]
async fn json_mode_works_for_models_that_do_not_have_it() {
    for is_declared in [true, false] {
        let (app, upstream) =
            start(model(Ability::Text, |_| "Sure:\n```json\n{\"b\": [1]}\n```".into()), |llm| {
                if is_declared {
                    llm.models = vec![declared("m", Ability::Text)];
                }
            })
            .await;
        let mut body = chat();
        body["response_format"] = json!({"type": "json_object"});
        let answer = ask(&app, &body).await;
        assert_eq!(answer.body["choices"][0]["message"]["content"], "{\"b\":[1]}", "{answer:?}");
        let sent = upstream.seen().last().unwrap().json();
        assert_eq!(sent["messages"].as_array().unwrap().last().unwrap(), &body["messages"][0]);
    }
    let (app, upstream) = start(model(Ability::JsonObject, |_| " {}".into()), |_| {}).await;
    let mut body = chat();
    body["response_format"] = json!({"type": "json_object"});
    assert_eq!(ask(&app, &body).await.body["choices"][0]["message"]["content"], " {}");
    assert_eq!(upstream.seen()[0].json(), body);
}

/// A chat in which the function `save` has to be called.
pub fn call() -> Json {
    let mut body = chat();
    let schema = body["response_format"]["json_schema"]["schema"].clone();
    body.as_object_mut().unwrap().remove("response_format");
    body["tools"] = json!([{"type": "function", "function": {"name": "save", "parameters": schema}}]);
    body["tool_choice"] = json!({"type": "function", "function": {"name": "save"}});
    body
}

#[actix_web::test]
async fn a_function_that_has_to_be_called_is_called_by_models_that_have_no_tools() {
    for ability in [Ability::JsonSchema, Ability::JsonObject, Ability::Text] {
        for is_declared in [true, false] {
            let (app, upstream) = start(model(ability, |_| " {\"a\": \"x\"}".into()), |llm| {
                if is_declared {
                    llm.models = vec![declared("m", ability)];
                }
            })
            .await;
            let answer = ask(&app, &call()).await;
            assert_eq!(answer.status, 200, "{answer:?}");
            let choice = &answer.body["choices"][0];
            assert_eq!(choice["finish_reason"], "tool_calls");
            let made = &choice["message"]["tool_calls"][0];
            assert_eq!(made["function"], json!({"name": "save", "arguments": "{\"a\":\"x\"}"}));
            assert!(made["id"].as_str().unwrap().starts_with("call-") && made["type"] == "function");
            let sent = upstream.seen().last().unwrap().json();
            assert_eq!((asked_for(&sent), sent.get("tool_choice")), (ability, None));
        }
    }
    let (app, upstream) = start(model(Ability::Tools, |_| "{\"a\":1}".into()), |_| {}).await;
    let answer = ask(&app, &call()).await;
    assert_eq!(answer.body, saying(&call(), "{\"a\":1}"), "the model's own call is passed on as it is");
    assert_eq!(upstream.seen()[0].json(), call());
}

#[actix_web::test]
async fn such_a_call_may_be_streamed() {
    let script = |seen: &Seen| {
        let body = seen.json();
        match asked_for(&body) {
            Ability::Text => sse(&[delta("{\"a\":"), delta("\"x\"}"), event("[DONE]")]),
            asked => refusal(asked),
        }
    };
    let (app, _upstream) = start(script, |_| {}).await;
    let mut body = call();
    body["stream"] = true.into();
    let (read, orderly) = read_stream(&app, "/v1/chat/completions", &body).await;
    assert!(
        orderly && read.contains(r#""arguments":"{\"a\":\"x\"}""#) && read.contains("tool_calls"),
        "{read}"
    );
}

#[actix_web::test]
async fn a_stream_without_choices_is_an_error_of_the_upstream() {
    let (app, upstream) =
        start(|_| sse(&[event("[DONE]")]), |llm| llm.models = vec![declared("m", Ability::JsonObject)]).await;
    let mut body = chat();
    body["stream"] = true.into();
    let answer = ask(&app, &body).await;
    answer.assert_error(502, "upstream_error", "llm_unavailable");
    assert_eq!(upstream.seen().len(), 1);
}
