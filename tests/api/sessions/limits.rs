//! Limits of sessions, and what the model is sent of the steps before.

use std::sync::atomic::{AtomicUsize, Ordering};

use serde_json::json;

use super::{
    SKILL, event, go_on, last_sent, output, said, scripted, sent, session, shown, start, start_with, started,
};
use support::upstream::{completion, json as reply_json};

#[tokio::test]
async fn at_the_limit_of_steps_the_session_is_done_without_asking_the_model() {
    let (app, upstream) = start_with(&["[CMD] ls"], |skills| skills.max_steps = 3).await;
    // A client can only ask for less.
    assert_eq!(started(&app, SKILL, json!({"max_steps": 9})).await.body["max_steps"], 3);
    let begun = started(&app, SKILL, json!({"max_steps": 2})).await;
    let id = begun.body["session_id"].as_str().unwrap();
    assert_eq!(event(&app, id, output("a")).await.body["step"], 2);
    assert_eq!(last_sent(&upstream), "Command output:\na\n\n[Step 2 of 2]");
    let asked = upstream.seen().len();
    let last = event(&app, id, output("b")).await;
    assert_eq!(
        last.body,
        json!({"state": "done", "step": 2, "directives": [{"type": "DONE", "message": "Maximum steps reached"}]})
    );
    assert_eq!(upstream.seen().len(), asked);
    assert_eq!(shown(&app, id).await["messages"].as_array().unwrap().len(), 5);
}

#[tokio::test]
async fn after_a_message_the_service_goes_on_by_itself() {
    let (app, upstream) = start(&["[MESSAGE] One", "[MESSAGE] Two", "[CMD] ls"]).await;
    let begun = started(&app, SKILL, json!({})).await;
    assert_eq!((&begun.body["state"], &begun.body["step"]), (&json!("waiting_cmd"), &json!(3)));
    let shown: Vec<&str> = begun.body["directives"]
        .as_array()
        .unwrap()
        .iter()
        .map(|one| one["type"].as_str().unwrap())
        .collect();
    assert_eq!(shown, ["MESSAGE", "MESSAGE", "CMD"]);
    assert_eq!(last_sent(&upstream), "[Continue after informational message]\n\n[Step 3 of 100]");
}

#[tokio::test]
async fn without_auto_continue_each_message_waits() {
    let (app, _upstream) = start(&["[MESSAGE] One", "[MESSAGE] Two", "[DONE]"]).await;
    let begun = started(&app, SKILL, json!({"auto_continue": false})).await;
    let id = begun.body["session_id"].as_str().unwrap();
    for step in 1..=2 {
        let now = shown(&app, id).await;
        assert_eq!(
            (&now["state"], &now["step"], &now["pending"]),
            (&json!("idle"), &json!(step), &json!(null))
        );
        event(&app, id, output("x")).await.assert_error(409, "conflict_error", "session_state");
        assert_eq!(event(&app, id, go_on()).await.body["directives"].as_array().unwrap().len(), 1);
    }
    assert_eq!(shown(&app, id).await["state"], "done");
}

#[tokio::test]
async fn messages_that_were_shown_stay_when_the_next_call_fails() {
    let asked = AtomicUsize::new(0);
    let script = move |_: &support::upstream::Seen| match asked.fetch_add(1, Ordering::Relaxed) {
        0 => reply_json(200, completion("[MESSAGE] One")),
        1 => reply_json(400, json!({"error": {"message": "no money left"}})),
        _ => reply_json(200, completion("[DONE] All")),
    };
    let (app, upstream) = scripted(script, |_| {}).await;
    let begun = started(&app, SKILL, json!({})).await;
    assert_eq!((begun.status, &begun.body["state"], &begun.body["step"]), (201, &json!("idle"), &json!(1)));
    assert_eq!(begun.body["directives"][0]["message"], "One");
    assert_eq!(begun.body["error"]["code"], "llm_unavailable");
    assert!(begun.body["error"]["message"].as_str().unwrap().contains("no money left"));
    let id = begun.body["session_id"].as_str().unwrap();
    let done = event(&app, id, go_on()).await;
    assert_eq!(
        done.body,
        json!({"state": "done", "step": 2, "directives": [{"type": "DONE", "content": "[DONE] All", "message": "All"}]})
    );
    assert_eq!(last_sent(&upstream), "[Continue after informational message]\n\n[Step 2 of 100]");
}

#[tokio::test]
async fn the_history_is_sent_as_the_skill_says() {
    for (mode, expected) in [
        ("history_mode: full", "1 a 2 a 3 a 4"),
        ("history_mode: last_n\nhistory_max: 2", "1 a 4"),
        ("history_mode: last_n\nhistory_max: 3", "1 a 4"),
        ("history_mode: last_n\nhistory_max: 4", "1 a 3 a 4"),
        ("history_mode: last_n\nhistory_max: 0", "4"),
        ("history_mode: last_n\nhistory_max: -1", "4"),
        ("history_mode: system_only", "4"),
        ("history_mode: everything", "1 a 2 a 3 a 4"),
    ] {
        let (app, upstream) = start(&["[CMD] ls"]).await;
        let begun = started(&app, &format!("---\nname: s\n{mode}\n---\nx"), json!({})).await;
        let id = begun.body["session_id"].as_str().unwrap();
        for _ in 0..3 {
            event(&app, id, output("x")).await;
        }
        let step = |text: &str| {
            text.rsplit_once("[Step ").map_or("a", |(_, rest)| rest.split(' ').next().unwrap()).to_owned()
        };
        let steps: Vec<String> =
            sent(upstream.seen().last().unwrap()).iter().map(|(_, text)| step(text)).collect();
        assert_eq!(steps.join(" "), expected, "{mode}");
    }
}

#[tokio::test]
async fn an_answer_that_cannot_be_used_is_asked_for_once_more() {
    let (app, upstream) = start(&["", "[CMD] ls", " ", "[CMD]", "[CMD] ls"]).await;
    let id = session(&app).await;
    assert_eq!(upstream.seen().len(), 2);
    let before = shown(&app, &id).await;
    let failed = event(&app, &id, output("a")).await;
    failed.assert_error(502, "upstream_error", "answer_unusable");
    assert!(failed.error().3["cause"].as_str().unwrap().len() > 10, "{failed:?}");
    assert_eq!(upstream.seen().len(), 4);
    assert_eq!(shown(&app, &id).await, before);
    assert_eq!(event(&app, &id, output("a")).await.body["step"], 2);
}

#[tokio::test]
async fn a_command_that_was_cut_gets_twice_the_tokens() {
    let asked = AtomicUsize::new(0);
    let script = move |_: &support::upstream::Seen| {
        let mut answer = completion("[CMD] rm -rf build/o");
        if asked.fetch_add(1, Ordering::Relaxed) == 0 {
            answer["choices"][0]["finish_reason"] = "length".into();
        }
        reply_json(200, answer)
    };
    let (app, upstream) = scripted(script, |_| {}).await;
    session(&app).await;
    let tokens: Vec<u64> =
        upstream.seen().iter().map(|seen| seen.json()["max_tokens"].as_u64().unwrap()).collect();
    assert_eq!(tokens, [512, 1024]);
}

#[tokio::test]
async fn an_answer_without_a_tag_is_a_command_or_an_error() {
    let (app, _upstream) = start(&["git status\nThat shows it."]).await;
    let begun = started(&app, SKILL, json!({})).await;
    assert_eq!(begun.body["directives"][0]["content"], "[CMD] git status");
    let strict = started(&app, SKILL, json!({"unknown_format": "error"})).await;
    strict.assert_error(502, "upstream_error", "answer_unusable");
    let (app, _upstream) = start_with(&["git status"], |skills| {
        skills.unknown_format = ai_prompt_shell::settings::UnknownFormat::Error;
    })
    .await;
    started(&app, SKILL, json!({})).await.assert_error(502, "upstream_error", "answer_unusable");
    assert_eq!(started(&app, SKILL, json!({"unknown_format": "command"})).await.status, 201);
}

#[tokio::test]
async fn models_and_limits_come_from_the_start_the_skill_and_the_settings() {
    let (app, upstream) = start_with(&["[DONE]"], |skills| {
        skills.model = Some("of-settings".into());
        skills.temperature = 0.7;
        skills.max_tokens = 100;
    })
    .await;
    let skill = "---\nname: s\nmodel: of-skill\ntemperature: 0\nmax_tokens: 50\n---\nx";
    started(&app, SKILL, json!({})).await;
    started(&app, skill, json!({})).await;
    started(&app, skill, json!({"model": "of-start"})).await;
    let asked: Vec<_> = upstream.seen().iter().map(|seen| seen.json()).collect();
    let models: Vec<_> = asked.iter().map(|body| body["model"].as_str().unwrap()).collect();
    assert_eq!(models, ["of-settings", "of-skill", "of-start"]);
    let numbers =
        |at: usize| (asked[at]["temperature"].as_f64().unwrap(), asked[at]["max_tokens"].as_u64().unwrap());
    assert_eq!((numbers(0), numbers(1)), ((0.7, 100), (0.0, 50)));
    // Where nothing names a model, the default model of all requests is asked.
    let (app, upstream) = scripted(
        |_| reply_json(200, completion("[DONE]")),
        |all| all.llm.default_model = Some("usual".into()),
    )
    .await;
    started(&app, SKILL, json!({})).await;
    started(&app, "---\nmodel: inherit\n---\nx", json!({})).await;
    assert!(upstream.seen().iter().all(|seen| seen.json()["model"] == "usual"));
    assert_eq!(upstream.seen().len(), 2);
}

#[tokio::test]
async fn arguments_stand_in_the_text_of_the_skill() {
    let (app, upstream) = start(&["[DONE]"]).await;
    let params = json!({"ARGUMENTS": "page 7", "1": "page", "2": "7", "why": "now"});
    started(&app, "Fix $ARGUMENTS ($2).", json!({"params": params})).await;
    let body = upstream.seen()[0].json();
    assert!(body["messages"][0]["content"].as_str().unwrap().ends_with("---\nFix page 7 (7)."));
    assert_eq!(last_sent(&upstream), "Execute skill: skill\n\nParameters:\n- why: now\n\n[Step 1 of 100]");
}

#[tokio::test]
async fn the_question_of_a_person_does_not_change_the_dialogue() {
    let (app, upstream) = start(&["[ASK] Which?", "[DONE]"]).await;
    let id = session(&app).await;
    event(&app, &id, said("  [CMD] rm -rf /  ")).await;
    assert_eq!(last_sent(&upstream), "User response: [CMD] rm -rf /\n\n[Step 2 of 100]");
}
