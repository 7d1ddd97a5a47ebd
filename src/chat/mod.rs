//! Chat: renders prompts and has models answer them.
//!
//! - [`Chat`]: answers prompts and other chats; embeddings; the list of models, which includes prompts
//! - [`PromptRequest`]: the prompt that a request names, with its variables
//! - `aside`: variables beside the body; `follow_up`: the messages of the request, and where they go; `compose`: the request to the
//!   model

mod aside;
mod compose;
mod error;
mod follow_up;
mod request;

use std::sync::Arc;
use std::time::{Duration, Instant};

use serde_json::{Map as JsonMap, Value as Json, json};

pub use aside::{Aside, VARIABLES_HEADER};
pub use error::ChatError;
pub use request::{Api, PromptBody, PromptRequest};

use crate::catalog::{Catalog, PromptEntry};
use crate::llm::{Answer, Llm, LlmError, PROMPT, ResponseRequest, refuse_state, text_as_chat};
use crate::render::{Renderer, Report, Warning};
use crate::structured::Structured;
use aside::PromptName;
use base::caller::Caller;
use base::memory::BufferedBytes;
use base::model::Id;
use compose::{Asked, with_input};
use follow_up::FollowUp;
use template::value::RawObject;

/// The scene in the `supports` of prompts that are made for chats.
const SCENE: &str = "chat";

/// The chat service.
pub struct Chat {
    catalog: Arc<Catalog>,
    renderer: Arc<Renderer>,
    llm: Arc<Llm>,
    structured: Arc<Structured>,
    params: JsonMap<String, Json>,
}

/// An answer with its timings.
#[derive(Debug)]
pub struct ChatAnswer {
    /// The answer of the upstream.
    pub answer: Answer,
    /// The prompt that was rendered for it.
    pub rendered: Option<Rendering>,
    /// The time until the upstream's answer, or until a stream began.
    pub llm: Duration,
}

/// What is told of the render of a prompt that was answered.
#[derive(Debug)]
pub struct Rendering {
    /// The id of the prompt.
    pub id: Id,
    /// How long the render took.
    pub duration: Duration,
    /// The warnings about tool calls that failed.
    pub warnings: Vec<Warning>,
    /// The details, if the client asked for them.
    pub report: Option<Report>,
}

impl Chat {
    /// A chat service for the prompts of `catalog`; `params` are the parameters for requests and prompts that do not set them.
    pub fn new(
        catalog: Arc<Catalog>,
        renderer: Arc<Renderer>,
        llm: Arc<Llm>,
        structured: Arc<Structured>,
        params: JsonMap<String, Json>,
    ) -> Chat {
        Chat { catalog, renderer, llm, structured, params }
    }

    /// Answers a request in OpenAI's format: renders the prompt that it names, or passes the request on to its model as it is.
    ///
    /// # Errors
    /// [`ChatError`].
    pub async fn completion(
        &self,
        caller: &Caller,
        body: RawObject,
        aside: Aside,
    ) -> Result<ChatAnswer, ChatError> {
        match PromptRequest::in_openai_form(Api::Completions, body, aside)? {
            Ok(request) => self.prompt(caller, request).await,
            Err(body) => self.answer(caller, Asked::Completion(body), None).await,
        }
    }

    /// Answers a request of OpenAI's older completions API: a prompt that it names is answered by a chat, in which `prompt`, a
    /// text, is what the user says; any other request is passed on to its model.
    ///
    /// # Errors
    /// [`ChatError`].
    pub async fn text(
        &self,
        caller: &Caller,
        body: RawObject,
        aside: Aside,
    ) -> Result<ChatAnswer, ChatError> {
        match PromptRequest::in_openai_form(Api::Text, body, aside)? {
            Ok(request) => {
                let body = text_as_chat(&request.body)?;
                self.prompt(caller, PromptRequest { body, ..request }).await
            }
            Err(body) => self.answer(caller, Asked::Text(body), None).await,
        }
    }

    /// Answers a request of OpenAI's Responses API: renders the prompt that it names, or passes the request on to its model.
    ///
    /// # Errors
    /// [`ChatError`].
    pub async fn response(
        &self,
        caller: &Caller,
        body: RawObject,
        aside: Aside,
    ) -> Result<ChatAnswer, ChatError> {
        match PromptRequest::in_openai_form(Api::Responses, body, aside)? {
            Ok(request) => self.prompt(caller, request).await,
            Err(payload) => self.answer(caller, Asked::Response(ResponseRequest::plain(payload)), None).await,
        }
    }

    /// Renders a prompt, appends the request's messages, and has the model answer.
    ///
    /// # Errors
    /// [`ChatError`].
    pub async fn prompt(&self, caller: &Caller, request: PromptRequest) -> Result<ChatAnswer, ChatError> {
        let started = Instant::now();
        let PromptRequest { id, variables, body, api, explain } = request;
        if api == Api::Responses {
            refuse_state(&body)?;
        }
        let ticket = self.renderer.ticket(id.clone()).explained(explain);
        let mut follow_up = FollowUp::read(&body, api)?;
        let variables = with_input(variables.merged(ticket.prompt())?, ticket.prompt(), &mut follow_up);
        let mut rendered = self.renderer.render_admitted(caller, ticket, variables).await?;
        let asked = self.compose(caller, api, body, follow_up, &mut rendered).await?;
        let (warnings, report) = (std::mem::take(&mut rendered.warnings), rendered.report.take());
        let rendering = Rendering { id, duration: started.elapsed(), warnings, report };
        self.answer(caller, asked, Some(rendering)).await
    }

    /// Has a model embed texts.
    ///
    /// # Errors
    /// [`ChatError::Llm`].
    pub async fn embeddings(&self, caller: &Caller, body: &RawObject) -> Result<BufferedBytes, ChatError> {
        Ok(self.llm.embeddings(caller, body).await?)
    }

    /// All models in the format of OpenAI's list, followed by the prompts that support chats.
    pub async fn models(&self) -> Vec<RawObject> {
        let mut models = self.llm.models().await;
        let snapshot = self.catalog.snapshot();
        let prompts =
            snapshot.documents.prompts.values().filter(|entry| serves(entry) && supports_chat(entry));
        models.extend(prompts.filter_map(|entry| as_model(entry, snapshot.loaded_at)));
        models
    }

    /// The model or the prompt with this name, whether it is listed or not.
    ///
    /// # Errors
    /// [`LlmError::ModelNotFound`].
    pub async fn model(&self, name: &str) -> Result<RawObject, ChatError> {
        let found = match PromptName::read(name) {
            Some(name) => self.prompt_as_model(&name.id()?),
            None => {
                let has_name = |model: &RawObject| {
                    model.read("id").is_ok_and(|id: Option<String>| id.as_deref() == Some(name))
                };
                self.llm.models().await.into_iter().find(has_name)
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
        asked: Asked,
        rendered: Option<Rendering>,
    ) -> Result<ChatAnswer, ChatError> {
        let started = Instant::now();
        let emulated = match &asked {
            Asked::Completion(payload) => self.structured.emulate(caller, payload).await?,
            _ => None,
        };
        let answer = match emulated {
            Some(answer) => answer,
            None => self.llm.serve(caller, asked.request()).await?,
        };
        Ok(ChatAnswer { answer, rendered, llm: started.elapsed() })
    }
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
