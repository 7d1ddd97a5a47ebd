//! Emulated answers as OpenAI's clients read them: several choices, the usage, calls, and how much of a stream is kept.

use serde_json::{Value as Json, json};

use super::emulation::{ask, call, chat};
use super::{Ability, asked_for, declared, of_message, refusal, saying, start};
use crate::chat::{datas, read_stream};
use support::upstream::{Act, Seen, delta, event, json as reply_json, sse};

/// An answer with these messages.
fn of_messages(messages: &[Json]) -> Json {
    let mut answer = of_message(Json::Null);
    let choice = |(index, message): (usize, &Json)| json!({"index": index, "message": message, "logprobs": null, "finish_reason": "stop"});
    answer["choices"] = messages.iter().enumerate().map(choice).collect();
    answer
}

/// The message of a call.
pub fn calling(name: &str, arguments: &str) -> Json {
    let function = json!({"name": name, "arguments": arguments});
    json!({"role": "assistant", "content": null, "tool_calls": [{"id": "call_1", "type": "function", "function": function}]})
}

/// A model that can call functions alone, and says `answer`.
fn tools_alone(answer: Json) -> impl Fn(&Seen) -> Vec<Act> + Send + Sync + 'static {
    move |seen| match asked_for(&seen.json()) {
        Ability::Tools => reply_json(200, answer.clone()),
        asked => refusal(asked),
    }
}

#[actix_web::test]
async fn each_choice_is_told_in_its_own_way() {
    let refused = json!({"role": "assistant", "content": null, "refusal": "No."});
    let messages = [calling("generate_response", r#"{"a":"x"}"#), refused, calling("look", r#"{ "at": 1}"#)];
    let (app, _upstream) = start(tools_alone(of_messages(&messages)), |llm| {
        llm.models = vec![declared("m", Ability::Tools)];
    })
    .await;
    let mut body = chat();
    body["n"] = 3.into();
    body["tools"] = json!([{"type": "function", "function": {"name": "look"}}]);
    let answer = ask(&app, &body).await;
    assert_eq!(answer.status, 200, "{answer:?}");
    let choices = answer.body["choices"].as_array().unwrap();
    let told: Vec<Json> = choices
        .iter()
        .map(|choice| {
            let (message, reason) = (&choice["message"], &choice["finish_reason"]);
            json!([choice["index"], message["content"], message["refusal"], message["tool_calls"], reason])
        })
        .collect();
    let calls = calling("look", r#"{ "at": 1}"#)["tool_calls"].clone();
    assert_eq!(
        told,
        [
            json!([0, "{\"a\":\"x\"}", null, null, "stop"]),
            json!([1, null, "No.", null, "stop"]),
            json!([2, null, null, calls, "tool_calls"]),
        ]
    );
}

#[actix_web::test]
async fn an_emulated_stream_has_one_choice_and_a_native_one_all_of_them() {
    let mut body = chat();
    body["n"] = 2.into();
    body["stream"] = true.into();
    for is_declared in [true, false] {
        let script = |seen: &Seen| match asked_for(&seen.json()) {
            Ability::Tools => sse(&[event("[DONE]")]),
            asked => refusal(asked),
        };
        let (app, upstream) = start(script, |llm| {
            if is_declared {
                llm.models = vec![declared("m", Ability::Tools)];
            }
        })
        .await;
        let answer = ask(&app, &body).await;
        answer.assert_error(400, "invalid_request_error", "invalid_request");
        assert_eq!(answer.body["error"]["param"], "n");
        assert_eq!(upstream.seen().is_empty(), is_declared);
    }
    let second = |text: &str| delta(text).replace("\"index\":0", "\"index\":1");
    let events = [delta("{}"), second("[]"), event("[DONE]")];
    let sent = events.clone();
    let (app, _upstream) = start(move |_: &Seen| sse(&sent), |_| {}).await;
    let (read, _) = read_stream(&app, "/v1/chat/completions", &body).await;
    assert_eq!(read, events.concat());
}

#[actix_web::test]
async fn a_usage_that_is_not_known_is_left_out() {
    for (usage, expected) in [
        (json!(null), json!(null)),
        (json!({"prompt_tokens": 3}), json!(null)),
        (
            json!({"prompt_tokens": 3, "completion_tokens": 2}),
            json!({"prompt_tokens": 3, "completion_tokens": 2, "total_tokens": 5}),
        ),
    ] {
        let mut answer = of_message(calling("generate_response", r#"{"a":"x"}"#));
        answer["usage"] = usage.clone();
        let script = move |seen: &Seen| match seen.json()["stream"] == true {
            true => {
                let chunk = json!({"choices": [], "usage": usage});
                sse(&[delta("{\"a\":\"x\"}"), event(&chunk.to_string()), event("[DONE]")])
            }
            false => reply_json(200, answer.clone()),
        };
        let (app, _upstream) = start(script, |llm| llm.models = vec![declared("m", Ability::Tools)]).await;
        let answer = ask(&app, &chat()).await;
        assert_eq!(answer.body.get("usage"), Some(&expected).filter(|usage| !usage.is_null()), "{answer:?}");
        let mut body = chat();
        body["stream"] = true.into();
        body["stream_options"] = json!({"include_usage": true});
        let (read, _) = read_stream(&app, "/v1/chat/completions", &body).await;
        let usages: Vec<Json> = datas(&read)
            .iter()
            .filter_map(|data| serde_json::from_str::<Json>(data).ok()?.get("usage").cloned())
            .collect();
        assert_eq!(usages, Vec::from_iter(Some(expected).filter(|usage| !usage.is_null())), "{read}");
    }
}

#[actix_web::test]
async fn calls_have_a_number_in_streams_alone() {
    let script = |seen: &Seen| match seen.json()["stream"] == true {
        true => sse(&[delta("{\"a\":\"x\"}"), event("[DONE]")]),
        false => reply_json(200, saying(&json!({}), r#"{"a":"x"}"#)),
    };
    let (app, _upstream) = start(script, |llm| llm.models = vec![declared("m", Ability::Text)]).await;
    let mut body = call();
    let answer = ask(&app, &body).await;
    let made = &answer.body["choices"][0]["message"]["tool_calls"][0];
    assert!(made["type"] == "function" && made.get("index").is_none(), "{answer:?}");
    body["stream"] = true.into();
    let (read, _) = read_stream(&app, "/v1/chat/completions", &body).await;
    assert!(read.contains(r#""tool_calls":[{"index":0,"id":"call-"#), "{read}");
}

/// A stream of many thoughts, far longer than the answer may be, around a short answer in the way of functions.
fn thoughts(name: &'static str) -> impl Fn(&Seen) -> Vec<Act> + Send + Sync + 'static {
    move |_| {
        let of = |delta: Json| event(&json!({"choices": [{"index": 0, "delta": delta}]}).to_string());
        let thought = of(json!({"reasoning_content": "Hm. ".repeat(20)}));
        let function = json!({"name": name, "arguments": "{\"a\":\"x\"}"});
        let call = of(json!({"tool_calls": [{"index": 0, "id": "c", "function": function}]}));
        sse(&[thought.repeat(50), call, thought.repeat(50), event("[DONE]")])
    }
}

#[actix_web::test]
async fn of_a_stream_only_what_may_be_passed_on_is_kept_and_that_has_a_limit() {
    let mut body = chat();
    body["stream"] = true.into();
    let limits = |answer_bytes: usize| {
        move |llm: &mut ai_prompt_shell::settings::Llm| {
            llm.answer_bytes = answer_bytes;
            llm.models = vec![declared("m", Ability::Tools)];
        }
    };
    let (app, _upstream) = start(thoughts("generate_response"), limits(8_000)).await;
    let (read, _) = read_stream(&app, "/v1/chat/completions", &body).await;
    assert!(read.contains(r#""content":"{\"a\":\"x\"}""#), "{read}");
    body["tools"] = json!([{"type": "function", "function": {"name": "look"}}]);
    let answer = ask(&app, &body).await;
    answer.assert_error(502, "upstream_error", "llm_unavailable");
    assert!(answer.body["error"]["message"].as_str().unwrap().contains("llm.answer_bytes"), "{answer:?}");
    let (app, _upstream) = start(thoughts("look"), limits(80_000)).await;
    let (read, orderly) = read_stream(&app, "/v1/chat/completions", &body).await;
    assert!(orderly && read.matches("reasoning_content").count() == 100 && read.contains("look"), "{read}");
}
