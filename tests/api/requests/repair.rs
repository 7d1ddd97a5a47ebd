//! Answers that do not fit: sent back with everything that is wrong, a bounded number of times.

use std::sync::Mutex;

use serde_json::{Value as Json, json};

use super::{Ability, declared, for_a, request, saying, solution, start};
use support::app::TestApp;
use support::upstream::{Act, Seen, Upstream, json as reply_json};

/// A model that says these texts in turn; after the last one, the last one again.
async fn saying_in_turn(texts: &'static [&'static str], ability: Ability) -> (TestApp, Upstream) {
    let at = Mutex::new(0);
    let script = move |seen: &Seen| -> Vec<Act> {
        let mut at = at.lock().unwrap();
        let text = texts[(*at).min(texts.len() - 1)];
        *at += 1;
        reply_json(200, saying(&seen.json(), text))
    };
    start(script, |llm| llm.models = vec![declared("m", ability)]).await
}

fn two_numbers() -> Json {
    let mut body = for_a();
    body["schema"] = json!({
        "type": "object", "required": ["low", "high"], "additionalProperties": false,
        "properties": {"low": {"type": "integer"}, "high": {"type": "integer"}},
    });
    body
}

#[actix_web::test]
async fn all_violations_are_sent_back_after_the_answer_and_tokens_are_summed() {
    for ability in [Ability::JsonSchema, Ability::Tools, Ability::JsonObject] {
        let (app, upstream) =
            saying_in_turn(&[r#"{"low":"1","more":2}"#, r#"{"low":1,"high":2}"#], ability).await;
        let answer = app.post("/api/requests?explain=true", two_numbers()).await;
        assert_eq!(solution(&answer), &json!({"low": 1, "high": 2}));
        assert_eq!(answer.body["attempts"], 2);
        assert_eq!(
            answer.body["usage"],
            json!({"prompt_tokens": 6, "completion_tokens": 4, "total_tokens": 10})
        );
        let sent = upstream.seen()[1].json();
        let messages = sent["messages"].as_array().unwrap();
        let [.., said, complaint] = messages.as_slice() else { panic!("{sent}") };
        let complaint = complaint["content"].as_str().unwrap();
        for expected in ["/low", "high", "more"] {
            assert!(complaint.contains(expected), "{complaint}");
        }
        match ability {
            Ability::Tools => {
                assert_eq!(said["tool_calls"][0]["function"]["arguments"], r#"{"low":"1","more":2}"#);
                assert_eq!(messages.last().unwrap()["role"], "tool");
            }
            _ => assert_eq!(*said, json!({"role": "assistant", "content": r#"{"low":"1","more":2}"#})),
        }
        let report = &answer.body["report"]["attempts"];
        assert_eq!((&report[0]["attempt"], &report[1]["attempt"]), (&json!(1), &json!(2)));
        assert_eq!(report[0]["violations"].as_array().unwrap().len(), 3);
        assert_eq!((&report[1]["violations"], &report[1]["usage"]["total_tokens"]), (&json!([]), &json!(5)));
        assert!(report[0]["milliseconds"].is_u64() && report[0]["answer"] == r#"{"low":"1","more":2}"#);
    }
}

#[actix_web::test]
async fn repairs_are_bounded_and_the_end_tells_everything() {
    for (max_repairs, attempts) in [(None, 3), (Some(0), 1), (Some(5), 6)] {
        let (app, upstream) = saying_in_turn(&[r#"{"low":1}"#], Ability::JsonObject).await;
        let mut body = two_numbers();
        body["max_repairs"] = json!(max_repairs);
        let answer = request(&app, body).await;
        answer.assert_error(422, "invalid_request_error", "solution_invalid");
        let details = answer.error().3;
        assert_eq!(details["answer"], r#"{"low":1}"#);
        assert_eq!(details["violations"][0]["path"], "");
        assert!(details["violations"][0]["message"].as_str().unwrap().contains("high"), "{details}");
        assert_eq!(
            (&details["attempts"], &details["usage"]["total_tokens"]),
            (&json!(attempts), &json!(5 * attempts))
        );
        assert_eq!(upstream.seen().len(), attempts);
    }
}

#[actix_web::test]
async fn the_setting_says_how_often_where_the_request_does_not() {
    let upstream = Upstream::start(|seen| reply_json(200, saying(&seen.json(), "nothing"))).await;
    let app = TestApp::start_with(|settings| {
        settings.llm = crate::chat::llm(&upstream.base);
        settings.requests.max_repairs = 1;
    })
    .await;
    assert_eq!(request(&app, for_a()).await.status, 422);
    assert_eq!(upstream.seen().len(), 2);
}

#[actix_web::test]
async fn what_is_no_json_or_no_call_is_sent_back_too() {
    for (ability, first) in [
        (Ability::JsonObject, "I think so."),
        (Ability::JsonObject, ""),
        (Ability::JsonObject, r#"{"a":"x",}"#),
        (Ability::Tools, ""),
    ] {
        let texts: &'static [&'static str] = Box::leak(Box::new([first, r#"{"a":"x"}"#]));
        let (app, upstream) = saying_in_turn(texts, ability).await;
        let answer = request(&app, for_a()).await;
        assert_eq!((solution(&answer), &answer.body["attempts"]), (&json!({"a": "x"}), &json!(2)), "{first}");
        let sent = upstream.seen()[1].json();
        let said = sent["messages"].as_array().unwrap().iter().filter(|m| m["role"] == "assistant").count();
        let is_call = ability == Ability::Tools;
        assert_eq!(said, usize::from(!first.is_empty() || is_call), "{sent}");
    }
}

#[actix_web::test]
async fn a_call_of_another_function_is_invalid_and_json_in_the_text_will_do() {
    let at = Mutex::new(0);
    let script = move |_: &Seen| {
        let mut at = at.lock().unwrap();
        *at += 1;
        let function = json!({"name": "guess", "arguments": "{}"});
        reply_json(
            200,
            super::of_message(match *at {
                1 => {
                    json!({"content": null, "tool_calls": [{"id": "c", "type": "function", "function": function}]})
                }
                _ => json!({"content": "Here you are: {\"a\": \"x\"}"}),
            }),
        )
    };
    let (app, upstream) = start(script, |llm| llm.models = vec![declared("m", Ability::Tools)]).await;
    let answer = request(&app, for_a()).await;
    assert_eq!((solution(&answer), &answer.body["attempts"]), (&json!({"a": "x"}), &json!(2)));
    let complaint = upstream.seen()[1].json()["messages"][2]["content"].to_string();
    assert!(complaint.contains("guess") && complaint.contains("generate_response"), "{complaint}");
}

#[actix_web::test]
async fn arguments_may_be_an_object() {
    let function = json!({"name": "generate_response", "arguments": {"a": "x"}});
    let message = json!({"content": "", "tool_calls": [{"function": function}]});
    let (app, _upstream) = start(
        move |_| reply_json(200, super::of_message(message.clone())),
        |llm| llm.models = vec![declared("m", Ability::Tools)],
    )
    .await;
    assert_eq!(solution(&request(&app, for_a()).await), &json!({"a": "x"}));
}

#[actix_web::test]
async fn a_model_is_told_of_its_answer_in_the_wrapper_that_it_was_asked_for() {
    let missing = "the whole answer: must be an object with the member `value`, which is missing";
    for ability in [Ability::JsonSchema, Ability::Tools, Ability::JsonObject] {
        for (answer, path, told) in [
            (r#"{"value":[{"x":"s"},{"x":1}]}"#, "/0/x", vec!["`/value/0/x`: "]),
            (r#"{"items":[1]}"#, "", vec![missing]),
            (r#"[{"x":"s"}]"#, "/0/x", vec![missing, "`/value/0/x`: "]),
        ] {
            let texts: &'static [&'static str] = Box::leak(Box::new([answer, r#"{"value":[{"x":1}]}"#]));
            let (app, upstream) = saying_in_turn(texts, ability).await;
            let mut body = for_a();
            body["schema"] = json!({
                "type": "array", "items": {"type": "object", "properties": {"x": {"type": "integer"}}},
            });
            let answer = app.post("/api/requests?explain=true", body).await;
            assert_eq!(solution(&answer), &json!([{"x": 1}]));
            let violations = &answer.body["report"]["attempts"][0]["violations"];
            assert_eq!(violations[0]["path"], path, "{violations}");
            let sent = upstream.seen()[1].json();
            let complaint = sent["messages"].as_array().unwrap().last().unwrap()["content"].as_str().unwrap();
            assert_eq!(complaint.matches("\n- ").count(), told.len(), "{complaint}");
            assert!(told.iter().all(|told| complaint.contains(&format!("- {told}"))), "{complaint}");
        }
    }
}

#[actix_web::test]
async fn a_value_that_cannot_be_checked_is_the_end() {
    let text: &'static str = json!({"value": vec![1; 5_000]}).to_string().leak();
    let (app, upstream) = saying_in_turn(Box::leak(Box::new([text])), Ability::JsonSchema).await;
    let mut body = for_a();
    body["schema"] = json!({"type": "array", "items": {"allOf": vec![json!({"minimum": 0}); 1_000]}});
    let answer = request(&app, body).await;
    answer.assert_error(422, "invalid_request_error", "solution_invalid");
    let details = answer.error().3;
    let message = details["violations"][0]["message"].as_str().unwrap();
    assert!(message.contains("could take more than"), "{details}");
    assert_eq!((&details["attempts"], &details["answer"]), (&json!(1), &json!(text)));
    assert_eq!(upstream.seen().len(), 1);
}

#[actix_web::test]
async fn long_answers_are_read_too_but_not_those_of_too_many_small_values() {
    let long: &'static str = json!({"a": "x".repeat(200_000)}).to_string().leak();
    let dense: &'static str = format!("{{\"a\":[{}1]}}", "1,".repeat(1 << 20)).leak();
    let (app, upstream) = saying_in_turn(Box::leak(Box::new([dense, long])), Ability::JsonSchema).await;
    let answer = request(&app, for_a()).await;
    assert_eq!(solution(&answer)["a"].as_str().unwrap().len(), 200_000);
    let sent = upstream.seen()[1].json();
    let complaint = sent["messages"].as_array().unwrap().last().unwrap()["content"].as_str().unwrap();
    assert!(complaint.contains("so many small values"), "{complaint}");
}

#[actix_web::test]
async fn the_report_shows_the_answer_that_was_read() {
    let call =
        |name: &str, arguments: &str| json!({"id": name, "function": {"name": name, "arguments": arguments}});
    let calls = json!([call("other", "{\"o\":1}"), call("generate_response", "{\"a\":\"x\"}")]);
    let (app, _upstream) = start(
        move |_| reply_json(200, super::of_message(json!({"content": "Well.", "tool_calls": calls}))),
        |llm| llm.models = vec![declared("m", Ability::Tools)],
    )
    .await;
    let answer = app.post("/api/requests?explain=true", for_a()).await;
    assert_eq!(solution(&answer), &json!({"a": "x"}));
    assert_eq!(answer.body["report"]["attempts"][0]["answer"], "{\"a\":\"x\"}");
}

#[actix_web::test]
async fn checks_are_expressions_over_the_solution() {
    let (app, upstream) = saying_in_turn(
        &[r#"{"low":3,"high":2}"#, r#"{"low":1,"high":200}"#, r#"{"low":1,"high":2}"#],
        Ability::JsonSchema,
    )
    .await;
    let mut body = two_numbers();
    body["checks"] = json!([
        {"test": "solution.low <= solution.high", "message": "low must not be above high"},
        {"test": "solution.high < 100 and solution.low is number", "message": "high must be below 100"},
    ]);
    let answer = request(&app, body).await;
    assert_eq!((solution(&answer), &answer.body["attempts"]), (&json!({"low": 1, "high": 2}), &json!(3)));
    let complaint = |at: usize| {
        let sent = upstream.seen()[at].json();
        sent["messages"].as_array().unwrap().last().unwrap()["content"].as_str().unwrap().to_owned()
    };
    assert!(complaint(1).contains("low must not be above high") && !complaint(1).contains("below 100"));
    assert!(complaint(2).contains("high must be below 100"));
}

#[actix_web::test]
async fn a_check_that_fails_to_run_is_a_violation_and_one_that_is_no_expression_a_400() {
    let (app, upstream) = saying_in_turn(&[r#"{"a":"x"}"#], Ability::JsonSchema).await;
    let mut body = for_a();
    body["max_repairs"] = 0.into();
    body["checks"] = json!([{"test": "solution.a > 5", "message": "a is too small"}]);
    let answer = request(&app, body.clone()).await;
    answer.assert_error(422, "invalid_request_error", "solution_invalid");
    let message = answer.error().3["violations"][0]["message"].as_str().unwrap();
    assert!(message.starts_with("a is too small (it cannot be checked: "), "{message}");
    let asked = upstream.seen().len();
    body["checks"] = json!([
        {"test": "true", "message": "fine"}, {"test": "solution.", "message": "m"}, {"test": " ", "message": "m"},
        {"test": "soluton.a > solutions[0].b", "message": "m"}, {"test": "solution.a | nofilter", "message": "m"},
        {"test": "nofunction(solution.a)", "message": "m"}, {"test": "true) %}x{% endif %}{% if (false", "message": "m"},
        {"test": "true) }}x{{ (false", "message": "m"}, {"test": "missing is not defined", "message": "fine"},
        {"test": "solution.a.b is defined or range(3) and namespace(x=solution).x", "message": "fine"},
    ]);
    let answer = request(&app, body).await;
    answer.assert_error(400, "invalid_request_error", "invalid_request");
    let paths: Vec<&str> = answer.error().3["violations"]
        .as_array()
        .unwrap()
        .iter()
        .map(|v| v["path"].as_str().unwrap())
        .collect();
    let expected = (1..8).map(|at| format!("/checks/{at}/test")).collect::<Vec<_>>();
    assert_eq!((paths, upstream.seen().len()), (expected.iter().map(String::as_str).collect(), asked));
    let message = answer.error().3["violations"][2]["message"].as_str().unwrap();
    assert!(
        message.starts_with("there is no `solutions` and no `soluton`; it can use `solution`"),
        "{message}"
    );
}

#[actix_web::test]
async fn of_several_choices_each_is_repaired_by_itself() {
    let script = |seen: &Seen| {
        let body = seen.json();
        let choice = |text: &str| json!({"message": {"content": text}, "finish_reason": "stop"});
        let choices = match body["n"].as_u64() {
            Some(_) => json!([choice(r#"{"a":"0"}"#), choice("bad"), choice(r#"{"a":"2"}"#)]),
            None => json!([choice(r#"{"a":"1"}"#)]),
        };
        reply_json(200, json!({"choices": choices}))
    };
    let (app, upstream) = start(script, |_| {}).await;
    let mut body = for_a();
    body["n"] = 3.into();
    let answer = request(&app, body).await;
    assert_eq!(answer.body["solutions"], json!([{"a": "0"}, {"a": "1"}, {"a": "2"}]));
    assert_eq!((&answer.body["attempts"], upstream.seen().len()), (&json!(2), 2));
    assert_eq!(answer.body["usage"]["total_tokens"], json!(null));
}

#[actix_web::test]
async fn choices_come_by_their_numbers_and_one_without_a_message_is_asked_for_again() {
    let choice = |index: u64, text: &str| json!({"index": index, "message": {"content": text}});
    let script = move |seen: &Seen| {
        let choices = match seen.json()["n"].as_u64() {
            Some(_) => json!([{"index": 1}, choice(2, r#"{"a":"2"}"#), choice(0, "bad")]),
            None if seen.json()["messages"].as_array().unwrap().len() == 2 => {
                json!([choice(0, r#"{"a":"1"}"#)])
            }
            None => json!([choice(0, r#"{"a":"0"}"#)]),
        };
        reply_json(200, json!({"choices": choices}))
    };
    let (app, upstream) = start(script, |_| {}).await;
    let mut body = for_a();
    body["n"] = 3.into();
    let answer = app.post("/api/requests?explain=true", body).await;
    assert_eq!(answer.body["solutions"], json!([{"a": "0"}, {"a": "1"}, {"a": "2"}]), "{answer:?}");
    assert_eq!(upstream.seen().len(), 3);
    let report = answer.body["report"]["attempts"].as_array().unwrap();
    let told: Vec<(u64, u64)> = report
        .iter()
        .map(|one| (one["attempt"].as_u64().unwrap(), one["choice"].as_u64().unwrap()))
        .collect();
    assert_eq!(told, [(1, 0), (2, 0), (1, 1), (3, 1), (1, 2)], "each belongs to the answer that it came in");
}
