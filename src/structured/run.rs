//! What the attempts of one request cost, and what happened in each.

use std::time::Duration;

use serde::Serialize;

use super::error::{Unsolved, UnsolvedCause};
use super::reading::Useless;
use crate::llm::Usage;
use crate::llm::structured::{Strategy, StructuredRequest, Way};
use base::schema::Violation;

/// What a request cost.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize)]
pub struct Spent {
    /// How often a model answered.
    pub attempts: usize,
    /// The tokens of all answers; unknown where an upstream did not tell them.
    pub usage: Usage,
}

/// Who gave an answer, and how it was asked for.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct AnswerOrigin {
    /// The model: the one that was asked for, or a fallback.
    pub model: String,
    /// How it was asked for a value.
    pub strategy: Strategy,
    /// Whether an upstream was asked for the value as the client itself asked.
    pub is_native: bool,
}

impl AnswerOrigin {
    /// Where an answer to `request` comes from; without a `way` it is from the built-in model, which takes every one.
    pub(super) fn of(request: &StructuredRequest, model: String, way: Option<Way>) -> AnswerOrigin {
        let strategy = way.unwrap_or(request.plan.first()).strategy();
        let is_native = way.is_some() && request.plan.native == way;
        AnswerOrigin { model, strategy, is_native }
    }
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

/// An answer of a model.
#[derive(Debug, Clone)]
pub(super) struct Attempt {
    /// Its number, from 1.
    number: usize,
    /// Who gave it.
    pub origin: AnswerOrigin,
    usage: Usage,
    milliseconds: u64,
}

/// The attempts so far.
#[derive(Debug, Default)]
pub(super) struct Run {
    pub spent: Spent,
    pub report: Vec<AttemptReport>,
}

impl Run {
    /// Adds an answer of a model.
    pub fn answered(&mut self, origin: AnswerOrigin, usage: Usage, took: Duration) -> Attempt {
        let Spent { attempts, usage: before } = self.spent;
        let usage_in_all = if attempts == 0 { usage } else { before.plus(usage) };
        self.spent = Spent { attempts: attempts + 1, usage: usage_in_all };
        let milliseconds = u64::try_from(took.as_millis()).unwrap_or(u64::MAX);
        Attempt { number: self.spent.attempts, origin, usage, milliseconds }
    }

    /// Adds what a choice of an answer says.
    pub fn read(&mut self, choice: usize, attempt: Attempt, answer: String, violations: &[Violation]) {
        let Attempt { number, origin, usage, milliseconds } = attempt;
        self.report.push(AttemptReport {
            attempt: number,
            choice,
            model: origin.model,
            strategy: origin.strategy,
            answer,
            violations: violations.to_vec(),
            usage,
            milliseconds,
        });
    }

    /// The end of a request with an answer that is of no use.
    pub fn unsolved(&mut self, answer: String, useless: Useless) -> Box<Unsolved> {
        let cause = match useless {
            Useless::Refused { refusal, is_filtered } => UnsolvedCause::Refused { refusal, is_filtered },
            Useless::Truncated => UnsolvedCause::Truncated { answer },
            Useless::Invalid(violations) => UnsolvedCause::Invalid { answer, violations },
            Useless::Uncheckable(violation) => {
                UnsolvedCause::Invalid { answer, violations: violation.into() }
            }
        };
        Box::new(Unsolved { cause, spent: self.spent, report: std::mem::take(&mut self.report) })
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::llm::structured::{OutputSchema, Plan};
    use serde_json::json;
    use std::sync::Arc;

    #[test]
    fn an_answer_comes_by_its_way_or_from_the_built_in_model() {
        let request = StructuredRequest {
            payload: Arc::default(),
            schema: OutputSchema::new(json!({})).unwrap().into(),
            text: None,
            plan: Plan::CALL,
            failed: Vec::new(),
            emulation: None,
        };
        for (way, strategy, is_native) in [
            (Some(Way::Tools), Strategy::Tools, true),
            (Some(Way::Text), Strategy::JsonObject, false),
            (None, Strategy::Tools, false),
        ] {
            let origin = AnswerOrigin::of(&request, "m".into(), way);
            assert_eq!(origin, AnswerOrigin { model: "m".into(), strategy, is_native }, "{way:?}");
        }
    }

    #[test]
    fn tokens_are_summed_and_attempts_keep_their_numbers() {
        let origin = || AnswerOrigin { model: "m".into(), strategy: Strategy::Tools, is_native: false };
        let usage = |tokens| Usage { total_tokens: tokens, ..Usage::default() };
        let mut run = Run::default();
        let first = run.answered(origin(), usage(Some(1)), Duration::ZERO);
        let second = run.answered(origin(), usage(Some(2)), Duration::ZERO);
        assert_eq!(run.spent, Spent { attempts: 2, usage: usage(Some(3)) });
        run.read(0, second, "b".into(), &[]);
        run.read(1, first, "a".into(), &[]);
        let told: Vec<(usize, usize, &str)> =
            run.report.iter().map(|one| (one.attempt, one.choice, one.answer.as_str())).collect();
        assert_eq!(told, [(2, 0, "b"), (1, 1, "a")]);
    }
}
