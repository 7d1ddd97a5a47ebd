//! Values in OpenAI's format, whole and as a stream.

use std::time::{Duration, SystemTime};

use bytes::Bytes;

use super::asked::Asked;
use crate::llm::{AnswerChoice, AnswerWriter, CallChoice, DONE, Usage};
use crate::structured::{Solved, StructuredError, UnsolvedCause};
use base::random::random;
use template::value::Value;

/// An answer in OpenAI's format.
pub struct Told {
    model: String,
    choices: Vec<ToldChoice>,
    usage: Usage,
}

/// A choice of it.
#[derive(Default)]
struct ToldChoice {
    text: Option<String>,
    refusal: Option<String>,
    /// The id, the name and the arguments of a call.
    call: Option<[String; 3]>,
    finish_reason: &'static str,
}

impl Told {
    /// The values; or that the model refuses or was cut, for which OpenAI has its own ways.
    ///
    /// # Errors
    /// All other reasons why there is no value.
    pub fn of(asked: &Asked, solved: Result<Solved, StructuredError>) -> Result<Told, StructuredError> {
        match solved {
            Ok(Solved { solutions, origin, spent, .. }) => {
                let choices = solutions.iter().map(|value| ToldChoice::of(asked, value)).collect();
                Ok(Told { model: origin.model, choices, usage: spent.usage })
            }
            Err(StructuredError::Unsolved(unsolved)) => match ToldChoice::of_cause(&unsolved.cause) {
                Some(choice) => {
                    let model = unsolved.report.last().map(|attempt| attempt.model.clone());
                    let (model, usage) = (model.unwrap_or_default(), unsolved.spent.usage);
                    Ok(Told { model, choices: vec![choice], usage })
                }
                None => Err(StructuredError::Unsolved(unsolved)),
            },
            Err(error) => Err(error),
        }
    }

    /// The whole answer.
    pub fn whole(&self) -> Bytes {
        let id = id("chatcmpl");
        let choices: Vec<AnswerChoice<'_>> = self.choices.iter().map(ToldChoice::written).collect();
        self.writer(&id).whole(&choices, &self.usage)
    }

    /// The events of a stream.
    pub fn events(&self, include_usage: bool) -> Vec<Bytes> {
        let id = id("chatcmpl");
        let writer = self.writer(&id);
        let mut events = vec![writer.first_event()];
        if let Some(choice) = self.choices.first() {
            events.extend(writer.choice_events(&choice.written()));
        }
        if include_usage {
            events.push(writer.usage_event(&self.usage));
        }
        events.push(DONE.into());
        events
    }

    fn writer<'w>(&'w self, id: &'w str) -> AnswerWriter<'w> {
        let since = SystemTime::now().duration_since(SystemTime::UNIX_EPOCH).unwrap_or(Duration::ZERO);
        AnswerWriter { id, model: &self.model, created: since.as_secs() }
    }
}

impl ToldChoice {
    fn of(asked: &Asked, value: &Value) -> ToldChoice {
        let json = serde_json::to_string(value).unwrap_or_default();
        match asked {
            Asked::Call { name, .. } => ToldChoice {
                call: Some([id("call"), name.clone(), json]),
                finish_reason: "tool_calls",
                ..ToldChoice::default()
            },
            _ => ToldChoice { text: Some(json), finish_reason: "stop", ..ToldChoice::default() },
        }
    }

    fn of_cause(cause: &UnsolvedCause) -> Option<ToldChoice> {
        let nothing = ToldChoice::default;
        Some(match cause {
            UnsolvedCause::Invalid { .. } => return None,
            UnsolvedCause::Refused { is_filtered: true, .. } => {
                ToldChoice { finish_reason: "content_filter", ..nothing() }
            }
            UnsolvedCause::Refused { refusal, .. } => {
                ToldChoice { refusal: Some(refusal.clone()), finish_reason: "stop", ..nothing() }
            }
            UnsolvedCause::Truncated { answer } => {
                ToldChoice { text: Some(answer.clone()), finish_reason: "length", ..nothing() }
            }
        })
    }

    fn written(&self) -> AnswerChoice<'_> {
        let call = self.call.as_ref().map(|[id, name, arguments]| CallChoice { id, name, arguments });
        AnswerChoice {
            text: self.text.as_deref(),
            refusal: self.refusal.as_deref(),
            call,
            finish_reason: self.finish_reason,
        }
    }
}

fn id(kind: &str) -> String {
    format!("{kind}-{:016x}", random())
}
