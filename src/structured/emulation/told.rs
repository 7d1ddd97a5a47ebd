//! Choices in OpenAI's format, whole and as a stream.

use std::time::{Duration, SystemTime};

use bytes::Bytes;

use super::asked::Asked;
use crate::llm::{AnswerChoice, AnswerWriter, Choice, DONE, FinishReason, ToolCall, Usage};
use crate::structured::UnsolvedCause;
use base::memory::Reservation;
use base::random::random;
use template::value::Value;

/// An answer in OpenAI's format.
#[derive(Default)]
pub struct Told {
    /// Who gave it.
    pub model: String,
    /// What it says.
    pub choices: Vec<ToldChoice>,
    /// What it cost.
    pub usage: Usage,
    /// The part of the budget of memory that its values take.
    pub held: Vec<Reservation>,
}

/// A choice of it.
#[derive(Default)]
pub struct ToldChoice {
    text: Option<String>,
    refusal: Option<String>,
    calls: Vec<ToolCall>,
    finish_reason: &'static str,
}

impl Told {
    /// The whole answer.
    pub fn whole(&self) -> Bytes {
        let id = id("chatcmpl");
        let choices: Vec<AnswerChoice<'_>> = self.choices.iter().map(ToldChoice::written).collect();
        self.writer(&id).whole(&choices, &self.usage)
    }

    /// The events of a stream, which has one choice.
    pub fn events(&self, include_usage: bool) -> Bytes {
        let id = id("chatcmpl");
        let writer = self.writer(&id);
        let mut events = vec![writer.first_event()];
        if let Some(choice) = self.choices.first() {
            events.extend(writer.choice_events(&choice.written()));
        }
        events.extend(writer.usage_event(&self.usage).filter(|_| include_usage));
        events.push(DONE.into());
        events.concat().into()
    }

    fn writer<'w>(&'w self, id: &'w str) -> AnswerWriter<'w> {
        let since = SystemTime::now().duration_since(SystemTime::UNIX_EPOCH).unwrap_or(Duration::ZERO);
        AnswerWriter { id, model: &self.model, created: since.as_secs() }
    }
}

impl ToldChoice {
    /// A value.
    pub fn of(asked: &Asked, value: &Value) -> ToldChoice {
        let json = serde_json::to_string(value).unwrap_or_default();
        match asked {
            Asked::Call { name, .. } => ToldChoice {
                calls: vec![ToolCall { id: id("call"), name: name.clone(), arguments: json }],
                finish_reason: "tool_calls",
                ..ToldChoice::default()
            },
            _ => ToldChoice { text: Some(json), finish_reason: "stop", ..ToldChoice::default() },
        }
    }

    /// What the model says by itself: that it calls functions of the client.
    pub fn own(choice: Choice) -> ToldChoice {
        let Choice { text, tool_calls, refusal, finish_reason } = choice;
        let text = Some(text).filter(|text| !text.is_empty());
        let finish_reason = match finish_reason {
            Some(FinishReason::Length) => "length",
            Some(FinishReason::ContentFilter) => "content_filter",
            _ => "tool_calls",
        };
        ToldChoice { text, refusal, calls: tool_calls, finish_reason }
    }

    /// That the model refuses or was cut, for which OpenAI has its own ways; `None` for all other reasons why there is no value.
    pub fn of_cause(cause: &UnsolvedCause) -> Option<ToldChoice> {
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
        AnswerChoice {
            text: self.text.as_deref(),
            refusal: self.refusal.as_deref(),
            calls: &self.calls,
            finish_reason: self.finish_reason,
        }
    }
}

fn id(kind: &str) -> String {
    format!("{kind}-{:016x}", random())
}
