//! An agent: its document, compiled.

use std::fmt;

use base::model::Id;
use serde_json::Value as Json;
use template::value::Value;

use super::outcome::{Item, Outcome};
use super::relevance::first_word;
use super::settings::Settings;
use super::step::Step;
use super::text::Text;
use super::tool::AgentTool;

/// An agent.
pub struct Agent {
    /// Its id.
    pub id: Id,
    /// Its name, as texts see it: usually its id.
    pub name: String,
    /// What it is for.
    pub description: String,
    /// Its settings.
    pub settings: Settings,
    /// The prompts that models are sent.
    pub prompts: Prompts,
    /// Its tools, in their order.
    pub tools: Vec<AgentTool>,
    /// Whether neighbours of one role in the history are joined.
    pub merge: bool,
    /// The document.
    pub document: Json,
    pub(super) yes: Vec<String>,
    pub(super) no: Vec<String>,
    pub(super) help: Text,
    pub(super) texts: Vec<(String, Text)>,
    pub(super) steps: Steps,
    /// Whether another tool may be chosen after a call.
    pub(super) goes_on: bool,
    /// What all texts see: the agent and its settings.
    pub(super) base: Vec<(&'static str, Value)>,
}

/// The prompts of an agent.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Prompts {
    /// Asks whether a message is relevant; none if every message is.
    pub classify: Option<Id>,
    /// Asks for a tool.
    pub select: Id,
    /// Asks for an answer from the results of tools.
    pub answer: Option<Id>,
}

impl Prompts {
    /// All of them, with the names of their members.
    pub fn all(&self) -> impl Iterator<Item = (&'static str, &Id)> {
        let named = [
            ("classify", self.classify.as_ref()),
            ("select", Some(&self.select)),
            ("answer", self.answer.as_ref()),
        ];
        named.into_iter().filter_map(|(name, id)| Some((name, id?)))
    }
}

/// What is said in the steps.
#[derive(Debug, Default)]
pub struct Steps([StepTexts; 5]);

/// What is said in one step.
#[derive(Debug, Default)]
pub struct StepTexts {
    /// What the lines of the log begin with.
    pub prefix: String,
    /// What is said when it begins.
    pub intro: Vec<Item>,
    /// What is said when it ends, by the names of outcomes.
    pub outcomes: Vec<(&'static str, Outcome)>,
}

impl Steps {
    /// The texts of all steps, in their order.
    pub fn new(steps: [StepTexts; 5]) -> Steps {
        Steps(steps)
    }

    /// The texts of a step.
    #[expect(clippy::indexing_slicing, reason = "there is an element for each step")]
    pub fn of(&self, step: Step) -> &StepTexts {
        &self.0[step as usize]
    }
}

impl StepTexts {
    /// The outcome of this name, if the document has one.
    pub fn outcome(&self, name: &str) -> Option<&Outcome> {
        self.outcomes.iter().find(|(known, _)| *known == name).map(|(_, outcome)| outcome)
    }
}

impl Agent {
    /// The same agent under another id: that of its key in the store, whatever it calls itself.
    #[must_use]
    pub fn stored_as(self, id: Id) -> Agent {
        Agent { id, ..self }
    }

    /// The tool that the model knows by this name.
    pub fn tool(&self, name: &str) -> Option<&AgentTool> {
        self.tools.iter().find(|tool| tool.name == name)
    }

    /// What the lines of the log begin with in a step.
    pub fn prefix(&self, step: Step) -> &str {
        &self.steps.of(step).prefix
    }

    /// Whether an answer in words means that a message is relevant: by its first word.
    pub fn is_relevant(&self, answer: &str) -> bool {
        first_word(answer, &self.yes, &self.no).unwrap_or(false)
    }

    /// Whether a line is a message: neither blank nor a command.
    pub fn is_message(&self, line: &str) -> bool {
        let commands = self.settings.exit_commands().chain(self.settings.help_commands());
        !line.trim().is_empty() && !Agent::is_command(line, commands)
    }

    /// Whether a line is one of these commands: as a whole, in any case.
    pub(super) fn is_command<'c>(line: &str, mut commands: impl Iterator<Item = &'c str>) -> bool {
        let line = line.trim().to_lowercase();
        commands.any(|command| command.trim().to_lowercase() == line)
    }
}

impl fmt::Debug for Agent {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Agent").field("id", &self.id).finish_non_exhaustive()
    }
}

impl PartialEq for Agent {
    /// Agents are equal if their documents and settings are.
    fn eq(&self, other: &Agent) -> bool {
        self.id == other.id && self.document == other.document && self.settings == other.settings
    }
}
