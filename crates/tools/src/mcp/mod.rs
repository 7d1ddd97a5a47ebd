//! Tools of MCP servers, over streamable HTTP or the pipes of a child process.
//!
//! - `sessions`: which sessions are open, on the thread of `engine`; `session`: one of them;
//! - `http` and `client`, `child` and `pipes`: the two ways to a server; `quiet`: what both keep from us;
//! - `answer`, `fault`: what comes back, in our terms; `skim`: whose answer it was that is too long.

mod answer;
mod child;
mod client;
mod engine;
mod fault;
mod http;
mod pipes;
mod quiet;
mod session;
mod sessions;
mod skim;

use std::collections::HashMap;

use reqwest::Url;
use reqwest::header::HeaderMap;
use rmcp::model::{CallToolRequestParams, RequestMetaObject};
use serde_json::{Map, Value};

pub use self::child::Command;
use self::sessions::{Place, Sessions};
use crate::error::ToolError;
use crate::gate::Gate;

/// Where an MCP server is.
#[derive(Clone, Copy)]
pub enum Endpoint<'a> {
    /// At a URL that [`Gate::check`] lets through.
    Http {
        /// The URL.
        url: &'a Url,
        /// What goes with every request to this server: its secrets.
        headers: &'a HeaderMap,
    },
    /// A server that the settings name.
    Server(&'a str),
}

/// One call of a tool.
pub struct ToolCall<'a> {
    /// The server.
    pub endpoint: Endpoint<'a>,
    /// The tool's name on that server.
    pub tool: &'a str,
    /// The arguments, by name.
    pub arguments: Map<String, Value>,
    /// What the server is told about the call besides: `x-request-id` and `traceparent`.
    pub meta: &'a [(String, String)],
}

/// Calls tools of MCP servers, over sessions that are kept and shared; any runtime may use it.
///
/// Dropping it ends the sessions and kills the child processes.
pub struct Mcp {
    sessions: Sessions,
}

impl Mcp {
    /// Knows the servers that the settings name; connects when the first call needs it.
    ///
    /// No more than `answer_bytes` are read of an answer, what the protocol puts around it included.
    pub fn new(gate: Gate, servers: HashMap<String, Command>, answer_bytes: usize) -> Mcp {
        Mcp { sessions: Sessions::new(gate, servers, answer_bytes) }
    }

    /// Calls a tool: its structured content, else its text.
    ///
    /// A call that the server may have seen is not repeated. If this is dropped, the server is told to stop.
    ///
    /// # Errors
    /// [`ToolError::Unusable`] for a server that the settings do not name, [`ToolError::Forbidden`] by the
    /// gate, [`ToolError::Unreachable`] without a working connection, [`ToolError::Failed`] when server or
    /// tool say so, and [`ToolError::Answer`] for an answer that is too long or has no value.
    pub async fn call(&self, call: ToolCall<'_>) -> Result<Value, ToolError> {
        let place = match call.endpoint {
            Endpoint::Http { url, headers } => Place::http(url, headers),
            Endpoint::Server(name) => Place::Server(name.to_owned()),
        };
        let params = params(call);
        let session = self.sessions.get(&place).await?;
        let answer = match session.call(params.clone()).await {
            Err(fault) if fault.refused => self.sessions.renew(&place, &session).await?.call(params).await,
            answer => answer,
        };
        answer::value(answer.map_err(|fault| fault.error)?)
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
