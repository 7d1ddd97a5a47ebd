//! OpenAI's own client libraries, and frameworks that speak its APIs, unmodified, against the service in front of a scripted upstream.

#![cfg(test)]

mod answers;
mod frameworks;
mod gigachat;
mod library;
mod readme;
mod structured;
mod weather;

use std::time::Duration;

use library::Library;
use serde_json::{Value as Json, json};
use support::app::TestApp;
use support::upstream::{Seen, Upstream};

/// The service, and the upstream behind it.
struct World {
    service: TestApp,
    upstream: Upstream,
}

impl World {
    async fn start() -> World {
        let upstream = answers::start().await;
        let service = TestApp::start_with(|settings| {
            settings.llm.base_url = Some(upstream.base.clone());
            settings.llm.api_key = Some("the-key-of-the-service".into());
            settings.llm.default_model = Some("chat".to_owned());
        })
        .await;
        let messages = json!([
            {"role": "system", "content": "You are polite."},
            {"role": "user", "content": "Hello {{ variables.name }}{{ '!' * variables.times }}"}
        ]);
        let times = json!({"name": "times", "type": "integer", "default": 1});
        let parameters = json!([{"name": "name", "type": "string", "required": true}, times]);
        let hello = json!({"supports": ["chat"], "messages": messages, "parameters": parameters, "params": {"top_p": 0.25, "temperature": 1}});
        service.put_prompt("team.hello", hello).await;
        World { service, upstream }
    }

    /// The requests for this model that came to the upstream.
    fn asked(&self, model: &str) -> Vec<Seen> {
        let seen = self.upstream.seen().into_iter();
        seen.filter(|seen| seen.method == "POST" && seen.json()["model"] == model).collect()
    }

    /// The bodies of the only two requests for this model, the first one through the service, the second one straight
    /// from the library: they must be the same, byte for byte.
    #[track_caller]
    fn asked_alike(&self, model: &str) -> Json {
        let [through, straight] = &self.asked(model)[..] else { panic!("two requests") };
        assert_eq!(through.header("authorization"), Some("Bearer the-key-of-the-service"));
        assert_eq!(straight.header("authorization"), Some("Bearer any-words-will-do"));
        let text = |seen: &Seen| String::from_utf8(seen.body.clone()).unwrap();
        assert_eq!(text(through), text(straight));
        through.json()
    }
}

/// A world in which a library's program has done what belongs to a topic, and has seen what it must.
async fn after(library: Library, topic: &str) -> World {
    let world = World::start().await;
    library.check(topic, &format!("{}/v1", world.service.base), &world.upstream.base).await;
    world
}

/// Makes of each topic a test of each library.
macro_rules! topics {
    ($($topic:ident)*) => {
        mod python {
            $(#[tokio::test] async fn $topic() { super::$topic(super::Library::Python).await; })*
        }
        mod node {
            $(#[tokio::test] async fn $topic() { super::$topic(super::Library::Node).await; })*
        }
    };
}

topics! {
    chat prompts missing streaming usage tools parse embeddings models
    refusals failures broken_streams timeouts leaving crowd
}

async fn chat(library: Library) {
    let body = after(library, "chat").await.asked_alike("chat");
    assert_eq!((&body["temperature"], &body["seed"]), (&json!(0), &json!(7)));
    for null in ["stop", "x_null"] {
        assert!(body.get(null).is_some_and(Json::is_null), "{body}");
    }
    assert_eq!(body["x_nested"], json!({"z": [1e-7, "ü\n"], "a": {}}));
}

async fn prompts(library: Library) {
    let world = after(library, "prompts").await;
    let asked: Vec<Json> = world.asked("chat").iter().map(Seen::json).collect();
    let rendered = [
        json!({"role": "system", "content": "You are polite."}),
        json!({"role": "user", "content": "Hello Zoë!!"}),
        json!({"role": "user", "content": "Hello"}),
    ];
    for (at, messages) in [2, 2, 3, 2].into_iter().enumerate() {
        let body = &asked[at];
        assert_eq!(body["messages"], json!(rendered[..messages]));
        assert_eq!(body["top_p"], json!(0.25));
        assert_eq!(body.get("variables"), None);
        assert_eq!(body.get("prompt"), None);
    }
    assert_eq!(asked.len(), 4);
    assert_eq!(asked[1]["metadata"], json!({"kept": "yes"}));
    assert_eq!((&asked[0]["temperature"], &asked[3]["temperature"]), (&json!(0.5), &json!(1)));
}

async fn missing(library: Library) {
    assert_eq!(after(library, "missing").await.upstream.seen().len(), 0);
}

async fn streaming(library: Library) {
    assert_eq!(after(library, "streaming").await.asked_alike("chat")["stream"], true);
}

async fn usage(library: Library) {
    assert_eq!(after(library, "usage").await.asked("chat").len(), 3);
}

async fn tools(library: Library) {
    let body = after(library, "tools").await.asked_alike("tools");
    assert_eq!(body["tools"][1]["function"]["name"], "get_time");
}

async fn parse(library: Library) {
    let body = after(library, "parse").await.asked_alike("calendar");
    assert_eq!(body["response_format"]["type"], "json_schema");
    let schema = &body["response_format"]["json_schema"]["schema"];
    assert_eq!(schema["properties"]["participants"]["type"], "array");
}

async fn embeddings(library: Library) {
    let world = after(library, "embeddings").await;
    let asked: Vec<Json> = world.asked("vectors").iter().map(Seen::json).collect();
    let formats: Vec<&Json> = asked.iter().map(|body| &body["encoding_format"]).collect();
    assert_eq!(formats, ["base64", "base64", "float", "float"]);
    assert_eq!((&asked[0], &asked[2]), (&asked[1], &asked[3]));
}

async fn models(library: Library) {
    let world = after(library, "models").await;
    let seen: Vec<String> = world.upstream.seen().into_iter().map(|seen| seen.path).collect();
    assert_eq!(seen, ["/v1/models"], "the list is kept");
}

async fn refusals(library: Library) {
    let world = after(library, "refusals").await;
    for status in [400, 401, 403, 404, 422] {
        // Once through the service and once straight, for an answer and for a stream.
        assert_eq!(world.asked(&format!("status-{status}")).len(), 4);
    }
}

async fn failures(library: Library) {
    let world = after(library, "failures").await;
    for model in ["status-409", "status-429", "status-500", "status-503", "recovering"] {
        assert_eq!(
            world.asked(model).len(),
            3,
            "{model}: the library must not repeat what the service has repeated"
        );
    }
}

async fn broken_streams(library: Library) {
    let world = after(library, "broken_streams").await;
    assert_eq!(world.upstream.seen().len(), 2, "a stream that has begun is not begun again");
}

async fn timeouts(library: Library) {
    let world = after(library, "timeouts").await;
    let left = world.upstream.abandoned(1).await;
    let [silent] = &world.asked("silent")[..] else { panic!("one request") };
    let time = left[0] - silent.at;
    assert!((Duration::from_millis(300)..Duration::from_secs(5)).contains(&time), "{time:?}");
}

async fn leaving(library: Library) {
    let world = after(library, "leaving").await;
    assert_eq!(world.upstream.abandoned(1).await.len(), 1);
}

async fn crowd(library: Library) {
    assert_eq!(after(library, "crowd").await.asked("chat").len(), 20);
}
