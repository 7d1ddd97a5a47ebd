//! Sessions of skills: dialogues in steps, in front of a scripted model.

mod forks;
pub mod lasting;
mod leaving;
mod limits;
mod registered;
mod replicas;
mod seed;
mod socket;
mod states;
pub mod streams;

use std::sync::atomic::{AtomicUsize, Ordering};

use ai_prompt_shell::settings::{Settings, Skills};
use serde_json::{Value as Json, json};

use crate::chat::llm;
use support::app::{Answer, TestApp};
use support::upstream::{Act, Seen, Upstream, completion, json as reply_json};

/// A skill without parameters.
pub const SKILL: &str = "---\nname: tidy\ndescription: Tidies up.\n---\nTidy up.";

/// A service whose model gives these answers one after the other, then the last one again and again.
pub async fn start(answers: &[&str]) -> (TestApp, Upstream) {
    start_with(answers, |_| {}).await
}

/// The same, with other settings of skills.
pub async fn start_with(answers: &[&str], change: impl FnOnce(&mut Skills)) -> (TestApp, Upstream) {
    let answers: Vec<String> = answers.iter().map(|answer| (*answer).to_owned()).collect();
    let asked = AtomicUsize::new(0);
    let script = move |_: &Seen| {
        let at = asked.fetch_add(1, Ordering::Relaxed).min(answers.len() - 1);
        reply_json(200, completion(&answers[at]))
    };
    scripted(script, |settings| change(&mut settings.skills)).await
}

/// A service in front of an upstream that answers every request as `script` says.
pub async fn scripted(
    script: impl Fn(&Seen) -> Vec<Act> + Send + Sync + 'static,
    change: impl FnOnce(&mut Settings),
) -> (TestApp, Upstream) {
    let upstream = Upstream::start(script).await;
    let app = TestApp::start_with(|settings| {
        settings.llm = llm(&upstream.base);
        settings.llm.default_model = Some("CHEAP".into());
        change(settings);
    })
    .await;
    (app, upstream)
}

/// Starts a session of a skill that is not registered, with these members beside it.
pub async fn started(app: &TestApp, skill: &str, mut body: Json) -> Answer {
    body["skill"] = json!({"content": skill});
    app.post("/api/sessions", body).await
}

/// The id of a session of [`SKILL`] that has been started.
pub async fn session(app: &TestApp) -> String {
    let answer = started(app, SKILL, json!({})).await;
    assert_eq!(answer.status, 201, "{answer:?}");
    answer.body["session_id"].as_str().unwrap().to_owned()
}

/// Tells an event.
pub async fn event(app: &TestApp, id: &str, body: Json) -> Answer {
    app.post(&format!("/api/sessions/{id}/events"), body).await
}

/// The output of a command.
pub fn output(stdout: &str) -> Json {
    json!({"type": "command_result", "stdout": stdout, "exit_code": 0})
}

/// The answer of the user.
pub fn said(text: &str) -> Json {
    json!({"type": "user_message", "text": text})
}

pub fn go_on() -> Json {
    json!({"type": "continue"})
}

/// The session as it is shown.
pub async fn shown(app: &TestApp, id: &str) -> Json {
    let answer = app.get(&format!("/api/sessions/{id}")).await;
    assert_eq!(answer.status, 200, "{answer:?}");
    answer.body
}

/// The messages of a request to the model, without the system message.
pub fn sent(seen: &Seen) -> Vec<(String, String)> {
    let body = seen.json();
    let text = |message: &Json, member: &str| message[member].as_str().unwrap().to_owned();
    let messages = body["messages"].as_array().unwrap().iter().skip(1);
    messages.map(|message| (text(message, "role"), text(message, "content"))).collect()
}

/// The last message that the model was sent.
pub fn last_sent(upstream: &Upstream) -> String {
    sent(upstream.seen().last().unwrap()).pop().unwrap().1
}
