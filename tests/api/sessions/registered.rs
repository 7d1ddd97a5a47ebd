//! Sessions of skills of the catalog, and skills that are chosen.

use serde_json::{Value as Json, json};

use super::{event, output, scripted, start};
use support::app::TestApp;
use support::upstream::{Seen, completion, json as reply_json};

async fn put(app: &TestApp, id: &str, text: &str) {
    let answer = app.put(&format!("/api/skills/{id}"), json!({"content": text})).await;
    assert!([200, 201].contains(&answer.status), "{answer:?}");
}

fn system(seen: &Seen) -> String {
    seen.json()["messages"][0]["content"].as_str().unwrap().to_owned()
}

#[tokio::test]
async fn a_skill_is_started_by_its_id_or_by_the_last_part_of_it() {
    let (app, upstream) = start(&["[CMD] ls"]).await;
    put(
        &app,
        "tools.tidy",
        "---\nname: tidy\ndescription: Tidies.\nparams:\n  - name: depth\n    default: 2\n---\nTidy up.",
    )
    .await;
    for id in ["tools.tidy", "tidy", "tools:tidy"] {
        let begun = app.post(&format!("/api/skills/{id}/sessions"), json!({})).await;
        assert_eq!((begun.status, &begun.body["skill"]), (201, &json!("tools.tidy")), "{begun:?}");
    }
    // A start needs no body.
    let bare = app.send(app.request("POST", "/api/skills/tidy/sessions")).await;
    assert_eq!(bare.status, 201, "{bare:?}");
    assert!(system(&upstream.seen()[0]).ends_with("--- Active Skill: tidy ---\nTidy up."));
    assert_eq!(
        super::last_sent(&upstream),
        "Execute skill: tidy\n\nParameters:\n- depth: 2\n\n[Step 1 of 100]"
    );
    put(&app, "other.tidy", "Tidy up otherwise.").await;
    let unclear = app.post("/api/skills/tidy/sessions", json!({})).await;
    unclear.assert_error(404, "not_found_error", "skill_not_found");
}

#[tokio::test]
async fn what_changes_in_the_catalog_does_not_touch_a_session() {
    let (app, upstream) = start(&["[CMD] ls"]).await;
    put(&app, "a.s", "---\nmodel: one\n---\nBefore.").await;
    app.put_prompt("skills.system", json!({"userPrompt": "Obey {{skill}}.", "syntax": "jinja"})).await;
    let begun = app.post("/api/skills/a.s/sessions", json!({})).await;
    let id = begun.body["session_id"].as_str().unwrap();
    assert_eq!(system(&upstream.seen()[0]), "Obey s.\n\n--- Active Skill: s ---\nBefore.");
    put(&app, "a.s", "---\nmodel: two\n---\nAfter.").await;
    app.put_prompt("skills.system", json!({"userPrompt": "Do not obey.", "syntax": "jinja"})).await;
    event(&app, id, output("x")).await;
    assert_eq!(app.delete("/api/skills/a.s").await.status, 204);
    event(&app, id, output("x")).await;
    let seen = upstream.seen();
    assert!(seen.iter().all(|one| system(one) == system(&seen[0]) && one.json()["model"] == "one"));
    assert_eq!(seen.len(), 3);
}

#[tokio::test]
async fn the_skills_that_fit_are_chosen_by_the_model() {
    let script = |seen: &Seen| {
        let body = seen.json();
        let text = body["messages"].to_string();
        assert!(
            text.contains("save my work") && text.contains("a.commit") && !text.contains("a.secret"),
            "{text}"
        );
        reply_json(200, completion(r#"{"skills": ["a.commit", "a.tidy"]}"#))
    };
    let (app, _upstream) = scripted(script, |_| {}).await;
    let none = app.post("/api/skills/match", json!({"prompt": "x"})).await;
    assert_eq!((none.status, none.body), (200, json!([])));
    put(&app, "a.tidy", "---\ndescription: Tidies.\n---\nx").await;
    put(&app, "a.commit", "---\nname: commit\ndescription: Commits.\n---\nx").await;
    put(&app, "a.secret", "---\ndescription: Hidden.\ndisable-model-invocation: true\n---\nx").await;
    let chosen = app.post("/api/skills/match", json!({"prompt": "save my work"})).await;
    let commit = json!({"id": "a.commit", "name": "commit", "description": "Commits."});
    let tidy = json!({"id": "a.tidy", "name": "tidy", "description": "Tidies."});
    assert_eq!(chosen.body, json!([commit, tidy]));
    let wrong: [Json; 3] = [json!({}), json!({"prompt": 5}), json!({"prompt": "x", "limit": 0})];
    for body in wrong {
        let refused = app.post("/api/skills/match", body).await;
        refused.assert_error(400, "invalid_request_error", "invalid_request");
    }
}
