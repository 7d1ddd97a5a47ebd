//! How models are asked, stepping down, what is remembered, and fallbacks.

use serde_json::{Value as Json, json};

use super::{
    Ability, asked_for, asked_schema, declared, for_a, model, refusal, request, saying, solution, start,
};
use support::upstream::json as reply_json;

const ANSWER: &str = r#"{"a":"x"}"#;

fn schema() -> Json {
    for_a()["schema"].clone()
}

#[actix_web::test]
async fn a_model_that_has_json_schema_is_asked_in_strict_mode() {
    let (app, upstream) = start(model(Ability::JsonSchema, |_| ANSWER.into()), |_| {}).await;
    let answer = request(&app, for_a()).await;
    assert_eq!(solution(&answer), &json!({"a": "x"}));
    let idea = answer.body["idea_id"].as_str().unwrap();
    assert_eq!(
        answer.body,
        json!({
            "solution": {"a": "x"}, "model": "m", "strategy": "json_schema", "attempts": 1,
            "usage": {"prompt_tokens": 3, "completion_tokens": 2, "total_tokens": 5}, "idea_id": idea,
        })
    );
    let strict = json!({
        "type": "object", "properties": {"a": {"type": "string"}}, "required": ["a"], "additionalProperties": false,
    });
    assert_eq!(
        upstream.seen()[0].json(),
        json!({
            "model": "m", "messages": [{"role": "user", "content": "q"}],
            "response_format": {"type": "json_schema", "json_schema": {"name": "response", "schema": strict, "strict": true}},
        })
    );
}

#[actix_web::test]
async fn a_model_that_has_tools_is_asked_to_call_a_function() {
    let (app, upstream) = start(model(Ability::Tools, |_| ANSWER.into()), |llm| {
        llm.models = vec![declared("m", Ability::Tools)]
    })
    .await;
    let answer = request(&app, for_a()).await;
    assert_eq!((solution(&answer), &answer.body["strategy"]), (&json!({"a": "x"}), &json!("tools")));
    assert_eq!(
        upstream.seen()[0].json(),
        json!({
            "model": "m", "messages": [{"role": "user", "content": "q"}],
            "tools": [{"type": "function", "function": {"name": "generate_response", "parameters": schema()}}],
            "tool_choice": {"type": "function", "function": {"name": "generate_response"}},
        })
    );
}

#[actix_web::test]
async fn a_model_that_has_json_mode_gets_the_schema_in_its_system_message() {
    for ability in [Ability::JsonObject, Ability::Text] {
        let (app, upstream) =
            start(model(ability, |_| ANSWER.into()), |llm| llm.models = vec![declared("m", ability)]).await;
        let mut body = for_a();
        body["context"] =
            json!([{"role": "system", "content": "Be brief."}, {"role": "user", "content": "q"}]);
        let answer = request(&app, body).await;
        assert_eq!(
            (solution(&answer), &answer.body["strategy"]),
            (&json!({"a": "x"}), &json!("json_object"))
        );
        let mut sent = upstream.seen()[0].json();
        assert_eq!(asked_schema(&sent), schema());
        let system = sent["messages"][0]["content"].take();
        let system = system.as_str().unwrap();
        assert!(system.starts_with("Be brief.\n\n") && system.contains("JSON"), "{system}");
        let mut expected = json!({
            "model": "m", "messages": [{"role": "system", "content": null}, {"role": "user", "content": "q"}],
        });
        if ability == Ability::JsonObject {
            expected["response_format"] = json!({"type": "json_object"});
        }
        assert_eq!(sent, expected);
    }
}

#[actix_web::test]
async fn what_a_model_refuses_leads_one_step_down_and_is_remembered() {
    for (ability, refused, strategy) in [
        (Ability::Tools, 1, "tools"),
        (Ability::JsonObject, 2, "json_object"),
        (Ability::Text, 3, "json_object"),
    ] {
        let (app, upstream) = start(model(ability, |_| ANSWER.into()), |_| {}).await;
        let first = request(&app, for_a()).await;
        assert_eq!((solution(&first), &first.body["attempts"]), (&json!({"a": "x"}), &json!(1)));
        assert_eq!(first.body["strategy"], strategy);
        assert_eq!(upstream.seen().len(), refused + 1, "{ability:?}");
        let second = request(&app, for_a()).await;
        assert_eq!(second.body["strategy"], strategy);
        assert_eq!(upstream.seen().len(), refused + 2, "{ability:?}");
        // What one model lacks says nothing of another one.
        let mut other = for_a();
        other["model"] = "other".into();
        assert_eq!(request(&app, other).await.status, 200);
        assert_eq!(upstream.seen().len(), 2 * refused + 3, "{ability:?}");
    }
}

#[actix_web::test]
async fn a_refusal_of_the_schema_leads_down_and_is_not_remembered() {
    let script = |seen: &support::upstream::Seen| {
        let body = seen.json();
        let is_odd = body["messages"][0]["content"] == "odd";
        match asked_for(&body) {
            Ability::JsonSchema if is_odd => {
                let message = "Invalid schema for response_format 'response': In context=(), it is odd.";
                reply_json(400, json!({"error": {"message": message, "param": "response_format"}}))
            }
            _ => reply_json(200, saying(&body, ANSWER)),
        }
    };
    let (app, upstream) = start(script, |llm| {
        llm.models = vec![declared("declared", Ability::JsonSchema)];
    })
    .await;
    let mut odd = for_a();
    odd["context"][0]["content"] = "odd".into();
    assert_eq!(request(&app, odd.clone()).await.body["strategy"], "tools");
    assert_eq!(request(&app, for_a()).await.body["strategy"], "json_schema");
    assert_eq!(upstream.seen().len(), 3);
    // Of a model that is declared to have it, it is passed on.
    odd["model"] = "declared".into();
    let answer = request(&app, odd).await;
    assert_eq!((answer.status, &answer.body["error"]["param"]), (400, &json!("response_format")));
    assert_eq!(upstream.seen().len(), 4);
}

#[actix_web::test]
async fn other_refusals_are_passed_on() {
    let script = |_: &support::upstream::Seen| {
        reply_json(
            400,
            json!({"error": {"message": "The context is too long.", "param": "messages", "code": "c"}}),
        )
    };
    let (app, upstream) = start(script, |_| {}).await;
    let answer = request(&app, for_a()).await;
    assert_eq!((answer.status, &answer.body["error"]["code"]), (400, &json!("c")));
    assert_eq!(upstream.seen().len(), 1);
}

#[actix_web::test]
async fn what_is_declared_is_believed() {
    let (app, upstream) = start(model(Ability::Tools, |_| ANSWER.into()), |llm| {
        llm.models = vec![declared("m", Ability::JsonSchema)];
    })
    .await;
    let answer = request(&app, for_a()).await;
    assert_eq!((answer.status, upstream.seen().len()), (400, 1), "{answer:?}");
}

#[actix_web::test]
async fn a_fallback_is_asked_in_its_own_way() {
    let script = |seen: &support::upstream::Seen| {
        let body = seen.json();
        match body["model"].as_str() {
            Some("m") => reply_json(503, json!({"error": {"message": "busy"}})),
            _ if asked_for(&body) == Ability::Tools => reply_json(200, saying(&body, ANSWER)),
            _ => refusal(asked_for(&body)),
        }
    };
    let (app, upstream) = start(script, |llm| {
        let mut first = declared("m", Ability::JsonSchema);
        first.fallback = vec!["second".into()];
        llm.models = vec![first, declared("second", Ability::Tools)];
    })
    .await;
    let answer = request(&app, for_a()).await;
    assert_eq!(solution(&answer), &json!({"a": "x"}));
    assert_eq!((&answer.body["model"], &answer.body["strategy"]), (&json!("second"), &json!("tools")));
    let ways: Vec<Ability> = upstream.seen().iter().map(|seen| asked_for(&seen.json())).collect();
    use Ability::{JsonSchema, Tools};
    assert_eq!(ways, [JsonSchema, JsonSchema, JsonSchema, Tools]);
}

#[actix_web::test]
async fn a_family_has_the_capabilities_of_its_pattern() {
    let (app, upstream) = start(model(Ability::Tools, |_| ANSWER.into()), |llm| {
        llm.models = vec![declared("family-*", Ability::Tools)];
    })
    .await;
    let mut body = for_a();
    body["model"] = "family-7b".into();
    assert_eq!(request(&app, body).await.body["strategy"], "tools");
    assert_eq!(upstream.seen().len(), 1);
}

#[actix_web::test]
async fn a_strategy_may_be_forced_unless_it_is_denied() {
    let (app, upstream) = start(
        |seen| {
            let body = seen.json();
            reply_json(200, saying(&body, ANSWER))
        },
        |llm| llm.models = vec![declared("tools-only", Ability::Tools)],
    )
    .await;
    for (strategy, expected) in [
        ("json_schema", Ability::JsonSchema),
        ("tools", Ability::Tools),
        ("json_object", Ability::JsonObject),
    ] {
        let mut body = for_a();
        body["strategy"] = strategy.into();
        let answer = request(&app, body.clone()).await;
        assert_eq!((solution(&answer), &answer.body["strategy"]), (&json!({"a": "x"}), &json!(strategy)));
        assert_eq!(asked_for(&upstream.seen().last().unwrap().json()), expected);
        body["model"] = "tools-only".into();
        let answer = request(&app, body).await;
        match strategy {
            "tools" => assert_eq!(answer.status, 200),
            _ => {
                answer.assert_error(400, "invalid_request_error", "strategy_not_supported");
                assert_eq!(answer.error().3["supported"], json!(["tools"]));
            }
        }
    }
    assert_eq!(upstream.seen().len(), 4);
}

#[actix_web::test]
async fn the_body_that_would_be_sent_can_be_seen() {
    let (app, upstream) = start(model(Ability::Tools, |_| ANSWER.into()), |llm| {
        llm.models = vec![declared("m", Ability::Tools)]
    })
    .await;
    let mut body = for_a();
    body["params"] = json!({"temperature": 0});
    let preview = app.post("/api/requests?dry_run=true", body.clone()).await;
    assert_eq!((&preview.body["strategy"], &preview.body["model"]), (&json!("tools"), &json!("m")));
    assert!(upstream.seen().is_empty());
    request(&app, body).await;
    assert_eq!(preview.body["body"], upstream.seen()[0].json());
}

#[actix_web::test]
async fn the_body_that_would_be_sent_for_a_stream_asks_for_one() {
    let (app, upstream) = start(model(Ability::Tools, |_| ANSWER.into()), |llm| {
        llm.models = vec![declared("m", Ability::Tools)]
    })
    .await;
    app.put_prompt("team.ask", json!({"userPrompt": "q", "returns": for_a()["schema"]})).await;
    for (path, mut body) in
        [("/api/requests", for_a()), ("/api/requests/prompts/team.ask", json!({"model": "m"}))]
    {
        body["stream"] = true.into();
        let preview = app.post(&format!("{path}?dry_run=true"), body.clone()).await;
        let shown = &preview.body["body"];
        assert_eq!(
            (&shown["stream"], &shown["stream_options"]),
            (&json!(true), &json!({"include_usage": true})),
            "{preview:?}"
        );
        app.post(path, body).await;
        assert_eq!(shown, &upstream.seen().last().unwrap().json());
    }
    // The model answers with no stream, which is not tried again.
    assert_eq!(upstream.seen().len(), 2);
}

#[actix_web::test]
async fn parameters_come_from_the_request_then_from_config_objects_then_from_the_settings() {
    let (app, upstream) = start(model(Ability::JsonSchema, |_| ANSWER.into()), |llm| {
        let params = json!({"temperature": 1, "top_p": 1, "seed": 1, "response_format": {"type": "text"}});
        llm.params = params.as_object().unwrap().clone();
    })
    .await;
    let mut body = for_a();
    body["params"] = json!({"temperature": 0.50, "x": null});
    body["context"] = json!([
        {"type": "config", "config": {"temperature": 0.9, "top_p": 0.9, "model": "other"}},
        {"role": "user", "content": "q"},
    ]);
    assert_eq!(solution(&request(&app, body.clone()).await), &json!({"a": "x"}));
    let sent = upstream.seen()[0].json();
    let told = json!([sent["model"], sent["temperature"], sent["top_p"], sent["seed"], sent["x"]]);
    assert_eq!(told, json!(["m", 0.5, 0.9, 1, null]));
    assert_eq!(sent["response_format"]["type"], "json_schema");
    body.as_object_mut().unwrap().remove("model");
    request(&app, body).await;
    assert_eq!(upstream.seen()[1].json()["model"], "other");
}

#[actix_web::test]
async fn several_values_come_in_the_order_of_the_choices() {
    let script = |seen: &support::upstream::Seen| {
        let body = seen.json();
        let choice = |at: u64| json!({"index": at, "message": {"content": format!("{{\"a\":\"{at}\"}}")}, "finish_reason": "stop"});
        let choices: Vec<Json> = (0..body["n"].as_u64().unwrap()).map(choice).collect();
        reply_json(200, json!({"choices": choices, "usage": {"total_tokens": 9}}))
    };
    let (app, upstream) = start(script, |_| {}).await;
    let mut body = for_a();
    body["n"] = 3.into();
    let answer = request(&app, body).await;
    assert_eq!(answer.body["solutions"], json!([{"a": "0"}, {"a": "1"}, {"a": "2"}]));
    assert_eq!(answer.body["idea_ids"].as_array().unwrap().len(), 3);
    assert_eq!((&answer.body["attempts"], answer.body.get("solution")), (&json!(1), None));
    assert_eq!(
        answer.body["usage"],
        json!({"prompt_tokens": null, "completion_tokens": null, "total_tokens": 9})
    );
    assert_eq!(upstream.seen().len(), 1);
}
