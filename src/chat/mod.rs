//! Chat: a prompt rendered and answered by a model.
//!
//! - [`Chat`]: prompts and other chats answered; embeddings; the list of models, prompts among them
//! - [`PromptRequest`]: which prompt a request means, with which variables

mod error;
mod request;

use std::sync::Arc;
use std::time::{Duration, Instant};

use serde::Serialize;
use serde_json::value::{RawValue, to_raw_value};
use serde_json::{Map, Value as Json, json};

pub use error::ChatFailure;
pub use request::{PromptBody, PromptRequest};

use crate::catalog::{Catalog, PromptEntry};
use crate::content::{Conversation, Folded};
use crate::llm::{Answer, Llm, LlmError, PROMPT};
use crate::render::{Content, RenderedPrompt, Renderer};
use base::caller::Caller;
use base::memory::BufferedBytes;
use base::model::Id;
use base::pool::Lane;
use template::value::RawObject;

/// Members that only the request itself can have.
const OF_THE_REQUEST: [&str; 3] = ["messages", "stream", "stream_options"];

/// The scene that a prompt names when it is made for chats.
const SCENE: &str = "chat";

/// Has prompts, and other chats, answered by models.
pub struct Chat {
    catalog: Arc<Catalog>,
    renderer: Arc<Renderer>,
    llm: Arc<Llm>,
    params: Map<String, Json>,
}

/// An answer, and what it took.
#[derive(Debug)]
pub struct Answered {
    /// The answer.
    pub answer: Answer,
    /// The prompt that was rendered, and the time for it.
    pub rendered: Option<(Id, Duration)>,
    /// The time until the answer, or until a stream began.
    pub llm: Duration,
}

impl Chat {
    /// Chats over the prompts of `catalog`; `params` are sampling parameters that neither request nor prompt give.
    pub fn new(
        catalog: Arc<Catalog>,
        renderer: Arc<Renderer>,
        llm: Arc<Llm>,
        params: Map<String, Json>,
    ) -> Chat {
        Chat { catalog, renderer, llm, params }
    }

    /// Answers a request in OpenAI's form: by a prompt, if it means one, else by the model that it names, as it is.
    ///
    /// # Errors
    /// [`ChatFailure`].
    pub async fn completion(&self, caller: &Caller, body: RawObject) -> Result<Answered, ChatFailure> {
        match PromptRequest::in_openai_form(body)? {
            Ok(request) => self.prompt(caller, request).await,
            Err(body) => self.answer(caller, &body, None).await,
        }
    }

    /// Renders a prompt, appends the request's messages, and has the model answer.
    ///
    /// # Errors
    /// [`ChatFailure`].
    pub async fn prompt(&self, caller: &Caller, request: PromptRequest) -> Result<Answered, ChatFailure> {
        let started = Instant::now();
        let PromptRequest { id, variables, mut body } = request;
        let rendered = self.renderer.render(caller, &id, variables).await?;
        self.complete(&mut body, &rendered).await?;
        self.answer(caller, &body, Some((id, started.elapsed()))).await
    }

    /// Has a model embed texts.
    ///
    /// # Errors
    /// [`ChatFailure::Llm`].
    pub async fn embeddings(&self, caller: &Caller, body: &RawObject) -> Result<BufferedBytes, ChatFailure> {
        Ok(self.llm.embeddings(caller, body).await?)
    }

    /// All models, in the shape of OpenAI's list, and the prompts that can be asked like models.
    ///
    /// # Errors
    /// [`ChatFailure::Llm`].
    pub async fn models(&self) -> Result<Vec<RawObject>, ChatFailure> {
        let mut models = self.llm.models().await?;
        let snapshot = self.catalog.snapshot();
        let prompts =
            snapshot.documents.prompts.values().filter(|entry| serves(entry) && supports_chat(entry));
        models.extend(prompts.filter_map(|entry| as_model(entry, snapshot.loaded_at)));
        Ok(models)
    }

    /// One model of this name, or one prompt, listed or not.
    ///
    /// # Errors
    /// [`LlmError::ModelNotFound`].
    pub async fn model(&self, name: &str) -> Result<RawObject, ChatFailure> {
        let found = match name.strip_prefix(PROMPT) {
            Some(id) => self.prompt_as_model(&Id::parse(id)?),
            None => {
                let is_it = |model: &RawObject| {
                    model.read("id").is_ok_and(|id: Option<String>| id.as_deref() == Some(name))
                };
                self.llm.models().await?.into_iter().find(is_it)
            }
        };
        Ok(found.ok_or_else(|| LlmError::model_not_found(name))?)
    }

    fn prompt_as_model(&self, id: &Id) -> Option<RawObject> {
        let snapshot = self.catalog.snapshot();
        let entry = snapshot.prompt(id).filter(|entry| serves(entry))?;
        as_model(entry, snapshot.loaded_at)
    }

    async fn answer(
        &self,
        caller: &Caller,
        body: &RawObject,
        rendered: Option<(Id, Duration)>,
    ) -> Result<Answered, ChatFailure> {
        let started = Instant::now();
        let answer = self.llm.chat_completions(caller, body).await?;
        Ok(Answered { answer, rendered, llm: started.elapsed() })
    }

    /// Puts into a request what the prompt says: its messages before those of the request, and whatever else the request
    /// leaves open. Explicit nulls leave nothing open.
    async fn complete(&self, body: &mut RawObject, rendered: &RenderedPrompt) -> Result<(), ChatFailure> {
        let config = self.put_messages(body, rendered).await?;
        if body.read::<String>("model").is_ok_and(|model| model.is_none_or(|name| name.is_empty())) {
            body.remove("model");
        }
        let suggested = config.iter().chain(&rendered.prompt.params).chain(&self.params);
        let suggested = suggested.filter(|(name, _)| !OF_THE_REQUEST.contains(&name.as_str()));
        body.fill(suggested).map_err(unwritable)
    }

    /// Puts the prompt's messages, and then those of the request, into it; gives the parameters that they bring.
    async fn put_messages(
        &self,
        body: &mut RawObject,
        rendered: &RenderedPrompt,
    ) -> Result<Map<String, Json>, ChatFailure> {
        let more: Option<Vec<Box<RawValue>>> = body
            .read("messages")
            .map_err(|_| ChatFailure::invalid("messages", "must be a list of messages"))?;
        let more = more.unwrap_or_default();
        // Most prompts are neither followed by other messages nor made of content objects, and are written once.
        if more.is_empty() && !rendered.prompt.body.has_content_objects() {
            match &rendered.content {
                Content::Text(text) => body.set("messages", &[UserMessage::says(text)]),
                Content::Messages(messages) => body.set("messages", messages),
            }
            .map_err(unwritable)?;
            return Ok(Map::new());
        }
        let mut messages = written(&rendered.content)?;
        messages.extend(more);
        let conversation = self.unfolded(messages).await?;
        body.set("messages", &conversation.messages).map_err(unwritable)?;
        Ok(conversation.config)
    }

    /// The messages without content objects; in the pool, if schemas that they bring have to be checked.
    async fn unfolded(&self, messages: Vec<Box<RawValue>>) -> Result<Conversation, ChatFailure> {
        let folded = Folded::read(messages);
        let conversation = match folded.is_long() {
            true => self.renderer.run_in_pool(Lane::Long, move || folded.unfold()).await?,
            false => folded.unfold(),
        };
        Ok(conversation?)
    }
}

fn unwritable(error: serde_json::Error) -> ChatFailure {
    ChatFailure::invalid("messages", format!("cannot be written: {error}"))
}

#[derive(Serialize)]
struct UserMessage<'m> {
    role: &'static str,
    content: &'m str,
}

impl UserMessage<'_> {
    fn says(content: &str) -> UserMessage<'_> {
        UserMessage { role: "user", content }
    }
}

/// The rendered prompt as messages; a text is what the user says.
fn written(content: &Content) -> Result<Vec<Box<RawValue>>, ChatFailure> {
    let written = match content {
        Content::Text(text) => to_raw_value(&UserMessage::says(text)).map(|message| vec![message]),
        Content::Messages(messages) => messages.to_raw(),
    };
    written.map_err(unwritable)
}

fn serves(entry: &PromptEntry) -> bool {
    let available = entry.extension.as_ref().is_none_or(|extension| extension.unavailable.is_none());
    available && entry.prompt.is_some()
}

fn supports_chat(entry: &PromptEntry) -> bool {
    entry.prompt.as_ref().is_some_and(|prompt| prompt.supports.iter().any(|scene| scene == SCENE))
}

fn as_model(entry: &PromptEntry, created: u64) -> Option<RawObject> {
    let id = format!("{PROMPT}{}", entry.id);
    let model = json!({"id": id, "object": "model", "created": created, "owned_by": env!("CARGO_PKG_NAME")});
    serde_json::from_value(model).ok()
}
