//! What OpenAI's clients ask for, for models that do not have it: the value is made in another way, and told in OpenAI's format.
//!
//! - `asked`: text by a JSON Schema, any JSON object, a call that has to be made; `told`: the value in OpenAI's format
//!
//! What a model says by the client's own request is passed on as it came. Otherwise a stream begins when the value is there, since
//! nothing of an answer can be taken back.

mod asked;
mod told;

use std::sync::Arc;
use std::time::Instant;

use futures_util::StreamExt;

use super::error::StructuredError;
use super::run::{AnswerOrigin, Run};
use super::{Checks, First, Given, Structured, Task};
use crate::llm::structured::{FUNCTION, StructuredRequest};
use crate::llm::{Answer, AnswerStream, Completion, Request, StreamedAnswer};
use asked::Asked;
use base::caller::Caller;
use template::value::RawObject;
use told::Told;

/// A request that is emulated.
struct Emulated<'e> {
    asked: &'e Asked,
    task: &'e Task,
    request: StructuredRequest,
}

impl Structured {
    /// Answers a chat completion, if it asks for something that its model may not have; `None` if there is nothing to emulate.
    ///
    /// # Errors
    /// [`StructuredError`].
    pub async fn emulate(
        &self,
        caller: &Caller,
        payload: &RawObject,
    ) -> Result<Option<Answer>, StructuredError> {
        let Some(asked) = Asked::read(payload).filter(|_| self.options.emulate) else { return Ok(None) };
        // What is wrong with the request is told when it is served.
        if self.llm.prospects(payload, asked.plan()).map_or(true, |prospects| prospects.is_native) {
            return Ok(None);
        }
        let (schema, max_repairs) = (self.schema(asked.schema()).await?, self.options.max_repairs);
        let (plan, checks) = (asked.plan(), Checks::default());
        let task = Task { payload: Arc::new(payload.clone()), schema, plan, checks, max_repairs };
        let is_stream = payload.find("stream").unwrap_or(false);
        let answer = self.in_time(async {
            let emulated =
                Emulated { asked: &asked, task: &task, request: self.request(caller, &task).await? };
            match is_stream {
                true => self.emulate_stream(caller, emulated).await,
                false => self.emulate_whole(caller, emulated).await,
            }
        });
        answer.await.map(Some)
    }

    async fn emulate_whole(
        &self,
        caller: &Caller,
        emulated: Emulated<'_>,
    ) -> Result<Answer, StructuredError> {
        let Emulated { asked, task, request } = emulated;
        let mut run = Run::default();
        let Given { completion, body, attempt } = self.ask(caller, &request, &mut run).await?;
        if attempt.origin.is_native || calls_client(asked, &completion) {
            return Ok(Answer::Whole(body));
        }
        drop(body);
        let first = First { request, completion, attempt, run };
        let told = Told::of(asked, self.settle(caller, task, first).await)?;
        Ok(Answer::Whole(self.llm.buffered(told.whole())?))
    }

    async fn emulate_stream(
        &self,
        caller: &Caller,
        emulated: Emulated<'_>,
    ) -> Result<Answer, StructuredError> {
        let Emulated { asked, task, request } = emulated;
        let options: Option<RawObject> = task.payload.find("stream_options");
        let include_usage = options.is_some_and(|options| options.find("include_usage").unwrap_or(false));
        let began = Instant::now();
        let streamed = self.llm.stream_answer(caller, Request::Structured(&request), include_usage).await?;
        let StreamedAnswer { mut events, model, way } = streamed;
        let origin = AnswerOrigin::of(&request, model, way);
        if origin.is_native {
            return Ok(Answer::Stream(events));
        }
        let (mut collector, mut sent) = (self.llm.collector(), Vec::new());
        while let Some(event) = events.next().await {
            let event = event?;
            collector.push(&event)?;
            sent.push(event);
        }
        let completion = collector.completion()?;
        if calls_client(asked, &completion) {
            return Ok(Answer::Stream(AnswerStream::ready(sent)));
        }
        drop(sent);
        let mut run = Run::default();
        let attempt = run.answered(origin, completion.usage, began.elapsed());
        let first = First { request, completion, attempt, run };
        let told = Told::of(asked, self.settle(caller, task, first).await)?;
        Ok(Answer::Stream(AnswerStream::ready(told.events(include_usage))))
    }
}

/// Whether the model calls a function of the client, and does not answer yet.
fn calls_client(asked: &Asked, completion: &Completion) -> bool {
    let calls = completion.choices.first().map(|choice| choice.tool_calls.as_slice()).unwrap_or_default();
    matches!(asked, Asked::Value { .. })
        && !calls.is_empty()
        && calls.iter().all(|call| call.name != FUNCTION)
}
