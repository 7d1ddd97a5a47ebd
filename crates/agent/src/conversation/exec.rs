//! Step 5: the tool is called, and the result is shown.

use serde_json::{Value as Json, json};
use template::value::Value;

use super::Place;
use super::event::{Failure, Task};
use super::main::number;
use super::stage::Stage;
use crate::step::Step;
use crate::tool::{AgentTool, AnswerFault, CallFailure};

impl<'a> Stage<'a> {
    /// Begins with the health of the service, if there is a way to ask for it.
    pub fn execute(&mut self) -> Task {
        self.begin(Step::Exec);
        match self.tool().and_then(|tool| tool.health.clone()) {
            Some(health) => {
                self.conversation.place = Place::CheckingHealth;
                Task::CheckHealth { tool: health }
            }
            None => self.call(),
        }
    }

    /// Takes what the service says of its health.
    pub fn health(&mut self, result: Result<Value, String>) -> Task {
        let status = match &result {
            Err(error) => return self.failed(CallFailure::HealthFailed, error),
            Ok(answer) => answer.get("status"),
        };
        match status.map(|status| status.as_str().map_or_else(|| status.to_json().to_string(), str::to_owned))
        {
            Some(status) if status == "ok" => self.call(),
            Some(status) => self.failed(CallFailure::HealthNotOk, &format!("the status is `{status}`")),
            None => self.failed(CallFailure::HealthNotOk, "the answer has no `status`"),
        }
    }

    fn call(&mut self) -> Task {
        let Some((tool, call)) = self.tool().zip(self.conversation.turn.call.as_ref()) else {
            return self.restart();
        };
        let task = Task::Call { tool: tool.tool.clone(), arguments: tool.call_arguments(&call.arguments) };
        self.conversation.place = Place::Calling;
        task
    }

    /// Takes what the tool answered.
    pub fn called(&mut self, result: Result<Value, String>) -> Task {
        let answer = match result {
            Ok(answer) => answer,
            Err(error) => return self.failed(CallFailure::CallFailed, &error),
        };
        let Some(tool) = self.tool() else { return self.restart() };
        match tool.fault(&answer) {
            Some(AnswerFault::Reported(error)) => self.failed(CallFailure::ErrorReported, &error),
            Some(AnswerFault::Unusable(error)) => self.failed(CallFailure::CallFailed, &error),
            None => self.succeed(tool, answer),
        }
    }

    fn succeed(&mut self, tool: &AgentTool, answer: Value) -> Task {
        let scene = self.call_scene().with("result", answer.clone());
        self.say(Step::Exec, Some("done"), &tool.output, &scene);
        self.keep(&answer);
        let agent = self.agent;
        let limit = agent.settings.tool_calls();
        if !agent.goes_on {
            return self.conclude();
        }
        if self.conversation.turn.calls < limit {
            return self.select();
        }
        let scene = self.scene().with("limit", number(limit));
        self.finish(Step::Exec, "limit", &scene, Stage::conclude)
    }

    /// Keeps a result, if a model is to see it.
    fn keep(&mut self, answer: &Value) {
        let is_seen = self.agent.goes_on || self.agent.prompts.answer.is_some();
        let turn = &mut self.conversation.turn;
        turn.calls += 1;
        if let Some(call) = turn.call.take().filter(|_| is_seen) {
            let result: Json = answer.to_json();
            turn.results.push(json!({"tool": call.tool, "arguments": call.arguments, "result": result}));
        }
    }

    /// Nothing is left to be done but, where that is wanted, an answer from the results.
    pub fn conclude(&mut self) -> Task {
        if self.agent.prompts.answer.is_none() {
            self.conversation.turn.results.clear();
            return self.restart();
        }
        self.conversation.place = Place::Answering;
        Task::Answer
    }

    /// Takes the model's answer from the results.
    pub fn answered(&mut self, result: Result<String, Failure>) -> Task {
        let results = Json::Array(std::mem::take(&mut self.conversation.turn.results));
        match result {
            Err(failure) => self.fail(Step::Exec, &failure),
            Ok(answer) => {
                let scene = self.scene().with("answer", answer.as_str()).with("results", &results);
                self.finish(Step::Exec, "answered", &scene, Stage::restart)
            }
        }
    }

    fn failed(&mut self, failure: CallFailure, error: &str) -> Task {
        let scene = self.call_scene().with("error", error);
        let Some(tool) = self.tool() else { return self.restart() };
        self.finish_with(Step::Exec, (failure.name(), tool.failure.of(failure)), &scene, Stage::restart)
    }

    /// The tool of the call.
    fn tool(&self) -> Option<&'a AgentTool> {
        self.agent.tool(&self.conversation.turn.call.as_ref()?.tool)
    }
}
