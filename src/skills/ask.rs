//! One answer of the model: asked for, read, and asked for once more if it is no directive.

use tokio::time::timeout;

use super::body::Frozen;
use super::steps::state_json;
use super::{SkillError, Skills};
use crate::llm::{Completion, FinishReason, LlmError, Request};
use crate::sessions::{EventKind, SessionState, Work};
use base::caller::Caller;
use dialogue::{Answer, AnswerError, Asking, Directive, Message, read};
use template::value::RawObject;

/// How often the model is asked for an answer that can be used.
const ATTEMPTS: usize = 2;

impl Skills {
    /// Asks the model.
    ///
    /// # Errors
    /// [`SkillError`].
    pub(super) async fn ask(
        &self,
        caller: &Caller,
        work: &mut Work,
        frozen: &Frozen,
        asking: &Asking,
    ) -> Result<Directive, SkillError> {
        let mut max_tokens = frozen.max_tokens;
        let mut cause = String::new();
        for _ in 0..ATTEMPTS {
            work.extend(self.options.timeout).await?;
            let thinking = state_json(SessionState::Thinking, asking.dialogue().step());
            work.teller().tell(EventKind::State, thinking);
            let request = Self::request(frozen, asking, max_tokens)?;
            let given = self.completion(caller, work, &request).await?;
            match directive(given, frozen) {
                Ok(directive) => return Ok(directive),
                Err(Unusable::Answer(error)) => {
                    if error == AnswerError::Cut {
                        max_tokens = frozen.max_tokens.saturating_mul(2);
                    }
                    cause = error.to_string();
                }
                Err(Unusable::Refusal(refusal)) => cause = format!("the model refuses: {refusal}"),
            }
        }
        Err(SkillError::AnswerUnusable { cause })
    }

    /// The body for the upstream.
    fn request(frozen: &Frozen, asking: &Asking, max_tokens: u64) -> Result<RawObject, LlmError> {
        let unwritable = |error: serde_json::Error| LlmError::Invalid {
            param: "params",
            message: format!("cannot be written: {error}"),
        };
        let mut messages = vec![Message::system(&frozen.system)];
        messages.extend(asking.messages(frozen.history));
        let mut body = RawObject::default();
        if let Some(model) = &frozen.model {
            body.set("model", model).map_err(unwritable)?;
        }
        body.set("messages", &messages).map_err(unwritable)?;
        body.set("temperature", &frozen.temperature).map_err(unwritable)?;
        body.set("max_tokens", &max_tokens).map_err(unwritable)?;
        let is_free = |name: &str| !["stream", "stream_options", "n"].contains(&name);
        body.fill(frozen.params.iter().filter(|(name, _)| is_free(name))).map_err(unwritable)?;
        Ok(body)
    }

    /// The model's answer; unless a client ends the session, and in time.
    async fn completion(
        &self,
        caller: &Caller,
        work: &mut Work,
        request: &RawObject,
    ) -> Result<Completion, SkillError> {
        let time = self.options.timeout;
        let told = work.is_watched().then(|| work.teller());
        let answer = async {
            match told {
                Some(told) => self.llm.speak(caller, request, |text| told.tell(EventKind::Delta, text)).await,
                None => Ok(self.llm.answer(caller, Request::Chat(request)).await?.completion),
            }
        };
        match work.unless_ended(timeout(time, answer)).await? {
            Ok(answer) => Ok(answer?),
            Err(_) => Err(SkillError::Timeout(time)),
        }
    }
}

/// Why an answer cannot be used.
enum Unusable {
    Answer(AnswerError),
    Refusal(String),
}

/// The directive of an answer.
fn directive(completion: Completion, frozen: &Frozen) -> Result<Directive, Unusable> {
    let choice = completion.choices.into_iter().next().unwrap_or_default();
    if let Some(refusal) = choice.refusal.filter(|_| choice.text.trim().is_empty()) {
        return Err(Unusable::Refusal(refusal));
    }
    let answer = Answer { text: &choice.text, is_cut: choice.finish_reason == Some(FinishReason::Length) };
    read(answer, frozen.unknown_format).map_err(Unusable::Answer)
}
