//! Keys, prompts and answers stay out of the log, and keys out of every answer.

use serde_json::json;

use super::{ask, ask_for_stream, read_stream, start};
use support::log::{KEY, shows_private};
use support::process::Service;
use support::upstream::{
    Act, Upstream, chunk, completion, delta, json as reply_json, reply, sse, stream_head,
};

/// Answers by the model's name: well, in pieces, broken, or refusing in words that repeat what it was sent.
fn script(seen: &support::upstream::Seen) -> Vec<Act> {
    let sent = String::from_utf8_lossy(&seen.body).into_owned();
    let model = seen.json()["model"].as_str().unwrap().to_owned();
    let key = seen.header("authorization").unwrap().to_owned();
    match model.as_str() {
        "good" => reply_json(200, completion("good")),
        "stream" => sse(&[delta("private"), "data: [DONE]\n\n".to_owned()]),
        "cut" => vec![Act::Send(stream_head()), Act::Send(chunk(delta("private").as_bytes())), Act::Cut],
        "in-band" => {
            let told = json!({"error": {"message": format!("wrong key {key} for {sent}")}});
            sse(&[support::upstream::event(&told.to_string())])
        }
        "html" => reply(200, &[("content-type", "text/html")], format!("<html>{sent}").as_bytes()),
        "refused" => reply_json(401, json!({"error": {"message": format!("wrong key {key} for {sent}")}})),
        _ => reply(500, &[], format!("{key} {sent}").as_bytes()),
    }
}

#[actix_web::test]
async fn no_answer_shows_a_key_though_the_upstream_repeats_it() {
    let (app, upstream) = start(script).await;
    for (model, status) in [("refused", 401), ("failing", 502)] {
        let mut body = ask("q");
        body["model"] = model.into();
        let answer = app.post("/v1/chat/completions", body).await;
        assert_eq!(answer.status, status);
        let told = answer.body.to_string();
        assert!(told.contains("Bearer …") && !told.contains(KEY), "{told}");
    }
    let mut body = ask_for_stream("q");
    body["model"] = "in-band".into();
    let (told, _) = read_stream(&app, "/v1/chat/completions", &body).await;
    assert!(told.contains("Bearer …") && !told.contains(KEY), "{told}");
    assert!(upstream.seen().iter().all(|seen| seen.header("authorization").unwrap().contains(KEY)));
}

/// Has the service answer well and badly, at the level `trace`; gives its log.
async fn log_of(more: &str) -> String {
    let upstream = Upstream::start(script).await;
    let settings = format!(
        "[llm]\nbase_url = {:?}\napi_key = {KEY:?}\n{more}\n[log]\nlevel = \"trace\"\n",
        upstream.base
    );
    let service = Service::start(&settings).await;
    let app = service.client();
    app.put_prompt("p.x", json!({"userPrompt": "private {{.variables.x}}", "model": "good"})).await;
    assert_eq!(app.post("/api/chat/prompts/p.x", json!({"variables": {"x": "\"role\""}})).await.status, 200);
    for model in ["refused", "failing", "html"] {
        let mut body = ask("private");
        body["model"] = model.into();
        assert!(app.post("/v1/chat/completions", body).await.status >= 400);
    }
    for model in ["stream", "cut", "in-band"] {
        let mut body = ask_for_stream("private");
        body["model"] = model.into();
        read_stream(app, "/v1/chat/completions", &body).await;
    }
    service.stop()
}

#[actix_web::test]
async fn the_log_holds_neither_key_nor_content_even_at_trace() {
    let log = log_of("").await;
    for line in ["no model answered", "a stream broke off", "it refused"] {
        assert!(log.contains(line), "{line}: {log}");
    }
    let line = log.lines().find(|line| shows_private(line) || line.contains("private"));
    assert_eq!(line, None);
}

#[actix_web::test]
async fn contents_are_logged_where_the_settings_say_so_and_keys_never() {
    let log = log_of("log_content = true").await;
    assert!(log.contains("private") && log.contains("chatcmpl-scripted"), "{log}");
    assert!(!log.contains(KEY), "{log}");
}

#[actix_web::test]
async fn a_client_that_leaves_is_logged_as_such() {
    let upstream = Upstream::start(|_| vec![Act::Hang]).await;
    let service = Service::start(&format!("[llm]\nbase_url = {:?}\n", upstream.base)).await;
    let app = service.client();
    let call = tokio::spawn(app.request("POST", "/v1/chat/completions").json(&ask("q")).send());
    upstream.arrived(1).await;
    call.abort();
    upstream.abandoned(1).await;
    // Lines are written by a thread of their own, which the end of the process does not wait for.
    app.settled(async || service.log().contains("status=499")).await;
    let log = service.stop();
    assert!(log.contains("status=499"), "{log}");
    assert!(!log.contains("WARN") && !log.contains("ERROR"), "{log}");
}

#[test]
fn the_search_of_the_log_finds_what_it_looks_for() {
    for private in [KEY, "Bearer x", "{\"role\":\"user\"}", "\"{\\\"role\\\":"] {
        assert!(shows_private(&format!("TRACE a line: {private}")), "{private}");
    }
    assert!(!shows_private("DEBUG a role is played"));
}
