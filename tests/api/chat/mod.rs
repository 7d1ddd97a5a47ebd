//! Chat: prompts and other chats answered by models, in front of a scripted upstream.

mod answers;
mod aside;
mod command;
mod contents;
mod doors;
mod echo;
mod gigachat;
mod leaving;
mod models;
mod odd;
mod prompts;
mod responses;
mod retries;
mod secrets;
mod streams;
mod warnings;

use std::time::Duration;

use ai_prompt_shell::settings::{Llm, Settings};
use futures_util::StreamExt;
use serde_json::{Value as Json, json};

use support::app::TestApp;
use support::log::KEY;
use support::upstream::{Act, Seen, Upstream};

/// A service in front of an upstream that answers every request as `script` says.
pub async fn start(script: impl Fn(&Seen) -> Vec<Act> + Send + Sync + 'static) -> (TestApp, Upstream) {
    start_with(script, |_| {}).await
}

/// The same, with other settings.
pub async fn start_with(
    script: impl Fn(&Seen) -> Vec<Act> + Send + Sync + 'static,
    change: impl FnOnce(&mut Llm),
) -> (TestApp, Upstream) {
    let upstream = Upstream::start(script).await;
    let app = TestApp::start_with(|settings| {
        settings.llm = llm(&upstream.base);
        change(&mut settings.llm);
    })
    .await;
    (app, upstream)
}

/// The same with a single serving thread, which has a single client.
pub async fn start_on_one_thread(
    script: impl Fn(&Seen) -> Vec<Act> + Send + Sync + 'static,
) -> (TestApp, Upstream) {
    let upstream = Upstream::start(script).await;
    let app = TestApp::start_with(|settings| {
        settings.llm = llm(&upstream.base);
        settings.server.workers = 1;
    })
    .await;
    (app, upstream)
}

/// Settings for an upstream at this address.
pub fn llm(base_url: &str) -> Llm {
    Llm { base_url: Some(base_url.to_owned()), api_key: Some(KEY.into()), ..Settings::default().llm }
}

/// A chat of one message.
pub fn ask(text: &str) -> Json {
    json!({"model": "m", "messages": [{"role": "user", "content": text}]})
}

/// The same, for a stream.
pub fn ask_for_stream(text: &str) -> Json {
    let mut body = ask(text);
    body["stream"] = true.into();
    body
}

/// A stream as a client reads it: its bytes, and whether it came to an orderly end.
pub async fn read_stream(app: &TestApp, path: &str, body: &Json) -> (String, bool) {
    let response = app.request("POST", path).json(body).send().await.unwrap();
    assert_eq!(response.status(), 200, "{}", response.text().await.unwrap());
    assert_eq!(response.headers()["content-type"], "text/event-stream");
    let mut pieces = response.bytes_stream();
    let (mut read, mut orderly) = (Vec::new(), true);
    while let Some(piece) = pieces.next().await {
        match piece {
            Ok(piece) => read.extend_from_slice(&piece),
            Err(_) => orderly = false,
        }
    }
    (String::from_utf8(read).unwrap(), orderly)
}

/// The data of the events of a stream.
pub fn datas(stream: &str) -> Vec<String> {
    let events = stream.split_terminator("\n\n");
    events.filter_map(|event| event.strip_prefix("data: ")).map(str::to_owned).collect()
}

/// A moment that is short for people and long for machines.
pub const MOMENT: Duration = Duration::from_millis(100);
