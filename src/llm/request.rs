//! What is asked of a model, and as which service of an upstream.

use std::borrow::Cow;

use bytes::Bytes;

use super::error::LlmError;
use super::protocol::Service;
use super::responses::ResponseRequest;
use super::upstream::Upstream;
use template::value::RawObject;

/// A request, in the format of our clients.
#[derive(Debug, Clone, Copy)]
pub enum Request<'q> {
    /// For a chat completion.
    Chat(&'q RawObject),
    /// For a response.
    Response(&'q ResponseRequest),
    /// For embeddings.
    Embeddings(&'q RawObject),
}

impl<'q> Request<'q> {
    /// As which service of an upstream it is asked: a response as a chat completion where that is all there is.
    pub fn service(self, upstream: &Upstream) -> Service {
        match self {
            Request::Chat(_) => Service::Chat,
            Request::Response(_) if upstream.responses.known() == Some(false) => Service::Chat,
            Request::Response(_) => Service::Responses,
            Request::Embeddings(_) => Service::Embeddings,
        }
    }

    /// The body for a service of an upstream, which calls the model `model`.
    ///
    /// # Errors
    /// [`LlmError::Invalid`] if it cannot be asked in this way.
    pub fn body(self, service: Service, upstream: &Upstream, model: &str) -> Result<Bytes, LlmError> {
        let payload = match (self, service) {
            (Request::Response(_), Service::Chat) => self.as_chat()?,
            (Request::Response(request), _) => Cow::Borrowed(&request.payload),
            (Request::Chat(payload) | Request::Embeddings(payload), _) => Cow::Borrowed(payload),
        };
        upstream.protocol.request(service, &payload, model)
    }

    /// The request as one for a chat completion.
    ///
    /// # Errors
    /// [`LlmError::Invalid`] if a chat cannot have something of it.
    pub fn as_chat(self) -> Result<Cow<'q, RawObject>, LlmError> {
        match self {
            Request::Response(request) => request.as_chat().map(Cow::Owned),
            Request::Chat(payload) | Request::Embeddings(payload) => Ok(Cow::Borrowed(payload)),
        }
    }
}
