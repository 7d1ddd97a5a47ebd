//! Agents over HTTP and on the command line: the one that ships, and one of documents alone, in front of a scripted model and real servers
//! of tools.

mod documents;
mod faults;
mod lasting;
mod logging;
mod models;
mod replay;
mod session_files;
mod sessions;
mod terminal;
mod travel;
mod trips;
mod watching;

use std::collections::VecDeque;
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, PoisonError};

use ai_prompt_shell::settings::{Module, Settings};
use serde_json::{Value as Json, json};

use crate::chat::llm;
use crate::tools::grpc_server::{GrpcServer, Reflection, SCHEMA};
use crate::tools::mcp_server::McpServer;
use support::app::{Answer, TestApp};
use support::upstream::{Act, Upstream, completion, json as reply_json};
use trips::Trips;

/// The answers that are still to come of a model.
#[derive(Clone, Default)]
pub struct Script(Arc<Mutex<VecDeque<Vec<Act>>>>);

impl Script {
    /// The model gives these answers next.
    pub fn add(&self, answers: impl IntoIterator<Item = Vec<Act>>) {
        self.0.lock().unwrap().extend(answers);
    }

    /// Forgets the answers that were not given.
    pub fn clear(&self) {
        self.0.lock().unwrap().clear();
    }

    /// How many answers were not given.
    pub fn left(&self) -> usize {
        self.0.lock().unwrap().len()
    }

    /// A model of this script; what is not in it is refused.
    pub async fn model(&self) -> Upstream {
        let script = self.clone();
        Upstream::start(move |_| {
            let next = script.0.lock().unwrap_or_else(PoisonError::into_inner).pop_front();
            next.unwrap_or_else(|| reply_json(400, json!({"error": {"message": "nothing is left to say"}})))
        })
        .await
    }
}

/// The answer of a model in words.
pub fn says(text: &str) -> Vec<Act> {
    reply_json(200, completion(text))
}

/// Whether a message is relevant.
pub fn relevant(is_relevant: bool) -> Vec<Act> {
    says(&json!({"relevant": is_relevant}).to_string())
}

/// The choice of a tool.
pub fn calls(tool: &str, arguments: &Json) -> Vec<Act> {
    let function = json!({"name": tool, "arguments": arguments.to_string()});
    let mut answer = completion("");
    answer["choices"][0]["message"]["content"] = Json::Null;
    answer["choices"][0]["message"]["tool_calls"] =
        json!([{"id": "1", "type": "function", "function": function}]);
    answer["choices"][0]["finish_reason"] = "tool_calls".into();
    reply_json(200, answer)
}

/// Where the packages of these tests are.
pub fn packages() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/api/agents/packages")
}

/// The agent `travel`: a service, its model, and the servers of its tools.
pub struct Travel {
    pub app: TestApp,
    pub model: Upstream,
    pub script: Script,
    pub trips: Trips,
    pub budget: McpServer,
    pub seats: GrpcServer,
}

impl Travel {
    pub async fn start() -> Travel {
        Travel::start_with(|_| {}).await
    }

    /// The same with other settings.
    pub async fn start_with(change: impl FnOnce(&mut Settings)) -> Travel {
        let script = Script::default();
        let model = script.model().await;
        let trips = Trips::start().await;
        let (budget, seats) = (McpServer::start(), seats());
        let app = TestApp::start_with(|settings| {
            settings.packages.dir = packages();
            settings.llm = llm(&model.base);
            for (name, url) in [
                ("trips", trips.url()),
                ("budget", budget.url().to_string()),
                ("seats", seats.url().to_string()),
            ] {
                let url = url.trim_end_matches("/mcp").to_owned();
                settings
                    .tools
                    .modules
                    .insert(name.to_owned(), Module { url: Some(url), ..Module::default() });
            }
            change(settings);
        })
        .await;
        Travel { app, model, script, trips, budget, seats }
    }

    /// The model gives these answers next.
    pub fn model_says<const N: usize>(&self, answers: [Vec<Act>; N]) -> &Travel {
        self.script.add(answers);
        self
    }

    /// Starts a session; gives its id.
    pub async fn started(&self) -> String {
        started(&self.app, "travel", json!({})).await
    }

    /// What comes of a text of the user.
    pub async fn say(&self, id: &str, text: &str) -> Answer {
        tell(&self.app, id, json!({"text": text})).await
    }

    /// What comes of another message.
    pub async fn tell(&self, id: &str, message: Json) -> Answer {
        tell(&self.app, id, message).await
    }

    /// The bodies of the requests to the model since the first `from` ones.
    pub fn asked(&self, from: usize) -> Vec<Json> {
        self.model.seen()[from..].iter().map(|seen| seen.json()).collect()
    }
}

/// A server on which seats can be booked; it says again what it is told.
fn seats() -> GrpcServer {
    let schema = SCHEMA
        .replace(
            "message Outcome",
            "message Booking { string city = 1; int32 seats = 2; }\n    message Outcome",
        )
        .replace("// more methods", "rpc Book(Booking) returns (Booking);");
    GrpcServer::start_at(([127, 0, 0, 1], 0).into(), &schema, Reflection::V1)
}

/// Starts a session of an agent; gives its id.
pub async fn started(app: &TestApp, agent: &str, body: Json) -> String {
    let answer = app.post(&format!("/api/agents/{agent}/sessions"), body).await;
    assert_eq!(answer.status, 201, "{answer:?}");
    answer.body["session_id"].as_str().unwrap().to_owned()
}

/// What comes of a message to a session.
pub async fn tell(app: &TestApp, id: &str, message: Json) -> Answer {
    app.post(&format!("/api/sessions/{id}/messages"), message).await
}

/// The session as it is shown.
pub async fn shown(app: &TestApp, id: &str) -> Json {
    let answer = app.get(&format!("/api/sessions/{id}")).await;
    assert_eq!(answer.status, 200, "{answer:?}");
    answer.body
}

/// The texts of an answer, which must be in this state.
#[track_caller]
pub fn output<'a>(answer: &'a Answer, state: &str) -> Vec<&'a str> {
    assert_eq!((answer.status, &answer.body["state"]), (200, &json!(state)), "{answer:?}");
    answer.body["output"].as_array().unwrap().iter().map(|text| text.as_str().unwrap()).collect()
}

/// The steps of an answer: `step/outcome` each.
#[track_caller]
pub fn steps(answer: &Answer) -> Vec<String> {
    let steps = answer.body["steps"].as_array().unwrap_or_else(|| panic!("{answer:?}"));
    let text = |step: &Json, member: &str| step[member].as_str().unwrap().to_owned();
    steps.iter().map(|step| format!("{}/{}", text(step, "step"), text(step, "outcome"))).collect()
}

/// The messages of a session: `user: text` or `assistant: text` each.
pub fn messages(session: &Json) -> Vec<String> {
    let text = |message: &Json, member: &str| message[member].as_str().unwrap().to_owned();
    let all = session["messages"].as_array().unwrap().iter();
    all.map(|message| format!("{}: {}", text(message, "role"), text(message, "content"))).collect()
}
