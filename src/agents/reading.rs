//! What the answer of a model means to an agent, or why it means nothing.

use std::error::Error;
use std::time::Duration;

use serde_json::value::RawValue;
use serde_json::{Value as Json, json};

use crate::llm::{Choice, FinishReason, LlmError, UpstreamError};
use crate::requests::{RequestError, Solution};
use crate::structured::{AttemptReport, StructuredError, UnsolvedCause};
use agent::{Agent, Failure, FailureKind, ToolCall};

/// What a model says of a message.
#[derive(serde::Deserialize)]
struct Relevance {
    relevant: bool,
}

/// What an answer must be that says whether a message is relevant.
pub fn relevance_schema() -> Json {
    json!({
        "type": "object",
        "properties": {"relevant": {"type": "boolean"}},
        "required": ["relevant"],
        "additionalProperties": false,
    })
}

/// Whether the message is relevant, by the value that a model gave.
///
/// # Errors
/// [`Failure`] if there is none.
pub fn relevance(agent: &Agent, value: Result<Option<Box<RawValue>>, RequestError>) -> Result<bool, Failure> {
    match value {
        Ok(value) => {
            let read = serde_json::from_str::<Relevance>(value.as_ref().map_or("null", |value| value.get()));
            read.map(|read| read.relevant).map_err(|error| Failure::unreadable(error.to_string()))
        }
        Err(RequestError::Structured(StructuredError::Unsolved(unsolved))) => {
            in_words(agent, &unsolved.cause)
        }
        Err(RequestError::Structured(StructuredError::Llm(error))) => Err(failure(&error)),
        Err(error) => Err(unanswered(&error)),
    }
}

/// The tool that a choice calls.
///
/// # Errors
/// [`Failure`] if it cannot be read.
pub fn chosen(choice: &Choice) -> Result<Option<ToolCall>, Failure> {
    if let Some(why) = unreadable(choice) {
        return Err(Failure::unreadable(why));
    }
    let call = choice.tool_calls.first();
    call.map(|call| ToolCall::read(&call.name, &call.arguments)).transpose()
}

/// The text of a choice.
///
/// # Errors
/// [`Failure`] if it cannot be read, or has none.
pub fn answered(choice: &Choice) -> Result<String, Failure> {
    match unreadable(choice) {
        Some(why) => Err(Failure::unreadable(why)),
        None if choice.text.trim().is_empty() => Err(Failure::unreadable("the answer has no text")),
        None => Ok(choice.text.trim().to_owned()),
    }
}

/// Why a choice cannot be read, if it cannot.
fn unreadable(choice: &Choice) -> Option<String> {
    if let Some(refusal) = choice.refusal.as_ref().filter(|_| choice.tool_calls.is_empty()) {
        return Some(format!("the model refuses to answer: {refusal}"));
    }
    match &choice.finish_reason {
        Some(FinishReason::Length) => Some("the answer was cut at the limit of tokens".to_owned()),
        Some(FinishReason::ContentFilter) => Some("a filter of the provider stopped the answer".to_owned()),
        _ => None,
    }
}

/// What an answer means that is not the JSON that was asked for.
fn in_words(agent: &Agent, cause: &UnsolvedCause) -> Result<bool, Failure> {
    match cause {
        UnsolvedCause::Invalid { answer, .. } if !answer.trim().is_empty() => Ok(agent.is_relevant(answer)),
        UnsolvedCause::Invalid { .. } => Err(Failure::unreadable("the answer has no text")),
        UnsolvedCause::Refused { refusal, .. } if !refusal.is_empty() => {
            Err(Failure::unreadable(format!("{cause}: {refusal}")))
        }
        cause => Err(Failure::unreadable(cause.to_string())),
    }
}

/// What a model wrote, whether it is of use or not; nothing if it did not answer.
pub fn attempts(solved: &Result<Solution, RequestError>) -> Option<&[AttemptReport]> {
    match solved {
        Ok(solution) => Some(&solution.report),
        Err(RequestError::Structured(StructuredError::Unsolved(unsolved))) => Some(&unsolved.report),
        Err(_) => None,
    }
}

/// The failure of a call of a model.
pub fn failure(error: &LlmError) -> Failure {
    if let Some((status, cause)) = error.refusal() {
        let message = format!("the upstream refused the request with {status}: {cause}");
        return Failure { kind: FailureKind::Unanswered, message, causes: Vec::new() };
    }
    match error {
        LlmError::Unavailable { cause: UpstreamError::Unusable { message }, .. }
        | LlmError::Interrupted(UpstreamError::Unusable { message }) => Failure::unreadable(message.clone()),
        LlmError::Unavailable { cause, .. } => {
            let causes = vec![cause.to_string()];
            Failure { kind: FailureKind::Unanswered, message: error.to_string(), causes }
        }
        error => unanswered(error),
    }
}

/// The failure of an error, with the causes that it names.
pub fn unanswered(error: &(dyn Error + 'static)) -> Failure {
    let mut causes = Vec::new();
    let mut next = error.source();
    while let Some(cause) = next {
        causes.push(cause.to_string());
        next = cause.source();
    }
    Failure { kind: FailureKind::Unanswered, message: error.to_string(), causes }
}

/// The failure of what cannot be written as JSON.
pub fn unwritable(error: &serde_json::Error) -> Failure {
    unanswered(error)
}

/// The failure of a model that took longer than the agent waits.
pub fn late(time: Duration) -> Failure {
    let message = format!("the model did not answer within {} ms (LLM_TIMEOUT_MS)", time.as_millis());
    Failure { kind: FailureKind::Unanswered, message, causes: Vec::new() }
}
