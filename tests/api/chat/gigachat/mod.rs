//! GigaChat behind the same routes: chats, streams, functions in both forms, embeddings and the list of models.

use ai_prompt_shell::settings::{Capabilities, Model};
use serde_json::{Value as Json, json};

use super::{ask, ask_for_stream, datas, read_stream};
use support::app::TestApp;
use support::gigachat::{GigaChat, Reply};
use support::log::GIGACHAT_KEY;

mod settings;
mod tokens;
mod typed;

/// A service in front of a scripted GigaChat.
pub async fn start(script: impl Fn(&Json) -> Reply + Send + Sync + 'static) -> (TestApp, GigaChat) {
    let gigachat = GigaChat::start(script).await;
    let app = TestApp::start_with(|settings| settings.llm = gigachat.settings()).await;
    (app, gigachat)
}

/// One that repeats the last text.
pub async fn parrot() -> (TestApp, GigaChat) {
    let gigachat = GigaChat::parrot().await;
    let app = TestApp::start_with(|settings| settings.llm = gigachat.settings()).await;
    (app, gigachat)
}

const PATH: &str = "/v1/chat/completions";

fn tool(name: &str) -> Json {
    let parameters = json!({"type": "object", "properties": {"city": {"$ref": "#/$defs/City"}}, "required": ["city"],
        "additionalProperties": false, "$defs": {"City": {"type": "string"}}});
    json!({"type": "function", "function": {"name": name, "description": "d", "parameters": parameters, "strict": true}})
}

/// Asks for three calls, one after the other, and then says what came of them.
fn three_rounds(body: &Json) -> Reply {
    let messages = body["messages"].as_array().unwrap();
    let results: Vec<&Json> = messages.iter().filter(|message| message["role"] == "function").collect();
    match results.len() {
        count @ 0..3 => Reply::Call("look".to_owned(), json!({"city": format!("c{count}"), "n": 1.5})),
        _ => Reply::Text(
            results.iter().map(|result| result["content"].as_str().unwrap()).collect::<Vec<_>>().join(" "),
        ),
    }
}

#[actix_web::test]
async fn a_chat_is_answered_in_openais_format() {
    let (app, gigachat) = parrot().await;
    let mut body = ask("Hello");
    body["messages"].as_array_mut().unwrap().push(json!({"role": "developer", "content": "Be brief."}));
    body["user"] = "u".into();
    body["max_completion_tokens"] = 7.into();
    let answer = app.post(PATH, body).await;
    assert_eq!(answer.status, 200, "{answer:?}");
    assert_eq!(answer.body["choices"][0]["message"]["content"], "Hello");
    assert_eq!(
        (&answer.body["object"], &answer.body["usage"]["total_tokens"]),
        (&json!("chat.completion"), &json!(12))
    );
    let messages = json!([{"role": "system", "content": "Be brief."}, {"role": "user", "content": "Hello"}]);
    assert_eq!(gigachat.asked(), [json!({"model": "m", "messages": messages, "max_tokens": 7})]);
    let seen = gigachat.seen();
    assert_eq!(
        seen.iter().map(|seen| seen.path.as_str()).collect::<Vec<_>>(),
        ["/api/v2/oauth", "/api/v1/chat/completions"]
    );
}

#[actix_web::test]
async fn a_stream_is_told_in_openais_chunks() {
    let (app, _gigachat) = parrot().await;
    for include_usage in [true, false] {
        let mut body = ask_for_stream("two words");
        body["stream_options"] = json!({"include_usage": include_usage});
        let (stream, is_orderly) = read_stream(&app, PATH, &body).await;
        assert!(is_orderly && stream.ends_with("data: [DONE]\n\n"));
        let datas = datas(&stream);
        let chunks: Vec<Json> =
            datas[..datas.len() - 1].iter().map(|data| serde_json::from_str(data).unwrap()).collect();
        let texts: String =
            chunks.iter().filter_map(|chunk| chunk["choices"][0]["delta"]["content"].as_str()).collect();
        assert_eq!(texts, "two words");
        assert_eq!(chunks.last().unwrap()["usage"]["total_tokens"] == 12, include_usage);
        assert!(
            chunks
                .iter()
                .all(|chunk| chunk["object"] == "chat.completion.chunk" && chunk["id"] == chunks[0]["id"])
        );
    }
}

#[actix_web::test]
async fn a_loop_of_tools_keeps_the_state_of_the_functions_by_the_ids_of_calls() {
    let (app, gigachat) = start(three_rounds).await;
    let mut messages = vec![json!({"role": "user", "content": "q"})];
    for round in 0..3 {
        let body = json!({"model": "m", "messages": messages, "tools": [tool("look")], "parallel_tool_calls": false});
        let answer = app.post(PATH, body).await;
        let choice = &answer.body["choices"][0];
        assert_eq!((answer.status, &choice["finish_reason"]), (200, &json!("tool_calls")), "{answer:?}");
        let call = &choice["message"]["tool_calls"][0];
        assert_eq!(call["function"]["arguments"], format!("{{\"city\":\"c{round}\",\"n\":1.5}}"));
        // What clients repeat: the id, and nothing of GigaChat's own.
        messages.push(json!({"role": "assistant", "content": null, "tool_calls": [call]}));
        messages.push(json!({"role": "tool", "tool_call_id": call["id"], "content": format!("r{round}")}));
    }
    let answer = app.post(PATH, json!({"model": "m", "messages": messages, "tools": [tool("look")]})).await;
    let text = &answer.body["choices"][0]["message"]["content"];
    assert_eq!(*text, "{\"result\":\"r0\"} {\"result\":\"r1\"} {\"result\":\"r2\"}");
    let last = gigachat.asked().pop().unwrap();
    for round in 0..3 {
        let called = &last["messages"][1 + 2 * round];
        assert_eq!(called["functions_state_id"], format!("77d3fb14-457a-46ba-937e-{:012x}", round + 1));
        assert_eq!(
            called["function_call"],
            json!({"name": "look", "arguments": {"city": format!("c{round}"), "n": 1.5}})
        );
    }
    let properties = json!({"city": {"type": "string"}});
    assert_eq!(
        last["functions"][0]["parameters"],
        json!({"type": "object", "properties": properties, "required": ["city"]})
    );
    assert_eq!((&last["function_call"], last.get("tools")), (&json!("auto"), None));
    assert_eq!(gigachat.refused(), Vec::<String>::new());
}

#[actix_web::test]
async fn a_client_that_sends_functions_gets_the_call_of_one() {
    let (app, gigachat) = start(three_rounds).await;
    let functions = json!([{"name": "look", "parameters": {"type": "object", "properties": {}}, "few_shot_examples": [{"request": "r", "params": {}}]}]);
    let mut messages = vec![json!({"role": "user", "content": "q"})];
    let body = |messages: &[Json]| json!({"model": "m", "messages": messages, "functions": functions});
    let answer = app.post(PATH, body(&messages)).await;
    let choice = &answer.body["choices"][0];
    assert_eq!(choice["finish_reason"], "function_call", "{answer:?}");
    assert_eq!(choice["message"]["function_call"]["arguments"], "{\"city\":\"c0\",\"n\":1.5}");
    messages.push(choice["message"].clone());
    messages.push(json!({"role": "function", "name": "look", "content": "{\"x\":1}"}));
    let mut streamed = body(&messages);
    streamed["stream"] = true.into();
    let (stream, _) = read_stream(&app, PATH, &streamed).await;
    let first: Json = serde_json::from_str(&datas(&stream)[0]).unwrap();
    assert_eq!(
        first["choices"][0]["delta"]["function_call"],
        json!({"name": "look", "arguments": "{\"city\":\"c1\",\"n\":1.5}"})
    );
    assert!(stream.contains("\"finish_reason\":\"function_call\""), "{stream}");
    let asked = gigachat.asked();
    assert_eq!(asked[1]["messages"][1]["functions_state_id"], "77d3fb14-457a-46ba-937e-000000000001");
    assert_eq!(asked[1]["messages"][2]["content"], "{\"x\":1}");
    assert_eq!(asked[0]["functions"][0]["few_shot_examples"], functions[0]["few_shot_examples"]);
}

#[actix_web::test]
async fn everything_that_gigachat_cannot_have_is_named_before_it_is_asked() {
    let (app, gigachat) = parrot().await;
    let image = json!({"role": "user", "content": [{"type": "image_url", "image_url": {"url": "data:,"}}]});
    let body = json!({"model": "m", "messages": [image], "logprobs": true, "tools": [tool("f"), tool("g")], "tool_choice": "required"});
    let answer = app.post(PATH, body).await;
    answer.assert_error(400, "invalid_request_error", "invalid_request");
    for told in ["`logprobs`", "image_url", "several tools"] {
        assert!(answer.error().2.contains(told), "{answer:?}");
    }
    assert_eq!(gigachat.seen().len(), 0);
}

#[actix_web::test]
async fn other_formats_of_our_clients_are_asked_as_chats() {
    let (app, gigachat) = parrot().await;
    let text = app.post("/v1/completions", json!({"model": "m", "prompt": "Once"})).await;
    assert_eq!((text.status, &text.body["choices"][0]["text"]), (200, &json!("Once")), "{text:?}");
    let response = app.post("/v1/responses", json!({"model": "m", "input": "Twice", "store": false})).await;
    assert_eq!(response.status, 200, "{response:?}");
    assert!(response.body["output"].to_string().contains("Twice"), "{response:?}");
    let stream = json!({"model": "m", "prompt": "three words here", "stream": true});
    let (stream, _) = read_stream(&app, "/v1/completions", &stream).await;
    let datas = datas(&stream);
    let texts = datas.iter().filter_map(|data| serde_json::from_str::<Json>(data).ok());
    assert_eq!(
        texts.filter_map(|event| Some(event["choices"][0]["text"].as_str()?.to_owned())).collect::<String>(),
        "three words here"
    );
    assert_eq!(gigachat.asked().len(), 3);
}

#[actix_web::test]
async fn vectors_and_models_are_told_in_openais_format() {
    let (app, _gigachat) = parrot().await;
    let body = json!({"model": "Embeddings", "input": "abc", "encoding_format": "base64"});
    let encoded = app.post("/v1/embeddings", body).await;
    assert_eq!(encoded.body["data"][0]["embedding"], "AABAQAAAAD8=", "{encoded:?}");
    let plain = app.post("/v1/embeddings", json!({"model": "Embeddings", "input": ["abc", "d"]})).await;
    assert_eq!(plain.body["data"][1]["embedding"], json!([1.0, 0.5]));
    assert_eq!(plain.body["usage"], json!({"prompt_tokens": 4, "total_tokens": 4}));
    let tokens = app.post("/v1/embeddings", json!({"model": "Embeddings", "input": [1, 2]})).await;
    assert_eq!(tokens.status, 400, "{tokens:?}");
    let models = app.get("/v1/models").await;
    let ids: Vec<&Json> = models.body["data"].as_array().unwrap().iter().map(|model| &model["id"]).collect();
    assert_eq!(ids, ["echo", "GigaChat-2", "Embeddings"]);
    assert_eq!(models.body["data"][1]["created"], 0);
}

#[actix_web::test]
async fn a_value_by_a_schema_is_the_arguments_of_a_function_unless_the_model_has_the_format() {
    let schema = json!({"type": "object", "properties": {"a": {"type": "integer"}}, "required": ["a"], "additionalProperties": false});
    let format =
        json!({"type": "json_schema", "json_schema": {"name": "n", "schema": schema, "strict": true}});
    let (app, gigachat) = start(|body| match body.get("function_call") {
        Some(call) => Reply::Call(call["name"].as_str().unwrap().to_owned(), json!({"a": 1})),
        None => Reply::Text("{\"a\":2}".to_owned()),
    })
    .await;
    let mut body = ask("q");
    body["response_format"] = format.clone();
    let answer = app.post(PATH, body.clone()).await;
    assert_eq!(answer.body["choices"][0]["message"]["content"], "{\"a\":1}", "{answer:?}");
    assert_eq!(gigachat.asked()[0]["function_call"], json!({"name": "generate_response"}));

    let gigachat = GigaChat::start(|_| Reply::Text("{\"a\":2}".to_owned())).await;
    let app = TestApp::start_with(|settings| {
        let capabilities = Capabilities { json_schema: Some(true), ..Capabilities::default() };
        let model = Model { name: "m".into(), capabilities, ..Model::default() };
        settings.llm = ai_prompt_shell::settings::Llm { models: vec![model], ..gigachat.settings() };
    })
    .await;
    let answer = app.post(PATH, body).await;
    assert_eq!(answer.body["choices"][0]["message"]["content"], "{\"a\":2}", "{answer:?}");
    let asked = &gigachat.asked()[0]["response_format"];
    assert_eq!(
        (&asked["type"], &asked["schema"]["properties"], &asked["strict"]),
        (&json!("json_schema"), &schema["properties"], &json!(true))
    );
}

#[actix_web::test]
async fn functions_beside_a_schema_that_becomes_a_tool_are_refused_by_their_own_name() {
    let (app, gigachat) = parrot().await;
    let mut body = ask("q");
    body["response_format"] =
        json!({"type": "json_schema", "json_schema": {"name": "n", "schema": {"type": "object"}}});
    body["functions"] = json!([{"name": "f", "parameters": {"type": "object", "properties": {}}}]);
    let answer = app.post(PATH, body).await;
    answer.assert_error(400, "invalid_request_error", "invalid_request");
    let told = answer.error().2;
    assert!(told.starts_with("`functions` cannot be given with this `response_format`"), "{told}");
    assert_eq!(gigachat.seen().len(), 0);
}

#[actix_web::test]
async fn a_model_without_response_format_gives_a_value_beside_tools() {
    let (app, gigachat) = start(|body| match body["function_call"].as_str() {
        Some("auto") => Reply::Call("generate_response".to_owned(), json!({"a": 1})),
        _ => Reply::Refusal(400, "not like this".to_owned()),
    })
    .await;
    let mut body = ask("q");
    let schema = json!({"type": "object", "properties": {"a": {"type": "integer"}}, "required": ["a"], "additionalProperties": false});
    body["response_format"] = json!({"type": "json_schema", "json_schema": {"name": "n", "schema": schema}});
    body["tools"] = json!([tool("f")]);
    let answer = app.post(PATH, body).await;
    assert_eq!(answer.body["choices"][0]["message"]["content"], "{\"a\":1}", "{answer:?}");
    assert_eq!(gigachat.asked().len(), 1);
}

#[actix_web::test]
async fn refusals_are_passed_on_and_a_model_elsewhere_answers_when_gigachat_fails() {
    let (app, gigachat) = start(|_| Reply::Refusal(422, "No such: {token}".to_owned())).await;
    let answer = app.post(PATH, ask("q")).await;
    assert_eq!(answer.status, 422);
    assert_eq!(answer.body["error"]["message"], "No such: Bearer …", "{answer:?}");
    assert_eq!(gigachat.tokens(), 1);

    let failing = GigaChat::start(|_| Reply::Refusal(500, "busy".to_owned())).await;
    let other = support::upstream::Upstream::start(|_| {
        support::upstream::json(200, support::upstream::completion("From elsewhere"))
    })
    .await;
    let app = TestApp::start_with(|settings| {
        let fallback = vec!["other".to_owned()];
        let m = Model { name: "m".into(), fallback, ..Model::default() };
        let other = Model { name: "other".into(), base_url: Some(other.base.clone()), ..Model::default() };
        settings.llm = ai_prompt_shell::settings::Llm { models: vec![m, other], ..failing.settings() };
    })
    .await;
    let answer = app.post(PATH, ask("q")).await;
    assert_eq!(answer.body["choices"][0]["message"]["content"], "From elsewhere", "{answer:?}");
    assert_eq!(failing.asked().len(), 3);
    let seen = other.seen();
    assert!(seen.iter().all(|seen| !format!("{seen:?}").contains(GIGACHAT_KEY) && seen.header("authorization").is_none()));
}
