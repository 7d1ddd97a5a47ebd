//! A value as it grows: parts of it, the elements of a list, and in the end the value.

use std::collections::VecDeque;
use std::sync::Arc;
use std::time::Instant;

use futures_util::stream::{LocalBoxStream, StreamExt, unfold};
use tokio::time::timeout_at;

use super::partial::PartialReader;
use super::reading::Useless;
use super::run::Run;
use super::{Solved, Structured, StructuredError, Task};
use crate::llm::structured::StructuredRequest;
use crate::llm::{AnswerOrigin, AnswerStream, Collector, Request, StreamedAnswer};
use base::caller::Caller;
use base::schema::Violation;
use template::value::Value;

/// A part is told when this share of it is new, so that all parts together are not much longer than the value.
const SHARE: usize = 16;

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
        let mut growing =
            Growing { service, caller, task, request, run, deadline, answer: None, ready: VecDeque::new() };
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
    /// The answer that is being read; `None` at the end.
    answer: Option<GrowingAnswer>,
    /// Events that are still to be told.
    ready: VecDeque<SolutionEvent<Solved>>,
}

/// An answer that is being read.
struct GrowingAnswer {
    events: AnswerStream,
    origin: AnswerOrigin,
    collector: Collector,
    partial: PartialReader,
    began: Instant,
    /// How much of the text had come when a part was told last.
    told_at: usize,
    /// The last part that was told.
    told: Option<Value>,
}

impl Growing {
    /// Asks the model.
    async fn begin(&mut self) -> Result<(), StructuredError> {
        let (began, llm) = (Instant::now(), &self.service.llm);
        let asked = Request::Structured(&self.request);
        let StreamedAnswer { events, origin } = llm.stream_answer(&self.caller, asked, true).await?;
        self.answer = Some(GrowingAnswer {
            events,
            origin,
            collector: llm.collector(),
            partial: PartialReader::new(self.task.schema.output.wrapper()),
            began,
            told_at: 0,
            told: None,
        });
        Ok(())
    }

    /// The next event; none after the last one.
    async fn next(&mut self) -> Option<Result<SolutionEvent<Solved>, StructuredError>> {
        loop {
            if let Some(event) = self.ready.pop_front() {
                return Some(Ok(event));
            }
            self.answer.as_ref()?;
            if let Err(error) = self.in_time(Growing::step).await {
                self.answer = None;
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

    /// Reads what comes next, or what the whole answer says.
    async fn step(&mut self) -> Result<(), StructuredError> {
        let Some(answer) = &mut self.answer else { return Ok(()) };
        match answer.events.next().await {
            Some(events) => {
                let events = events?;
                answer.take(&events, &self.task, &mut self.ready)
            }
            None => self.finish().await,
        }
    }

    async fn finish(&mut self) -> Result<(), StructuredError> {
        let Some(answer) = self.answer.take() else { return Ok(()) };
        let completion = answer.collector.completion();
        self.run.answered(&answer.origin, completion.usage, answer.began.elapsed());
        let choice = completion.choices.into_iter().next().unwrap_or_default();
        let reading = self.service.read(&self.caller, &self.task, &choice, answer.origin.strategy).await?;
        self.run.read(0, &choice, &reading);
        match reading {
            Ok(value) => {
                if answer.told.as_ref() != Some(&value) {
                    self.ready.push_back(SolutionEvent::Partial(value.clone()));
                }
                let Run { spent, report, .. } = std::mem::take(&mut self.run);
                let solved = Solved { solutions: vec![value], origin: answer.origin, spent, report };
                self.ready.push_back(SolutionEvent::Solution(Box::new(solved)));
                Ok(())
            }
            Err(Useless::Invalid(invalid)) if self.request.failed.len() < self.task.max_repairs => {
                let (attempt, violations) = (self.run.spent.attempts + 1, invalid.violations.clone());
                self.ready.push_back(SolutionEvent::Repair { attempt, violations });
                let failed = self.service.complain(&self.caller, invalid).await?;
                self.request.failed.push(failed);
                self.begin().await
            }
            Err(useless) => Err(self.run.unsolved(useless).into()),
        }
    }
}

impl GrowingAnswer {
    /// Takes events of the upstream, and tells what they add.
    fn take(
        &mut self,
        events: &[u8],
        task: &Task,
        ready: &mut VecDeque<SolutionEvent<Solved>>,
    ) -> Result<(), StructuredError> {
        let added = self.collector.push(events)?;
        let piece = if added.arguments.is_empty() { added.text } else { added.arguments };
        if piece.is_empty() {
            return Ok(());
        }
        self.partial.push(&piece);
        let (schema, strategy) = (&task.schema.output, self.origin.strategy);
        for item in self.partial.take_items() {
            let list = Value::from(vec![item]);
            if let Value::List(items) = schema.meaning_of_part(&list, strategy) {
                ready.extend(items.iter().map(|item| SolutionEvent::Item(item.clone())));
            }
        }
        if self.partial.bytes() >= self.told_at + (self.told_at / SHARE).max(1)
            && let Some(value) = self.partial.value().map(|part| schema.meaning_of_part(&part, strategy))
            && self.told.as_ref() != Some(&value)
        {
            self.told_at = self.partial.bytes();
            self.told = Some(value.clone());
            ready.push_back(SolutionEvent::Partial(value));
        }
        Ok(())
    }
}
