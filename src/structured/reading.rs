//! What an answer of a model says: a value, or why it is none.

use super::answer::value_of;
use crate::llm::structured::{FUNCTION, OutputSchema, Strategy};
use crate::llm::{Choice, FinishReason, ToolCall};
use base::schema::Violation;
use template::value::Value;

/// What a choice says that gives no value.
#[derive(Debug)]
pub(super) enum Useless {
    /// Something that does not fit.
    Invalid(Invalid),
    /// That the model does not answer.
    Refused {
        /// Its words.
        refusal: String,
        /// Whether a filter of the provider stopped it.
        is_filtered: bool,
    },
    /// The beginning of an answer.
    Truncated {
        /// What came.
        text: String,
    },
}

/// An answer that does not fit.
#[derive(Debug)]
pub(super) struct Invalid {
    /// What the model wrote.
    pub text: String,
    /// The call in which it wrote it.
    pub call: Option<ToolCall>,
    /// What is wrong with it.
    pub violations: Vec<Violation>,
}

/// A value in an answer, still to be checked.
pub(super) struct Read {
    /// What the model wrote.
    pub text: String,
    /// The call in which it wrote it.
    pub call: Option<ToolCall>,
    /// What it may mean, the likeliest first.
    pub meanings: Vec<Value>,
}

/// Reads a choice.
///
/// # Errors
/// What it says, where that is no value.
pub(super) fn read(choice: &Choice, schema: &OutputSchema, strategy: Strategy) -> Result<Read, Useless> {
    if let Some(end) = end(choice) {
        return Err(end);
    }
    let call = choice.tool_calls.iter().find(|call| call.name == FUNCTION);
    let text = call.map_or(choice.text.as_str(), |call| call.arguments.as_str());
    // The call that the model made in place of the one that it was asked for.
    let call = call.or_else(|| choice.tool_calls.first().filter(|_| text.trim().is_empty()));
    let invalid = |message: String| {
        let text = call.map_or_else(|| text.to_owned(), |call| call.arguments.clone());
        let violations = vec![Violation::new("", message)];
        Useless::Invalid(Invalid { text, call: call.cloned(), violations })
    };
    if text.trim().is_empty() {
        return Err(invalid(nothing(choice, strategy)));
    }
    let value = value_of(text).map_err(|unreadable| invalid(unreadable.message))?;
    let meanings = schema.meanings(&value, strategy);
    Ok(Read { text: text.to_owned(), call: call.cloned(), meanings })
}

/// Why a choice is no answer at all, by the reason of its end.
fn end(choice: &Choice) -> Option<Useless> {
    let text =
        || choice.tool_calls.first().map_or_else(|| choice.text.clone(), |call| call.arguments.clone());
    match (&choice.refusal, &choice.finish_reason) {
        (Some(refusal), reason) => {
            let is_filtered = *reason == Some(FinishReason::ContentFilter);
            Some(Useless::Refused { refusal: refusal.clone(), is_filtered })
        }
        (None, Some(FinishReason::ContentFilter)) => {
            Some(Useless::Refused { refusal: String::new(), is_filtered: true })
        }
        (None, Some(FinishReason::Length)) => Some(Useless::Truncated { text: text() }),
        _ => None,
    }
}

/// What is wrong with an answer that has no text.
fn nothing(choice: &Choice, strategy: Strategy) -> String {
    match (choice.tool_calls.first(), strategy) {
        (Some(call), _) => format!("the function `{}` was called; call `{FUNCTION}`", call.name),
        (None, Strategy::Tools) => format!("the answer is empty; call the function `{FUNCTION}`"),
        (None, _) => "the answer is empty; answer with one JSON value".to_owned(),
    }
}
