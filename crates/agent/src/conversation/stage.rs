//! What the steps share: what is said, and where it goes on.

use serde_json::{Map as JsonMap, Value as Json};
use template::value::Value;

use super::event::{Failure, FailureKind, Note, Said, Task, ToolCall};
use super::{Conversation, Place};
use crate::compiled::Agent;
use crate::history::Role;
use crate::outcome::{Item, Level, Next, Outcome};
use crate::scene::{Rendered, Scene};
use crate::step::Step;

/// A conversation that takes an event.
pub struct Stage<'a> {
    pub agent: &'a Agent,
    pub conversation: &'a mut Conversation,
    notes: Vec<Note>,
}

impl<'a> Stage<'a> {
    pub fn new(agent: &'a Agent, conversation: &'a mut Conversation) -> Stage<'a> {
        Stage { agent, conversation, notes: Vec::new() }
    }

    pub fn place(&self) -> &Place {
        &self.conversation.place
    }

    pub fn into_notes(self) -> Vec<Note> {
        self.notes
    }

    /// What texts see now.
    pub fn scene(&self) -> Scene<'a> {
        let variables = Value::from(&Json::Object(self.conversation.variables.clone()));
        Scene::new(self.agent, &variables, &self.conversation.turn.message)
    }

    /// What texts see of a call.
    pub fn call_scene(&self) -> Scene<'a> {
        match &self.conversation.turn.call {
            Some(ToolCall { tool, arguments }) => self.scene().with_call(tool, arguments),
            None => self.scene().with_call("", &JsonMap::new()),
        }
    }

    /// Says something at the beginning of a step, or at its end.
    pub fn say(&mut self, step: Step, outcome: Option<&'static str>, items: &[Item], scene: &Scene<'_>) {
        let said = scene.say(items).into_iter().map(|rendered| match rendered {
            Rendered::Shown { text, in_history } => {
                // Some models take no empty messages.
                if in_history && !text.trim().is_empty() {
                    self.conversation.history.add(Role::Assistant, &text);
                }
                Said::Shown(text)
            }
            Rendered::Logged { level, text } => Said::Logged(level, text),
        });
        let said = said.collect();
        self.notes.push(Note { step, outcome, said });
    }

    /// Begins a step.
    pub fn begin(&mut self, step: Step) {
        let (agent, scene) = (self.agent, self.scene());
        self.say(step, None, &agent.steps.of(step).intro, &scene);
    }

    /// Ends a step with one of its outcomes, and goes on as the outcome says, or else with `usual`.
    pub fn finish(
        &mut self,
        step: Step,
        name: &'static str,
        scene: &Scene<'_>,
        usual: impl FnOnce(&mut Self) -> Task,
    ) -> Task {
        let agent = self.agent;
        match agent.steps.of(step).outcome(name) {
            Some(outcome) => self.finish_with(step, (name, outcome), scene, usual),
            None => {
                self.say(step, Some(name), &[], scene);
                usual(self)
            }
        }
    }

    /// The same with an outcome that stands elsewhere.
    pub fn finish_with(
        &mut self,
        step: Step,
        (name, outcome): (&'static str, &Outcome),
        scene: &Scene<'_>,
        usual: impl FnOnce(&mut Self) -> Task,
    ) -> Task {
        self.say(step, Some(name), &outcome.items, scene);
        match outcome.next {
            None => usual(self),
            Some(Next::End(code)) => self.end(code),
            Some(Next::Step(next)) => self.go(next),
        }
    }

    /// Goes to a step that needs no chosen tool.
    fn go(&mut self, step: Step) -> Task {
        match step {
            Step::Cls => self.classify(),
            Step::Select => self.select(),
            Step::Main | Step::Valid | Step::Exec => self.restart(),
        }
    }

    /// Ends a step whose model did not answer; by default that is the end.
    pub fn fail(&mut self, step: Step, failure: &Failure) -> Task {
        let name = match failure.kind {
            FailureKind::Unanswered => "llm_error",
            FailureKind::Unreadable => "parse_error",
        };
        let (scene, at) = (self.scene().with("error", failure.message.as_str()), self.notes.len());
        let task = self.finish(step, name, &scene, |stage| stage.end(1));
        if let Some(note) = self.notes.get_mut(at).filter(|_| failure.kind == FailureKind::Unanswered) {
            note.said.insert(0, Said::Logged(Level::Critical, failure.chain()));
        }
        task
    }

    /// The user has the word again.
    pub fn listen(&mut self) -> Task {
        self.conversation.place = Place::Listening;
        Task::Listen
    }

    /// The conversation is over.
    pub fn end(&mut self, code: u8) -> Task {
        self.conversation.place = Place::Over { code };
        Task::End { code }
    }
}
