//! A tool of an agent: what a model is offered, how its choice is checked, and what is said of the result.

use base::model::Id;
use base::schema::Schema;
use serde_json::{Map as JsonMap, Value as Json};
use template::value::Value;

use super::outcome::{Item, Outcome};

/// A tool of an agent.
#[derive(Debug)]
pub struct AgentTool {
    /// The name that the model is told.
    pub name: String,
    /// What the model is told of it.
    pub description: String,
    /// The tool of the catalog.
    pub tool: Id,
    /// The JSON Schema of its arguments, as the model is told.
    pub parameters: Json,
    /// The tool of the catalog that says whether the service is well.
    pub health: Option<Id>,
    pub(super) schema: Schema,
    /// Arguments that the model does not choose.
    pub(super) bound: JsonMap<String, Json>,
    pub(super) checks: Vec<Check>,
    pub(super) ok: Outcome,
    /// The member of an answer that reports an error.
    pub(super) error_field: Option<String>,
    /// The members that an answer must have.
    pub(super) required: Vec<String>,
    pub(super) output: Vec<Item>,
    pub(super) failure: Failures,
    /// Whether the user has to approve a call.
    pub(super) confirm: bool,
    /// Whether the user is asked for an argument that is missing.
    pub(super) asks: bool,
}

/// The rules for one argument, and what is said when it breaks one.
#[derive(Debug)]
pub struct Check {
    /// The argument.
    pub parameter: String,
    /// It is absent, or null.
    pub missing: Option<Outcome>,
    /// It has no characters but white space.
    pub empty: Option<Outcome>,
    /// It has more characters than this.
    pub too_long: Option<(usize, Outcome)>,
}

/// How a call fails.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum CallFailure {
    /// The service did not say how it is.
    HealthFailed,
    /// It says that it is not well.
    HealthNotOk,
    /// It gave no answer that can be used.
    CallFailed,
    /// Its answer reports an error.
    ErrorReported,
}

impl CallFailure {
    /// Its name in documents.
    pub fn name(self) -> &'static str {
        match self {
            CallFailure::HealthFailed => "health_failed",
            CallFailure::HealthNotOk => "health_not_ok",
            CallFailure::CallFailed => "call_failed",
            CallFailure::ErrorReported => "error_reported",
        }
    }
}

/// What is said when a call fails; where there is no text for a failure, that of `call_failed`.
#[derive(Debug, Default)]
pub struct Failures {
    /// Of failures of health checks.
    pub health_failed: Option<Outcome>,
    /// Of services that are not well.
    pub health_not_ok: Option<Outcome>,
    /// Of calls without an answer that can be used.
    pub call_failed: Outcome,
    /// Of answers that report an error.
    pub error_reported: Option<Outcome>,
}

impl Failures {
    /// What is said of a failure.
    pub fn of(&self, failure: CallFailure) -> &Outcome {
        let own = match failure {
            CallFailure::HealthFailed => &self.health_failed,
            CallFailure::HealthNotOk => &self.health_not_ok,
            CallFailure::ErrorReported => &self.error_reported,
            CallFailure::CallFailed => &None,
        };
        own.as_ref().unwrap_or(&self.call_failed)
    }
}

impl AgentTool {
    /// The arguments that the tool of the catalog gets: the model's, and those that are bound.
    pub(super) fn call_arguments(&self, arguments: &JsonMap<String, Json>) -> JsonMap<String, Json> {
        let mut all = arguments.clone();
        all.extend(self.bound.clone());
        all
    }

    /// What is wrong with an answer.
    pub(super) fn fault(&self, answer: &Value) -> Option<AnswerFault> {
        if answer.as_map().is_none() {
            return Some(AnswerFault::Unusable("the answer is no JSON object".to_owned()));
        }
        let member = |name: &str| answer.get(name).filter(|value| **value != Value::Null);
        if let Some(error) = self.error_field.as_deref().and_then(member) {
            return Some(AnswerFault::Reported(text_of(error)));
        }
        let lacking: Vec<&str> =
            self.required.iter().map(String::as_str).filter(|name| member(name).is_none()).collect();
        let message = || format!("the answer lacks `{}`", lacking.join("`, `"));
        (!lacking.is_empty()).then(|| AnswerFault::Unusable(message()))
    }
}

/// What is wrong with an answer of a tool.
#[derive(Debug, PartialEq, Eq)]
pub enum AnswerFault {
    /// It is not what it has to be.
    Unusable(String),
    /// It reports an error.
    Reported(String),
}

/// A value as a text: a text as it is, everything else as JSON.
fn text_of(value: &Value) -> String {
    value.as_str().map_or_else(|| value.to_json().to_string(), str::to_owned)
}
