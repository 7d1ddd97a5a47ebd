//! OpenAI's `response_format` with a JSON Schema, for models that do not have it: the value is made in another way, and told in
//! OpenAI's format.
//!
//! What a model says by the client's own `response_format` is passed on as it came. A stream begins when the value is there, since
//! nothing of an answer can be taken back.

use std::sync::Arc;
use std::time::{Duration, SystemTime};

use bytes::Bytes;
use futures_util::StreamExt;
use serde_json::value::RawValue;

use super::error::{StructuredError, UnsolvedCause};
use super::run::Run;
use super::{Checks, Solved, Spent, Structured, Task};
use crate::llm::structured::{FUNCTION, StructuredRequest};
use crate::llm::{
    Answer, AnswerChoice, AnswerStream, AnswerWriter, Answered, Completion, DONE, Request, StreamedAnswer,
    Usage,
};
use base::caller::Caller;
use base::random::random;
use template::value::RawObject;

/// The kind of `response_format` that is emulated.
const KIND: &str = "json_schema";

/// What is told in OpenAI's format.
struct Told {
    model: String,
    choices: Vec<ToldChoice>,
    usage: Usage,
}

#[derive(Default)]
struct ToldChoice {
    text: Option<String>,
    refusal: Option<String>,
    finish_reason: &'static str,
}

impl Structured {
    /// Answers a chat completion whose `response_format` has a JSON Schema, if its model may not have that; `None` if there is nothing
    /// to emulate.
    ///
    /// # Errors
    /// [`StructuredError`].
    pub async fn emulate(
        &self,
        caller: &Caller,
        payload: &RawObject,
    ) -> Result<Option<Answer>, StructuredError> {
        let Some(schema) = self.asked_schema(payload) else { return Ok(None) };
        // What is wrong with the request is told when it is served.
        if self.llm.prospects(payload, None).map_or(true, |prospects| prospects.is_native) {
            return Ok(None);
        }
        let (schema, max_repairs) = (self.schema(schema.get()).await?, self.options.max_repairs);
        let checks = Checks::default();
        let task = Task { payload: Arc::new(payload.clone()), schema, strategy: None, checks, max_repairs };
        let is_stream = payload.find("stream").unwrap_or(false);
        let answer = self.in_time(async {
            let request = StructuredRequest { is_native: true, ..self.request(caller, &task).await? };
            match is_stream {
                true => self.emulate_stream(caller, &task, request).await,
                false => self.emulate_whole(caller, &task, request).await,
            }
        });
        answer.await.map(Some)
    }

    /// The schema of the `response_format`, if there is one to emulate.
    fn asked_schema(&self, payload: &RawObject) -> Option<Box<RawValue>> {
        let format: RawObject = payload.find("response_format").filter(|_| self.options.emulate)?;
        let is_schema = format.find::<String>("type").as_deref() == Some(KIND);
        format.find::<RawObject>(KIND).filter(|_| is_schema)?.find("schema")
    }

    async fn emulate_whole(
        &self,
        caller: &Caller,
        task: &Task,
        request: StructuredRequest,
    ) -> Result<Answer, StructuredError> {
        let mut run = Run::default();
        let answered = self.ask(caller, &request, &mut run).await?;
        if answered.origin.is_native || calls_client(&answered.completion) {
            return Ok(Answer::Whole(answered.body));
        }
        let told = told(self.settle(caller, task, request, answered, run).await)?;
        Ok(Answer::Whole(self.llm.buffered(told.whole())?))
    }

    async fn emulate_stream(
        &self,
        caller: &Caller,
        task: &Task,
        request: StructuredRequest,
    ) -> Result<Answer, StructuredError> {
        let include_usage = task.payload.find::<RawObject>("stream_options");
        let include_usage =
            include_usage.is_some_and(|options| options.find("include_usage").unwrap_or(false));
        let began = std::time::Instant::now();
        let streamed = self.llm.stream_answer(caller, Request::Structured(&request), include_usage).await?;
        let StreamedAnswer { mut events, origin } = streamed;
        if origin.is_native {
            return Ok(Answer::Stream(events));
        }
        let (mut collector, mut sent) = (self.llm.collector(), Vec::new());
        while let Some(event) = events.next().await {
            let event = event?;
            collector.push(&event)?;
            sent.push(event);
        }
        let completion = collector.completion();
        if calls_client(&completion) {
            return Ok(Answer::Stream(AnswerStream::ready(sent)));
        }
        drop(sent);
        let mut run = Run::default();
        run.answered(&origin, completion.usage, began.elapsed());
        let answered = Answered { completion, body: self.llm.buffered(Bytes::new())?, origin };
        let told = told(self.settle(caller, task, request, answered, run).await)?;
        Ok(Answer::Stream(AnswerStream::ready(told.events(include_usage))))
    }
}

/// Whether the model calls a function of the client, and does not answer yet.
fn calls_client(completion: &Completion) -> bool {
    let calls = completion.choices.first().map(|choice| choice.tool_calls.as_slice()).unwrap_or_default();
    !calls.is_empty() && calls.iter().all(|call| call.name != FUNCTION)
}

/// What is told of a value, or of the answers of which none was made; OpenAI has its own ways to tell that a model refuses, and that
/// an answer was cut.
fn told(solved: Result<Solved, StructuredError>) -> Result<Told, StructuredError> {
    match solved {
        Ok(Solved { solutions, origin, spent, .. }) => {
            let choice = |value| ToldChoice {
                text: Some(serde_json::to_string(value).unwrap_or_default()),
                finish_reason: "stop",
                ..ToldChoice::default()
            };
            let choices = solutions.iter().map(choice).collect();
            Ok(Told { model: origin.model, choices, usage: spent.usage })
        }
        Err(StructuredError::Unsolved(unsolved)) => {
            let choice = match &unsolved.cause {
                UnsolvedCause::Invalid { .. } => return Err(StructuredError::Unsolved(unsolved)),
                UnsolvedCause::Refused { is_filtered: true, .. } => {
                    ToldChoice { finish_reason: "content_filter", ..ToldChoice::default() }
                }
                UnsolvedCause::Refused { refusal, .. } => ToldChoice {
                    refusal: Some(refusal.clone()),
                    finish_reason: "stop",
                    ..ToldChoice::default()
                },
                UnsolvedCause::Truncated { answer } => ToldChoice {
                    text: Some(answer.clone()),
                    finish_reason: "length",
                    ..ToldChoice::default()
                },
            };
            let Spent { usage, .. } = unsolved.spent;
            let model = unsolved.report.last().map(|attempt| attempt.model.clone()).unwrap_or_default();
            Ok(Told { model, choices: vec![choice], usage })
        }
        Err(error) => Err(error),
    }
}

impl Told {
    fn whole(&self) -> Bytes {
        let id = id();
        let choices: Vec<AnswerChoice<'_>> = self.choices.iter().map(ToldChoice::written).collect();
        self.writer(&id).whole(&choices, &self.usage)
    }

    fn events(&self, include_usage: bool) -> Vec<Bytes> {
        let id = id();
        let writer = self.writer(&id);
        let mut events = vec![writer.first_event()];
        if let Some(choice) = self.choices.first() {
            events.extend(choice.text.as_deref().map(|text| writer.text_event(text)));
            events.extend(choice.refusal.as_deref().map(|refusal| writer.refusal_event(refusal)));
            events.push(writer.finish_event(choice.finish_reason));
        }
        if include_usage {
            events.push(writer.usage_event(&self.usage));
        }
        events.push(DONE.into());
        events
    }

    fn writer<'w>(&'w self, id: &'w str) -> AnswerWriter<'w> {
        let since = SystemTime::now().duration_since(SystemTime::UNIX_EPOCH).unwrap_or(Duration::ZERO);
        AnswerWriter { id, model: &self.model, created: since.as_secs() }
    }
}

impl ToldChoice {
    fn written(&self) -> AnswerChoice<'_> {
        AnswerChoice {
            text: self.text.as_deref(),
            refusal: self.refusal.as_deref(),
            finish_reason: self.finish_reason,
        }
    }
}

fn id() -> String {
    format!("chatcmpl-{:016x}", random())
}
