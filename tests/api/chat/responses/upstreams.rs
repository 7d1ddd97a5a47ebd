//! Upstreams that have the Responses API, and those that do not.

use super::*;

#[actix_web::test]
async fn an_upstream_that_has_responses_gets_them_byte_for_byte_and_so_does_the_client() {
    let reply_text = r#"{"id":"resp_1","object":"response","output":[],"x":1.0}"#;
    let (app, upstream) = start(move |seen| match seen.path.as_str() {
        "/v1/responses" => reply(200, &[("content-type", "application/json")], reply_text.as_bytes()),
        _ => reply(500, &[], b""),
    })
    .await;
    put_prompts(&app).await;
    let body = r#"{"input":"q","model":"m","x":1.0,"previous_response_id":"resp_0","store":true}"#;
    let request = app.request("POST", DOOR).header("content-type", "application/json").body(body);
    assert_eq!(request.send().await.unwrap().text().await.unwrap(), reply_text);
    assert_eq!(String::from_utf8_lossy(&upstream.seen()[0].body), body);

    let body = json!({"model": "prompt:p.q?topic=rain", "input": "Now.", "tools": [{"type": "web_search"}]});
    assert_eq!(app.post(DOOR, body).await.status, 200);
    assert_eq!(
        seen(&upstream)[1].1,
        json!({
            "model": "m", "max_output_tokens": 9, "tools": [{"type": "web_search"}],
            "input": [
                {"role": "system", "content": "S"},
                {"role": "user", "content": [
                    {"type": "input_text", "text": "About rain."},
                    {"type": "input_image", "image_url": "data:x", "detail": "auto"},
                ]},
                {"role": "user", "content": "Now."},
            ],
        })
    );
}

#[actix_web::test]
async fn a_refusal_of_an_upstream_that_has_responses_is_passed_on() {
    let error = r#"{"error":{"message":"no such model","type":"invalid_request_error","param":"model","code":"model_not_found"}}"#;
    let (app, upstream) = start(move |seen| match seen.json()["model"].as_str() {
        Some("m") => reply_json(200, json!({"id": "resp_1", "object": "response"})),
        _ => reply(404, &[], error.as_bytes()),
    })
    .await;
    for (model, status) in [("m", 200), ("n", 404)] {
        assert_eq!(app.post(DOOR, json!({"model": model, "input": "q"})).await.status, status);
    }
    let paths: Vec<String> = seen(&upstream).into_iter().map(|(path, _)| path).collect();
    assert_eq!(paths, ["/v1/responses", "/v1/responses", "/v1/chat/completions"]);
    // What cannot be asked as a chat is answered in the upstream's words, too.
    let answer = app.post(DOOR, json!({"model": "n", "input": "q", "previous_response_id": "resp_0"})).await;
    assert_eq!((answer.status, answer.error().0), (404, "model_not_found"));
}

#[actix_web::test]
async fn a_model_that_knows_chats_alone_says_nothing_of_other_models() {
    for first in ["old", "new"] {
        let (app, upstream) = start(|seen| match (seen.path.as_str(), seen.json()["model"].as_str()) {
            ("/v1/responses", Some("old")) => reply(404, &[], b"no"),
            ("/v1/responses", _) => reply_json(200, json!({"id": "resp_1", "object": "response"})),
            _ => reply_json(200, completion("a")),
        })
        .await;
        for model in [first, "old", "new", "old"] {
            let answer = app.post(DOOR, json!({"model": model, "input": "q"})).await;
            assert_eq!(answer.status, 200, "{answer:?}");
        }
        let answer =
            app.post(DOOR, json!({"model": "new", "input": "q", "previous_response_id": "resp_0"})).await;
        assert_eq!(answer.status, 200, "{answer:?}");
        let tried = seen(&upstream)
            .iter()
            .filter(|(path, body)| path == "/v1/responses" && body["model"] == "old")
            .count();
        assert_eq!(tried, 1, "what it lacks is remembered");
    }
}

#[actix_web::test]
async fn an_item_of_an_earlier_answer_may_be_referred_to() {
    let (app, upstream) = start(chats_only(|_| reply_json(200, completion("Wet.")))).await;
    let first = app.post(DOOR, json!({"model": "m", "input": "q"})).await;
    let reference = json!({"type": "item_reference", "id": first.body["output"][0]["id"]});
    let next = json!({"model": "m", "input": [{"role": "user", "content": "q"}, reference, {"role": "user", "content": "r"}]});
    assert_eq!(app.post(DOOR, next).await.status, 200);
    let sent = seen(&upstream).pop().unwrap().1;
    let says = |role: &str, content: &str| json!({"role": role, "content": content});
    assert_eq!(sent["messages"], json!([says("user", "q"), says("assistant", "Wet."), says("user", "r")]));
    // A native upstream gets the item itself, as it does not know the id.
    let native = |seen: &Seen| match seen.path.as_str() {
        "/v1/responses" if seen.json()["model"] == "native" => {
            reply_json(200, json!({"id": "resp_1", "object": "response"}))
        }
        "/v1/chat/completions" => reply_json(200, completion("Wet.")),
        _ => reply(404, &[], b"no"),
    };
    let (mixed, upstream) = start(native).await;
    let wet = mixed.post(DOOR, json!({"model": "m", "input": "q"})).await;
    let reference = json!({"type": "item_reference", "id": wet.body["output"][0]["id"]});
    let other = json!({"type": "item_reference", "id": "msg_of_the_upstream"});
    assert_eq!(mixed.post(DOOR, json!({"model": "native", "input": [other, reference]})).await.status, 200);
    let part = json!({"type": "output_text", "text": "Wet.", "annotations": [], "logprobs": []});
    let item = json!({"type": "message", "role": "assistant", "content": [part]});
    assert_eq!(seen(&upstream).pop().unwrap().1["input"], json!([other, item]));
    // Nothing is kept of an answer that is not to be stored.
    let first = app.post(DOOR, json!({"model": "m", "input": "q", "store": false})).await;
    let reference = json!({"type": "item_reference", "id": first.body["output"][0]["id"]});
    let answer = app.post(DOOR, json!({"model": "m", "input": [reference]})).await;
    assert_eq!((answer.status, answer.error().2.contains("`store`: false")), (400, true), "{answer:?}");
}

#[actix_web::test]
async fn an_upstream_that_has_responses_keeps_them_whatever_it_answers_once() {
    for once in [
        reply(404, &[], b"no file"),
        reply(501, &[], b""),
        reply(200, &[("content-type", "text/html")], b"<html>"),
        reply_json(200, json!({"error": {"message": "busy"}})),
    ] {
        let (app, upstream) = start(move |seen| match (seen.path.as_str(), seen.json()["input"].as_str()) {
            ("/v1/responses", Some("odd")) => once.clone(),
            ("/v1/responses", _) => reply_json(200, json!({"id": "resp_1", "object": "response"})),
            _ => reply_json(200, completion("a")),
        })
        .await;
        for input in ["first", "odd", "last"] {
            app.post(DOOR, json!({"model": "m", "input": input})).await;
        }
        let (path, body) = seen(&upstream).pop().unwrap();
        assert_eq!((path.as_str(), &body["input"]), ("/v1/responses", &json!("last")));
    }
}

#[actix_web::test]
async fn the_settings_may_say_whether_an_upstream_has_responses() {
    for (responses, path) in [(true, "/v1/responses"), (false, "/v1/chat/completions")] {
        let script = move |seen: &Seen| match seen.path.as_str() {
            "/v1/responses" => reply_json(200, json!({"id": "resp_1", "object": "response"})),
            _ => reply_json(200, completion("a")),
        };
        let (app, upstream) = start_with(script, |llm| llm.responses = Some(responses)).await;
        assert_eq!(app.post(DOOR, json!({"model": "m", "input": "q"})).await.status, 200);
        assert_eq!(seen(&upstream)[0].0, path);
    }
}
