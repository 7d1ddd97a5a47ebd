//! gRPC tools: unary calls without generated code, with message types from server reflection or from the tool's document.
//!
//! - `address`: the ways to write a server's address
//! - `channels`: connections to servers, shared by calls
//! - `wire`: sending and receiving encoded messages
//! - `error`: gRPC statuses as tool errors
//! - `method`: finding the method that a document names
//! - `types`: a cache of message types
//! - `reflection`: asking a server for its types
//! - `message`: JSON to protobuf and back
//! - `schema`: message types as JSON Schemas; `listing`: the methods that a server has

mod address;
mod channels;
mod wire;
mod error;
mod method;
mod types;
mod reflection;
mod message;
mod schema;
mod listing;

use std::time::Duration;

use http::HeaderMap;
use prost_reflect::DescriptorPool;
use reqwest::Url;
use serde_json::Value as Json;

pub use self::address::url_of;
use self::channels::Channels;
pub use self::listing::ListedMethod;
use self::method::MethodName;
use self::types::{TypeCache, TypeSource};
use self::wire::Wire;
use super::error::ToolError;
use super::gate::Gate;

/// The client of gRPC tools, with its channels and cached message types.
pub struct Grpc {
    channels: Channels,
    types: TypeCache,
    answer_bytes: usize,
}

/// One unary call.
pub struct UnaryCall<'a> {
    /// The server: `http://host:port` or `https://host:port`. It must have passed [`Gate::check`].
    pub url: &'a Url,
    /// `package.Service/Method`, `/package.Service/Method` or `package.Service.Method`.
    pub method: &'a str,
    /// An encoded `FileDescriptorSet`; without one, the types come from server reflection.
    pub descriptor_set: Option<&'a [u8]>,
    /// The request message, an object.
    pub arguments: &'a Json,
    /// Metadata of the call, and of the reflection calls before it.
    pub headers: &'a HeaderMap,
    /// The time limit, which is sent to the server as `grpc-timeout`.
    pub timeout: Duration,
}

impl Grpc {
    /// A client without connections yet; an answer may have `answer_bytes`, both encoded and as JSON.
    pub fn new(gate: Gate, answer_bytes: usize) -> Grpc {
        Grpc { channels: Channels::new(gate), types: TypeCache::new(), answer_bytes }
    }

    /// Makes a call, and gives the answer in the canonical JSON mapping. Fields with default values are present; the
    /// members of objects are sorted by name.
    ///
    /// Dropping the future cancels the call, at the server too.
    ///
    /// # Errors
    /// [`ToolError`]; the status of [`ToolError::Failed`] is the name of the gRPC status, such as `NOT_FOUND`.
    pub async fn call(&self, call: UnaryCall<'_>) -> Result<Json, ToolError> {
        let name = MethodName::parse(call.method)?;
        let wire = Wire::new(&self.channels, &call)?;
        match call.descriptor_set {
            Some(set) => self.attempt(&self.types.of_set(set).await?, &name, &wire, call.arguments).await,
            None => self.by_reflection(&name, &wire, call.arguments).await,
        }
    }

    /// The JSON Schema of the request of a method, in the canonical JSON mapping.
    ///
    /// # Errors
    /// As [`Grpc::call`].
    pub async fn request_schema(&self, call: UnaryCall<'_>) -> Result<Json, ToolError> {
        let name = MethodName::parse(call.method)?;
        let wire = Wire::new(&self.channels, &call)?;
        let types = match call.descriptor_set {
            Some(set) => self.types.of_set(set).await?,
            None => self.types_of(&name, &wire).await?,
        };
        Ok(schema::of_message(&name.find(&types)?.input()))
    }

    /// The types of a service by server reflection, which are kept for a minute.
    async fn types_of(&self, name: &MethodName<'_>, wire: &Wire<'_>) -> Result<DescriptorPool, ToolError> {
        let origin =
            TypeSource::Service { server: wire.server().to_owned(), service: name.service.to_owned() };
        match self.types.of_service(&origin) {
            Some(types) => Ok(types),
            None => {
                let files = reflection::files(wire, name.service).await?;
                self.types.make(origin, wire.elapsed(), || Ok(files)).await
            }
        }
    }

    /// Calls with types from server reflection. If cached types may be the cause of an error, new ones are fetched, and the
    /// call is made once more.
    async fn by_reflection(
        &self,
        name: &MethodName<'_>,
        wire: &Wire<'_>,
        arguments: &Json,
    ) -> Result<Json, ToolError> {
        let origin =
            TypeSource::Service { server: wire.server().to_owned(), service: name.service.to_owned() };
        if let Some(types) = self.types.of_service(&origin) {
            let outcome = self.attempt(&types, name, wire, arguments).await;
            if !outcome.as_ref().is_err_and(is_of_stale_types) {
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

/// Whether types of an older version of the server can be the cause. After such an error nothing has happened on the
/// server, so the call may be repeated.
fn is_of_stale_types(error: &ToolError) -> bool {
    match error {
        ToolError::Arguments { .. } | ToolError::Unusable { .. } => true,
        ToolError::Failed { status, .. } => status == error::UNIMPLEMENTED,
        _ => false,
    }
}
