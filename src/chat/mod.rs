//! Chat: renders prompts and has models answer them.
//!
//! - [`Chat`]: answers prompts and other chats; embeddings; the list of models, which includes prompts
//! - [`PromptRequest`]: the prompt that a request names, with its variables
//! - `aside`: variables beside the body; `follow_up`: the messages of the request, and where they go

mod aside;
mod error;
mod follow_up;
mod request;

use std::sync::Arc;
use std::time::{Duration, Instant};

use serde::Serialize;
use serde_json::value::{RawValue, to_raw_value};
use serde_json::{Map as JsonMap, Value as Json, json};

pub use aside::{Aside, VARIABLES_HEADER};
pub use error::ChatError;
pub use request::{Api, PromptBody, PromptRequest};

use crate::catalog::{Catalog, PromptEntry};
use crate::content::{Conversation, MessageList};
use crate::llm::{
    Answer, Llm, LlmError, PROMPT, Params, ResponseRequest, items_of_messages, refuse_state, text_as_chat,
};
use crate::render::{Content, RenderedPrompt, Renderer, Report, Warning};
use aside::PromptName;
use base::caller::Caller;
use base::memory::BufferedBytes;
use base::model::{Id, Prompt};
use base::pool::Lane;
use follow_up::FollowUp;
use template::value::{Map, RawObject, Value};

/// Members that come from the request alone, whatever a prompt or the settings say.
const REQUEST_ONLY: [&str; 3] = ["messages", "stream", "stream_options"];

/// The scene in the `supports` of prompts that are made for chats.
const SCENE: &str = "chat";

/// The chat service.
pub struct Chat {
    catalog: Arc<Catalog>,
    renderer: Arc<Renderer>,
    llm: Arc<Llm>,
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

/// What a model is asked for.
enum Asked {
    Completion(RawObject),
    Text(RawObject),
    /// A text completion by a chat.
    TextByChat(RawObject),
    Response(ResponseRequest),
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
        params: JsonMap<String, Json>,
    ) -> Chat {
        Chat { catalog, renderer, llm, params }
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
            Err(payload) => {
                let request = ResponseRequest { payload, chat_params: JsonMap::new() };
                self.answer(caller, Asked::Response(request), None).await
            }
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
        let asked = match api {
            Api::Completions => Asked::Completion(self.complete(body, follow_up, &rendered).await?),
            Api::Text => Asked::TextByChat(self.complete(body, follow_up, &rendered).await?),
            Api::Responses => Asked::Response(self.complete_response(body, follow_up, &rendered).await?),
        };
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
    ///
    /// # Errors
    /// [`ChatError::Llm`].
    pub async fn models(&self) -> Result<Vec<RawObject>, ChatError> {
        let mut models = self.llm.models().await?;
        let snapshot = self.catalog.snapshot();
        let prompts =
            snapshot.documents.prompts.values().filter(|entry| serves(entry) && supports_chat(entry));
        models.extend(prompts.filter_map(|entry| as_model(entry, snapshot.loaded_at)));
        Ok(models)
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
                self.llm.models().await?.into_iter().find(has_name)
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
        let answer = match &asked {
            Asked::Completion(body) => self.llm.chat_completions(caller, body).await?,
            Asked::Text(body) => self.llm.text_completions(caller, body).await?,
            Asked::TextByChat(body) => self.llm.text_by_chat(caller, body).await?,
            Asked::Response(request) => self.llm.responses(caller, request).await?,
        };
        Ok(ChatAnswer { answer, rendered, llm: started.elapsed() })
    }

    /// Completes a request with what the prompt says: its messages are put before those of the request, and its parameters
    /// fill in those that the request does not have. An explicit null counts as a value.
    async fn complete(
        &self,
        mut body: RawObject,
        follow_up: FollowUp,
        rendered: &RenderedPrompt,
    ) -> Result<RawObject, ChatError> {
        let config = self.put_messages(&mut body, follow_up, rendered).await?;
        remove_empty_model(&mut body);
        body.fill(self.defaults(&config, rendered)).map_err(unwritable)?;
        Ok(body)
    }

    /// The same for a request of the Responses API: the prompt's messages are items before those of the request.
    async fn complete_response(
        &self,
        mut payload: RawObject,
        follow_up: FollowUp,
        rendered: &RenderedPrompt,
    ) -> Result<ResponseRequest, ChatError> {
        let Conversation { messages, config } = self.expand(written(&rendered.content)?).await?;
        let read = |message: &RawValue| serde_json::from_str(message.get());
        let messages: Vec<Json> =
            messages.iter().map(|message| read(message)).collect::<Result<_, _>>().map_err(unwritable)?;
        let items = items_of_messages(&messages)
            .iter()
            .map(to_raw_value)
            .collect::<Result<_, _>>()
            .map_err(unwritable)?;
        payload.set("input", &follow_up.join(items)).map_err(unwritable)?;
        remove_empty_model(&mut payload);
        let Params { native, chat } = Params::of_chat(self.defaults(&config, rendered));
        payload.fill(native.iter()).map_err(unwritable)?;
        Ok(ResponseRequest { payload, chat_params: chat })
    }

    /// The parameters for a request that does not have them, the more important ones first.
    fn defaults<'d>(
        &'d self,
        config: &'d JsonMap<String, Json>,
        rendered: &'d RenderedPrompt,
    ) -> impl Iterator<Item = (&'d String, &'d Json)> {
        let defaults = config.iter().chain(&rendered.prompt.params).chain(&self.params);
        defaults.filter(|(name, _)| !REQUEST_ONLY.contains(&name.as_str()))
    }

    /// Sets the messages of a request: those of the prompt, with its own. Returns the parameters of `config` objects in them.
    async fn put_messages(
        &self,
        body: &mut RawObject,
        follow_up: FollowUp,
        rendered: &RenderedPrompt,
    ) -> Result<JsonMap<String, Json>, ChatError> {
        // The common case: neither further messages nor content objects. The rendered prompt is serialized once.
        if follow_up.is_empty() && !rendered.prompt.body.has_content_objects() {
            match &rendered.content {
                Content::Text(text) => body.set("messages", &[UserMessage::says(text)]),
                Content::Messages(messages) => body.set("messages", messages),
            }
            .map_err(unwritable)?;
            return Ok(JsonMap::new());
        }
        let messages = follow_up.join(written(&rendered.content)?);
        let conversation = self.expand(messages).await?;
        body.set("messages", &conversation.messages).map_err(unwritable)?;
        Ok(conversation.config)
    }

    /// Expands content objects; in the pool, if schemas in them have to be checked.
    async fn expand(&self, messages: Vec<Box<RawValue>>) -> Result<Conversation, ChatError> {
        let list = MessageList::parse(messages);
        let conversation = match list.has_schemas() {
            true => self.renderer.run_in_pool(Lane::Long, move || list.expand()).await?,
            false => list.expand(),
        };
        Ok(conversation?)
    }
}

/// An empty name of a model counts as none.
fn remove_empty_model(body: &mut RawObject) {
    if body.read::<String>("model").is_ok_and(|model| model.is_none_or(|name| name.is_empty())) {
        body.remove("model");
    }
}

/// The variables, with the last message of the user in the parameter that the prompt has for it. A variable that the request
/// gives wins; the message is an ordinary one then.
fn with_input(variables: Option<Value>, prompt: Option<&Prompt>, follow_up: &mut FollowUp) -> Option<Value> {
    let Some(name) = prompt.and_then(|prompt| prompt.input.as_deref()) else { return variables };
    let map = match &variables {
        None | Some(Value::Null) => Some(Map::default()),
        Some(Value::Map(map)) => Some((**map).clone()),
        Some(_) => None,
    };
    let Some(map) = map.filter(|map| map.get(name).is_none()) else { return variables };
    match follow_up.take_input() {
        Some(text) => Some(Value::from(map.with(name, Some(Value::from(text.as_str()))))),
        None => variables,
    }
}

fn unwritable(error: serde_json::Error) -> ChatError {
    ChatError::invalid("messages", format!("cannot be written: {error}"))
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

/// The rendered prompt as messages; a text becomes a message of the user.
fn written(content: &Content) -> Result<Vec<Box<RawValue>>, ChatError> {
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
