//! Step 1: the user is heard.

use super::Place;
use super::Turn;
use super::event::{Task, ToolCall};
use super::stage::Stage;
use crate::compiled::Agent;
use crate::history::Role;
use crate::step::Step;

impl Stage<'_> {
    /// The beginning of the conversation.
    pub fn start(&mut self) -> Task {
        let scene = self.scene();
        self.finish(Step::Main, "start", &scene, Stage::listen)
    }

    /// The step begins again, after another one.
    pub fn restart(&mut self) -> Task {
        let scene = self.scene();
        self.finish(Step::Main, "restart", &scene, Stage::listen)
    }

    /// Takes a line of the user.
    pub fn line(&mut self, line: &str) -> Task {
        let line = line.trim();
        let settings = &self.agent.settings;
        if line.is_empty() {
            // Whatever was under way is over, but a question stays.
            return match self.place() {
                Place::Asking { .. } => Task::Listen,
                _ => self.listen(),
            };
        }
        if Agent::is_command(line, settings.exit_commands()) {
            let scene = self.scene();
            return self.finish(Step::Main, "exit", &scene, |stage| stage.end(0));
        }
        if Agent::is_command(line, settings.help_commands()) {
            let scene = self.scene();
            let place = self.place().clone();
            return self.finish(Step::Main, "help", &scene, |stage| stage.stay(place));
        }
        let (length, limit) = (line.chars().count(), settings.message_chars());
        if length > limit {
            let scene = self.scene().with("length", number(length)).with("limit", number(limit));
            return self.finish(Step::Main, "too_long", &scene, |stage| match stage.place() {
                Place::Asking { .. } => Task::Listen,
                _ => stage.restart(),
            });
        }
        self.message(line)
    }

    /// Listens once more, for what was asked before.
    fn stay(&mut self, place: Place) -> Task {
        let is_asked = matches!(place, Place::Asking { .. });
        self.conversation.place = if is_asked { place } else { Place::Listening };
        Task::Listen
    }

    fn message(&mut self, text: &str) -> Task {
        self.conversation.history.add(Role::User, text);
        self.conversation.messages += 1;
        let asked = match self.place() {
            Place::Asking { parameter } => Some(parameter.clone()),
            _ => None,
        };
        if let (Some(parameter), Some(call)) = (asked, self.conversation.turn.call.take()) {
            return self.value(call, &parameter, text);
        }
        self.conversation.turn = Turn { message: text.to_owned(), ..Turn::default() };
        let scene = self.scene();
        self.finish(Step::Main, "message", &scene, Stage::classify)
    }

    /// Takes a text as the argument that was asked for.
    fn value(&mut self, mut call: ToolCall, parameter: &str, text: &str) -> Task {
        let value = match self.agent.tool(&call.tool) {
            Some(tool) => tool.typed(parameter, text),
            None => text.into(),
        };
        call.arguments.insert(parameter.to_owned(), value);
        self.conversation.turn.call = Some(call);
        let (agent, scene) = (self.agent, self.scene());
        let items = agent.steps.of(Step::Main).outcome("message").map(|outcome| outcome.items.as_slice());
        self.say(Step::Main, Some("message"), items.unwrap_or_default(), &scene);
        // The tool is chosen: whatever usually follows a message, it is checked again.
        self.validate(false)
    }
}

/// A number for texts.
pub fn number(number: usize) -> template::value::Value {
    template::value::Value::Int(i64::try_from(number).unwrap_or(i64::MAX))
}
