//! The choices of an emulated answer: each becomes a value, a call of the client's function, or a refusal.

use std::ops::ControlFlow;

use super::asked::Asked;
use super::told::{Told, ToldChoice};
use crate::llm::Choice;
use crate::structured::run::Run;
use crate::structured::{Dialogue, First, Structured, StructuredError, Task};
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
        let First { request, completion, origin, mut run } = first;
        let (mut choices, mut last) = (Vec::with_capacity(completion.choices.len()), origin.clone());
        for (at, choice) in completion.choices.into_iter().enumerate() {
            last = origin.clone();
            let mut dialogue = Dialogue { request: request.clone(), at, origin: &mut last };
            choices.push(self.settle_choice(caller, (asked, task), &mut dialogue, choice, &mut run).await?);
        }
        Ok(Told { model: last.model, choices, usage: run.spent.usage })
    }

    async fn settle_choice(
        &self,
        caller: &Caller,
        (asked, task): (&Asked, &Task),
        dialogue: &mut Dialogue<'_>,
        mut choice: Choice,
        run: &mut Run,
    ) -> Result<ToldChoice, StructuredError> {
        loop {
            if asked.is_clients_call(&choice) {
                return Ok(ToldChoice::own(choice));
            }
            match self.settle_step(caller, task, dialogue, &choice, run).await {
                Ok(ControlFlow::Break(value)) => return Ok(ToldChoice::of(asked, &value)),
                Ok(ControlFlow::Continue(next)) => choice = next,
                Err(StructuredError::Unsolved(unsolved)) => {
                    return ToldChoice::of_cause(&unsolved.cause).ok_or(StructuredError::Unsolved(unsolved));
                }
                Err(error) => return Err(error),
            }
        }
    }
}
