//! Agents: conversations in five steps, defined by documents. A model says whether a message is relevant and chooses a tool, and the tool
//! is called.
//!
//! - [`Agents`]: starts sessions of agents, and takes their messages
//! - `known`: agents that can be used, with the settings that override their own
//! - `turn`: from a message to what waits next; `model`: the calls of models; `reading`: what their answers mean; `call`: those of tools
//! - `report`: what happened in a turn, for the log and for those who watch
//! - `body`: what a session keeps; [`AgentSession`]: one to be shown
//! - [`Rehearsal`]: a conversation whose answers are given, for tests of agents
//!
//! What is said, and what may follow, is the crate `agent`'s; where a session is kept, that of `sessions`.

mod body;
mod call;
mod error;
mod known;
mod model;
mod reading;
mod rehearsal;
mod report;
mod session;
mod turn;

use std::sync::Arc;

use serde_json::{Map as JsonMap, Value as Json};

pub use body::LogDetail;
pub use error::AgentError;
pub use rehearsal::{GivenCall, Rehearsal, Rehearsed, Script, Stopped, Turn};
pub use report::{LogLine, StepReport};
pub use session::AgentSession;
pub use turn::{Progress, Start};

use crate::catalog::Catalog;
use crate::llm::Llm;
use crate::render::Renderer;
use crate::requests::Requests;
use crate::sessions::Sessions;
use crate::toolbox::Toolbox;

/// The service.
pub struct Agents {
    catalog: Arc<Catalog>,
    renderer: Arc<Renderer>,
    llm: Arc<Llm>,
    requests: Arc<Requests>,
    toolbox: Arc<Toolbox>,
    sessions: Arc<Sessions>,
    options: AgentsOptions,
}

/// The options of all agents.
#[derive(Debug, Clone)]
pub struct AgentsOptions {
    /// What overrides the settings of agents: a table for each, by its name in any case and with `-` or `_`.
    pub overrides: JsonMap<String, Json>,
    /// Whether the service's log may show what agents and users say.
    pub log_content: bool,
    /// Members of the upstream's body that nobody else sets.
    pub params: JsonMap<String, Json>,
}

/// What the service is made of.
pub struct Parts {
    /// Where agents are.
    pub catalog: Arc<Catalog>,
    /// Renders the prompts for models.
    pub renderer: Arc<Renderer>,
    /// The models.
    pub llm: Arc<Llm>,
    /// Classifies messages.
    pub requests: Arc<Requests>,
    /// Calls tools.
    pub toolbox: Arc<Toolbox>,
    /// Where sessions are kept.
    pub sessions: Arc<Sessions>,
}

impl Agents {
    /// A service of these parts.
    pub fn new(parts: Parts, options: AgentsOptions) -> Agents {
        let Parts { catalog, renderer, llm, requests, toolbox, sessions } = parts;
        Agents { catalog, renderer, llm, requests, toolbox, sessions, options }
    }
}
