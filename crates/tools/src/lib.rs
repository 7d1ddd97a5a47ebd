//! Tool calls over REST, gRPC and MCP, with one result type ([`ToolAnswer`]) and one error type ([`ToolError`]).
//!
//! - [`Tools`]: binds arguments and calls tools, within the limits of [`ToolOptions`]
//! - `prepared`: a tool's document, parsed and compiled; `arguments`: binding and checking; `modules`: base URLs and headers
//! - `description`: what a tool without `parameters` takes, as its server says
//! - [`discover`]: documents of what servers and API descriptions offer
//! - `rest`, [`grpc`], [`mcp`]: the three protocols; `client`: the HTTP client for REST
//! - [`Gate`]: the address policy; `cache`: answers with `cacheSeconds`; `identity`: digests of calls;
//!   `offload`: CPU-bound work on blocking threads
//! - [`LimitedWork`]: time limits that stand still while MCP servers start

mod arguments;
mod cache;
mod client;
mod description;
pub mod discover;
mod error;
mod gate;
pub mod grpc;
mod identity;
pub mod mcp;
mod modules;
mod offload;
mod prepared;
mod rest;
mod starting;

use std::collections::HashMap;
use std::num::NonZeroUsize;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::{Duration, Instant};

use futures_util::StreamExt;
use futures_util::future::BoxFuture;
use http::{HeaderMap, HeaderName};
use lru::LruCache;

pub use description::Description;
pub use error::ToolError;
pub use gate::{ANY_PORT, Gate, InvalidPattern};
pub use identity::Identity;
pub use modules::{InvalidModule, ModuleOptions};
pub use starting::{LimitedWork, ServerStart};

use base::caller::Caller;
use base::model::{Id, Tool};
use base::outbound::Secrets;
use base::schema::Effort;
use cache::AnswerCache;
use grpc::{Grpc, UnaryCall};
use mcp::{Endpoint, Mcp, ToolCall};
use modules::{Modules, Target, base_of_environ};
use prepared::{Binding, CallDefaults, GrpcBinding, McpBinding, McpServer, PreparedTool, RestBinding};
use rest::{RequestParts, Rest};
use template::Arguments;
use template::value::Value;

/// The limits and destinations of tool calls, from the settings.
#[derive(Debug, Clone)]
pub struct ToolOptions {
    /// The time limit of one call, unless the tool's document sets another.
    pub timeout: Duration,
    /// The time limit of the start of an MCP server, with its handshake.
    pub start_timeout: Duration,
    /// How many calls of one tool may run at the same time.
    pub parallel_per_tool: usize,
    /// The longest answer, in bytes.
    pub answer_bytes: usize,
    /// The size of the cache for answers of tools with `cacheSeconds`, in bytes.
    pub cache_bytes: usize,
    /// The hosts, addresses and networks that may be reached; empty allows all but the blocked ones. See [`Gate`].
    pub allowed_hosts: Vec<String>,
    /// The configured modules, by name.
    pub modules: HashMap<String, ModuleOptions>,
    /// The MCP servers to run as child processes, by name.
    pub servers: HashMap<String, mcp::ServerCommand>,
}

/// Settings for tools that cannot be used.
#[derive(Debug, thiserror::Error)]
pub enum InvalidToolOptions {
    /// An entry of `tools.allowed_hosts` that is not a host, an address or a network.
    #[error(transparent)]
    Pattern(#[from] InvalidPattern),
    /// An entry of `tools.modules` with an invalid URL or header.
    #[error(transparent)]
    Module(#[from] InvalidModule),
}

/// The tool client: prepares tools, binds arguments, and calls.
pub struct Tools {
    modules: Modules,
    secrets: Secrets,
    gate: Gate,
    rest: Rest,
    grpc: Grpc,
    mcp: Mcp,
    cache: AnswerCache,
    defaults: CallDefaults,
    start_timeout: Duration,
    prepared: Mutex<LruCache<Id, CachedTool>>,
    versions: AtomicU64,
}

/// The result of preparing a version of a tool.
struct CachedTool {
    tool: Arc<Tool>,
    prepared: Result<Arc<PreparedTool>, ToolError>,
}

/// How many prepared tools are cached.
const PREPARED_MAX: NonZeroUsize = NonZeroUsize::MIN.saturating_add(999);

/// Arguments as a tool takes them; made by [`Tools::bind`].
#[derive(Debug, Clone, PartialEq)]
pub struct BoundArguments {
    /// One object with all arguments by name, defaults included.
    pub arguments: Value,
    /// Equal for equal arguments of the same version of a tool, in whatever order they were written.
    pub identity: Identity,
}

/// One call of a tool.
#[derive(Debug, Clone, Copy)]
pub struct Call<'a> {
    /// The tool, from the catalog.
    pub tool: &'a Arc<Tool>,
    /// Its arguments, from [`Tools::bind`].
    pub bound: &'a BoundArguments,
    /// The environ `modules.{module}`, which may hold the base URL of the tool's module.
    pub module: Option<&'a Value>,
}

/// The answer of a tool.
#[derive(Debug, Clone, PartialEq)]
pub struct ToolAnswer {
    /// The parsed answer, which fits the tool's `returns`.
    pub value: Value,
    /// Whether it came from the cache, or from a concurrent equal call.
    pub cached: bool,
}

impl ToolOptions {
    /// The values that must not appear in errors: those of headers and of environment variables.
    fn secrets(&self) -> impl Iterator<Item = &str> {
        let headers = self.modules.values().flat_map(|module| &module.headers);
        let variables = self.servers.values().flat_map(|server| &server.env);
        headers.chain(variables).map(|(_, secret)| secret.as_str())
    }
}

impl Tools {
    /// Sets up the clients, without connecting to anything yet.
    ///
    /// # Errors
    /// If an allowed host, or the URL or a header of a module, is not valid.
    pub fn new(options: ToolOptions) -> Result<Tools, InvalidToolOptions> {
        let gate = Gate::new(&options.allowed_hosts)?;
        Ok(Tools {
            modules: Modules::new(&options.modules)?,
            secrets: Secrets::new(options.secrets()),
            rest: Rest::new(gate.clone(), options.answer_bytes),
            grpc: Grpc::new(gate.clone(), options.answer_bytes),
            mcp: Mcp::new(gate.clone(), options.servers, options.answer_bytes, options.start_timeout),
            cache: AnswerCache::new(options.cache_bytes as u64),
            defaults: CallDefaults { timeout: options.timeout, parallel_calls: options.parallel_per_tool },
            start_timeout: options.start_timeout,
            prepared: Mutex::new(LruCache::new(PREPARED_MAX)),
            versions: AtomicU64::new(0),
            gate,
        })
    }

    /// Binds arguments to a tool's parameters: by name, with defaults, and checked against the schema.
    ///
    /// What a tool without `parameters` takes is in its `description`, or is known from an earlier one; `None` if it is not
    /// known, and [`Tools::describe`] has to ask the tool's server first.
    ///
    /// # Errors
    /// [`ToolError::Arguments`] if they do not fit; [`ToolError::Effort`] if the check would take more than `effort`;
    /// [`ToolError::Unusable`] if the tool's document is not usable.
    pub fn bind(
        &self,
        tool: &Arc<Tool>,
        description: Option<&Description>,
        arguments: &Arguments,
        effort: Effort,
    ) -> Result<Option<BoundArguments>, ToolError> {
        let prepared = self.prepare(tool)?;
        let arguments = match (&prepared.parameters, description) {
            (Some(parameters), _) => parameters.bind(arguments, effort)?,
            (None, Some(description)) => description.bind(arguments, effort)?,
            (None, None) => match prepared.description() {
                Some(description) => description.bind(arguments, effort)?,
                None => return Ok(None),
            },
        };
        let mut json = arguments.to_json();
        json.sort_all_objects();
        let identity = Identity::of(&(prepared.version, tool.id.as_str(), json));
        Ok(Some(BoundArguments { arguments, identity }))
    }

    /// Starts the MCP servers of the settings, all at once, and logs how that ended. A server that does not start is started
    /// again by the calls of its tools.
    pub async fn start_servers(&self) {
        let began = Instant::now();
        let mut starts = self.mcp.start_servers();
        while let Some((server, started)) = starts.next().await {
            let duration_ms = began.elapsed().as_millis() as u64;
            match started.map_err(|error| error.redacted(&self.secrets)) {
                Ok(()) => tracing::info!(server, duration_ms, "an MCP server has started"),
                Err(error) => tracing::warn!(
                    server,
                    error = error.for_log(),
                    duration_ms,
                    "an MCP server did not start; the next call of one of its tools starts it again"
                ),
            }
        }
    }

    /// The start of a tool's MCP server, if one is under way that a call waits for.
    ///
    /// The time limits of calls and renders stand still meanwhile (see [`LimitedWork`]), as a start has a limit of its own.
    /// After a start that failed, they do not: a server that never starts must not make every render slow.
    pub fn start_under_way(&self, tool: &Arc<Tool>) -> Option<ServerStart> {
        self.start_of(&*self.prepare(tool).ok()?)
    }

    fn start_of(&self, prepared: &PreparedTool) -> Option<ServerStart> {
        match &prepared.binding {
            Binding::Mcp(McpBinding { server: McpServer::Named(name), .. }) => self.mcp.start_under_way(name),
            _ => None,
        }
    }

    /// The time limit of the start of an MCP server.
    pub fn start_timeout(&self) -> Duration {
        self.start_timeout
    }

    /// The time limit of one call of a tool.
    ///
    /// # Errors
    /// [`ToolError::Unusable`] if the tool's document is not usable.
    pub fn time_limit(&self, tool: &Arc<Tool>) -> Result<Duration, ToolError> {
        Ok(self.prepare(tool)?.timeout)
    }

    /// Calls a tool, within its time limit; dropping the future cancels the call.
    ///
    /// The time limit includes the wait for other calls of the same tool, which [`ToolOptions::parallel_per_tool`] bounds. It
    /// stands still while the tool's MCP server starts.
    ///
    /// # Errors
    /// [`ToolError`], without secrets in its message.
    pub fn call<'a>(
        &'a self,
        caller: &'a Caller,
        call: Call<'a>,
    ) -> BoxFuture<'a, Result<ToolAnswer, ToolError>> {
        // Boxed: the future is large, and would otherwise be copied into, and compiled again in, every caller.
        Box::pin(self.call_in_place(caller, call))
    }

    async fn call_in_place(&self, caller: &Caller, call: Call<'_>) -> Result<ToolAnswer, ToolError> {
        let prepared = self.prepare(call.tool)?;
        let limit = prepared.timeout;
        let asking = self.ask(caller, &prepared, &call);
        let answer = async {
            match prepared.cache {
                Some(ttl) => {
                    let (value, cached) = self.cache.get(key(&call), ttl, asking).await?;
                    Ok(ToolAnswer { value, cached })
                }
                None => Ok(ToolAnswer { value: asking.await?, cached: false }),
            }
        };
        let starts = || self.start_of(&prepared).into_iter().collect();
        let limited = LimitedWork { work: answer, starts, limit, most: self.start_timeout };
        let (answer, _) = limited.run().await;
        answer.unwrap_or(Err(ToolError::Timeout { milliseconds: limit.as_millis() }))
    }

    fn prepare(&self, tool: &Arc<Tool>) -> Result<Arc<PreparedTool>, ToolError> {
        let mut cache = self.prepared.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(cached) = cache.get(&tool.id)
            && Arc::ptr_eq(&cached.tool, tool)
        {
            return cached.prepared.clone();
        }
        let version = self.versions.fetch_add(1, Ordering::Relaxed);
        let prepared = PreparedTool::new(tool, version, self.defaults).map(Arc::new);
        cache.put(tool.id.clone(), CachedTool { tool: tool.clone(), prepared: prepared.clone() });
        prepared
    }

    /// Sends the call, whatever the cache holds.
    async fn ask(
        &self,
        caller: &Caller,
        prepared: &PreparedTool,
        call: &Call<'_>,
    ) -> Result<Value, ToolError> {
        let _permit = prepared.permits.acquire().await;
        let answer = match &prepared.binding {
            Binding::Rest(RestBinding { request, method }) => {
                let parts = RequestParts::new(request, &call.bound.arguments)?;
                let target = self.modules.target(&prepared.tool.module, &parts.address, call.module)?;
                self.rest.call(target, method, parts, &headers_of(caller)).await
            }
            Binding::Grpc(binding) => Box::pin(self.ask_grpc(caller, prepared, binding, call)).await,
            Binding::Mcp(binding) => Box::pin(self.ask_mcp(caller, prepared, binding, call)).await,
        };
        let checked = match answer {
            Ok(value) => prepared.check(value).await,
            error => error,
        };
        checked.map_err(|error| error.redacted(&self.secrets))
    }

    async fn ask_grpc(
        &self,
        caller: &Caller,
        prepared: &PreparedTool,
        binding: &GrpcBinding,
        call: &Call<'_>,
    ) -> Result<Value, ToolError> {
        let Target { url, headers } = self.grpc_target(caller, prepared, binding, call.module)?;
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
        prepared: &PreparedTool,
        binding: &McpBinding,
        call: &Call<'_>,
    ) -> Result<Value, ToolError> {
        let target;
        let endpoint = match &binding.server {
            McpServer::Named(name) => Endpoint::Server(name),
            McpServer::Url(address) => {
                target = self.target(prepared, address, call.module)?;
                Endpoint::Http { url: &target.url, headers: &target.headers }
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

    /// The server of a gRPC tool, with the metadata of its calls.
    fn grpc_target(
        &self,
        caller: &Caller,
        prepared: &PreparedTool,
        binding: &GrpcBinding,
        module: Option<&Value>,
    ) -> Result<Target, ToolError> {
        let mut target = self.target(prepared, &binding.address, module)?;
        target.headers.extend(headers_of(caller));
        Ok(target)
    }

    fn target(
        &self,
        prepared: &PreparedTool,
        address: &str,
        module: Option<&Value>,
    ) -> Result<Target, ToolError> {
        let target = self.modules.target(&prepared.tool.module, address, module)?;
        self.gate.check(&target.url)?;
        Ok(target)
    }
}

/// What a tool is told about the request it is called for, so that both ends' logs and traces can be joined.
fn members(caller: &Caller) -> [(&'static str, &str); 2] {
    [("x-request-id", caller.request_id()), ("traceparent", caller.traceparent())]
}

fn headers_of(caller: &Caller) -> HeaderMap {
    let headers = members(caller).into_iter();
    headers
        .filter_map(|(name, value)| Some((HeaderName::from_static(name), value.try_into().ok()?)))
        .collect()
}

/// The cache key of an answer: the tool and its arguments, and the base URL of its module if the environ sets one.
fn key(call: &Call<'_>) -> Identity {
    match call.module.and_then(base_of_environ) {
        None => call.bound.identity,
        Some(base) => Identity::of(&(base, call.bound.identity)),
    }
}
