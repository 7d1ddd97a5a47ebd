//! What holds for all agents, whatever happens to them.

#![cfg(test)]

mod directions;
mod documents;
mod happening;
mod sequences;

use std::sync::LazyLock;

use agent::{Agent, Overrides};
use serde_json::Value as Json;

/// Documents that differ in all that a document can say: health checks, questions, approval, several calls, joined messages.
const DOCUMENTS: [&str; 2] = [
    include_str!("../../../../extensions/simple-agent/agents/simple-agent.json"),
    include_str!("../../../../tests/api/agents/packages/travel/agents/travel.json"),
];

/// The documents.
pub fn documents() -> [Json; 2] {
    DOCUMENTS.map(|text| serde_json::from_str(text).unwrap())
}

/// The agents of the documents.
pub static AGENTS: LazyLock<[Agent; 2]> =
    LazyLock::new(|| documents().map(|document| Agent::read(&document, &Overrides::new()).unwrap()));
