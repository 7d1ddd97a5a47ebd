//! What the attempts of one request cost, and what happened in each.

use std::time::Duration;

use serde::Serialize;

use super::error::{Unsolved, UnsolvedCause};
use super::reading::{Invalid, Useless};
use crate::llm::structured::Strategy;
use crate::llm::{AnswerOrigin, Choice, Usage};
use base::schema::Violation;
use template::value::Value;

/// What a request cost.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize)]
pub struct Spent {
    /// How often a model answered.
    pub attempts: usize,
    /// The tokens of all answers; unknown where an upstream did not tell them.
    pub usage: Usage,
}

/// What happened in an attempt; of an answer with several choices there is one for each.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct AttemptReport {
    /// The number of the answer, from 1.
    pub attempt: usize,
    /// The number of the choice, from 0.
    pub choice: usize,
    /// The model.
    pub model: String,
    /// How it was asked.
    pub strategy: Strategy,
    /// What it wrote.
    pub answer: String,
    /// What is wrong with it.
    pub violations: Vec<Violation>,
    /// What the whole answer cost.
    pub usage: Usage,
    /// How long the whole answer took.
    pub milliseconds: u64,
}

/// The attempts so far.
#[derive(Debug, Default)]
pub(super) struct Run {
    pub spent: Spent,
    pub report: Vec<AttemptReport>,
    last: Option<(AnswerOrigin, Usage, u64)>,
}

impl Run {
    /// Adds an answer of a model.
    pub fn answered(&mut self, origin: &AnswerOrigin, usage: Usage, took: Duration) {
        let Spent { attempts, usage: before } = self.spent;
        let usage_in_all = if attempts == 0 { usage } else { before.plus(usage) };
        self.spent = Spent { attempts: attempts + 1, usage: usage_in_all };
        self.last = Some((origin.clone(), usage, u64::try_from(took.as_millis()).unwrap_or(u64::MAX)));
    }

    /// Adds what a choice of the last answer says.
    pub fn read(&mut self, choice: usize, said: &Choice, reading: &Result<Value, Useless>) {
        let Some((origin, usage, milliseconds)) = &self.last else { return };
        let violations = match reading {
            Err(Useless::Invalid(invalid)) => invalid.violations.clone(),
            _ => Vec::new(),
        };
        self.report.push(AttemptReport {
            attempt: self.spent.attempts,
            choice,
            model: origin.model.clone(),
            strategy: origin.strategy,
            answer: said_by(said),
            violations,
            usage: *usage,
            milliseconds: *milliseconds,
        });
    }

    /// The end of a request with an answer that is of no use.
    pub fn unsolved(&mut self, last: Useless) -> Box<Unsolved> {
        let cause = match last {
            Useless::Refused { refusal, is_filtered } => UnsolvedCause::Refused { refusal, is_filtered },
            Useless::Truncated { text } => UnsolvedCause::Truncated { answer: text },
            Useless::Invalid(Invalid { text, violations, .. }) => {
                UnsolvedCause::Invalid { answer: text, violations }
            }
        };
        Box::new(Unsolved { cause, spent: self.spent, report: std::mem::take(&mut self.report) })
    }
}

/// What a choice says, in the order in which it would be read.
fn said_by(choice: &Choice) -> String {
    match (choice.tool_calls.first(), &choice.refusal) {
        (Some(call), _) => call.arguments.clone(),
        (None, Some(refusal)) if choice.text.is_empty() => refusal.clone(),
        _ => choice.text.clone(),
    }
}
