//! Emulated values beside the client's own functions: which are offered, and whose calls come back.

use serde_json::{Value as Json, json};

use super::emulation::{ask, chat};
use super::emulation_choices::calling;
use super::{Ability, asked_for, declared, of_message, refusal, saying, start};
use crate::chat::{datas, read_stream};
use support::app::{Answer, TestApp};
use support::upstream::{Act, Seen, Upstream, event, json as reply_json, sse};

fn functions(names: &[&str]) -> Json {
    let function = |name: &&str| json!({"type": "function", "function": {"name": name, "parameters": {"type": "object"}}});
    names.iter().map(function).collect()
}

/// A chat that asks for a value, with these functions.
fn chat_with(names: &[&str], tool_choice: Json) -> Json {
    let mut body = chat();
    body["tools"] = functions(names);
    if !tool_choice.is_null() {
        body["tool_choice"] = tool_choice;
    }
    body
}

/// A service in front of a model that can call functions alone, as is declared, or to be found out.
async fn with_tools(
    is_declared: bool,
    message: impl Fn(&Json) -> Json + Send + Sync + 'static,
) -> (TestApp, Upstream) {
    let script = move |seen: &Seen| match asked_for(&seen.json()) {
        Ability::JsonSchema | Ability::JsonObject => refusal(asked_for(&seen.json())),
        _ => reply_json(200, of_message(message(&seen.json()))),
    };
    start(script, |llm| {
        if is_declared {
            llm.models = vec![declared("m", Ability::Tools)];
        }
    })
    .await
}

/// The functions that the answer calls.
fn called(answer: &Answer) -> Vec<&str> {
    let calls = answer.body["choices"][0]["message"]["tool_calls"].as_array();
    calls.into_iter().flatten().map(|call| call["function"]["name"].as_str().unwrap()).collect()
}

#[actix_web::test]
async fn a_function_of_the_client_with_the_name_of_ours_is_the_clients() {
    for is_declared in [true, false] {
        let body = chat_with(&["generate_response", "look"], Json::Null);
        let (app, upstream) = with_tools(is_declared, |_| calling("generate_response", "{}")).await;
        let answer = ask(&app, &body).await;
        assert_eq!(answer.body, of_message(calling("generate_response", "{}")));
        let sent = upstream.seen().last().unwrap().json();
        assert_eq!((&sent["tools"], sent.get("tool_choice")), (&body["tools"], None));
        let (app, _upstream) =
            with_tools(is_declared, |_| json!({"role": "assistant", "content": " {\"a\": \"x\"}"})).await;
        let answer = ask(&app, &body).await;
        assert_eq!(answer.body["choices"][0]["message"]["content"], "{\"a\":\"x\"}", "{answer:?}");
    }
}

#[actix_web::test]
async fn a_function_that_has_to_be_called_is_the_answer_in_place_of_a_value() {
    let named = json!({"type": "function", "function": {"name": "look"}});
    for is_declared in [true, false] {
        for (names, tool_choice) in [
            (&["look", "save"][..], named.clone()),
            (&["look"], json!("required")),
            (&["look", "save"], json!("required")),
            (&["look", "generate_response"], named.clone()),
        ] {
            let body = chat_with(names, tool_choice);
            let (app, upstream) = with_tools(is_declared, |_| calling("look", "{\"b\": 1}")).await;
            let answer = ask(&app, &body).await;
            assert_eq!(answer.body, of_message(calling("look", "{\"b\": 1}")), "{body}");
            let seen = upstream.seen();
            if !is_declared {
                assert_eq!(seen[0].json(), body, "it goes out as it is where the model may have everything");
            }
            let sent = seen.last().unwrap().json();
            assert_eq!((&sent["tools"], &sent["tool_choice"]), (&body["tools"], &body["tool_choice"]));
            assert!(sent.get("response_format").is_none(), "{sent}");
        }
    }
    let body = chat_with(&["look", "save"], named);
    let (app, upstream) = start(super::model(Ability::Text, |_| "{\"b\": 1}".into()), |_| {}).await;
    let answer = ask(&app, &body).await;
    assert_eq!(called(&answer), ["look"], "{answer:?}");
    assert!(upstream.seen().last().unwrap().json().get("tools").is_none());
    let mut on_echo = body;
    on_echo["model"] = "echo".into();
    assert_eq!(called(&ask(&app, &on_echo).await), ["look"]);
}

/// The script of a model that first calls one function with nothing, then, asked again, another one, and then ours.
fn second_thoughts(
    first: &'static str,
    second: &'static str,
) -> impl Fn(&Seen) -> Vec<Act> + Send + Sync + 'static {
    move |seen| {
        let body = seen.json();
        match (body["messages"].as_array().unwrap().len(), body["stream"] == true) {
            (1, true) => {
                let function = json!({"name": first, "arguments": "{}"});
                let delta = json!({"tool_calls": [{"index": 0, "id": "c", "function": function}]});
                sse(&[
                    event(&json!({"choices": [{"index": 0, "delta": delta}]}).to_string()),
                    event("[DONE]"),
                ])
            }
            (1, false) => reply_json(200, of_message(calling(first, "{}"))),
            (3, _) => reply_json(200, of_message(calling(second, r#"{"a":"x"}"#))),
            _ => reply_json(200, saying(&body, r#"{"a":"y"}"#)),
        }
    }
}

#[actix_web::test]
async fn the_clients_function_may_be_called_after_a_repair() {
    let (app, _upstream) = start(second_thoughts("generate_response", "look"), |llm| {
        llm.models = vec![declared("m", Ability::Tools)]
    })
    .await;
    let mut body = chat_with(&["look"], Json::Null);
    let answer = ask(&app, &body).await;
    assert_eq!(called(&answer), ["look"], "{answer:?}");
    let choice = &answer.body["choices"][0];
    assert_eq!(choice["message"]["tool_calls"], calling("look", r#"{"a":"x"}"#)["tool_calls"]);
    assert_eq!(
        (&choice["finish_reason"], &answer.body["usage"]["total_tokens"]),
        (&json!("tool_calls"), &json!(10))
    );
    body["stream"] = true.into();
    let (read, _) = read_stream(&app, "/v1/chat/completions", &body).await;
    let calls: Vec<Json> = datas(&read)
        .iter()
        .filter_map(|data| serde_json::from_str(data).ok())
        .filter_map(|chunk: Json| chunk["choices"][0]["delta"]["tool_calls"].as_array().cloned())
        .flatten()
        .collect();
    assert_eq!(calls.len(), 1, "{read}");
    assert_eq!((&calls[0]["index"], &calls[0]["function"]["name"]), (&json!(0), &json!("look")));
}

#[actix_web::test]
async fn a_call_of_a_function_that_nobody_offered_is_repaired() {
    let (app, upstream) =
        start(second_thoughts("dream", "muse"), |llm| llm.models = vec![declared("m", Ability::Tools)]).await;
    for tool_choice in [Json::Null, json!("none")] {
        let mut body = chat_with(&["look"], tool_choice.clone());
        if tool_choice.is_null() {
            body.as_object_mut().unwrap().remove("tools");
        }
        let answer = ask(&app, &body).await;
        assert_eq!(answer.body["choices"][0]["message"]["content"], "{\"a\":\"y\"}", "{answer:?}");
    }
    assert_eq!(upstream.seen().len(), 6);
}

#[actix_web::test]
async fn a_fallback_may_make_the_call_itself_after_an_answer_that_does_not_fit() {
    let script = |seen: &Seen| {
        let body = seen.json();
        match (body["model"].as_str(), body["messages"].as_array().unwrap().len()) {
            (Some("m"), 1) => reply_json(200, saying(&body, "no value")),
            // No answer, so that the fallback is asked.
            (Some("m"), _) => reply_json(200, json!({})),
            _ => reply_json(200, of_message(calling("save", "{\"x\":1}"))),
        }
    };
    let (app, upstream) = start(script, |llm| {
        let mut first = declared("m", Ability::JsonSchema);
        first.fallback = vec!["other".to_owned()];
        llm.models = vec![first, declared("other", Ability::Tools)];
    })
    .await;
    let mut body = chat_with(&["save"], json!("required"));
    body.as_object_mut().unwrap().remove("response_format");
    let answer = ask(&app, &body).await;
    assert_eq!((answer.status, called(&answer)), (200, vec!["save"]), "{answer:?}");
    assert_eq!(upstream.seen().len(), 3);
}

#[actix_web::test]
async fn json_mode_beside_an_empty_list_of_functions_is_json_mode() {
    let (app, _upstream) =
        start(super::model(Ability::Text, |_| "Here: {\"a\": 1}".to_owned()), |_| {}).await;
    let mut body = chat();
    body["response_format"] = json!({"type": "json_object"});
    body["tools"] = json!([]);
    let answer = ask(&app, &body).await;
    assert_eq!(answer.status, 200, "{answer:?}");
    assert_eq!(answer.body["choices"][0]["message"]["content"], "{\"a\":1}");
}
