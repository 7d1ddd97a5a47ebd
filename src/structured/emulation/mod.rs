//! What OpenAI's clients ask for, for models that do not have it: the value is made in another way, and told in OpenAI's format.
//!
//! - `asked`: text by a JSON Schema, any JSON object, a call that has to be made; `functions`: those that the client offers
//! - `settle`: the choices of an answer; `told`: they in OpenAI's format
//!
//! What a model says by the client's own request is passed on as it came, and has the limits of a chat alone. Otherwise a stream
//! begins when the value is there, since nothing of an answer can be taken back.

mod asked;
mod functions;
mod settle;
mod told;

use std::pin::pin;
use std::sync::Arc;
use std::time::Instant;

use futures_util::StreamExt;
use futures_util::future::{Either, select};
use tokio::sync::Notify;
use tokio::time::sleep;

use super::error::StructuredError;
use super::run::{AnswerOrigin, Run};
use super::{Checks, First, Given, Structured, Task};
use crate::llm::structured::StructuredRequest;
use crate::llm::{Answer, AnswerStream, Completion, KeptEvents, LlmError, Request, StreamedAnswer};
use asked::Asked;
use base::caller::Caller;
use template::value::RawObject;

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
        let Ok(prospects) = self.llm.prospects(payload, asked.plan()) else { return Ok(None) };
        if prospects.is_native {
            return Ok(None);
        }
        let schema = match self.schema(asked.schema()).await {
            // It is for the upstream to say what it takes.
            Err(StructuredError::Schema { .. }) if prospects.may_be_native => return Ok(None),
            schema => schema.map_err(|error| asked.naming_member(error))?,
        };
        let is_stream = payload.find("stream").unwrap_or(false);
        if is_stream && has_several_choices(payload) && !prospects.may_be_native {
            return Err(several_choices().into());
        }
        let (plan, checks, max_repairs) = (asked.plan(), Checks::default(), self.options.max_repairs);
        let task = Task { payload: Arc::new(payload.clone()), schema, plan, checks, max_repairs };
        let emulation = Arc::new(Notify::new());
        let request = self.request(caller, &task).await?;
        let request = StructuredRequest { emulation: Some(emulation.clone()), ..request };
        let emulated = Emulated { asked: &asked, task: &task, request };
        let answer = async {
            match is_stream {
                true => self.emulate_stream(caller, emulated).await,
                false => self.emulate_whole(caller, emulated).await,
            }
        };
        self.emulate_in_time(&emulation, answer).await.map(Some)
    }

    /// Does the work; once the model is asked in another way than the client's, within the time for one request.
    async fn emulate_in_time(
        &self,
        emulation: &Notify,
        answer: impl Future<Output = Result<Answer, StructuredError>>,
    ) -> Result<Answer, StructuredError> {
        let limit = self.options.timeout;
        let end = async {
            emulation.notified().await;
            sleep(limit).await;
        };
        match select(pin!(answer), pin!(end)).await {
            Either::Left((answer, _)) => answer,
            Either::Right(_) => Err(StructuredError::Timeout { milliseconds: limit.as_millis() }),
        }
    }

    async fn emulate_whole(
        &self,
        caller: &Caller,
        emulated: Emulated<'_>,
    ) -> Result<Answer, StructuredError> {
        let mut run = Run::default();
        let Emulated { asked, task, request } = emulated;
        let Given { completion, body, attempt } = self.ask(caller, &request, &mut run).await?;
        let is_own = completion.choices.iter().all(|choice| asked.is_clients_call(choice));
        if attempt.origin.is_native || is_own {
            return Ok(Answer::Whole(body));
        }
        drop(body);
        let first = First { request, completion, attempt, run };
        let told = self.settle_emulated(caller, asked, task, first).await?;
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
        if has_several_choices(&task.payload) {
            return Err(several_choices().into());
        }
        let kept = asked.may_call_clients().then(|| self.llm.kept_events());
        let (completion, kept) = self.collect(&mut events, kept).await?;
        let is_own = completion.choices.iter().all(|choice| asked.is_clients_call(choice));
        if let Some(kept) = kept.filter(|_| is_own) {
            return Ok(Answer::Stream(kept.stream()?));
        }
        let mut run = Run::default();
        let attempt = run.answered(origin, completion.usage, began.elapsed());
        let first = First { request, completion, attempt, run };
        let told = self.settle_emulated(caller, asked, task, first).await?;
        Ok(Answer::Stream(AnswerStream::buffered(self.llm.buffered(told.events(include_usage))?)))
    }

    /// What a stream says; its events go into `kept`, if they may be passed on.
    async fn collect(
        &self,
        events: &mut AnswerStream,
        mut kept: Option<KeptEvents>,
    ) -> Result<(Completion, Option<KeptEvents>), StructuredError> {
        let mut collector = self.llm.collector();
        while let Some(event) = events.next().await {
            let event = event?;
            collector.push(&event)?;
            if let Some(kept) = &mut kept {
                kept.push(event)?;
            }
        }
        Ok((collector.completion()?, kept))
    }
}

/// Whether a request asks for several choices.
fn has_several_choices(payload: &RawObject) -> bool {
    payload.find::<u64>("n").is_some_and(|choices| choices > 1)
}

fn several_choices() -> LlmError {
    let message =
        "must be 1 in a stream of a model that lacks what is asked for; ask for the answers as a whole";
    LlmError::Invalid { param: "n", message: message.to_owned() }
}
