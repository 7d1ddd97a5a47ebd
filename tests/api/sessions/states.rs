//! The states of a session: what may happen in each, and what never changes it.

use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

use proptest::prelude::*;
use proptest::strategy::ValueTree;
use proptest::test_runner::{Config, TestRunner};
use serde_json::{Value as Json, json};

use super::{event, go_on, output, said, scripted, session, shown, start, started};
use support::app::TestApp;
use support::upstream::{Act, Upstream, completion, json as reply_json};

/// Asserts that an event was refused because of this state.
#[track_caller]
fn assert_out_of_turn(answer: &support::app::Answer, state: &str) {
    answer.assert_error(409, "conflict_error", "session_state");
    assert_eq!(answer.error().3["state"], state, "{answer:?}");
    assert!(answer.error().2.contains(state), "{answer:?}");
}

#[tokio::test]
async fn each_event_has_its_state() {
    let (app, upstream) = start(&["[CMD] ls", "[ASK] Which?", "[ASK:optional] Why?", "[DONE]"]).await;
    let id = session(&app).await;
    assert_out_of_turn(&event(&app, &id, said("x")).await, "waiting_cmd");
    assert_out_of_turn(&event(&app, &id, go_on()).await, "waiting_cmd");
    event(&app, &id, output("a")).await;
    assert_out_of_turn(&event(&app, &id, output("a")).await, "waiting_user");
    for empty in ["", " \n"] {
        let refused = event(&app, &id, said(empty)).await;
        refused.assert_error(400, "invalid_request_error", "invalid_request");
    }
    assert_eq!(event(&app, &id, said("that")).await.body["state"], "waiting_user");
    // An optional question needs no answer.
    let done = event(&app, &id, said("")).await;
    assert_eq!(done.body["directives"][0]["message"], "Skill completed");
    assert_out_of_turn(&event(&app, &id, go_on()).await, "done");
    assert_eq!(super::last_sent(&upstream), "User response: \n\n[Step 4 of 100]");
    assert_eq!(upstream.seen().len(), 4);
}

#[tokio::test]
async fn bad_bodies_name_everything_that_is_wrong_and_change_nothing() {
    let (app, upstream) = start(&["[CMD] ls"]).await;
    let id = session(&app).await;
    let before = shown(&app, &id).await;
    for (body, paths) in [
        (json!({}), vec!["/type"]),
        (json!({"type": "run", "x": 1}), vec!["/type"]),
        (json!({"type": 5}), vec!["/type"]),
        (json!({"type": "user_message"}), vec!["/text"]),
        (json!({"type": "user_message", "text": 5, "txt": "a"}), vec!["/text", "/txt"]),
        (
            json!({"type": "command_result", "stdout": [], "exit_code": "1", "skipped": 0}),
            vec!["/stdout", "/exit_code", "/skipped"],
        ),
        (json!({"type": "continue", "text": "a"}), vec!["/text"]),
    ] {
        let refused = event(&app, &id, body.clone()).await;
        refused.assert_error(400, "invalid_request_error", "invalid_request");
        let found: Vec<&str> = refused.error().3["violations"]
            .as_array()
            .unwrap()
            .iter()
            .map(|violation| violation["path"].as_str().unwrap())
            .collect();
        assert_eq!(found, paths, "{body}");
    }
    let refused =
        app.send(app.request("POST", &format!("/api/sessions/{id}/events")).json(&json!([1]))).await;
    refused.assert_error(400, "invalid_request_error", "invalid_json");
    assert_eq!(shown(&app, &id).await, before);
    assert_eq!(upstream.seen().len(), 1);

    let wrong = json!({"os": "beos", "max_steps": 0, "params": [], "promt": "x", "auto_continue": 1});
    let refused = started(&app, "x", wrong).await;
    refused.assert_error(400, "invalid_request_error", "invalid_variables");
    assert_eq!(refused.error().3["violations"].as_array().unwrap().len(), 5);
    let refused = app.post("/api/sessions", json!({"skill": {"id": "a b", "x": 1}})).await;
    refused.assert_error(400, "invalid_request_error", "invalid_request");
    assert_eq!(refused.error().3["violations"].as_array().unwrap().len(), 3);
    for path in ["nope", "00000000000000000000000000000000"] {
        app.get(&format!("/api/sessions/{path}")).await.assert_error(
            404,
            "not_found_error",
            "session_not_found",
        );
        event(&app, path, go_on()).await.assert_error(404, "not_found_error", "session_not_found");
        app.delete(&format!("/api/sessions/{path}")).await.assert_error(
            404,
            "not_found_error",
            "session_not_found",
        );
    }
}

#[tokio::test]
async fn required_parameters_and_skills_have_to_be_there() {
    let (app, _upstream) = start(&["[DONE]"]).await;
    let skill =
        "---\nname: s\nparams:\n  - name: a\n    required: true\n  - name: b\n    required: true\n---\nx";
    let refused = started(&app, skill, json!({"params": {"a": null}})).await;
    refused.assert_error(400, "invalid_request_error", "missing_variables");
    assert_eq!(refused.error().3["missing"], json!(["a", "b"]));
    app.post("/api/skills/none/sessions", json!({})).await.assert_error(
        404,
        "not_found_error",
        "skill_not_found",
    );
    assert_eq!(app.get("/api/sessions").await.body, json!([]));
}

/// A service whose model hangs while it is asked for the answer with this number, from 0.
async fn hanging(at: usize) -> (TestApp, Upstream) {
    let asked = AtomicUsize::new(0);
    let script = move |_: &support::upstream::Seen| match asked.fetch_add(1, Ordering::Relaxed) == at {
        true => vec![Act::Hang],
        false => reply_json(200, completion("[CMD] ls")),
    };
    scripted(script, |_| {}).await
}

#[tokio::test]
async fn of_two_events_at_once_one_wins() {
    let gate = Arc::new(AtomicUsize::new(0));
    let asked = gate.clone();
    let script = move |_: &support::upstream::Seen| {
        let wait = Act::Wait(std::time::Duration::from_millis(300));
        let mut acts = reply_json(200, completion("[CMD] ls"));
        if asked.fetch_add(1, Ordering::Relaxed) > 0 {
            acts.insert(0, wait);
        }
        acts
    };
    let (app, upstream) = scripted(script, |_| {}).await;
    let id = session(&app).await;
    let both = futures_util::future::join_all((0..8).map(|_| event(&app, &id, output("a")))).await;
    let won = both.iter().filter(|answer| answer.status == 200).count();
    assert_eq!(won, 1, "{both:?}");
    for lost in both.iter().filter(|answer| answer.status != 200) {
        assert_out_of_turn(lost, "thinking");
    }
    assert_eq!(upstream.seen().len(), 2);
    assert_eq!(shown(&app, &id).await["step"], 2);
}

#[tokio::test]
async fn a_failed_call_of_the_model_changes_nothing() {
    let asked = AtomicUsize::new(0);
    let script = move |_: &support::upstream::Seen| match asked.fetch_add(1, Ordering::Relaxed) {
        1 => reply_json(400, json!({"error": {"message": "the context is too long", "code": "too_long"}})),
        2 => vec![Act::Cut],
        _ => reply_json(200, completion("[CMD] ls")),
    };
    let (app, _upstream) = scripted(script, |_| {}).await;
    let id = session(&app).await;
    let before = shown(&app, &id).await;
    let failed = event(&app, &id, output("a")).await;
    failed.assert_error(502, "upstream_error", "llm_unavailable");
    assert!(failed.error().2.contains("the context is too long"), "{failed:?}");
    assert_eq!(shown(&app, &id).await, before);
    // The same event once more; the connection that breaks is tried again by itself.
    let answer = event(&app, &id, output("a")).await;
    assert_eq!((answer.status, &answer.body["step"]), (200, &json!(2)), "{answer:?}");
}

#[tokio::test]
async fn a_start_that_fails_leaves_nothing() {
    let refuse = |_: &support::upstream::Seen| reply_json(401, json!({"error": {"message": "bad key"}}));
    let (app, _upstream) = scripted(refuse, |_| {}).await;
    started(&app, "x", json!({})).await.assert_error(502, "upstream_error", "llm_unavailable");
    assert_eq!(app.get("/api/sessions").await.body, json!([]));
}

#[tokio::test]
async fn a_model_that_takes_too_long_is_given_up() {
    let (app, upstream) = scripted(|_| vec![Act::Hang], |settings| settings.skills.timeout_ms = 200).await;
    let late = started(&app, "x", json!({})).await;
    late.assert_error(502, "upstream_error", "llm_unavailable");
    assert!(late.error().2.contains("skills.timeout_ms"), "{late:?}");
    upstream.abandoned(1).await;
}

#[tokio::test]
async fn to_cancel_aborts_the_call_of_the_model() {
    let (app, upstream) = hanging(1).await;
    let id = session(&app).await;
    let waiting = event(&app, &id, output("a"));
    let cancelling = async {
        upstream.arrived(2).await;
        assert_eq!(shown(&app, &id).await["state"], "thinking");
        assert_eq!(app.get("/api/sessions?state=thinking").await.body[0]["session_id"], id.as_str());
        assert_out_of_turn(&event(&app, &id, output("b")).await, "thinking");
        assert_eq!(app.delete(&format!("/api/sessions/{id}")).await.status, 204);
    };
    let (refused, ()) = tokio::join!(waiting, cancelling);
    assert_out_of_turn(&refused, "cancelled");
    upstream.abandoned(1).await;
    let session = shown(&app, &id).await;
    assert_eq!(
        (&session["state"], &session["step"], &session["pending"]),
        (&json!("cancelled"), &json!(1), &json!(null))
    );
    assert_out_of_turn(&event(&app, &id, output("a")).await, "cancelled");
    assert_eq!(app.delete(&format!("/api/sessions/{id}")).await.status, 204);
    app.get(&format!("/api/sessions/{id}")).await.assert_error(404, "not_found_error", "session_not_found");
}

#[tokio::test]
async fn a_client_that_leaves_gives_the_session_free() {
    let (app, upstream) = hanging(1).await;
    let id = session(&app).await;
    {
        let waiting = event(&app, &id, output("a"));
        tokio::select! {
            _ = waiting => panic!("the model hangs"),
            () = upstream.arrived(2) => {}
        }
    }
    upstream.abandoned(1).await;
    app.eventually(&format!("/api/sessions/{id}"), |answer| answer.body["state"] == "waiting_cmd").await;
    assert_eq!(event(&app, &id, output("a")).await.status, 200);
}

/// What a client may do.
#[derive(Debug, Clone, Copy)]
enum Step {
    Output,
    Say(&'static str),
    GoOn,
    Cancel,
}

/// What the model may answer.
const ANSWERS: [&str; 6] =
    ["[CMD] ls", "[ASK] Which?", "[ASK:optional] Why?", "[MESSAGE] So far", "[DONE]", ""];

/// The table: which states a session may be in after a step, and whether the step may be taken.
fn may_follow(state: &str, step: Step) -> bool {
    matches!(
        (state, step),
        ("waiting_cmd", Step::Output) | ("waiting_user", Step::Say(_)) | ("idle", Step::GoOn)
    )
}

async fn play(auto_continue: bool, answers: Vec<usize>, steps: Vec<Step>) {
    let texts: Vec<&str> = answers.iter().map(|at| ANSWERS[*at]).collect();
    let (app, _upstream) = super::start_with(&texts, |skills| skills.max_steps = 4).await;
    let begun = started(&app, super::SKILL, json!({"auto_continue": auto_continue})).await;
    let Some(id) = begun.body["session_id"].as_str().map(str::to_owned) else {
        begun.assert_error(502, "upstream_error", "answer_unusable");
        return;
    };
    for step in steps {
        let before = app.get(&format!("/api/sessions/{id}")).await.body;
        let state = before["state"].as_str().unwrap_or("removed").to_owned();
        let answer = match step {
            Step::Output => event(&app, &id, output("x")).await,
            Step::Say(text) => event(&app, &id, said(text)).await,
            Step::GoOn => event(&app, &id, go_on()).await,
            Step::Cancel => {
                app.delete(&format!("/api/sessions/{id}")).await;
                let now = app.get(&format!("/api/sessions/{id}")).await;
                let expected = if ["done", "cancelled", "removed"].contains(&&*state) { 404 } else { 200 };
                assert_eq!(now.status, expected, "{state}");
                continue;
            }
        };
        let now = app.get(&format!("/api/sessions/{id}")).await.body;
        match answer.status {
            200 => {
                assert!(may_follow(&state, step), "{step:?} in {state}");
                assert!(
                    ["idle", "waiting_cmd", "waiting_user", "done"].contains(&now["state"].as_str().unwrap())
                );
                assert_eq!(answer.body["state"], now["state"]);
                assert!(now["step"].as_u64().unwrap() <= 4);
            }
            404 => assert_eq!(state, "removed"),
            status => {
                assert!([400, 409, 502].contains(&status), "{answer:?}");
                assert_eq!(may_follow(&state, step), status != 409, "{step:?} in {state}: {answer:?}");
                assert_eq!(now, before, "{step:?} in {state}");
            }
        }
    }
}

#[tokio::test]
async fn no_sequence_of_events_leaves_the_table_of_states() {
    let step = prop_oneof![
        4 => Just(Step::Output), 3 => Just(Step::Say("yes")), 1 => Just(Step::Say("")), 3 => Just(Step::GoOn), 1 => Just(Step::Cancel),
    ];
    let games =
        (any::<bool>(), prop::collection::vec(0..ANSWERS.len(), 1..8), prop::collection::vec(step, 1..10));
    let mut runner = TestRunner::new(Config::default());
    for _ in 0..60 {
        let (auto, answers, steps) = games.new_tree(&mut runner).unwrap().current();
        play(auto, answers, steps).await;
    }
}

#[tokio::test]
async fn the_list_shows_the_newest_first() {
    let (app, _upstream) = start(&["[CMD] ls"]).await;
    let mut ids = Vec::new();
    for _ in 0..3 {
        ids.push(session(&app).await);
        tokio::time::sleep(std::time::Duration::from_millis(5)).await;
    }
    app.delete(&format!("/api/sessions/{}", ids[1])).await;
    let listed = |body: &Json| -> Vec<String> {
        body.as_array().unwrap().iter().map(|one| one["session_id"].as_str().unwrap().to_owned()).collect()
    };
    let all = app.get("/api/sessions").await;
    assert_eq!(listed(&all.body), [ids[2].clone(), ids[1].clone(), ids[0].clone()]);
    assert_eq!(all.body[0]["skill"], "tidy");
    assert_eq!(
        listed(&app.get("/api/sessions?kind=skill&state=waiting_cmd").await.body),
        [ids[2].clone(), ids[0].clone()]
    );
    assert_eq!(listed(&app.get("/api/sessions?state=cancelled").await.body), [ids[1].clone()]);
    app.get("/api/sessions?state=asleep").await.assert_error(400, "invalid_request_error", "invalid_query");
}
