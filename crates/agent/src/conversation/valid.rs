//! Step 4: the choice of the model is checked, and approved by the user where that is wanted.

use serde_json::{Map as JsonMap, Value as Json};

use super::Place;
use super::event::Task;
use super::main::number;
use super::stage::Stage;
use crate::checks::Fault;
use crate::step::Step;
use crate::tool::AgentTool;

impl Stage<'_> {
    /// Checks the call; `is_approved` if the user has approved it already.
    pub fn validate(&mut self, is_approved: bool) -> Task {
        self.begin(Step::Valid);
        let agent = self.agent;
        let Some(mut call) = self.conversation.turn.call.take() else { return self.restart() };
        let Some(tool) = agent.tool(&call.tool) else {
            let scene = self.scene().with_call(&call.tool, &call.arguments);
            return self.finish(Step::Valid, "unknown_tool", &scene, Stage::restart);
        };
        let checked = tool.check(&mut call.arguments);
        self.conversation.turn.call = Some(call);
        match checked {
            Err(fault) => self.refuse(tool, fault),
            Ok(()) => {
                let scene = self.call_scene();
                self.finish_with(Step::Valid, ("ok", &tool.ok), &scene, |stage| match tool.confirm {
                    true if !is_approved => stage.confirm(),
                    _ => stage.execute(),
                })
            }
        }
    }

    fn refuse(&mut self, tool: &AgentTool, fault: Fault<'_>) -> Task {
        let scene = self.call_scene();
        let (parameter, rule, outcome, length) = match fault {
            Fault::Broken { parameter, rule, outcome, length } => (parameter, rule, outcome, length),
            Fault::Invalid(message) => {
                let scene = scene.with("error", message.as_str());
                return self.finish(Step::Valid, "invalid", &scene, Stage::restart);
            }
        };
        let mut scene = scene.with("parameter", parameter);
        if let Some((length, limit)) = length {
            scene = scene.with("length", number(length)).with("limit", number(limit));
        }
        let is_asked = tool.asks && length.is_none();
        self.finish_with(Step::Valid, (rule, outcome), &scene, |stage| match is_asked {
            true => stage.ask(parameter),
            false => stage.restart(),
        })
    }

    /// Asks the user for an argument; the chosen tool is kept.
    fn ask(&mut self, parameter: &str) -> Task {
        self.conversation.place = Place::Asking { parameter: parameter.to_owned() };
        Task::Listen
    }

    fn confirm(&mut self) -> Task {
        let (agent, scene) = (self.agent, self.call_scene());
        let items = agent.steps.of(Step::Valid).outcome("confirm").map(|outcome| outcome.items.as_slice());
        self.say(Step::Valid, Some("confirm"), items.unwrap_or_default(), &scene);
        self.conversation.place = Place::Confirming;
        Task::Confirm
    }

    /// The user refuses the call.
    pub fn reject(&mut self) -> Task {
        let scene = self.call_scene();
        self.finish(Step::Valid, "rejected", &scene, Stage::restart)
    }

    /// The user approves the call with other arguments, which are checked like those of the model.
    pub fn change(&mut self, arguments: JsonMap<String, Json>) -> Task {
        if let Some(call) = &mut self.conversation.turn.call {
            call.arguments = arguments;
        }
        self.validate(true)
    }
}
