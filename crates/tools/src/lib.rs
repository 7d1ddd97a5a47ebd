//! Tools: calls over REST, gRPC and MCP, with one shape of success and one of failure.
//!
//! - [`Tools`]: binds arguments, and calls a tool within its limits
//! - `prepared`: a tool's document made ready; `arguments`: what it takes; `modules`: where it is
//! - `rest`, [`grpc`], [`mcp`]: the three ways to reach one; `client`: the HTTP client of the first
//! - [`Gate`]: which addresses may be reached; `memory`: answers that are good
//!   for a while; `identity`: what tells calls apart; `aside`: work that would hold up other requests

mod arguments;
mod aside;
mod client;
mod error;
mod gate;
pub mod grpc;
mod identity;
pub mod mcp;
mod memory;
mod modules;
mod prepared;
mod rest;

use std::collections::HashMap;
use std::num::NonZeroUsize;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use futures_util::future::BoxFuture;
use http::{HeaderMap, HeaderName};
use lru::LruCache;
use reqwest::Url;

pub use error::ToolError;
pub use gate::{ANY_PORT, Gate, InvalidPattern};
pub use identity::Identity;
pub use modules::{InvalidModule, ModuleOptions};

use base::caller::Caller;
use base::model::{Id, Tool};
use base::outbound::Secrets;
use base::schema::Effort;
use grpc::{Grpc, UnaryCall};
use mcp::{Endpoint, Mcp, ToolCall};
use memory::Memory;
use modules::{Modules, base_of_environ};
use prepared::{Binding, GrpcBinding, McpBinding, McpServer, Prepared, RestBinding, Usual};
use rest::Rest;
use template::Arguments;
use template::value::Value;

/// How tools are called.
#[derive(Debug, Clone)]
pub struct Options {
    /// The time for one call, where a tool does not say otherwise.
    pub timeout: Duration,
    /// The calls of one tool that may run at once.
    pub parallel_per_tool: usize,
    /// The longest answer.
    pub answer_bytes: usize,
    /// Room for answers that are kept.
    pub cache_bytes: usize,
    /// What may be reached; see [`Gate`].
    pub allowed_hosts: Vec<String>,
    /// The modules that the settings know, by name.
    pub modules: HashMap<String, ModuleOptions>,
    /// The MCP servers that run as child processes, by name.
    pub servers: HashMap<String, mcp::Command>,
}

/// Why tools cannot be called at all.
#[derive(Debug, thiserror::Error)]
pub enum InvalidOptions {
    /// A pattern that is none.
    #[error(transparent)]
    Pattern(#[from] InvalidPattern),
    /// A module that cannot be used.
    #[error(transparent)]
    Module(#[from] InvalidModule),
}

/// Calls tools.
pub struct Tools {
    modules: Modules,
    secrets: Secrets,
    gate: Gate,
    rest: Rest,
    grpc: Grpc,
    mcp: Mcp,
    memory: Memory,
    usual: Usual,
    prepared: Mutex<LruCache<Id, Known>>,
    versions: AtomicU64,
}

/// A tool as it was found in the catalog, and made ready, if it can be.
type Known = (Arc<Tool>, Result<Arc<Prepared>, ToolError>);

/// Tools that are kept ready.
const PREPARED_MAX: NonZeroUsize = NonZeroUsize::MIN.saturating_add(999);

/// Arguments as a tool takes them.
#[derive(Debug, Clone, PartialEq)]
pub struct Bound {
    /// An object, with defaults.
    pub arguments: Value,
    /// The same for equal arguments of the same tool, in whatever order they were written.
    pub identity: Identity,
}

/// One call.
#[derive(Debug, Clone, Copy)]
pub struct Call<'a> {
    /// The tool.
    pub tool: &'a Arc<Tool>,
    /// What [`Tools::bind`] made of its arguments.
    pub bound: &'a Bound,
    /// The environ `modules.{module}` of the tool's module.
    pub module: Option<&'a Value>,
}

/// What a tool answered.
#[derive(Debug, Clone, PartialEq)]
pub struct Answer {
    /// The value.
    pub value: Value,
    /// Whether it was known already, or another call asked for it.
    pub cached: bool,
}

impl Options {
    /// Everything that must not be shown.
    fn secrets(&self) -> impl Iterator<Item = &str> {
        let headers = self.modules.values().flat_map(|module| &module.headers);
        let variables = self.servers.values().flat_map(|server| &server.env);
        headers.chain(variables).map(|(_, secret)| secret.as_str())
    }
}

impl Tools {
    /// Sets the clients up; nothing is connected to yet.
    ///
    /// # Errors
    /// [`InvalidOptions`].
    pub fn new(options: Options) -> Result<Tools, InvalidOptions> {
        let gate = Gate::new(&options.allowed_hosts)?;
        Ok(Tools {
            modules: Modules::new(&options.modules)?,
            secrets: Secrets::new(options.secrets()),
            rest: Rest::new(gate.clone(), options.answer_bytes),
            grpc: Grpc::new(gate.clone(), options.answer_bytes),
            mcp: Mcp::new(gate.clone(), options.servers, options.answer_bytes),
            memory: Memory::new(options.cache_bytes as u64),
            usual: Usual { timeout: options.timeout, calls: options.parallel_per_tool },
            prepared: Mutex::new(LruCache::new(PREPARED_MAX)),
            versions: AtomicU64::new(0),
            gate,
        })
    }

    /// The arguments as a tool takes them: by name, with defaults, checked.
    ///
    /// # Errors
    /// [`ToolError::Arguments`]; [`ToolError::Effort`] if checking takes more than `effort`; [`ToolError::Unusable`] for a
    /// document that cannot be used.
    pub fn bind(&self, tool: &Arc<Tool>, arguments: &Arguments, effort: Effort) -> Result<Bound, ToolError> {
        let prepared = self.prepare(tool)?;
        let arguments = prepared.parameters.bind(arguments, effort)?;
        let mut json = arguments.to_json();
        json.sort_all_objects();
        let identity = Identity::of(&(prepared.version, tool.id.as_str(), json));
        Ok(Bound { arguments, identity })
    }

    /// Calls a tool. The call is cancelled by dropping the future.
    ///
    /// # Errors
    /// [`ToolError`].
    pub fn call<'a>(
        &'a self,
        caller: &'a Caller,
        call: Call<'a>,
    ) -> BoxFuture<'a, Result<Answer, ToolError>> {
        // Boxed, since it is large and would be moved about in whatever waits for it, and compiled once more there.
        Box::pin(self.call_in_place(caller, call))
    }

    async fn call_in_place(&self, caller: &Caller, call: Call<'_>) -> Result<Answer, ToolError> {
        let prepared = self.prepare(call.tool)?;
        let limit = prepared.timeout;
        let asking = self.ask(caller, &prepared, &call);
        let answer = async {
            match prepared.cache {
                Some(lasts) => {
                    let (value, cached) = self.memory.get(key(&call), lasts, asking).await?;
                    Ok(Answer { value, cached })
                }
                None => Ok(Answer { value: asking.await?, cached: false }),
            }
        };
        let answer = tokio::time::timeout(limit, answer).await;
        answer.unwrap_or(Err(ToolError::Timeout { milliseconds: limit.as_millis() }))
    }

    fn prepare(&self, tool: &Arc<Tool>) -> Result<Arc<Prepared>, ToolError> {
        let mut known = self.prepared.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some((of, prepared)) = known.get(&tool.id)
            && Arc::ptr_eq(of, tool)
        {
            return prepared.clone();
        }
        let version = self.versions.fetch_add(1, Ordering::Relaxed);
        let prepared = Prepared::new(tool, version, self.usual).map(Arc::new);
        known.put(tool.id.clone(), (tool.clone(), prepared.clone()));
        prepared
    }

    /// Asks the far end itself.
    async fn ask(&self, caller: &Caller, prepared: &Prepared, call: &Call<'_>) -> Result<Value, ToolError> {
        let _permit = prepared.permits.acquire().await;
        let answer = match &prepared.binding {
            Binding::Rest(RestBinding { address, method }) => {
                let (address, rest) = rest::fill(address, &call.bound.arguments)?;
                let target = self.modules.target(&prepared.tool.module, &address, call.module)?;
                self.rest.call(target, method, &rest, &headers_of(caller)).await
            }
            Binding::Grpc(binding) => Box::pin(self.ask_grpc(caller, prepared, binding, call)).await,
            Binding::Mcp(binding) => Box::pin(self.ask_mcp(caller, prepared, binding, call)).await,
        };
        let checked = match answer {
            Ok(value) => prepared.checked(value).await,
            error => error,
        };
        checked.map_err(|error| error.told(&self.secrets))
    }

    async fn ask_grpc(
        &self,
        caller: &Caller,
        prepared: &Prepared,
        binding: &GrpcBinding,
        call: &Call<'_>,
    ) -> Result<Value, ToolError> {
        let (url, mut headers) = self.target(prepared, &binding.address, call)?;
        headers.extend(headers_of(caller));
        let arguments = call.bound.arguments.to_json();
        let timeout = prepared.timeout;
        let unary = UnaryCall {
            url: &url,
            method: &binding.method,
            descriptor_set: binding.descriptor_set.as_deref(),
            arguments: &arguments,
            headers: &headers,
            timeout,
        };
        Ok(Value::from(self.grpc.call(unary).await?))
    }

    async fn ask_mcp(
        &self,
        caller: &Caller,
        prepared: &Prepared,
        binding: &McpBinding,
        call: &Call<'_>,
    ) -> Result<Value, ToolError> {
        let target;
        let endpoint = match &binding.server {
            McpServer::Named(name) => Endpoint::Server(name),
            McpServer::Url(address) => {
                target = self.target(prepared, address, call)?;
                Endpoint::Http { url: &target.0, headers: &target.1 }
            }
        };
        let arguments = match call.bound.arguments.to_json() {
            serde_json::Value::Object(members) => members,
            _ => serde_json::Map::new(),
        };
        let meta = members(caller).map(|(name, value)| (name.to_owned(), value.to_owned()));
        let answer =
            self.mcp.call(ToolCall { endpoint, tool: &binding.tool, arguments, meta: &meta }).await?;
        Ok(Value::from(answer))
    }

    fn target(
        &self,
        prepared: &Prepared,
        address: &str,
        call: &Call<'_>,
    ) -> Result<(Url, HeaderMap), ToolError> {
        let target = self.modules.target(&prepared.tool.module, address, call.module)?;
        self.gate.check(&target.url)?;
        Ok((target.url, target.headers))
    }
}

/// What a tool is told about whom it is called for.
fn members(caller: &Caller) -> [(&'static str, &str); 2] {
    [("x-request-id", caller.request_id()), ("traceparent", caller.traceparent())]
}

fn headers_of(caller: &Caller) -> HeaderMap {
    let headers = members(caller).into_iter();
    headers
        .filter_map(|(name, value)| Some((HeaderName::from_static(name), value.try_into().ok()?)))
        .collect()
}

/// What an answer is known by: the tool and its arguments, and where its module is.
fn key(call: &Call<'_>) -> Identity {
    match call.module.and_then(base_of_environ) {
        None => call.bound.identity,
        Some(base) => Identity::of(&(base, call.bound.identity)),
    }
}
