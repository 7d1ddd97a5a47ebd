//! A value as it grows: parts of it, the elements of a list, and in the end the value.

use std::collections::VecDeque;
use std::sync::Arc;
use std::time::Instant;

use futures_util::stream::{LocalBoxStream, StreamExt, unfold};
use tokio::time::timeout_at;

use super::growing::{GrowingAnswer, News};
use super::judge::{Fit, GivenAnswer, Verdict};
use super::run::Run;
use super::{Solved, Structured, StructuredError, Task};
use crate::llm::Request;
use crate::llm::structured::StructuredRequest;
use base::caller::Caller;
use base::schema::Violation;
use template::value::Value;

/// What is told of a value that grows; `S` is what is told in the end.
#[derive(Debug)]
pub enum SolutionEvent<S> {
    /// The value as far as it has come.
    Partial(Value),
    /// The next element of a value that is a list.
    Item(Value),
    /// What came so far does not fit: the model is asked again, and its value begins anew.
    Repair {
        /// The number of the attempt that begins, from 1.
        attempt: usize,
        /// What was wrong.
        violations: Vec<Violation>,
    },
    /// The value that fits.
    Solution(Box<S>),
}

/// The events of one request; the last one is the solution, or an error.
pub type SolutionStream = LocalBoxStream<'static, Result<SolutionEvent<Solved>, StructuredError>>;

impl Structured {
    /// Has the model answer as a stream until its answer fits. The first answer has begun when this returns.
    ///
    /// # Errors
    /// [`StructuredError`], also as the last event.
    pub async fn stream(
        self: &Arc<Self>,
        caller: Caller,
        task: Task,
    ) -> Result<SolutionStream, StructuredError> {
        let deadline = Instant::now() + self.options.timeout;
        let request = self.stream_request(&caller, &task).await?;
        let service = self.clone();
        let run = Run::default();
        let mut growing = Growing {
            service,
            caller,
            task,
            request,
            run,
            deadline,
            phase: Phase::Asking,
            ready: VecDeque::new(),
        };
        growing.in_time(Growing::begin).await?;
        Ok(unfold(growing, |mut growing| async move { Some((growing.next().await?, growing)) }).boxed_local())
    }

    /// The first request to the model for an answer that is a stream.
    ///
    /// # Errors
    /// If there is no such model, or it does not have the strategy.
    pub(super) async fn stream_request(
        &self,
        caller: &Caller,
        task: &Task,
    ) -> Result<StructuredRequest, StructuredError> {
        let mut request = self.request(caller, task).await?;
        let unwritable = |error: serde_json::Error| crate::llm::LlmError::Invalid {
            param: "params",
            message: format!("cannot be written: {error}"),
        };
        let payload = Arc::make_mut(&mut request.payload);
        payload.set("stream", &true).map_err(unwritable)?;
        payload.set("stream_options", &serde_json::json!({"include_usage": true})).map_err(unwritable)?;
        Ok(request)
    }
}

/// A request that is under way.
struct Growing {
    service: Arc<Structured>,
    caller: Caller,
    task: Task,
    request: StructuredRequest,
    run: Run,
    deadline: Instant,
    phase: Phase,
    /// Events that are still to be told.
    ready: VecDeque<SolutionEvent<Solved>>,
}

/// What comes next.
enum Phase {
    /// The model is asked.
    Asking,
    /// Its answer is read.
    Reading(Box<GrowingAnswer>),
    /// Nothing.
    Over,
}

impl Growing {
    /// Asks the model.
    async fn begin(&mut self) -> Result<(), StructuredError> {
        let (began, llm) = (Instant::now(), &self.service.llm);
        let asked = Request::Structured(&self.request);
        let streamed = llm.stream_answer(&self.caller, asked, true).await?;
        let answer = GrowingAnswer::new(&self.request, streamed, llm.collector(), llm.reservation(), began);
        self.phase = Phase::Reading(Box::new(answer));
        Ok(())
    }

    /// The next event; none after the last one.
    async fn next(&mut self) -> Option<Result<SolutionEvent<Solved>, StructuredError>> {
        loop {
            if let Some(event) = self.ready.pop_front() {
                return Some(Ok(event));
            }
            if let Phase::Over = self.phase {
                return None;
            }
            if let Err(error) = self.in_time(Growing::step).await {
                self.phase = Phase::Over;
                return Some(Err(error));
            }
        }
    }

    /// Does the work within the time for the request.
    async fn in_time(
        &mut self,
        work: impl AsyncFnOnce(&mut Growing) -> Result<(), StructuredError>,
    ) -> Result<(), StructuredError> {
        let milliseconds = self.service.options.timeout.as_millis();
        let done = timeout_at(self.deadline.into(), work(self)).await;
        done.map_err(|_| StructuredError::Timeout { milliseconds })?
    }

    /// Asks the model, or reads what comes next, or what the whole answer says.
    async fn step(&mut self) -> Result<(), StructuredError> {
        let answer = match &mut self.phase {
            Phase::Asking => return self.begin().await,
            Phase::Reading(answer) => answer,
            Phase::Over => return Ok(()),
        };
        let Some(events) = answer.events.next().await else { return self.finish().await };
        let News { items, part } = answer.take(&events?, &self.service).await?;
        self.ready.extend(items.into_iter().map(SolutionEvent::Item));
        self.ready.extend(part.map(SolutionEvent::Partial));
        Ok(())
    }

    async fn finish(&mut self) -> Result<(), StructuredError> {
        let Phase::Reading(mut answer) = std::mem::replace(&mut self.phase, Phase::Over) else {
            return Ok(());
        };
        let told = answer.told.take();
        let (choice, attempt) = answer.finish(&mut self.run)?;
        let answer = GivenAnswer { choice, at: 0, attempt };
        let (service, request) = (self.service.clone(), &mut self.request);
        match service.judge(&self.caller, &self.task, request, answer, &mut self.run).await? {
            Verdict::Fits(Fit { value, origin, held }) => {
                if told.as_ref() != Some(&value) {
                    self.ready.push_back(SolutionEvent::Partial(value.clone()));
                }
                let Run { spent, report } = std::mem::take(&mut self.run);
                let solved = Solved { solutions: vec![value], origin, spent, report, held: vec![held] };
                self.ready.push_back(SolutionEvent::Solution(Box::new(solved)));
                Ok(())
            }
            Verdict::SentBack(violations) => {
                let attempt = self.run.spent.attempts + 1;
                self.ready.push_back(SolutionEvent::Repair { attempt, violations });
                self.phase = Phase::Asking;
                Ok(())
            }
        }
    }
}
