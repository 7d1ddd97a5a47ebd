//! GigaChat's own library straight to a scripted GigaChat, and openai-python through the service to another one, in the same dialogue: what
//! reaches GigaChat is the same.

use serde_json::{Value as Json, json};

use super::library::check_program_with;
use support::app::TestApp;
use support::gigachat::{GigaChat, Reply};
use support::log::GIGACHAT_KEY;
use support::upstream::Seen;

/// The model: it repeats a greeting, and asks for the weather of three cities, one after the other, before it says which is the warmest.
fn script(body: &Json) -> Reply {
    let messages = body["messages"].as_array().unwrap();
    let text = |message: &Json| message["content"].as_str().unwrap().to_owned();
    if body.get("functions").is_none() {
        return Reply::Text(text(messages.last().unwrap()));
    }
    let results = messages.iter().filter(|message| message["role"] == "function").count();
    match ["Kazan", "Omsk", "Sochi"].get(results) {
        Some(city) => {
            Reply::Call("get_weather".to_owned(), json!({"city": city, "days": 2, "unit": "celsius"}))
        }
        None => Reply::Text("Sochi is the warmest.".to_owned()),
    }
}

/// Of a request, what GigaChat looks at.
#[derive(Debug, PartialEq)]
struct Request {
    method: String,
    path: String,
    authorization: Option<String>,
    content_type: Option<String>,
    has_id: bool,
    body: Json,
}

impl Request {
    fn of(seen: &Seen) -> Request {
        let header = |name| seen.header(name).map(str::to_owned);
        let text = String::from_utf8(seen.body.clone()).unwrap();
        let mut body: Json = serde_json::from_str(&text).unwrap_or_else(|_| text.into());
        // One round of openai-python comes as a stream.
        if body.get("functions").is_some() {
            body.as_object_mut().map(|body| body.remove("stream"));
        }
        Request {
            method: seen.method.clone(),
            path: seen.path.clone(),
            authorization: header("authorization"),
            content_type: header("content-type").filter(|_| seen.method == "POST"),
            has_id: header("rquid").is_some(),
            body,
        }
    }
}

#[tokio::test]
async fn what_reaches_gigachat_is_what_its_own_library_sends() {
    let own = GigaChat::start(script).await;
    let settings = [
        ("GIGACHAT_BASE_URL", own.base_url.as_str()),
        ("GIGACHAT_AUTH_URL", own.oauth_url.as_str()),
        ("GIGACHAT_CA_BUNDLE_FILE", own.ca_file.to_str().unwrap()),
        ("GIGACHAT_CREDENTIALS", GIGACHAT_KEY),
    ];
    check_program_with("gigachat/with_gigachat.py", "", &settings).await;

    let through = GigaChat::start(script).await;
    let service = TestApp::start_with(|settings| settings.llm = through.settings()).await;
    check_program_with("gigachat/with_openai.py", &format!("{}/v1", service.base), &[]).await;

    let [own_seen, seen] = [own.seen(), through.seen()];
    let expected: Vec<Request> = own_seen.iter().map(Request::of).collect();
    let found: Vec<Request> = seen.iter().take(expected.len()).map(Request::of).collect();
    for (found, expected) in found.iter().zip(&expected) {
        assert_eq!(found, expected);
    }
    // A token, two greetings, four rounds, a forced call, vectors and models.
    assert_eq!((expected.len(), found.len()), (10, 10));
    // The older form, in four rounds, with the same token.
    assert_eq!((seen.len(), through.tokens()), (14, 1));
    let last = through.asked().pop().unwrap();
    let states: Vec<&str> = last["messages"]
        .as_array()
        .unwrap()
        .iter()
        .filter_map(|message| message["functions_state_id"].as_str())
        .collect();
    assert_eq!(states.len(), 3);
    assert_eq!([own.refused(), through.refused()], [Vec::<String>::new(), Vec::new()]);
}
