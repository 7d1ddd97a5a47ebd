//! Solutions as they grow.

use proptest::prelude::*;
use proptest::strategy::ValueTree;
use proptest::test_runner::TestRunner;
use serde_json::{Value as Json, json};

use super::{Ability, asked_for, declared, for_a, start};
use crate::chat::{datas, read_stream};
use support::app::TestApp;
use support::upstream::{Act, Seen, chunk, event, json as reply_json, sse, stream_head};

/// A chunk that brings a piece in the way in which it was asked for.
fn piece(ability: Ability, text: &str) -> String {
    let delta = match ability {
        Ability::Tools => {
            json!({"tool_calls": [{"index": 0, "id": "c", "function": {"name": "", "arguments": text}}]})
        }
        _ => json!({"content": text}),
    };
    event(&json!({"choices": [{"index": 0, "delta": delta, "finish_reason": null}]}).to_string())
}

/// A stream of these pieces.
fn stream_of(ability: Ability, pieces: &[String], finish_reason: &str) -> Vec<Act> {
    let mut events = Vec::new();
    if ability == Ability::Tools {
        let call = json!({"index": 0, "id": "c", "function": {"name": "generate_response", "arguments": ""}});
        events.push(event(&json!({"choices": [{"index": 0, "delta": {"tool_calls": [call]}}]}).to_string()));
    }
    events.extend(pieces.iter().map(|text| piece(ability, text)));
    let end = json!({"choices": [{"index": 0, "delta": {}, "finish_reason": finish_reason}]});
    events.push(event(&end.to_string()));
    events.push(event(
        &json!({"choices": [], "usage": {"prompt_tokens": 1, "completion_tokens": 2, "total_tokens": 3}})
            .to_string(),
    ));
    events.push(event("[DONE]"));
    sse(&events)
}

async fn events(app: &TestApp, mut body: Json) -> Vec<Json> {
    body["stream"] = true.into();
    let (read, orderly) = read_stream(app, "/api/requests", &body).await;
    assert!(orderly);
    datas(&read).iter().map(|data| serde_json::from_str(data).unwrap()).collect()
}

/// Whether a value may be the beginning of another one.
fn begins(part: &Json, whole: &Json) -> bool {
    match (part, whole) {
        (Json::Object(part), Json::Object(whole)) => {
            part.iter().all(|(name, member)| whole.get(name).is_some_and(|whole| begins(member, whole)))
        }
        (Json::Array(part), Json::Array(whole)) => {
            part.len() <= whole.len() && part.iter().zip(whole).all(|(part, whole)| begins(part, whole))
        }
        (Json::String(part), Json::String(whole)) => whole.starts_with(part.as_str()),
        (part, whole) => part == whole,
    }
}

/// A text in pieces that end at these places, as far as they are between characters.
fn cut(text: &str, places: &[usize]) -> Vec<String> {
    let mut places: Vec<usize> = places
        .iter()
        .map(|place| place % (text.len() + 1))
        .filter(|place| text.is_char_boundary(*place))
        .collect();
    places.extend([0, text.len()]);
    places.sort_unstable();
    places
        .windows(2)
        .map(|pair| text[pair[0]..pair[1]].to_owned())
        .filter(|piece| !piece.is_empty())
        .collect()
}

/// The pieces of the last message, which is a JSON list of texts.
fn pieces_of(seen: &Seen) -> Vec<String> {
    let body = seen.json();
    let last = body["messages"].as_array().unwrap().last().unwrap()["content"].as_str().unwrap().to_owned();
    serde_json::from_str(&last).unwrap()
}

#[actix_web::test]
async fn every_part_parses_and_begins_the_solution_wherever_the_pieces_are_cut() {
    let script = |seen: &Seen| stream_of(asked_for(&seen.json()), &pieces_of(seen), "stop");
    let (app, _upstream) = start(script, |llm| {
        llm.models = vec![
            declared("json_schema", Ability::JsonSchema),
            declared("tools", Ability::Tools),
            declared("json_object", Ability::JsonObject),
        ];
    })
    .await;
    let text = "[a-zé\u{1F600}\"\\\\\n ]{0,12}";
    let object = (text, prop::collection::vec(text, 0..4), any::<i32>(), prop::option::of(any::<bool>()))
        .prop_map(|(s, l, n, b)| json!({"s": s, "l": l, "o": {"n": n, "b": b}}));
    let list = prop::collection::vec(object.clone(), 0..5).prop_map(Json::from);
    let case =
        (prop_oneof![object, list], prop::collection::vec(any::<usize>(), 0..12), 0..3usize, any::<bool>());
    let mut runner = TestRunner::deterministic();
    let mut items_seen = 0;
    for _ in 0..60 {
        let (value, places, way, is_pretty) = case.new_tree(&mut runner).unwrap().current();
        let schema = json!({"type": if value.is_array() { "array" } else { "object" }});
        let said = if value.is_array() { json!({"value": value}) } else { value.clone() };
        let text = if is_pretty { serde_json::to_string_pretty(&said).unwrap() } else { said.to_string() };
        let model = ["json_schema", "tools", "json_object"][way];
        let content = json!(cut(&text, &places)).to_string();
        let body =
            json!({"context": [{"role": "user", "content": content}], "schema": schema, "model": model});
        let events = events(&app, body).await;
        let (last, parts) = events.split_last().unwrap();
        assert_eq!((&last["solution"], &last["strategy"]), (&value, &json!(model)), "{last}");
        assert_eq!(last["usage"]["total_tokens"], 3);
        let partials: Vec<&Json> = parts.iter().filter_map(|event| event.get("partial")).collect();
        assert!(partials.iter().all(|part| begins(part, &value)), "{partials:?} of {value}");
        assert_eq!(partials.last(), Some(&&value));
        let items: Vec<&Json> = parts.iter().filter_map(|event| event.get("item")).collect();
        items_seen += items.len();
        assert_eq!(items, value.as_array().map(|list| list.iter().collect()).unwrap_or_else(Vec::new));
    }
    assert!(items_seen > 10);
}

#[actix_web::test]
async fn an_answer_that_does_not_fit_is_told_and_begins_anew() {
    let script = |seen: &Seen| {
        let is_first = seen.json()["messages"].as_array().unwrap().len() == 1;
        let text = if is_first { "{\"a\":1}" } else { "{\"a\":\"x\"}" };
        stream_of(Ability::JsonSchema, &[text.to_owned()], "stop")
    };
    let (app, upstream) = start(script, |_| {}).await;
    let events = events(&app, for_a()).await;
    assert_eq!(events[0], json!({"partial": {"a": 1}}));
    assert_eq!(
        (&events[1]["repair"]["attempt"], &events[1]["repair"]["violations"][0]["path"]),
        (&json!(2), &json!("/a"))
    );
    assert_eq!(events[2], json!({"partial": {"a": "x"}}));
    let last = events.last().unwrap();
    assert_eq!((&last["solution"], &last["attempts"]), (&json!({"a": "x"}), &json!(2)));
    assert_eq!(last["usage"]["total_tokens"], 6);
    let idea = app.get(&format!("/api/ideas/{}", last["idea_id"].as_str().unwrap())).await;
    assert_eq!(idea.body["context"], for_a()["context"]);
    assert_eq!(upstream.seen()[1].json()["stream"], true);
}

#[actix_web::test]
async fn a_repair_is_told_before_the_model_is_asked_again() {
    let script = |seen: &Seen| match seen.json()["messages"].as_array().unwrap().len() {
        1 => stream_of(Ability::JsonSchema, &["{\"a\":1}".to_owned()], "stop"),
        _ => reply_json(400, json!({"error": {"message": "no", "code": "c"}})),
    };
    let (app, _upstream) = start(script, |_| {}).await;
    let events = events(&app, for_a()).await;
    assert_eq!(events.len(), 3, "{events:?}");
    assert_eq!((&events[0]["partial"], &events[1]["repair"]["attempt"]), (&json!({"a": 1}), &json!(2)));
    assert_eq!(events[2]["error"]["code"], "llm_refused");
}

#[actix_web::test]
async fn an_error_is_a_status_before_the_first_byte_and_the_last_event_after_it() {
    let script = |seen: &Seen| match seen.json()["messages"][0]["content"].as_str() {
        Some("refuse") => reply_json(400, json!({"error": {"message": "no", "code": "c"}})),
        Some("cut") => stream_of(Ability::JsonSchema, &["{\"a\":\"".to_owned()], "length"),
        Some("break") => {
            vec![
                Act::Send(stream_head()),
                Act::Send(chunk(piece(Ability::JsonSchema, "{\"a\":\"x").as_bytes())),
                Act::Cut,
            ]
        }
        _ => stream_of(Ability::JsonSchema, &["nothing".to_owned()], "stop"),
    };
    let (app, _upstream) = start(script, |_| {}).await;
    let with = |content: &str| {
        let mut body = for_a();
        body["context"][0]["content"] = content.into();
        body["stream"] = true.into();
        body
    };
    let refused = app.post("/api/requests", with("refuse")).await;
    assert_eq!((refused.status, &refused.body["error"]["code"]), (400, &json!("c")));
    for (content, code) in
        [("cut", "answer_truncated"), ("break", "llm_unavailable"), ("else", "solution_invalid")]
    {
        let events = events(&app, with(content)).await;
        assert_eq!(events.last().unwrap()["error"]["code"], code, "{events:?}");
    }
    let invalid = app
        .post(
            "/api/requests",
            with("x")
                .as_object()
                .unwrap()
                .iter()
                .filter(|(name, _)| *name != "schema")
                .map(|(name, value)| (name.clone(), value.clone()))
                .collect(),
        )
        .await;
    invalid.assert_error(400, "invalid_request_error", "schema_missing");
}

#[actix_web::test]
async fn a_client_that_leaves_a_stream_cancels_the_call() {
    let script = |_: &Seen| {
        vec![
            Act::Send(stream_head()),
            Act::Send(chunk(piece(Ability::JsonSchema, "{").as_bytes())),
            Act::Hang,
        ]
    };
    let (app, upstream) = start(script, |_| {}).await;
    let mut body = for_a();
    body["stream"] = true.into();
    let mut response = app.request("POST", "/api/requests").json(&body).send().await.unwrap();
    assert!(response.chunk().await.unwrap().is_some());
    drop(response);
    upstream.abandoned(1).await;
}

#[actix_web::test]
async fn long_values_are_told_in_parts_that_together_stay_short() {
    let text = json!({"a": "x".repeat(200_000)}).to_string();
    let pieces = cut(&text, &(0..2_000).map(|at| at * 100).collect::<Vec<_>>());
    let script = move |_: &Seen| stream_of(Ability::JsonSchema, &pieces, "stop");
    let (app, _upstream) = start(script, |_| {}).await;
    let mut body = for_a();
    body["stream"] = true.into();
    let (read, _) = read_stream(&app, "/api/requests", &body).await;
    assert!(read.len() < 30 * text.len(), "{} bytes for a value of {}", read.len(), text.len());
}

#[actix_web::test]
async fn a_stream_without_choices_is_no_answer() {
    let usage = event(&json!({"choices": [], "usage": {"total_tokens": 3}}).to_string());
    for sent in [vec![event("[DONE]")], vec![usage, event("[DONE]")]] {
        let (app, upstream) = start(move |_| sse(&sent), |_| {}).await;
        let told = events(&app, for_a()).await;
        assert_eq!((told.len(), &told[0]["error"]["code"]), (1, &json!("llm_unavailable")), "{told:?}");
        assert_eq!(upstream.seen().len(), 1);
    }
}

#[actix_web::test]
async fn the_arguments_of_another_function_are_no_part_of_the_value() {
    let call = |index: u64, name: &str, arguments: &str| {
        let call = json!({"index": index, "id": "c", "function": {"name": name, "arguments": arguments}});
        event(&json!({"choices": [{"index": 0, "delta": {"tool_calls": [call]}}]}).to_string())
    };
    let said = [
        piece(Ability::JsonObject, "I call [two]: {\"b\": 1} "),
        call(0, "other", "{\"o\":"),
        call(0, "", "1}"),
        call(1, "generate_response", "{\"a\":"),
        call(1, "", "\"x\"}"),
        event("[DONE]"),
    ];
    let (app, _upstream) =
        start(move |_| sse(&said), |llm| llm.models = vec![declared("m", Ability::Tools)]).await;
    let told = events(&app, for_a()).await;
    let partials: Vec<&Json> = told.iter().filter_map(|event| event.get("partial")).collect();
    assert_eq!(partials.last(), Some(&&json!({"a": "x"})));
    assert!(partials.iter().all(|part| part.get("o").is_none()), "{partials:?}");
    assert_eq!(told.last().unwrap()["solution"], json!({"a": "x"}));
}

#[actix_web::test]
async fn items_come_after_a_bracket_in_a_sentence() {
    let pieces = ["Here [see ", "below]: [{\"x\"", ":1}, {\"x\":2", "}]"].map(str::to_owned);
    let (app, _upstream) = start(
        move |_| stream_of(Ability::JsonObject, &pieces, "stop"),
        |llm| {
            llm.models = vec![declared("m", Ability::JsonObject)];
        },
    )
    .await;
    let mut body = for_a();
    body["schema"] = json!({"type": "array"});
    let told = events(&app, body).await;
    let items: Vec<&Json> = told.iter().filter_map(|event| event.get("item")).collect();
    assert_eq!(items, [&json!({"x": 1}), &json!({"x": 2})], "{told:?}");
    assert_eq!(told.last().unwrap()["solution"], json!([{"x": 1}, {"x": 2}]));
}

#[actix_web::test]
async fn parts_of_long_values_are_made_in_the_pool() {
    let list = json!({"value": (0..40_000).collect::<Vec<u32>>()}).to_string();
    let pieces = cut(&list, &(0..200).map(|at| at * 1_100).collect::<Vec<_>>());
    let (app, _upstream) = start(move |_| stream_of(Ability::JsonSchema, &pieces, "stop"), |_| {}).await;
    let mut body = for_a();
    body["schema"] = json!({"type": "array", "items": {"type": "integer"}});
    let told = events(&app, body).await;
    let partials: Vec<&Json> = told.iter().filter_map(|event| event.get("partial")).collect();
    assert!(partials.iter().all(|part| begins(part, &told.last().unwrap()["solution"])));
    let lengths: Vec<usize> = partials.iter().map(|part| part.as_array().unwrap().len()).collect();
    assert!(lengths.iter().any(|length| (20_000..40_000).contains(length)), "{lengths:?}");
    assert_eq!(lengths.last(), Some(&40_000));
    assert_eq!(told.iter().filter(|event| event.get("item").is_some()).count(), 40_000);
}
