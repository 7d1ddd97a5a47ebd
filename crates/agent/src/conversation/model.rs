//! Steps 2 and 3: a model says whether a message is relevant, and chooses a tool.

use super::Place;
use super::event::{Failure, Task, ToolCall};
use super::stage::Stage;
use crate::step::Step;

impl Stage<'_> {
    /// Asks whether the message is relevant; an agent without a prompt for this takes every message.
    pub fn classify(&mut self) -> Task {
        if self.agent.prompts.classify.is_none() {
            return self.select();
        }
        self.begin(Step::Cls);
        self.conversation.place = Place::Classifying;
        Task::Classify
    }

    /// Takes the answer.
    pub fn classified(&mut self, result: Result<bool, Failure>) -> Task {
        let scene = self.scene();
        match result {
            Err(failure) => self.fail(Step::Cls, &failure),
            Ok(false) => self.finish(Step::Cls, "irrelevant", &scene, Stage::restart),
            Ok(true) => self.finish(Step::Cls, "relevant", &scene, Stage::select),
        }
    }

    /// Asks for a tool.
    pub fn select(&mut self) -> Task {
        self.begin(Step::Select);
        self.conversation.place = Place::Selecting;
        Task::Select
    }

    /// Takes the choice. After a call, no choice means that nothing is left to be done.
    pub fn selected(&mut self, result: Result<Option<ToolCall>, Failure>) -> Task {
        match result {
            Err(failure) => self.fail(Step::Select, &failure),
            Ok(None) if self.conversation.turn.calls > 0 => {
                let scene = self.scene();
                self.say(Step::Select, Some("none"), &[], &scene);
                self.conclude()
            }
            Ok(None) => {
                let scene = self.scene();
                self.finish(Step::Select, "none", &scene, Stage::restart)
            }
            Ok(call) => {
                self.conversation.turn.call = call;
                let scene = self.call_scene();
                self.finish(Step::Select, "selected", &scene, |stage| stage.validate(false))
            }
        }
    }
}
