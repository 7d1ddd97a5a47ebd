//! What goes to the model: the request, completed with what its prompt says.

use serde::Serialize;
use serde_json::value::RawValue;
use serde_json::{Map as JsonMap, Value as Json};

use super::Chat;
use super::aside::typed;
use super::error::ChatError;
use super::follow_up::{FollowUp, Given};
use super::request::Api;
use crate::content::{Conversation, MessageList};
use crate::llm::{Params, Request, ResponseRequest, Turn};
use crate::render::{Content, Expansion, RenderedPrompt};
use base::caller::Caller;
use base::model::Prompt;
use template::value::{Map, RawObject, Value};

/// Members that come from the request alone, whatever a prompt or the settings say.
const REQUEST_ONLY: [&str; 3] = ["messages", "stream", "stream_options"];

/// What a model is asked for.
pub enum Asked {
    /// A chat completion.
    Completion(RawObject),
    /// A text completion.
    Text(RawObject),
    /// A text completion by a chat.
    TextByChat(RawObject),
    /// A response.
    Response(ResponseRequest),
}

impl Asked {
    /// The request to the model.
    pub fn request(&self) -> Request<'_> {
        match self {
            Asked::Completion(body) => Request::Chat(body),
            Asked::Text(body) => Request::Text(body),
            Asked::TextByChat(body) => Request::TextByChat(body),
            Asked::Response(request) => Request::Response(request),
        }
    }
}

impl Chat {
    /// Completes a request for a prompt, in the format of `api`. Warnings about the prompts of content objects are added to those
    /// of the prompt.
    ///
    /// # Errors
    /// [`ChatError`] if the messages have content objects that cannot be expanded.
    pub(super) async fn compose(
        &self,
        caller: &Caller,
        api: Api,
        body: RawObject,
        follow_up: FollowUp,
        rendered: &mut RenderedPrompt,
    ) -> Result<Asked, ChatError> {
        Ok(match api {
            Api::Completions => Asked::Completion(self.complete(caller, body, follow_up, rendered).await?),
            Api::Text => Asked::TextByChat(self.complete(caller, body, follow_up, rendered).await?),
            Api::Responses => {
                Asked::Response(self.complete_response(caller, body, follow_up, rendered).await?)
            }
        })
    }

    /// Completes a request with what the prompt says: its messages are put before those of the request, and its parameters
    /// fill in those that the request does not have. An explicit null counts as a value.
    async fn complete(
        &self,
        caller: &Caller,
        mut body: RawObject,
        follow_up: FollowUp,
        rendered: &mut RenderedPrompt,
    ) -> Result<RawObject, ChatError> {
        let config = self.put_messages(caller, &mut body, follow_up, rendered).await?;
        remove_empty_model(&mut body);
        body.fill(self.defaults(&config, rendered)).map_err(unwritable)?;
        Ok(body)
    }

    /// The same for a request of the Responses API.
    async fn complete_response(
        &self,
        caller: &Caller,
        mut payload: RawObject,
        follow_up: FollowUp,
        rendered: &mut RenderedPrompt,
    ) -> Result<ResponseRequest, ChatError> {
        let messages = rendered.content.to_raw_messages().map_err(unwritable)?;
        let Conversation { messages, config, .. } = self.expand(caller, messages, rendered).await?;
        let turns =
            follow_up.arrange(messages, Turn::Message, |Given { at, message }| Turn::Item(at, message));
        remove_empty_model(&mut payload);
        let params = Params::of_chat(self.defaults(&config, rendered));
        ResponseRequest::of_prompt(payload, turns, params).map_err(unwritable)
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
        caller: &Caller,
        body: &mut RawObject,
        follow_up: FollowUp,
        rendered: &mut RenderedPrompt,
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
        let messages = follow_up.join(rendered.content.to_raw_messages().map_err(unwritable)?);
        let conversation = self.expand(caller, messages, rendered).await?;
        body.set("messages", &conversation.messages).map_err(unwritable)?;
        Ok(conversation.config)
    }

    /// Expands content objects; warnings are added to those of the prompt.
    async fn expand(
        &self,
        caller: &Caller,
        messages: Vec<Box<RawValue>>,
        rendered: &mut RenderedPrompt,
    ) -> Result<Conversation, ChatError> {
        let list = MessageList::of_chat(messages);
        let Expansion { conversation, warnings } = self.renderer.expand(caller, list).await?;
        rendered.warnings.extend(warnings);
        Ok(conversation)
    }
}

/// An empty name of a model counts as none.
fn remove_empty_model(body: &mut RawObject) {
    if body.read::<String>("model").is_ok_and(|model| model.is_none_or(|name| name.is_empty())) {
        body.remove("model");
    }
}

/// The variables, with the last message of the user in the parameter that the prompt has for it, as a value of its type. A
/// variable that the request gives wins; the message is an ordinary one then.
pub fn with_input(
    variables: Option<Value>,
    prompt: Option<&Prompt>,
    follow_up: &mut FollowUp,
) -> Option<Value> {
    let Some(name) = prompt.and_then(|prompt| prompt.input.as_deref()) else { return variables };
    let map = match &variables {
        None | Some(Value::Null) => Some(Map::default()),
        Some(Value::Map(map)) => Some((**map).clone()),
        Some(_) => None,
    };
    let Some(map) = map.filter(|map| map.get(name).is_none()) else { return variables };
    match follow_up.take_input() {
        Some(text) => Some(Value::from(map.with(name, Some(typed(prompt, name, &text))))),
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
