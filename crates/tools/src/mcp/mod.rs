//! Tools of MCP servers, over streamable HTTP or the pipes of a child process.
//!
//! - `sessions`: the pool of open sessions; `session`: one of them; `session_thread`: the thread that runs them
//! - `http` and `client`, `child` and `pipes`: the two transports; `request_filter`: refuses requests of servers
//! - `listing`: the tools that a server has
//! - `older_transport`: recognizes servers that speak only HTTP+SSE
//! - `answer`, `error`: results and errors; `id_scanner`: finds the request that an overlong answer belongs to

mod answer;
mod child;
mod client;
mod error;
mod http;
mod id_scanner;
mod listing;
mod older_transport;
mod pipes;
mod request_filter;
mod session;
mod session_thread;
mod sessions;

use std::collections::HashMap;
use std::sync::Arc;
use std::time::Duration;

use futures_util::Stream;
use futures_util::stream::FuturesUnordered;
use reqwest::Url;
use reqwest::header::HeaderMap;
use rmcp::model::{CallToolRequestParams, RequestMetaObject};
use serde_json::{Map, Value};

pub use self::child::ServerCommand;
pub use self::listing::{ListedTool, Listing};
use self::sessions::{ServerKey, SessionLimits, Sessions};
use crate::error::ToolError;
use crate::gate::Gate;
use crate::starting::ServerStart;

/// The address of an MCP server.
#[derive(Clone, Copy)]
pub enum Endpoint<'a> {
    /// Streamable HTTP, at a URL that has passed [`Gate::check`].
    Http {
        /// The server's MCP endpoint.
        url: &'a Url,
        /// Headers of every request to it; they may hold secrets.
        headers: &'a HeaderMap,
    },
    /// A child process, by the server's name in the settings.
    Server(&'a str),
}

/// One call of a tool of an MCP server.
pub struct ToolCall<'a> {
    /// The server to call.
    pub endpoint: Endpoint<'a>,
    /// The tool's name on that server.
    pub tool: &'a str,
    /// The arguments, by name.
    pub arguments: Map<String, Value>,
    /// Members of the request's `_meta`: `x-request-id` and `traceparent`.
    pub meta: &'a [(String, String)],
}

/// The client of MCP tools; its sessions are shared by all calls, from any async runtime.
///
/// Dropping it closes the sessions and kills the child processes.
pub struct Mcp {
    sessions: Sessions,
}

impl Mcp {
    /// A client for the `servers` of the settings, and for any URL. A session opens on the first call that needs it, or with
    /// [`Mcp::start_servers`].
    ///
    /// An answer may have `answer_bytes`, the JSON-RPC envelope included; the start of a server, with its handshake, may take
    /// `start`.
    pub fn new(
        gate: Gate,
        servers: HashMap<String, ServerCommand>,
        answer_bytes: usize,
        start: Duration,
    ) -> Mcp {
        Mcp { sessions: Sessions::new(gate, servers, SessionLimits { answer_bytes, start }) }
    }

    /// Starts all servers of the settings at once, and gives their names as their starts end.
    pub fn start_servers(&self) -> impl Stream<Item = (&str, Result<(), ToolError>)> {
        let starts = self.sessions.servers().map(|name| async move {
            let started = self.sessions.get(&ServerKey::Server(name.clone())).await;
            (name.as_str(), started.map(drop))
        });
        starts.collect::<FuturesUnordered<_>>()
    }

    /// The start of a server of the settings, if one is under way and the start before it did not fail.
    pub fn start_under_way(&self, server: &str) -> Option<ServerStart> {
        self.sessions.start_under_way(server)
    }

    /// Calls a tool, and gives the structured content of its result, else its text, or objects for what is no text.
    ///
    /// A call that may have reached the server is never repeated. Dropping the future cancels the call at the server.
    ///
    /// # Errors
    /// [`ToolError::Unusable`] for a server that is not in the settings; [`ToolError::Forbidden`] from the gate;
    /// [`ToolError::Unreachable`] without a working connection; [`ToolError::Failed`] if the server or the tool reports an
    /// error; [`ToolError::Answer`] for an answer that is too long, or is no result of a tool.
    pub async fn call(&self, call: ToolCall<'_>) -> Result<Value, ToolError> {
        let key = key(call.endpoint);
        let params = params(call);
        let session = self.sessions.get(&key).await?;
        let answer = match session.call(params.clone()).await {
            Err(error) if error.may_retry => self.sessions.renew(&key, &session).await?.call(params).await,
            answer => answer,
        };
        answer::value(answer.map_err(|error| error.error)?)
    }

    /// The tools that a server lists; what it said within the last minute is not asked for again.
    ///
    /// # Errors
    /// As [`Mcp::call`].
    pub async fn tools(&self, endpoint: Endpoint<'_>) -> Result<Arc<Listing>, ToolError> {
        let key = key(endpoint);
        let session = self.sessions.get(&key).await?;
        let listing = match session.tools().await {
            Err(error) if error.may_retry => self.sessions.renew(&key, &session).await?.tools().await,
            listing => listing,
        };
        listing.map_err(|error| error.error)
    }
}

fn key(endpoint: Endpoint<'_>) -> ServerKey {
    match endpoint {
        Endpoint::Http { url, headers } => ServerKey::http(url, headers),
        Endpoint::Server(name) => ServerKey::Server(name.to_owned()),
    }
}

fn params(call: ToolCall<'_>) -> CallToolRequestParams {
    let mut params = CallToolRequestParams::new(call.tool.to_owned()).with_arguments(call.arguments);
    let mut meta = RequestMetaObject::default();
    for (name, text) in call.meta {
        meta.insert(name.clone(), text.clone().into());
    }
    params.meta = Some(meta);
    params
}
