//! Odd upstreams: bytes split anywhere, other line ends, compression, and answers that are none.

use std::io::Write;

use flate2::Compression;
use flate2::write::GzEncoder;
use proptest::prelude::*;
use proptest::test_runner::TestRunner;
use serde_json::json;

use super::{ask, ask_for_stream, datas, read_stream, start, start_with};
use support::upstream::{Act, chunk, completion, delta, last_chunk, reply, stream_head};

const DOOR: &str = "/v1/chat/completions";

fn finish() -> String {
    support::upstream::event(r#"{"choices":[{"index":0,"delta":{},"finish_reason":"stop"}]}"#)
}

fn story() -> String {
    [&delta("ä€"), ": comment\n\n", &delta("𝄞 [DONE]"), &finish(), "data: [DONE]\n\n"].concat()
}

/// A stream of these bytes, split at these places, each piece in a packet of its own.
fn split_at(bytes: &[u8], places: &[usize]) -> Vec<Act> {
    let mut places: Vec<usize> = places.iter().map(|at| at % (bytes.len() + 1)).collect();
    places.extend([0, bytes.len()]);
    places.sort_unstable();
    places.dedup();
    let pieces = places.windows(2).map(|pair| Act::Send(chunk(&bytes[pair[0]..pair[1]])));
    let mut acts = vec![Act::Send(stream_head())];
    acts.extend(pieces);
    acts.push(Act::Send(last_chunk()));
    acts
}

async fn seen_by_client(acts: Vec<Act>) -> String {
    let (app, _upstream) = start(move |_| acts.clone()).await;
    let (stream, orderly) = read_stream(&app, DOOR, &ask_for_stream("q")).await;
    assert!(orderly, "{stream}");
    stream
}

#[actix_web::test]
async fn split_at_every_byte_a_stream_is_the_same() {
    let story = story();
    let every: Vec<usize> = (0..story.len()).collect();
    assert_eq!(seen_by_client(split_at(story.as_bytes(), &every)).await, story);
}

#[actix_web::test]
async fn other_line_ends_pass_and_mean_the_same() {
    for end in ["\r\n", "\r"] {
        let told = story().replace('\n', end);
        let every: Vec<usize> = (0..told.len()).collect();
        for places in [&every[..], &[]] {
            let stream = seen_by_client(split_at(told.as_bytes(), places)).await;
            let expected = told.replace(&format!("data: [DONE]{end}{end}"), "data: [DONE]\n\n");
            assert_eq!(stream, expected, "{end:?}");
        }
    }
}

#[test]
fn wherever_a_stream_is_split_it_is_the_same() {
    let runtime = actix_web::rt::System::new();
    let story = story();
    let bytes = story.clone().into_bytes();
    let app = runtime.block_on(start(move |seen| {
        let places: Vec<usize> = serde_json::from_value(seen.json()["places"].clone()).unwrap();
        split_at(&bytes, &places)
    }));
    let splits = proptest::collection::vec(any::<u16>().prop_map(usize::from), 0..24);
    let read = |places: &[usize]| {
        let mut body = ask_for_stream("q");
        body["places"] = json!(places);
        runtime.block_on(read_stream(&app.0, DOOR, &body))
    };
    let checked = TestRunner::default().run(&splits, |places| {
        prop_assert_eq!(read(&places), (story.clone(), true));
        Ok(())
    });
    checked.unwrap();
}

fn gzip(bytes: &[u8]) -> Vec<u8> {
    let mut encoder = GzEncoder::new(Vec::new(), Compression::default());
    encoder.write_all(bytes).unwrap();
    encoder.finish().unwrap()
}

#[actix_web::test]
async fn compressed_answers_are_understood_though_nobody_asked_for_them() {
    let packed = gzip(completion("packed").to_string().as_bytes());
    let headers = [("content-type", "application/json"), ("content-encoding", "gzip")];
    let (app, upstream) = start(move |_| reply(200, &headers, &packed)).await;
    let answer = app.post(DOOR, ask("q")).await;
    assert_eq!(answer.body, completion("packed"));
    assert!(!answer.headers.contains_key("content-encoding"));
    assert_eq!(upstream.seen()[0].header("accept-encoding"), Some("identity"));

    let head =
        String::from_utf8(stream_head()).unwrap().replacen("\r\n", "\r\ncontent-encoding: gzip\r\n", 1);
    let packed = gzip(story().as_bytes());
    let acts = vec![Act::Send(head.into_bytes()), Act::Send(chunk(&packed)), Act::Send(last_chunk())];
    assert_eq!(seen_by_client(acts).await, story());
}

#[actix_web::test]
async fn compressed_events_come_one_by_one() {
    use futures_util::StreamExt;
    let mut encoder = GzEncoder::new(Vec::new(), Compression::default());
    encoder.write_all(delta("a").as_bytes()).unwrap();
    encoder.flush().unwrap();
    let first = encoder.get_ref().clone();
    let head =
        String::from_utf8(stream_head()).unwrap().replacen("\r\n", "\r\ncontent-encoding: gzip\r\n", 1);
    let acts = vec![Act::Send(head.into_bytes()), Act::Send(chunk(&first)), Act::Hang];
    let (app, _upstream) = start(move |_| acts.clone()).await;
    let response = app.request("POST", DOOR).json(&ask_for_stream("q")).send().await.unwrap();
    assert_eq!(response.bytes_stream().next().await.unwrap().unwrap(), delta("a"));
}

#[actix_web::test]
async fn a_good_status_with_no_answer_is_an_error_that_says_what_came() {
    let html = |_: &support::upstream::Seen| {
        reply(200, &[("content-type", "text/html; charset=utf-8")], b"<h1>Log in</h1>")
    };
    for body in [ask("q"), ask_for_stream("q")] {
        let (app, upstream) = start(html).await;
        let answer = app.post(DOOR, body).await;
        answer.assert_error(502, "upstream_error", "llm_unavailable");
        assert!(answer.error().3["cause"].as_str().unwrap().contains("text/html"), "{answer:?}");
        assert_eq!(upstream.seen().len(), 1);
    }
    for answer in ["", "{\"choices\": [", "[]", "null", "{} {}"] {
        let (app, _upstream) =
            start(move |_| reply(200, &[("content-type", "application/json")], answer.as_bytes())).await;
        app.post(DOOR, ask("q")).await.assert_error(502, "upstream_error", "llm_unavailable");
    }
    let (app, _upstream) = start(|_| support::upstream::json(200, completion("whole"))).await;
    let answer = app.post(DOOR, ask_for_stream("q")).await;
    answer.assert_error(502, "upstream_error", "llm_unavailable");
    assert!(answer.error().3["cause"].as_str().unwrap().contains("application/json"), "{answer:?}");
    let (app, upstream) = start(|_| reply(302, &[("location", "http://127.0.0.1:1/")], b"")).await;
    app.post(DOOR, ask("q")).await.assert_error(502, "upstream_error", "llm_unavailable");
    assert_eq!(upstream.seen().len(), 1);
}

#[actix_web::test]
async fn what_is_too_long_is_refused_and_not_kept() {
    let long = "x".repeat(100_000);
    let answer = completion(&long);
    let (app, _upstream) =
        start_with(move |_| support::upstream::json(200, answer.clone()), |llm| llm.answer_bytes = 50_000)
            .await;
    let answer = app.post(DOOR, ask("q")).await;
    answer.assert_error(502, "upstream_error", "llm_unavailable");
    assert!(answer.error().3["cause"].as_str().unwrap().contains("llm.answer_bytes"), "{answer:?}");

    let event = delta(&long);
    let acts = vec![Act::Send(stream_head()), Act::Send(chunk(&event.as_bytes()[..90_000])), Act::Hang];
    let (app, upstream) = start_with(move |_| acts.clone(), |llm| llm.answer_bytes = 50_000).await;
    let (stream, _) = read_stream(&app, DOOR, &ask_for_stream("q")).await;
    assert_eq!(datas(&stream).len(), 1);
    assert!(stream.contains("llm.answer_bytes"), "{stream}");
    upstream.abandoned(1).await;
}
