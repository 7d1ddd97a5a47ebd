//! `prompt chat`: the answers of models, printed as they come.

use serde_json::json;

use super::start;
use crate::commands::{run, text};
use support::upstream::{event, sse};

/// What the command prints for an upstream's chunks with these choices, and this end: its code, standard output, and standard error.
async fn printed(choices: &[&str], end: &[&str]) -> (i32, String, String) {
    let chunk = |choice: &&str| event(&format!("{{\"choices\": [{choice}]}}"));
    let events: Vec<String> = choices.iter().map(chunk).chain(end.iter().map(|end| event(end))).collect();
    let (app, _upstream) = start(move |_| sse(&events)).await;
    app.put_prompt("p.q", json!({"userPrompt": "q", "model": "m"})).await;
    let url = app.base.clone();
    let command = move || {
        let folder = tempfile::tempdir().unwrap();
        text(&run(folder.path(), &["--server", &url, "prompt", "chat", "p.q"]))
    };
    tokio::task::spawn_blocking(command).await.unwrap()
}

#[actix_web::test]
async fn texts_and_calls_are_printed_however_servers_write_them() {
    let choices = [
        r#"{"delta": {"role": "assistant", "reasoning": "hm"}}"#,
        r#"{"delta": {"content": "a\ud83d"}}"#,
        r#"{"delta": {"content": [{"type": "text", "text": "b"}, "c"]}}"#,
        r#"{"delta": {"refusal": "d", "function_call": {"name": "f", "arguments": "{"}}}"#,
        r#"{"delta": {"function_call": {"arguments": "}"}}, "finish_reason": "stop"}"#,
    ];
    assert_eq!(printed(&choices, &["[DONE]"]).await, (0, "a\u{fffd}bcd\nf {}\n".to_owned(), String::new()));
}

#[actix_web::test]
async fn a_stream_that_ends_with_an_error_is_one() {
    let (code, out, err) = printed(&[r#"{"delta": {"content": "a"}}"#], &[]).await;
    assert!(code == 1 && out == "a\n" && err.contains("broke off"), "{code} {out} {err}");
}
