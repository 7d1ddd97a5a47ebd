//! The Responses API with OpenAI's own libraries, and frameworks that speak OpenAI's APIs, unmodified, each with the variables of a prompt.

use serde_json::{Value as Json, json};

use super::answers;
use super::library::check_program;
use support::app::TestApp;
use support::upstream::Upstream;

/// Whether the upstream has the Responses API; if not, the service asks it for chat completions.
#[derive(Clone, Copy)]
enum Has {
    Responses,
    ChatsAlone,
}

/// The programs that ask for no chat completions.
const RESPONSES_ALONE: [&str; 4] = ["with_openai.py", "with_openai.mjs", "with_agents.py", "with_ai_sdk.mjs"];

/// Runs a program in front of such an upstream, and gives the requests that the upstream got.
async fn asked_by(program: &str, has: Has) -> Vec<Json> {
    let upstream = match has {
        Has::Responses => answers::start().await,
        Has::ChatsAlone => answers::start_without_responses().await,
    };
    let service = service(&upstream).await;
    check_program(&format!("frameworks/{program}"), &format!("{}/v1", service.base)).await;
    let (path, other) = match has {
        Has::Responses => ("/v1/responses", "/v1/chat/completions"),
        Has::ChatsAlone => ("/v1/chat/completions", "/v1/responses"),
    };
    let seen = upstream.seen();
    let at = |path: &str| -> Vec<Json> {
        let asked = seen.iter().filter(|seen| seen.path == path).map(|seen| seen.json());
        asked.filter(|asked| asked["model"] == "weather").collect()
    };
    // Whether the upstream has the Responses API for a model is asked once.
    let most = match has {
        Has::ChatsAlone => 1,
        Has::Responses if RESPONSES_ALONE.contains(&program) => 0,
        Has::Responses => usize::MAX,
    };
    assert!(at(other).len() <= most, "{:?}", at(other));
    at(path)
}

async fn service(upstream: &Upstream) -> TestApp {
    let service = TestApp::start_with(|settings| settings.llm.base_url = Some(upstream.base.clone())).await;
    let parameters = json!([
        {"name": "city", "type": "string", "required": true}, {"name": "days", "type": "integer", "default": 3}
    ]);
    let text = "The trip to {{ variables.city }} has {{ variables.days + 1 }} nights.";
    let trip = json!({
        "supports": ["chat"], "model": "weather", "parameters": parameters,
        "messages": [{"role": "system", "content": text}]
    });
    service.put_prompt("team.trip", trip).await;
    let limited =
        json!({"supports": ["chat"], "model": "limited", "messages": [{"role": "system", "content": "S"}]});
    service.put_prompt("team.limited", limited).await;
    service
}

/// Every request begins with the prompt, whose variables are its values, and has nothing left of them.
#[track_caller]
fn assert_rendered(requests: &[Json], at_least: usize) {
    assert!(requests.len() >= at_least, "{} requests", requests.len());
    for asked in requests {
        let first = asked["messages"].get(0).or_else(|| asked["input"].get(0));
        let content = &first.unwrap_or_else(|| panic!("no messages: {asked}"))["content"];
        let text = content[0].get("text").unwrap_or(content);
        assert_eq!(text, "The trip to Zürich has 3 nights.", "{asked}");
        assert!(asked.get("variables").is_none() && asked.get("prompt").is_none(), "{asked}");
    }
}

/// Makes of each program a test of each upstream; the numbers are the fewest requests that these must see.
macro_rules! frameworks {
    ($($name:ident: $program:literal, $chats:literal, $responses:literal;)*) => {$(
        mod $name {
            use super::{Has, asked_by, assert_rendered};

            #[tokio::test]
            async fn through_chat_completions() {
                assert_rendered(&asked_by($program, Has::ChatsAlone).await, $chats);
            }

            #[tokio::test]
            async fn with_the_responses_api() {
                assert_rendered(&asked_by($program, Has::Responses).await, $responses);
            }
        }
    )*};
}

frameworks! {
    openai_python: "with_openai.py", 36, 36;
    openai_node: "with_openai.mjs", 26, 26;
    langchain: "with_langchain.py", 30, 15;
    litellm: "with_litellm.py", 12, 1;
    agents: "with_agents.py", 14, 14;
    pydantic_ai: "with_pydantic_ai.py", 36, 18;
    ai_sdk: "with_ai_sdk.mjs", 18, 18;
}

#[tokio::test]
async fn llm() {
    assert_rendered(&asked_by("with_llm.py", Has::ChatsAlone).await, 4);
}
