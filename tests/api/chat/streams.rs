//! Streams: passed through as they are, correct to the end whatever the upstream does.

use serde_json::{Value as Json, json};

use super::{MOMENT, ask_for_stream, datas, read_stream, start, start_with};
use support::app::TestApp;
use support::upstream::{Act, chunk, delta, event, last_chunk, sse, stream_head};

const DOOR: &str = "/v1/chat/completions";
const DONE: &str = "data: [DONE]\n\n";

fn usage() -> String {
    event(r#"{"id":"c","choices":[],"usage":{"prompt_tokens":1,"completion_tokens":2,"total_tokens":3}}"#)
}

fn finish() -> String {
    event(r#"{"id":"c","choices":[{"index":0,"delta":{},"finish_reason":"stop"}]}"#)
}

/// What the stream of an upstream's acts looks like to a client.
async fn seen_by_client(acts: Vec<Act>) -> String {
    let (app, _upstream) = start(move |_| acts.clone()).await;
    let (stream, orderly) = read_stream(&app, DOOR, &ask_for_stream("q")).await;
    assert!(orderly, "{stream}");
    stream
}

/// Asserts that a stream ends with an error, after these events and with nothing behind it.
#[track_caller]
fn assert_broken(stream: &str, events: &[String], told: &str) {
    let rest = stream.strip_prefix(&events.concat()).unwrap_or_else(|| panic!("{stream}"));
    let datas = datas(rest);
    assert_eq!(datas.len(), 1, "{stream}");
    let error: Json = serde_json::from_str(&datas[0]).unwrap();
    assert_eq!(error["error"]["type"], "upstream_error", "{stream}");
    assert!(error["error"]["message"].as_str().unwrap().contains(told), "{stream}");
}

#[actix_web::test]
async fn a_good_stream_passes_untouched() {
    let events = [delta("a"), ": ping\n\n".to_owned(), delta("ä€𝄞"), finish(), DONE.to_owned()];
    let (app, upstream) = start({
        let events = events.clone();
        move |_| sse(&events)
    })
    .await;
    let response = app.request("POST", DOOR).json(&ask_for_stream("q")).send().await.unwrap();
    for (name, value) in
        [("content-type", "text/event-stream"), ("cache-control", "no-cache"), ("x-accel-buffering", "no")]
    {
        assert_eq!(response.headers()[name], value);
    }
    assert_eq!(response.text().await.unwrap(), events.concat());
    assert_eq!(upstream.seen()[0].json()["stream"], true);
}

#[actix_web::test]
async fn each_event_comes_as_soon_as_the_upstream_has_sent_it() {
    use futures_util::StreamExt;
    let acts = [vec![Act::Send(stream_head()), Act::Send(chunk(delta("a").as_bytes()))], vec![Act::Hang]];
    let (app, _upstream) = start(move |_| acts.concat()).await;
    let response = app.request("POST", DOOR).json(&ask_for_stream("q")).send().await.unwrap();
    let piece = response.bytes_stream().next().await.unwrap().unwrap();
    assert_eq!(piece, delta("a"));
}

#[actix_web::test]
async fn the_usage_comes_only_when_it_was_asked_for() {
    for asked in [None, Some(false), Some(true)] {
        let (app, upstream) = start(|_| sse(&[delta("a"), finish(), usage(), DONE.to_owned()])).await;
        let mut body = ask_for_stream("q");
        if let Some(asked) = asked {
            body["stream_options"] = json!({"include_usage": asked});
        }
        let (stream, _) = read_stream(&app, DOOR, &body).await;
        let expected = if asked == Some(true) { usage() } else { String::new() };
        assert_eq!(stream, [delta("a"), finish(), expected, DONE.to_owned()].concat());
        assert_eq!(upstream.seen()[0].json(), body);
    }
}

#[actix_web::test]
async fn azure_s_first_chunk_without_choices_is_legal() {
    let first = event(
        r#"{"choices":[],"created":0,"id":"","model":"","prompt_filter_results":[{"prompt_index":0}]}"#,
    );
    let events = [first, delta("a"), finish(), DONE.to_owned()];
    assert_eq!(seen_by_client(sse(&events)).await, events.concat());
}

#[actix_web::test]
async fn the_end_is_always_the_same() {
    for end in ["data: [DONE]\r\n\r\n", "data:[DONE]\n\n", "data: [DONE]\n\nmore", "data: [DONE]", ""] {
        let stream = seen_by_client(sse(&[delta("a"), finish(), end.to_owned()])).await;
        assert_eq!(stream, [delta("a"), finish(), DONE.to_owned()].concat(), "{end:?}");
    }
}

#[actix_web::test]
async fn a_stream_that_breaks_off_ends_with_an_error() {
    let cut = |events: &[String], end: &str, act: Act| {
        let mut acts = vec![Act::Send(stream_head())];
        acts.extend(events.iter().map(|event| Act::Send(chunk(event.as_bytes()))));
        acts.extend((!end.is_empty()).then(|| Act::Send(chunk(end.as_bytes()))));
        acts.push(act);
        acts
    };
    let events = [delta("a"), delta("b")];
    for (end, act) in [("", Act::Cut), ("data: {\"choices\":[{\"del", Act::Cut), ("", Act::Reset)] {
        let stream = seen_by_client(cut(&events, end, act)).await;
        assert_broken(&stream, &events, "broke off");
    }
    let orderly = |end: &str| cut(&events, end, Act::Send(last_chunk()));
    assert_broken(&seen_by_client(orderly("")).await, &events, "before the answer is finished");
    assert_broken(&seen_by_client(orderly("data: {\"choi")).await, &events, "middle of an event");
}

#[actix_web::test]
async fn an_error_that_the_upstream_tells_is_passed_on_and_is_the_end() {
    let error = event(r#"{"error":{"message":"overloaded","type":"server_error","code":"busy"}}"#);
    for after in ["", DONE] {
        let stream = seen_by_client(sse(&[delta("a"), error.clone(), after.to_owned()])).await;
        assert_eq!(stream, [delta("a"), error.clone()].concat());
    }
}

#[actix_web::test]
async fn silence_is_filled_with_comments_and_ends_at_the_limit() {
    let acts = vec![Act::Send(stream_head()), Act::Send(chunk(delta("a").as_bytes())), Act::Hang];
    let limits = |llm: &mut ai_prompt_shell::settings::Llm| {
        llm.keep_alive_ms = 100;
        llm.chunk_timeout_ms = 1_550;
    };
    let (app, upstream) = start_with(move |_| acts.clone(), limits).await;
    let (stream, orderly) = read_stream(&app, DOOR, &ask_for_stream("q")).await;
    let comments = stream.matches(": keep-alive\n\n").count();
    assert!(orderly && (1..=16).contains(&comments), "{stream}");
    assert_broken(&stream.replace(": keep-alive\n\n", ""), &[delta("a")], "1550 ms");
    upstream.abandoned(1).await;

    let (app, _upstream) =
        start_with(|_| vec![Act::Send(stream_head()), Act::Hang], |llm| llm.timeout_ms = 1_000).await;
    let (stream, _) = read_stream(&app, DOOR, &ask_for_stream("q")).await;
    assert_broken(&stream, &[], "silent");
}

#[actix_web::test]
async fn a_quiet_upstream_that_goes_on_is_waited_for() {
    let mut acts = vec![Act::Send(stream_head())];
    for text in ["a", "b", "c"] {
        acts.extend([Act::Wait(MOMENT * 3), Act::Send(chunk(delta(text).as_bytes()))]);
    }
    acts.extend([Act::Send(chunk([finish(), DONE.to_owned()].concat().as_bytes())), Act::Send(last_chunk())]);
    let (app, _upstream) = start_with(move |_| acts.clone(), |llm| llm.keep_alive_ms = 100).await;
    let (stream, _) = read_stream(&app, DOOR, &ask_for_stream("q")).await;
    assert!(stream.contains(": keep-alive\n\n"), "{stream}");
    let expected = [delta("a"), delta("b"), delta("c"), finish(), DONE.to_owned()].concat();
    assert_eq!(stream.replace(": keep-alive\n\n", ""), expected);
}

#[actix_web::test]
async fn a_prompt_streams_like_any_other_chat() {
    let (app, upstream) = start(|_| sse(&[delta("a"), finish(), DONE.to_owned()])).await;
    app.put_prompt("p.x", json!({"userPrompt": "Hi {{.variables.n}}", "model": "m"})).await;
    let body = json!({"variables": {"n": 1}, "stream": true});
    let response = app.request("POST", "/api/chat/prompts/p.x").json(&body).send().await.unwrap();
    assert_eq!(response.headers()["x-prompt-id"], "p.x");
    assert_eq!(response.text().await.unwrap(), [delta("a"), finish(), DONE.to_owned()].concat());
    let messages = json!([{"role": "user", "content": "Hi 1"}]);
    assert_eq!(upstream.seen()[0].json(), json!({"stream": true, "messages": messages, "model": "m"}));
}

#[actix_web::test]
async fn many_streams_at_once_do_not_mix() {
    let (app, _upstream) = start(|seen| {
        let text = seen.json()["messages"][0]["content"].as_str().unwrap().to_owned();
        sse(&[delta(&text), delta(&text), finish(), DONE.to_owned()])
    })
    .await;
    let read = |n: usize| {
        let app = TestApp::at(&app.base);
        async move {
            let text = format!("text {n}");
            let (stream, _) = read_stream(&app, DOOR, &ask_for_stream(&text)).await;
            assert_eq!(stream, [delta(&text), delta(&text), finish(), DONE.to_owned()].concat());
        }
    };
    futures_util::future::join_all((0..50).map(read)).await;
}

#[actix_web::test]
async fn the_limit_of_silence_holds_though_comments_are_rare() {
    let acts =
        vec![Act::Send(stream_head()), Act::Wait(MOMENT), Act::Send(chunk(delta("a").as_bytes())), Act::Hang];
    let (app, _upstream) = start_with(move |_| acts.clone(), |llm| llm.chunk_timeout_ms = 1_500).await;
    // The first comment comes after 10 s. A limit that is looked at only then comes too late.
    let body = ask_for_stream("q");
    let stream = read_stream(&app, DOOR, &body);
    let in_time = tokio::time::timeout(std::time::Duration::from_secs(8), stream);
    let (stream, _) = in_time.await.expect("the limit of silence was passed");
    assert_broken(&stream, &[delta("a")], "(1500 ms)");
}

#[actix_web::test]
async fn an_upstream_s_connection_serves_one_stream_after_the_other() {
    let acts = || {
        let last = [finish(), DONE.to_owned()].concat();
        let events = [Act::Send(stream_head()), Act::Send(chunk(last.as_bytes()))];
        [&events[..], &[Act::Wait(MOMENT / 4), Act::Send(last_chunk())]].concat()
    };
    let (app, upstream) = crate::chat::start_on_one_thread(move |_| acts()).await;
    for _ in 0..5 {
        read_stream(&app, DOOR, &ask_for_stream("q")).await;
        tokio::time::sleep(MOMENT).await;
    }
    // One, unless the machine stands still for a while.
    assert!(upstream.seen().len() == 5 && upstream.connections() <= 3, "{}", upstream.connections());
}

#[actix_web::test]
async fn a_client_that_reads_nothing_is_given_up() {
    use tokio::io::AsyncWriteExt;
    let mut acts = vec![Act::Send(stream_head())];
    acts.extend((0..400).map(|_| Act::Send(chunk(delta(&"x".repeat(100_000)).as_bytes()))));
    acts.push(Act::Hang);
    let upstream = support::upstream::Upstream::start(move |_| acts.clone()).await;
    let app = TestApp::start_with(|settings| {
        settings.llm = crate::chat::llm(&upstream.base);
        settings.server.send_timeout_ms = 500;
    })
    .await;
    let address = app.base.strip_prefix("http://").unwrap();
    let mut client = tokio::net::TcpStream::connect(address).await.unwrap();
    let body = ask_for_stream("q").to_string();
    let head = format!(
        "POST {DOOR} HTTP/1.1\r\nhost: {address}\r\ncontent-type: application/json\r\ncontent-length: {}\r\n\r\n",
        body.len()
    );
    client.write_all(format!("{head}{body}").as_bytes()).await.unwrap();
    upstream.abandoned(1).await;
}

#[actix_web::test]
async fn a_stream_that_never_ends_is_ended_when_its_time_is_over() {
    // One byte after the other, each in time; and events that come without any pause.
    let byte_by_byte = |text: String| {
        let bytes = text.into_bytes().into_iter();
        bytes.flat_map(|byte| [Act::Send(chunk(&[byte])), Act::Wait(MOMENT / 2)]).collect::<Vec<Act>>()
    };
    let drip = [vec![Act::Send(stream_head())], byte_by_byte(delta(&"x".repeat(1_000)))].concat();
    let flood = std::iter::repeat_n(Act::Send(chunk(delta("x").as_bytes())), 1_000_000);
    let flood: Vec<Act> = std::iter::once(Act::Send(stream_head())).chain(flood).collect();
    for (acts, is_flood) in [(drip, false), (flood, true)] {
        let (app, upstream) = start_with(move |_| acts.clone(), |llm| llm.stream_timeout_ms = 1_500).await;
        let (stream, orderly) = read_stream(&app, DOOR, &ask_for_stream("q")).await;
        assert!(orderly);
        let came = stream.matches(&delta("x")).count();
        assert_eq!(came > 0, is_flood, "{stream}");
        assert_broken(&stream, &vec![delta("x"); came], "llm.stream_timeout_ms");
        upstream.abandoned(1).await;
    }
}
