//! Judges answers: one fits, or is sent back with everything that is wrong with it, or ends the request.

use serde_json::json;

use super::error::StructuredError;
use super::reading::{Meanings, Said, Useless, Wrapping};
use super::run::{AnswerOrigin, Attempt, Run};
use super::{Structured, Task};
use crate::llm::structured::{FailedAnswer, Strategy, StructuredRequest};
use crate::llm::{Choice, LlmError};
use base::caller::Caller;
use base::memory::Reservation;
use base::schema::{EffortError, Violation};
use template::value::Value;

/// The prompt that asks for a corrected answer.
const REPAIR_PROMPT: &str = "requests.repair";

/// One choice of an answer.
pub(super) struct GivenAnswer {
    /// What it says.
    pub choice: Choice,
    /// Its number, from 0.
    pub at: usize,
    /// The attempt that brought it.
    pub attempt: Attempt,
}

/// What becomes of an answer.
pub(super) enum Verdict {
    /// Its value fits.
    Fits(Fit),
    /// These are its violations; the request was completed by it, and can be sent again.
    SentBack(Vec<Violation>),
}

/// A value that fits.
pub(super) struct Fit {
    pub value: Value,
    /// Who gave the answer.
    pub origin: AnswerOrigin,
    /// The memory that a large value takes.
    pub held: Reservation,
}

/// Why a value does not fit.
pub(super) enum Misfit {
    /// What is wrong with it.
    Violations(Vec<Violation>),
    /// It cannot be checked, which no model can mend.
    Uncheckable(EffortError),
}

impl Structured {
    /// Judges an answer to a request.
    ///
    /// # Errors
    /// [`StructuredError::Unsolved`] if it is of no use, and cannot be sent back.
    pub(super) async fn judge(
        &self,
        caller: &Caller,
        task: &Task,
        request: &mut StructuredRequest,
        answer: GivenAnswer,
        run: &mut Run,
    ) -> Result<Verdict, StructuredError> {
        let GivenAnswer { choice, at, attempt } = answer;
        let (said, read) = self.read(task, Said::of(choice), attempt.origin.strategy).await?;
        let (useless, wrapping) = match read {
            Err(useless) => (useless, Wrapping::None),
            Ok((meanings, held)) => {
                let wrapping = meanings.wrapping;
                match self.fitting(caller, task, meanings.values).await? {
                    Ok(value) => {
                        let origin = attempt.origin.clone();
                        run.read(at, attempt, said.text, &[]);
                        return Ok(Verdict::Fits(Fit { value, origin, held }));
                    }
                    Err(misfit) => (misfit.into(), wrapping),
                }
            }
        };
        run.read(at, attempt, said.text.clone(), useless.violations());
        match useless {
            Useless::Invalid(violations) if request.failed.len() < task.max_repairs => {
                request.failed.push(self.complain(caller, said, &wrapping.around(&violations)).await?);
                Ok(Verdict::SentBack(violations))
            }
            useless => Err(run.unsolved(said.text, useless).into()),
        }
    }

    /// What an answer may mean, with a reservation for it. Long answers are read in the pool.
    async fn read(
        &self,
        task: &Task,
        said: Said,
        strategy: Strategy,
    ) -> Result<(Said, Result<(Meanings, Reservation), Useless>), StructuredError> {
        let (schema, mut held) = (task.schema.output.clone(), self.llm.reservation());
        let is_long = said.is_long();
        let work = move || {
            let read = said.read(&schema, strategy, &mut held);
            read.map(|read| (said, read.map(|meanings| (meanings, held))))
        };
        let read = match is_long {
            true => self.renderer.run_on_json(work).await?,
            false => work(),
        };
        Ok(read.map_err(LlmError::from)?)
    }

    /// The first value that fits; else what is wrong with the first one.
    async fn fitting(
        &self,
        caller: &Caller,
        task: &Task,
        values: Vec<Value>,
    ) -> Result<Result<Value, Misfit>, StructuredError> {
        let mut first = None;
        for value in values {
            match self.misfit(caller, task, &value).await? {
                None => return Ok(Ok(value)),
                Some(misfit) => _ = first.get_or_insert(misfit),
            }
        }
        Ok(Err(first.unwrap_or(Misfit::Violations(Vec::new()))))
    }

    /// Why a value does not fit the schema or, if it does, the checks.
    pub(super) async fn misfit(
        &self,
        caller: &Caller,
        task: &Task,
        value: &Value,
    ) -> Result<Option<Misfit>, StructuredError> {
        let violations = match task.schema.violations(value, &self.renderer).await? {
            Ok(violations) if violations.is_empty() => {
                task.checks.violations(value, caller, &self.renderer).await?
            }
            Ok(violations) => violations,
            Err(error) => return Ok(Some(Misfit::Uncheckable(error))),
        };
        Ok((!violations.is_empty()).then_some(Misfit::Violations(violations)))
    }

    async fn complain(
        &self,
        caller: &Caller,
        said: Said,
        violations: &[Violation],
    ) -> Result<FailedAnswer, StructuredError> {
        let variables = Value::from(json!({"violations": violations}));
        let complaint = self.renderer.own_text(caller, REPAIR_PROMPT, variables).await?;
        Ok(FailedAnswer { call: said.as_call(), text: said.text, complaint })
    }
}

impl From<Misfit> for Useless {
    fn from(misfit: Misfit) -> Useless {
        match misfit {
            Misfit::Violations(violations) => Useless::Invalid(violations),
            Misfit::Uncheckable(error) => Useless::Uncheckable([Violation::new("", error.to_string())]),
        }
    }
}
