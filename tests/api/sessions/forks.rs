//! Sessions that go on from a step of another one.

use serde_json::json;

use super::{SKILL, event, output, said, sent, shown, start, started};

#[tokio::test]
async fn a_fork_goes_on_from_its_step_and_the_other_session_stays() {
    let (app, upstream) = start(&["[CMD] ls", "[ASK] Which?", "[DONE] one", "[DONE] other"]).await;
    let begun = started(&app, SKILL, json!({"auto_continue": false})).await;
    let id = begun.body["session_id"].as_str().unwrap().to_owned();
    event(&app, &id, output("a")).await;
    event(&app, &id, said("this")).await;
    let before = shown(&app, &id).await;

    let fork = app.post(&format!("/api/sessions/{id}/fork"), json!({"step": 2})).await;
    assert_eq!(fork.status, 201, "{fork:?}");
    let other = fork.body["session_id"].as_str().unwrap().to_owned();
    assert_ne!(other, id);
    assert_eq!(
        (&fork.body["state"], &fork.body["step"], &fork.body["directives"][0]["question"]),
        (&json!("waiting_user"), &json!(2), &json!("Which?"))
    );
    let done = event(&app, &other, said("that")).await;
    assert_eq!(done.body["directives"][0]["message"], "other");
    let texts: Vec<String> =
        sent(upstream.seen().last().unwrap()).into_iter().map(|(_, text)| text).collect();
    assert_eq!(texts[2], "Command output:\na\n\n[Step 2 of 100]");
    assert_eq!(texts[4], "User response: that\n\n[Step 3 of 100]");
    assert_eq!(shown(&app, &id).await, before);
    // A session that was cancelled can be taken up again.
    let first = app.post(&format!("/api/sessions/{id}/fork"), json!({"step": 1})).await;
    assert_eq!(first.body["state"], "waiting_cmd");
}

#[tokio::test]
async fn there_is_no_fork_of_a_step_that_is_not_there_or_ends_the_session() {
    let (app, _upstream) = start(&["[CMD] ls", "[DONE]"]).await;
    let begun = started(&app, SKILL, json!({})).await;
    let id = begun.body["session_id"].as_str().unwrap().to_owned();
    event(&app, &id, output("a")).await;
    for body in [
        json!({}),
        json!({"step": 0}),
        json!({"step": 2}),
        json!({"step": 3}),
        json!({"step": "1"}),
        json!({"step": 1, "x": 1}),
    ] {
        let refused = app.post(&format!("/api/sessions/{id}/fork"), body).await;
        refused.assert_error(400, "invalid_request_error", "invalid_request");
    }
}
