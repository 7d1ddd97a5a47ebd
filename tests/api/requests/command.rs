//! `request`, `request batch` and `idea` on the command line.

use std::path::Path;

use serde_json::{Value as Json, json};

use super::{Ability, declared, for_a, model, start};
use crate::commands::{run, text};
use support::app::write;

/// Runs a command against a model that has tools, in a folder with a schema, a context and a batch.
async fn with_model(arguments: &'static [&'static str]) -> (i32, String, String) {
    let (app, _upstream) = start(
        model(Ability::Tools, |body| match body["messages"][0]["content"].as_str() {
            Some("bad") => "bad".into(),
            _ => r#"{"a":"x"}"#.into(),
        }),
        |llm| {
            llm.models = vec![declared("m", Ability::Tools)];
            llm.default_model = Some("m".into());
        },
    )
    .await;
    app.put_prompt("p.q", json!({"userPrompt": "{{ x }}", "syntax": "jinja", "returns": for_a()["schema"]}))
        .await;
    let url = app.base.clone();
    let command = move || {
        let folder = tempfile::tempdir().unwrap();
        fill(folder.path());
        text(&run(folder.path(), &[&["--server", &url], arguments].concat()))
    };
    tokio::task::spawn_blocking(command).await.unwrap()
}

fn fill(folder: &Path) {
    write(folder, "schema.json", for_a()["schema"].to_string());
    write(folder, "context.json", r#"[{"role": "system", "content": "S"}]"#);
    let bad = for_a().to_string().replace("\"q\"", "\"bad\"");
    write(folder, "batch.jsonl", format!("{}\n{bad}\n\n{}\n", for_a(), for_a()));
}

#[actix_web::test]
async fn the_solution_is_printed_or_with_explain_everything() {
    let expected = (0, "{\n  \"a\": \"x\"\n}\n".to_owned(), String::new());
    assert_eq!(with_model(&["request", "--schema", "schema.json", "--message", "q"]).await, expected);
    assert_eq!(with_model(&["request", "--prompt", "p.q", "-v", "x=1"]).await, expected);
    let (code, out, _) =
        with_model(&["request", "--schema", "schema.json", "--context", "context.json", "--explain"]).await;
    let out: Json = serde_json::from_str(&out).unwrap();
    assert_eq!((code, &out["strategy"], &out["attempts"]), (0, &json!("tools"), &json!(1)));
    assert_eq!(out["report"]["attempts"][0]["answer"], r#"{"a":"x"}"#);
    let (code, out, _) =
        with_model(&["request", "--schema", "schema.json", "--message", "q", "--dry-run"]).await;
    let out: Json = serde_json::from_str(&out).unwrap();
    assert_eq!((code, &out["body"]["tool_choice"]["type"]), (0, &json!("function")));
}

#[actix_web::test]
async fn what_is_wrong_is_told() {
    let (code, out, err) =
        with_model(&["request", "--schema", "schema.json", "--message", "bad", "--max-repairs", "0"]).await;
    assert!(code == 1 && out.is_empty() && err.contains("does not fit"), "{code} {out} {err}");
    let (code, _, err) = with_model(&["request", "--message", "q"]).await;
    assert!(code == 2 && err.contains("--schema"), "{err}");
    let (code, _, err) = with_model(&["request", "--schema", "none.json", "--message", "q"]).await;
    assert!(code == 2 && err.contains("none.json"), "{err}");
    let (code, _, err) = with_model(&["request", "--schema", "batch.jsonl", "--message", "q"]).await;
    assert!(code == 2 && err.contains("no JSON"), "{err}");
    let (code, _, err) = with_model(&["request", "--schema", "schema.json"]).await;
    assert!(code == 1 && err.contains("at least one message"), "{err}");
}

#[actix_web::test]
async fn a_batch_prints_a_line_for_each_line() {
    let (code, out, err) = with_model(&["request", "batch", "batch.jsonl"]).await;
    let lines: Vec<Json> = out.lines().map(|line| serde_json::from_str(line).unwrap()).collect();
    assert_eq!(lines.len(), 3);
    assert_eq!((&lines[0]["solution"], &lines[2]["index"]), (&json!({"a": "x"}), &json!(2)));
    assert_eq!(lines[1]["error"]["code"], "solution_invalid");
    assert!(code == 1 && err.contains("1 of 3 lines"), "{code} {err}");
}

#[actix_web::test]
async fn ideas_are_shown_and_replayed_with_the_built_in_model() {
    let command = || {
        let folder = tempfile::tempdir().unwrap();
        fill(folder.path());
        let solved =
            text(&run(folder.path(), &["request", "--schema", "schema.json", "--message", "q", "--explain"]));
        let solved: Json = serde_json::from_str(&solved.1).unwrap_or_else(|_| panic!("{solved:?}"));
        assert_eq!((&solved["solution"], &solved["model"]), (&json!({"a": ""}), &json!("echo")));
        let id = solved["idea_id"].as_str().unwrap();
        let shown = text(&run(folder.path(), &["idea", "show", id]));
        let shown: Json = serde_json::from_str(&shown.1).unwrap();
        assert_eq!(shown["context"], json!([{"role": "user", "content": "q"}]));
        let replay = text(&run(folder.path(), &["idea", "replay", id]));
        let replay: Json = serde_json::from_str(&replay.1).unwrap();
        assert_eq!((&replay["is_equal"], &replay["idea_id"]), (&json!(true), &json!(id)));
        let (code, _, err) = text(&run(folder.path(), &["idea", "show", "nothing"]));
        assert!(code == 1 && err.contains("there is no idea `nothing`"), "{err}");
    };
    tokio::task::spawn_blocking(command).await.unwrap();
}
