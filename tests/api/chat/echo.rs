//! The built-in model: chat works with no configuration at all.

use serde_json::{Value as Json, json};

use super::{datas, read_stream};
use support::app::TestApp;

#[actix_web::test]
async fn a_prompt_is_answered_with_no_configuration() {
    let app = TestApp::start().await;
    app.put_prompt("team.hello", json!({"userPrompt": "Hello {{.variables.name}}"})).await;
    let variables = json!({"variables": {"name": "Ada"}});
    let answer = app.post("/api/chat/prompts/team.hello", variables.clone()).await;
    assert_eq!(answer.status, 200, "{answer:?}");
    assert_eq!(answer.body["choices"][0]["message"]["content"], "Hello Ada");
    assert_eq!(answer.body["model"], "echo");
    assert_eq!(answer.headers["x-prompt-id"], "team.hello");
    let timing = answer.headers["server-timing"].to_str().unwrap();
    assert!(timing.starts_with("render;dur=") && timing.contains(", llm;dur="), "{timing}");
    let again = app.post("/api/prompts/team:hello/chat", json!({"args": {"name": "Ada"}})).await;
    assert_eq!(again.body, answer.body);
}

#[actix_web::test]
async fn it_streams_the_same_and_the_usage_only_when_asked() {
    let app = TestApp::start().await;
    for asked in [false, true] {
        let body = json!({
            "model": "echo", "stream": true, "stream_options": {"include_usage": asked},
            "messages": [{"role": "user", "content": "one two"}],
        });
        let (stream, orderly) = read_stream(&app, "/v1/chat/completions", &body).await;
        assert!(orderly && stream.ends_with("data: [DONE]\n\n"), "{stream}");
        let datas = datas(&stream);
        let chunks: Vec<Json> =
            datas[..datas.len() - 1].iter().map(|data| serde_json::from_str(data).unwrap()).collect();
        let text: String = chunks
            .iter()
            .filter_map(|chunk| chunk["choices"][0]["delta"]["content"].as_str().map(str::to_owned))
            .collect();
        assert_eq!(text, "one two");
        assert_eq!(chunks.iter().filter(|chunk| chunk["usage"].is_object()).count(), usize::from(asked));
    }
}
