//! What is asked of a model, and as which service of an upstream.

use std::borrow::Cow;

use bytes::Bytes;

use super::error::LlmError;
use super::protocol::Service;
use super::responses::{KeptItems, ResponseRequest};
use super::structured::{StructuredRequest, Way};
use super::text_completion;
use super::upstream::Upstream;
use template::value::RawObject;

/// A request, in the format of our clients.
#[derive(Debug, Clone, Copy)]
pub enum Request<'q> {
    /// For a chat completion.
    Chat(&'q RawObject),
    /// For a response.
    Response(&'q ResponseRequest),
    /// For a text completion.
    Text(&'q RawObject),
    /// For a text completion; a chat is asked for it, whose request this is.
    TextByChat(&'q RawObject),
    /// For a value that fits a schema; a chat is asked for it.
    Structured(&'q StructuredRequest),
    /// For embeddings.
    Embeddings(&'q RawObject),
}

impl<'q> Request<'q> {
    /// As which service of an upstream, which calls the model `model`, it is asked: a response, or a text completion, as a chat
    /// completion where that is all there is.
    pub fn service(self, upstream: &Upstream, model: &str) -> Service {
        match self {
            Request::Chat(_) | Request::TextByChat(_) | Request::Structured(_) => Service::Chat,
            Request::Text(_) if !upstream.protocol.offers(Service::Completions) => Service::Chat,
            Request::Text(_) => Service::Completions,
            Request::Response(_) if !upstream.responses.is_tried(model) => Service::Chat,
            Request::Response(_) => Service::Responses,
            Request::Embeddings(_) => Service::Embeddings,
        }
    }

    /// Whether an answer of this service is told in another format.
    pub fn is_translated(self, service: Service) -> bool {
        service == Service::Chat && !matches!(self, Request::Chat(_) | Request::Structured(_))
    }

    /// The request as it came.
    pub fn payload(self) -> &'q RawObject {
        match self {
            Request::Response(request) => &request.payload,
            Request::Structured(request) => &request.payload,
            Request::Chat(payload)
            | Request::Text(payload)
            | Request::TextByChat(payload)
            | Request::Embeddings(payload) => payload,
        }
    }

    /// The body for a service of an upstream, which calls the model `model`; a value is asked for in a `way`.
    ///
    /// # Errors
    /// [`LlmError::Invalid`] if it cannot be asked in this way.
    pub fn body(
        self,
        service: Service,
        way: Option<Way>,
        upstream: &Upstream,
        model: &str,
        kept: &KeptItems,
    ) -> Result<Bytes, LlmError> {
        let payload = match (self, service) {
            (Request::Response(_) | Request::Text(_), Service::Chat) => self.as_chat(kept)?,
            (Request::Response(request), _) => request.native(kept)?,
            (Request::Structured(request), _) => {
                Cow::Owned(request.body(way.unwrap_or(Way::Text), upstream.protocol)?)
            }
            _ => Cow::Borrowed(self.payload()),
        };
        upstream.protocol.request(service, &payload, model)
    }

    /// The request as one for a chat completion; its items may refer to those in `kept`.
    ///
    /// # Errors
    /// [`LlmError::Invalid`] if a chat cannot have something of it.
    pub fn as_chat(self, kept: &KeptItems) -> Result<Cow<'q, RawObject>, LlmError> {
        match self {
            Request::Response(request) => request.as_chat(kept).map(Cow::Owned),
            Request::Text(payload) => text_completion::as_chat(payload).map(Cow::Owned),
            _ => Ok(Cow::Borrowed(self.payload())),
        }
    }
}
