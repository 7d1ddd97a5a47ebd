//! Agents, and what they need of other documents.

use std::sync::Arc;

use serde_json::{Value as Json, json};

use super::snapshot::Snapshot;
use agent::Agent;
use base::model::{Id, ProblemDetail};

/// An agent as the catalog has it.
#[derive(Debug)]
pub struct AgentEntry {
    /// Its id.
    pub id: Id,
    /// The agent; none if no version of its document could ever be used.
    pub agent: Option<Arc<Agent>>,
    /// The document, as far as it could be read.
    pub document: Json,
    /// Why it cannot be used.
    fault: Option<ProblemDetail>,
}

impl AgentEntry {
    /// An agent that can be used, as far as it depends on itself. It has the id that it is stored under, whatever it calls itself.
    pub fn good(id: Id, agent: Agent) -> AgentEntry {
        let agent = agent.stored_as(id.clone());
        AgentEntry { id, document: agent.document.clone(), agent: Some(Arc::new(agent)), fault: None }
    }

    /// An agent whose document cannot be used.
    pub fn unusable(id: Id, bytes: Option<&[u8]>, fault: ProblemDetail) -> AgentEntry {
        let document = bytes.and_then(|bytes| serde_json::from_slice(bytes).ok());
        let document = document.filter(Json::is_object).unwrap_or_else(|| json!({"name": id}));
        AgentEntry { id, agent: None, document, fault: Some(fault) }
    }

    /// Why it cannot be used now; empty if it can.
    pub fn faults(&self, snapshot: &Snapshot) -> Vec<ProblemDetail> {
        self.fault.iter().cloned().chain(self.missing_parts(snapshot)).collect()
    }

    /// The tools and prompts that it names, and that cannot be used.
    pub(super) fn missing_parts(&self, snapshot: &Snapshot) -> Vec<ProblemDetail> {
        let Some(agent) = &self.agent else { return Vec::new() };
        let tools = agent.tools.iter().flat_map(|tool| {
            let parts = [("tool", Some(&tool.tool)), ("health", tool.health.as_ref())];
            parts.into_iter().filter_map(|(member, id)| Some((&tool.name, member, id?)))
        });
        let tools = tools.filter(|(_, _, id)| snapshot.tool(id).is_none()).map(|(name, member, id)| {
            format!("the tool `{name}` names `{id}` as its `{member}`, but there is no such tool")
        });
        let prompts = agent.prompts.all().filter_map(|(member, id)| {
            let why = match snapshot.prompt(id) {
                None => "there is no such prompt",
                Some(entry) if entry.prompt.is_none() => "it cannot be used",
                Some(entry) if entry.extension.as_ref().is_some_and(|e| e.unavailable.is_some()) => {
                    "its extension is unavailable"
                }
                Some(_) => return None,
            };
            Some(format!("`prompts.{member}` is `{id}`, but {why}"))
        });
        tools.chain(prompts).map(ProblemDetail::new).collect()
    }
}
