//! Prompts whose `returns` is a schema.

use serde_json::{Value as Json, json};

use super::{Ability, for_a, model, solution, start};
use crate::chat::llm;
use support::app::{Answer, TestApp};
use support::upstream::{Upstream, json as reply_json};

async fn request(app: &TestApp, id: &str, body: Json) -> Answer {
    app.post(&format!("/api/requests/prompts/{id}"), body).await
}

#[actix_web::test]
async fn shipped_prompts_are_answered_by_their_own_schemas() {
    let scores =
        json!({"scores": [{"dimension": "tests", "score": 4, "reason": "They can fail (tests.py)."}]});
    let upstream = Upstream::start(move |seen| {
        let body = seen.json();
        let asked = super::asked_schema(&body).to_string();
        let value = match asked.contains("scores") {
            true => scores.clone(),
            false => ai_prompt_shell_smallest(&body),
        };
        reply_json(200, super::saying(&body, &value.to_string()))
    })
    .await;
    let app = TestApp::start_with(|settings| {
        settings.llm = llm(&upstream.base);
        settings.packages.builtin = true;
    })
    .await;
    let answer = request(
        &app,
        "evaluator.score_quality",
        json!({"variables": {"code": "x = 1", "dimensions": ["tests"]}, "model": "m"}),
    )
    .await;
    assert_eq!(solution(&answer)["scores"][0]["score"], 4);
    assert_eq!(answer.headers["x-prompt-id"], "evaluator.score_quality");
    let timing = answer.headers["server-timing"].to_str().unwrap();
    assert!(timing.starts_with("render;dur=") && timing.contains(", llm;dur="), "{timing}");
    let sent = upstream.seen()[0].json();
    assert!(sent["messages"][0]["content"].as_str().unwrap().contains("x = 1"), "{sent}");
    assert_eq!(sent["response_format"]["json_schema"]["strict"], true);
    for (id, variables) in [
        ("code-reviewer.review_change", json!({"diff": "+ x = 1"})),
        ("sql-helper.review_query", json!({"query": "SELECT 1"})),
    ] {
        let answer = request(&app, id, json!({"variables": variables, "model": "m"})).await;
        assert!(solution(&answer).is_object(), "{answer:?}");
    }
}

/// The smallest value for the schema of a request, in strict form: as the built-in model would answer.
fn ai_prompt_shell_smallest(body: &Json) -> Json {
    let schema = super::asked_schema(body);
    ai_prompt_shell::llm::structured::smallest(&schema).unwrap()
}

#[actix_web::test]
async fn the_built_in_model_answers_shipped_prompts() {
    let app = TestApp::start_with(|settings| settings.packages.builtin = true).await;
    let answer = request(&app, "evaluator.score_quality", json!({"variables": {"code": "x = 1"}})).await;
    assert_eq!(solution(&answer), &json!({"scores": []}));
    assert_eq!(answer.body["model"], "echo");
}

#[actix_web::test]
async fn the_schema_comes_from_the_request_or_from_the_prompt() {
    let (app, upstream) = start(model(Ability::JsonSchema, |_| r#"{"a":"x"}"#.into()), |_| {}).await;
    let list = json!([
        {"name": "a", "type": "string", "description": "A."}, {"name": "b", "type": "int", "required": false},
    ]);
    for (number, returns) in [json!(null), json!({}), json!([]), list].into_iter().enumerate() {
        let mut document =
            json!({"userPrompt": "Q {{ x }}", "syntax": "jinja", "model": "m", "params": {"seed": 7}});
        document["returns"] = returns.clone();
        let id = format!("p.q{number}");
        app.put_prompt(&id, document).await;
        let answer = request(&app, &id, json!({"variables": {"x": 1}})).await;
        if returns.as_array().is_none_or(Vec::is_empty) {
            answer.assert_error(400, "invalid_request_error", "schema_missing");
            continue;
        }
        assert_eq!(solution(&answer), &json!({"a": "x"}));
        let sent = upstream.seen()[0].json();
        assert_eq!(sent["messages"], json!([{"role": "user", "content": "Q 1"}]));
        assert_eq!((&sent["model"], &sent["seed"]), (&json!("m"), &json!(7)));
        let strict = &sent["response_format"]["json_schema"]["schema"];
        assert_eq!(strict["properties"]["b"], json!({"type": ["integer", "null"]}));
        let idea = app.get(&format!("/api/ideas/{}", answer.body["idea_id"].as_str().unwrap())).await;
        assert_eq!((&idea.body["schema"], &idea.body["context"]), (&returns, &sent["messages"]));
        let replay = app
            .post(&format!("/api/ideas/{}/replay", answer.body["idea_id"].as_str().unwrap()), json!({}))
            .await;
        assert_eq!(replay.body["is_equal"], true, "{replay:?}");
    }
    let unusable =
        json!({"userPrompt": "Q", "syntax": "jinja", "returns": {"properties": {"a": {"type": "text"}}}});
    app.put_prompt("p.bad", unusable).await;
    let refused = request(&app, "p.bad", json!({})).await;
    refused.assert_error(400, "invalid_request_error", "invalid_schema");
    assert_eq!(refused.error().3["violations"][0]["path"], "/properties/a/type");
    assert!(refused.error().2.starts_with("the `returns` of the prompt is not"), "{refused:?}");
    let own = request(&app, "p.q0", json!({"args": {"x": 1}, "schema": for_a()["schema"]})).await;
    assert_eq!(solution(&own), &json!({"a": "x"}));
}

#[actix_web::test]
async fn errors_of_the_render_stay_what_they_are() {
    let (app, upstream) = start(model(Ability::JsonSchema, |_| "{}".into()), |_| {}).await;
    app.put_prompt("p.q", json!({"userPrompt": "{{ x }}", "syntax": "jinja", "returns": {"type": "object"}}))
        .await;
    request(&app, "p.none", json!({})).await.assert_error(404, "not_found_error", "prompt_not_found");
    request(&app, "p.q", json!({})).await.assert_error(400, "invalid_request_error", "missing_variables");
    let both = json!({"variables": {"x": 1}, "args": {"x": 1}});
    request(&app, "p.q", both).await.assert_error(400, "invalid_request_error", "invalid_variables");
    assert!(upstream.seen().is_empty());
}
