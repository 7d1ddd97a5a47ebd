//! Skills: dialogues in steps. The model answers each step with one directive, the client carries it out and tells the result.
//!
//! - [`Skills`]: starts sessions of skills, and takes their events
//! - `start`: what is frozen when a session begins; `params`: what a skill is given
//! - `steps`: from an event to the directives that follow; `ask`: one answer of the model
//! - `body`: what a session keeps; [`SkillSession`]: one to be shown
//! - [`Rehearsal`]: a session whose answers are given, for tests of skills
//! - `choose`: skills that fit what somebody wants
//!
//! What is said, and what may follow, is the crate `dialogue`'s; where a session is kept, that of `sessions`.

mod ask;
mod body;
mod choose;
mod error;
mod fork;
mod params;
mod rehearsal;
mod session;
mod start;
mod steps;

use std::sync::Arc;
use std::time::Duration;

use serde_json::{Map as JsonMap, Value as Json};

pub use choose::Chosen;
pub use error::SkillError;
pub use rehearsal::{Act, Rehearsal, Rehearsed, StopReason, Stopped};
pub use session::SkillSession;
pub use start::{SkillSource, Start};
pub use steps::Progress;

use crate::catalog::Catalog;
use crate::llm::Llm;
use crate::render::Renderer;
use crate::requests::Requests;
use crate::sessions::Sessions;
use dialogue::{Cleaning, UnknownFormat};

/// The service.
pub struct Skills {
    catalog: Arc<Catalog>,
    renderer: Arc<Renderer>,
    llm: Arc<Llm>,
    requests: Arc<Requests>,
    sessions: Arc<Sessions>,
    options: SkillsOptions,
}

/// The options of all skills.
#[derive(Debug, Clone)]
pub struct SkillsOptions {
    /// The model, where neither the start nor the skill names one.
    pub model: Option<String>,
    /// The temperature, where the skill does not say it.
    pub temperature: f64,
    /// The most tokens of an answer, where the skill does not say it.
    pub max_tokens: u64,
    /// How long the model may take for an answer.
    pub timeout: Duration,
    /// The most steps of a session.
    pub max_steps: usize,
    /// What an answer without a tag means, where the start does not say it.
    pub unknown_format: UnknownFormat,
    /// How outputs of commands are cleaned.
    pub cleaning: Cleaning,
    /// Members of the upstream's body that nobody else sets.
    pub params: JsonMap<String, Json>,
}

/// What the service is made of.
pub struct Parts {
    /// Where skills are.
    pub catalog: Arc<Catalog>,
    /// Renders the instructions for models.
    pub renderer: Arc<Renderer>,
    /// The models.
    pub llm: Arc<Llm>,
    /// Chooses skills.
    pub requests: Arc<Requests>,
    /// Where sessions are kept.
    pub sessions: Arc<Sessions>,
}

impl Skills {
    /// A service of these parts.
    pub fn new(parts: Parts, options: SkillsOptions) -> Skills {
        let Parts { catalog, renderer, llm, requests, sessions } = parts;
        Skills { catalog, renderer, llm, requests, sessions, options }
    }
}
