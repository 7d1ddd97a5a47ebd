//! The choices of an emulated answer: each becomes a value, a call of the client's function, or a refusal.

use std::ops::ControlFlow;

use super::asked::Asked;
use super::told::{Told, ToldChoice};
use crate::llm::structured::StructuredRequest;
use crate::structured::judge::GivenAnswer;
use crate::structured::run::Run;
use crate::structured::{First, Structured, StructuredError, Task};
use base::caller::Caller;

impl Structured {
    /// What the client is told of the first answer: choices that do not fit are sent back.
    ///
    /// # Errors
    /// [`StructuredError`], also if one of the choices never fits.
    pub(super) async fn settle_emulated(
        &self,
        caller: &Caller,
        asked: &Asked,
        task: &Task,
        first: First,
    ) -> Result<Told, StructuredError> {
        let First { request, completion, attempt, mut run } = first;
        let mut told = Told { model: attempt.origin.model.clone(), ..Told::default() };
        for (at, choice) in completion.choices.into_iter().enumerate() {
            let answer = GivenAnswer { choice, at, attempt: attempt.clone() };
            self.settle_choice(caller, (asked, task), (request.clone(), answer), &mut run, &mut told).await?;
        }
        told.usage = run.spent.usage;
        Ok(told)
    }

    async fn settle_choice(
        &self,
        caller: &Caller,
        (asked, task): (&Asked, &Task),
        (mut request, mut answer): (StructuredRequest, GivenAnswer),
        run: &mut Run,
        told: &mut Told,
    ) -> Result<(), StructuredError> {
        loop {
            if asked.is_clients_call(&answer.choice) {
                told.choices.push(ToldChoice::own(answer.choice));
                return Ok(());
            }
            match self.settle_step(caller, task, &mut request, answer, run).await {
                Ok(ControlFlow::Continue(next)) => {
                    told.model.clone_from(&next.attempt.origin.model);
                    answer = next;
                }
                Ok(ControlFlow::Break(fit)) => {
                    told.choices.push(ToldChoice::of(asked, &fit.value));
                    told.held.push(fit.held);
                    return Ok(());
                }
                Err(StructuredError::Unsolved(unsolved)) => {
                    let choice = ToldChoice::of_cause(&unsolved.cause);
                    told.choices.push(choice.ok_or(StructuredError::Unsolved(unsolved))?);
                    return Ok(());
                }
                Err(error) => return Err(error),
            }
        }
    }
}
