//! gRPC tools: unary calls without generated code, with message types from the server or from the tool's document.
//!
//! - `channels`: connections to servers, kept and shared
//! - `wire`: encoded messages there and back, over a channel
//! - `failure`: what a gRPC status means
//! - `method`: finding the method that a document names
//! - `types`: message types, kept for a while
//! - `reflection`: asking a server for its types
//! - `message`: JSON to protobuf and back

mod channels;
mod wire;
mod failure;
mod method;
mod types;
mod reflection;
mod message;

use std::time::Duration;

use http::HeaderMap;
use prost_reflect::DescriptorPool;
use reqwest::Url;
use serde_json::Value as Json;

use self::channels::Channels;
use self::method::MethodName;
use self::types::{Origin, Types};
use self::wire::Wire;
use super::error::ToolError;
use super::gate::Gate;

/// gRPC tools: channels and message types, kept and shared.
pub struct Grpc {
    channels: Channels,
    types: Types,
    answer_bytes: usize,
}

/// One unary call.
pub struct UnaryCall<'a> {
    /// Where the server is: `http://host:port` or `https://host:port`; the address policy has let it through.
    pub url: &'a Url,
    /// `package.Service/Method`.
    pub method: &'a str,
    /// An encoded `FileDescriptorSet`; without one, the server is asked for its types.
    pub descriptor_set: Option<&'a [u8]>,
    /// The request message, an object.
    pub arguments: &'a Json,
    /// Metadata to send, also when the server is asked for its types.
    pub headers: &'a HeaderMap,
    /// How long the call may take; the server is told.
    pub timeout: Duration,
}

impl Grpc {
    /// Connects to nothing yet; an answer may have `answer_bytes`, encoded and as JSON.
    pub fn new(gate: Gate, answer_bytes: usize) -> Grpc {
        Grpc { channels: Channels::new(gate), types: Types::new(), answer_bytes }
    }

    /// Calls, and gives the answer in the canonical JSON mapping, with the fields that have their default values
    /// and with the members of objects in alphabetical order.
    ///
    /// Dropping the future cancels the call, at the server too.
    ///
    /// # Errors
    /// Every kind of [`ToolError`]; [`ToolError::Failed`] has the name of the gRPC status, such as `NOT_FOUND`.
    pub async fn call(&self, call: UnaryCall<'_>) -> Result<Json, ToolError> {
        let name = MethodName::parse(call.method)?;
        let wire = Wire::new(&self.channels, &call)?;
        match call.descriptor_set {
            Some(set) => self.attempt(&self.types.of_set(set).await?, &name, &wire, call.arguments).await,
            None => self.by_reflection(&name, &wire, call.arguments).await,
        }
    }

    /// Calls with the types that the server tells; once more with new ones if the known ones may be old.
    async fn by_reflection(
        &self,
        name: &MethodName<'_>,
        wire: &Wire<'_>,
        arguments: &Json,
    ) -> Result<Json, ToolError> {
        let origin = Origin::Service { server: wire.server().to_owned(), service: name.service.to_owned() };
        if let Some(types) = self.types.of_service(&origin) {
            let outcome = self.attempt(&types, name, wire, arguments).await;
            if !outcome.as_ref().is_err_and(comes_of_old_types) {
                return outcome;
            }
        }
        let files = reflection::files(wire, name.service).await?;
        let types = self.types.make(origin, wire.elapsed(), || Ok(files)).await?;
        self.attempt(&types, name, wire, arguments).await
    }

    async fn attempt(
        &self,
        types: &DescriptorPool,
        name: &MethodName<'_>,
        wire: &Wire<'_>,
        arguments: &Json,
    ) -> Result<Json, ToolError> {
        let method = name.find(types)?;
        let request = message::encode(method.input(), arguments)?;
        let answer = wire.unary(name.path()?, request, self.answer_bytes).await?;
        message::decode(method.output(), answer, self.answer_bytes)
    }
}

/// Whether a server that was replaced by a newer one could be why. None of these has had an effect there.
fn comes_of_old_types(error: &ToolError) -> bool {
    match error {
        ToolError::Arguments { .. } | ToolError::Unusable { .. } => true,
        ToolError::Failed { status, .. } => status == failure::UNIMPLEMENTED,
        _ => false,
    }
}
