//! An answer to a chat that is read while it comes, for those who show it to somebody and go on working with it.

use futures_util::StreamExt;
use reqwest::Response;

use super::attempt::{Attempt, AttemptError, Form};
use super::client_format::RequestOptions;
use super::completion::Completion;
use super::error::LlmError;
use super::form::Typed;
use super::log::Log;
use super::request::Request;
use super::retry::{Call, Reply};
use super::transport::DeclaredType;
use super::{AnswerStream, Llm, Streamed};
use base::caller::Caller;
use template::value::RawObject;

/// A stream, or the whole answer of an upstream that knows no streams.
struct Spoken;

enum SpokenAnswer {
    Stream(Response),
    Whole(Completion),
}

impl Form for Spoken {
    type Answer = SpokenAnswer;

    async fn read(attempt: &Attempt<'_>, response: Response) -> Result<SpokenAnswer, AttemptError> {
        if DeclaredType::read(response.headers()).may_be_events() {
            return Ok(SpokenAnswer::Stream(response));
        }
        Typed::read(attempt, response).await.map(|(completion, _)| SpokenAnswer::Whole(completion))
    }
}

impl Llm {
    /// Has a model answer a chat, and tells each piece of its text as it comes. The payload is that of a chat completion, without
    /// `stream`; routes, retries, fallbacks and limits are those of all calls.
    ///
    /// # Errors
    /// [`LlmError`], which is logged here, once.
    pub async fn speak(
        &self,
        caller: &Caller,
        payload: &RawObject,
        tell: impl FnMut(&str),
    ) -> Result<Completion, LlmError> {
        let log = self.log(caller, payload);
        let answer = self.spoken(caller, payload, &log, tell).await;
        match &answer {
            Ok(completion) => log.completion(completion),
            Err(error) => log.error(error),
        }
        answer
    }

    async fn spoken(
        &self,
        caller: &Caller,
        payload: &RawObject,
        log: &Log,
        mut tell: impl FnMut(&str),
    ) -> Result<Completion, LlmError> {
        let unwritable =
            |error: serde_json::Error| LlmError::Invalid { param: "stream", message: error.to_string() };
        let mut payload = payload.clone();
        payload.set("stream", &true).map_err(unwritable)?;
        let request = Request::Chat(&payload);
        let options = RequestOptions::of_chat(&payload, self.default_model())?;
        let call: Call<'_> = self.call(caller, request, &options.model);
        let events = match self.ask::<Spoken>(&call, self.chain(call.model)?).await? {
            Reply::Upstream { answer: SpokenAnswer::Whole(completion), .. } => {
                completion.choices.first().into_iter().for_each(|choice| tell(&choice.text));
                return Ok(completion);
            }
            Reply::Upstream { answer: SpokenAnswer::Stream(response), upstream, service, permit, .. } => {
                let streamed = Streamed { response, upstream, service, permit };
                self.events_of(&call, streamed, true, log).await
            }
            Reply::Echo(echo) => AnswerStream::ready(echo.events(true)),
        };
        self.heard(events, tell).await
    }

    /// Puts an answer together, and tells its pieces.
    async fn heard(
        &self,
        mut events: AnswerStream,
        mut tell: impl FnMut(&str),
    ) -> Result<Completion, LlmError> {
        let mut collector = self.collector();
        while let Some(events) = events.next().await {
            let added = collector.push(&events?)?;
            if !added.text.is_empty() {
                tell(&added.text);
            }
        }
        collector.completion()
    }
}
