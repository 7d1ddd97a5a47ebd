//! Attempts, pauses, fallbacks, and what is told in the end.

use std::time::{Duration, Instant};

use ai_prompt_shell::settings::{Llm, Model};
use serde_json::{Value as Json, json};

use super::{ask, ask_for_stream, datas, llm, read_stream, start, start_with};
use support::app::{Answer, TestApp};
use support::upstream::{
    Act, Seen, Upstream, chunk, completion, delta, json as reply_json, reply, stream_head,
};

/// An upstream that answers each request with the next of these; after the last one, well.
fn in_turn(answers: Vec<Vec<Act>>) -> impl Fn(&Seen) -> Vec<Act> + Send + Sync + 'static {
    let answers = std::sync::Mutex::new(answers.into_iter());
    move |_| answers.lock().unwrap().next().unwrap_or_else(|| reply_json(200, completion("at last")))
}

fn failing(status: u16) -> Vec<Act> {
    reply_json(status, json!({"error": {"message": "not now", "code": "busy"}}))
}

/// The first number of a message, which is how long an upstream had, in milliseconds.
#[track_caller]
fn milliseconds(message: &str) -> u64 {
    message.split(['(', ' ']).find_map(|word| word.parse().ok()).expect("a number of milliseconds")
}

async fn chat(app: &TestApp) -> Answer {
    app.post("/v1/chat/completions", ask("q")).await
}

/// Asks, and asserts that the answer came after this many requests, and not before all these pauses, in
/// milliseconds. The client's clock is the one to ask: what a busy machine adds never makes its time shorter.
#[track_caller]
fn chat_with_pauses<'a>(
    app: &'a TestApp,
    upstream: &'a Upstream,
    pauses: &'a [u64],
) -> impl Future<Output = Answer> + 'a {
    let caller = std::panic::Location::caller();
    async move {
        let began = Instant::now();
        let answer = chat(app).await;
        let (took, least) = (began.elapsed(), Duration::from_millis(pauses.iter().sum()));
        assert!(took >= least, "{caller}: {took:?} instead of at least {least:?}");
        assert_eq!(upstream.seen().len(), pauses.len() + 1, "{caller}: {answer:?}");
        answer
    }
}

#[actix_web::test]
async fn what_may_pass_is_tried_three_times_with_the_pauses_of_the_policy() {
    for status in [408, 409, 429, 500, 503, 599] {
        let (app, upstream) = start(in_turn(vec![failing(status), failing(status)])).await;
        let answer = chat_with_pauses(&app, &upstream, &[100, 300]).await;
        assert_eq!((answer.status, &answer.body), (200, &completion("at last")), "{status}");
        assert!(!answer.headers.contains_key("x-should-retry"));
    }
}

#[actix_web::test]
async fn after_three_attempts_the_last_cause_is_told_and_clients_are_asked_not_to_go_on() {
    let (app, upstream) = start(in_turn(vec![failing(500), failing(500), failing(503), failing(500)])).await;
    let answer = chat(&app).await;
    answer.assert_error(502, "upstream_error", "llm_unavailable");
    assert_eq!(answer.headers["x-should-retry"], "false");
    let (_, _, message, details) = answer.error();
    assert!(message.contains("not now"), "{message}");
    assert_eq!(
        *details,
        json!({"model": "m", "attempts": 3, "cause": "the upstream answered 503: not now", "status": 503})
    );
    assert_eq!(upstream.seen().len(), 3);
}

#[actix_web::test]
async fn broken_connections_and_silence_are_tried_again() {
    let cut = || vec![Act::Cut];
    let reset = || vec![Act::Reset];
    let (app, upstream) = start(in_turn(vec![cut(), reset()])).await;
    assert_eq!(chat_with_pauses(&app, &upstream, &[100, 300]).await.status, 200);

    let half = || {
        let mut answer = reply_json(200, completion("x"));
        let Act::Send(bytes) = &mut answer[0] else { panic!("bytes") };
        bytes.truncate(bytes.len() / 2);
        vec![answer.remove(0), Act::Cut]
    };
    let (app, upstream) = start(in_turn(vec![half()])).await;
    assert_eq!(chat(&app).await.body, completion("at last"));
    assert_eq!(upstream.seen().len(), 2);

    let own_time = |llm: &mut Llm| {
        llm.models = vec![Model { name: "m".into(), timeout_ms: Some(1_500), ..Model::default() }];
    };
    let (app, upstream) = start_with(in_turn(vec![vec![Act::Hang], vec![Act::Hang]]), own_time).await;
    assert_eq!(chat_with_pauses(&app, &upstream, &[1_600, 1_800]).await.status, 200);
}

#[actix_web::test]
async fn nobody_there_is_told_as_such() {
    let closed = std::net::TcpListener::bind("127.0.0.1:0").unwrap().local_addr().unwrap();
    let app = TestApp::start_with(|settings| settings.llm = llm(&format!("http://{closed}/v1"))).await;
    let began = Instant::now();
    let answer = chat(&app).await;
    answer.assert_error(502, "upstream_error", "llm_unavailable");
    assert!(answer.error().3["cause"].as_str().unwrap().contains("refused"), "{answer:?}");
    assert!(began.elapsed() >= Duration::from_millis(400));
}

#[actix_web::test]
async fn the_upstream_s_wish_to_be_asked_later_is_obeyed_if_there_is_time() {
    let wish = |value: &'static str| reply(429, &[("retry-after", value)], b"");
    let (app, upstream) = start(in_turn(vec![wish("1"), wish("0")])).await;
    assert_eq!(chat_with_pauses(&app, &upstream, &[1_000, 300]).await.status, 200);

    for far in ["60", "9999999999999999999"] {
        let (app, upstream) = start(in_turn(vec![wish(far)])).await;
        let answer = chat(&app).await;
        answer.assert_error(429, "rate_limit_error", "llm_rate_limited");
        let told: f64 = answer.headers["retry-after"].to_str().unwrap().parse().unwrap();
        assert_eq!((upstream.seen().len(), told), (1, far.parse().unwrap()));
    }
}

#[actix_web::test]
async fn a_limit_of_the_upstream_is_told_as_a_limit_so_that_clients_handle_it() {
    let (app, upstream) = start(|_| reply(429, &[], br#"{"error":{"message":"slow down"}}"#)).await;
    let answer = chat(&app).await;
    answer.assert_error(429, "rate_limit_error", "llm_rate_limited");
    assert_eq!(answer.headers["retry-after"], "1");
    assert_eq!(answer.headers["x-should-retry"], "false");
    assert_eq!((&answer.error().3["status"], upstream.seen().len()), (&json!(429), 3));
    // What counts is the last cause.
    let (app, _upstream) = start(in_turn(vec![failing(429), failing(429), failing(500)])).await;
    chat(&app).await.assert_error(502, "upstream_error", "llm_unavailable");
}

#[actix_web::test]
async fn a_refused_request_is_not_tried_again_and_the_refusal_is_passed_on() {
    let shaped = r#"{"error":{"message":"bad temperature","type":"invalid_request_error","param":"temperature","code":null},"more":1.0}"#;
    for status in [400, 401, 403, 404, 413, 422] {
        let (app, upstream) = start(move |_| reply(status, &[], shaped.as_bytes())).await;
        let response = app.request("POST", "/v1/chat/completions").json(&ask("q")).send().await.unwrap();
        assert_eq!(response.status(), status);
        assert_eq!(response.headers()["content-type"], "application/json");
        assert_eq!(response.text().await.unwrap(), shaped);
        assert_eq!(upstream.seen().len(), 1);
    }
    let (app, _upstream) = start(|_| reply(403, &[("content-type", "text/html")], b"<h1>No</h1>")).await;
    let answer = chat(&app).await;
    answer.assert_error_shape(403, "upstream_error", "llm_refused");
    assert_eq!(answer.error().2, "<h1>No</h1>");
}

#[actix_web::test]
async fn fallbacks_are_asked_in_turn_each_with_its_own_name_and_key() {
    let tired = Upstream::start(|_| failing(500)).await;
    let fresh = Upstream::start(|_| reply_json(200, completion("from the other"))).await;
    let model = |name: &str, base: Option<&str>, fallback: &[&str]| Model {
        name: name.into(),
        base_url: base.map(str::to_owned),
        fallback: fallback.iter().map(|name| (*name).to_owned()).collect(),
        ..Model::default()
    };
    let app = TestApp::start_with(|settings| {
        settings.llm = llm(&tired.base);
        let mut other = model("other", Some(&fresh.base), &[]);
        other.upstream_model = Some("real-name".into());
        settings.llm.models =
            vec![model("m", None, &["third", "other", "echo"]), model("third", None, &[]), other];
    })
    .await;
    assert_eq!(chat(&app).await.body, completion("from the other"));
    let names = |upstream: &Upstream| -> Vec<Json> {
        upstream.seen().iter().map(|seen| seen.json()["model"].clone()).collect()
    };
    assert_eq!(names(&tired), ["m", "m", "m", "third", "third", "third"]);
    assert_eq!(names(&fresh), ["real-name"]);
    assert_eq!(fresh.seen()[0].header("authorization"), None);
}

#[actix_web::test]
async fn all_the_time_is_for_all_attempts_and_a_client_may_give_less() {
    let (app, upstream) = start_with(|_| vec![Act::Hang], |llm| llm.timeout_ms = 1_000).await;
    let answer = chat(&app).await;
    answer.assert_error(502, "upstream_error", "llm_unavailable");
    assert!(answer.error().3["cause"].as_str().unwrap().contains("silent"), "{answer:?}");
    assert_eq!(upstream.seen().len(), 1);

    for name in ["x-stainless-timeout", "x-stainless-read-timeout"] {
        let (app, _upstream) = start(|_| vec![Act::Hang]).await;
        let request = app.request("POST", "/v1/chat/completions").json(&ask("q"));
        let answer = app.send(request.header(name, "1")).await;
        answer.assert_error(502, "upstream_error", "llm_unavailable");
        assert!(milliseconds(answer.error().2) <= 1_000, "{answer:?}");
    }

    let slow_body = |_: &Seen| {
        let [Act::Send(bytes)] = &reply_json(200, completion("x"))[..] else { panic!("bytes") };
        let (head, rest) = bytes.split_at(bytes.len() - 5);
        vec![Act::Send(head.to_vec()), Act::Hang, Act::Send(rest.to_vec())]
    };
    let (app, _upstream) = start_with(slow_body, |llm| llm.timeout_ms = 1_000).await;
    chat(&app).await.assert_error(502, "upstream_error", "llm_unavailable");
}

#[actix_web::test]
async fn a_stream_is_tried_again_before_it_begins_and_never_after() {
    let (app, upstream) = start(in_turn(vec![
        failing(500),
        vec![Act::Send(stream_head()), Act::Send(chunk(delta("a").as_bytes())), Act::Cut],
    ]))
    .await;
    let (stream, orderly) = read_stream(&app, "/v1/chat/completions", &ask_for_stream("q")).await;
    assert!(orderly);
    let datas = datas(&stream);
    assert_eq!(datas.len(), 2, "{stream}");
    let error: Json = serde_json::from_str(&datas[1]).unwrap();
    assert_eq!(error["error"]["code"], "llm_unavailable");
    assert_eq!(upstream.seen().len(), 2);
}

#[actix_web::test]
async fn a_client_s_time_counts_from_its_request_on() {
    let tool =
        Upstream::start(|_| [vec![Act::Wait(Duration::from_secs(1))], reply_json(200, json!(7))].concat())
            .await;
    let model = Upstream::start(|_| vec![Act::Hang]).await;
    let app = TestApp::start_with(|settings| {
        settings.llm = llm(&model.base);
        settings.render.timeout_ms = 10_000;
    })
    .await;
    app.put_tool("t.slow", json!({"type": "restful", "url": tool.base, "timeoutMs": 10_000})).await;
    app.put_prompt("p.x", json!({"userPrompt": "{{ t_slow() }}", "model": "m", "syntax": "jinja"})).await;
    let request = app.request("POST", "/api/chat/prompts/p.x").json(&json!({}));
    let answer = app.send(request.header("x-stainless-timeout", "4")).await;
    answer.assert_error(502, "upstream_error", "llm_unavailable");
    let told = answer.error().3["cause"].as_str().unwrap();
    assert!(milliseconds(told) <= 3_000, "{told}");
}

#[actix_web::test]
async fn embeddings_that_fail_are_not_answered_by_echo() {
    let fallback = |llm: &mut Llm| {
        llm.models = vec![Model { name: "m".into(), fallback: vec!["echo".into()], ..Model::default() }];
    };
    let (app, upstream) = start_with(|_| failing(500), fallback).await;
    let answer = app.post("/v1/embeddings", json!({"model": "m", "input": "x"})).await;
    answer.assert_error(502, "upstream_error", "llm_unavailable");
    assert_eq!(upstream.seen().len(), 3);
}

#[actix_web::test]
async fn a_refusal_whose_words_never_come_is_passed_on_without_them() {
    let head = b"HTTP/1.1 400 Bad\r\ncontent-length: 100\r\n\r\n".to_vec();
    let (app, upstream) = start(move |_| vec![Act::Send(head.clone()), Act::Hang]).await;
    chat(&app).await.assert_error_shape(400, "upstream_error", "llm_refused");
    assert_eq!(upstream.seen().len(), 1);
}

#[actix_web::test]
async fn one_who_is_silent_leaves_time_for_the_fallbacks_and_a_fallback_that_refuses_is_passed_over() {
    let silent = Upstream::start(|_| vec![Act::Hang]).await;
    let refusing = Upstream::start(|_| failing(401)).await;
    let good = Upstream::start(|_| reply_json(200, completion("good"))).await;
    let model = |name: &str, base: &str| Model {
        name: name.into(),
        base_url: Some(base.to_owned()),
        fallback: vec!["refusing".into(), "good".into()],
        ..Model::default()
    };
    let app = TestApp::start_with(|settings| {
        settings.llm.timeout_ms = 3_000;
        settings.llm.models =
            vec![model("m", &silent.base), model("refusing", &refusing.base), model("good", &good.base)];
        for model in &mut settings.llm.models[1..] {
            model.fallback.clear();
        }
    })
    .await;
    assert_eq!(chat(&app).await.body, completion("good"));
    assert_eq!((silent.seen().len(), refusing.seen().len()), (1, 1));
}
