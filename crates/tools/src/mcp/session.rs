//! One session with an MCP server: the handshake, calls, and whether it is still open.

use std::sync::Arc;
use std::time::Duration;

use reqwest::Url;
use reqwest::header::HeaderMap;
use rmcp::RoleClient;
use rmcp::model::{
    CallToolRequestParams, CallToolResponse, ClientCapabilities, ClientConfig, Implementation,
};
use rmcp::service::{RunningService, serve_client};
use rmcp::transport::Transport;
use rmcp::transport::common::client_side_sse::ExponentialBackoff;
use rmcp::transport::streamable_http_client::{
    StreamableHttpClientTransport, StreamableHttpClientTransportConfig as HttpConfig,
};
use tokio::sync::Mutex;
use tokio::time::timeout;

use super::child::{Child, ServerCommand};
use super::client;
use super::error::{self, McpError, unreachable};
use super::http::Http;
use super::listing::KeptListing;
use super::pipes::Pipes;
use super::request_filter::RequestFilter;
use crate::error::ToolError;
use crate::gate::Gate;

/// How long a handshake over HTTP may take.
const HANDSHAKE_LIMIT: Duration = Duration::from_secs(30);

/// How many requests of one HTTP session may be under way.
const CONCURRENT: usize = 256;

/// How long the notification of a cancelled call may take.
const CANCEL_LIMIT: Duration = Duration::from_secs(1);

/// How often an answer whose connection ended early is resumed.
const RESUMES: usize = 3;

/// An open session; dropping it closes it.
pub(super) struct Session {
    pub(super) service: RunningService<RoleClient, ClientConfig>,
    pub(super) listing: KeptListing,
    child: Option<Mutex<Child>>,
}

impl Session {
    /// Opens a session over HTTP; `secrets` are headers of every request.
    pub(super) async fn over_http(
        gate: Gate,
        url: Url,
        secrets: HeaderMap,
        limit: usize,
    ) -> Result<Session, ToolError> {
        let http = Http::new(client::new(&gate, secrets)?, limit);
        let transport = StreamableHttpClientTransport::with_client(http, config(&url));
        let late = |_| unreachable(&format!("no handshake within {} s", HANDSHAKE_LIMIT.as_secs()));
        let service = timeout(HANDSHAKE_LIMIT, handshake(transport)).await.map_err(late)??;
        Ok(Session { service, listing: KeptListing::default(), child: None })
    }

    /// Starts a server as a child process, and opens a session over its pipes; it has `start` for both.
    pub(super) async fn with_child(
        command: &ServerCommand,
        limit: usize,
        start: Duration,
    ) -> Result<Session, ToolError> {
        let started = Child::start(command);
        let (mut child, stdin, stdout) = started
            .map_err(|error| unreachable(&format!("`{}` cannot be started: {error}", command.program)))?;
        match timeout(start, handshake(Pipes::new(stdin, stdout, limit))).await {
            Ok(Ok(service)) => {
                Ok(Session { service, listing: KeptListing::default(), child: Some(Mutex::new(child)) })
            }
            Ok(Err(error)) => Err(child.wait().await.map_or(error, |end| unreachable(&end))),
            Err(_) => Err(unreachable(&format!(
                "`{}` did not shake hands within {} ms; the setting tools.start_timeout_ms gives it more time",
                command.program,
                start.as_millis()
            ))),
        }
    }

    /// Whether calls may still be sent.
    pub(super) fn is_open(&self) -> bool {
        !self.service.is_transport_closed()
    }

    /// How the session's child process ended, if there is one and it has ended.
    pub(super) fn end(&self) -> Option<String> {
        self.child.as_ref()?.try_lock().ok()?.end()
    }

    /// Calls a tool; dropping the future cancels the call at the server.
    pub(super) async fn call(&self, params: CallToolRequestParams) -> Result<CallToolResponse, McpError> {
        let error = match self.service.call_tool_once(params).await {
            Ok(answer) => return Ok(answer),
            Err(error) => error::of_call(error),
        };
        match (&error.error, &self.child) {
            (ToolError::Unreachable { .. }, Some(child)) if !error.may_retry => {
                let end = child.lock().await.wait().await;
                Err(end.map_or(error, |end| unreachable(&end).into()))
            }
            _ => Err(error),
        }
    }
}

async fn handshake<T: Transport<RoleClient> + 'static>(
    transport: T,
) -> Result<RunningService<RoleClient, ClientConfig>, ToolError> {
    let implementation = Implementation::new("ai-prompt-shell", env!("CARGO_PKG_VERSION"));
    let client = ClientConfig::new(ClientCapabilities::default(), implementation);
    serve_client(client, RequestFilter::new(transport)).await.map_err(error::of_handshake)
}

fn config(url: &Url) -> HttpConfig {
    let mut resumes = ExponentialBackoff::default();
    resumes.max_times = Some(RESUMES);
    // `sessions` opens new sessions itself: the SDK would abort the calls that are under way in the old one.
    let mut config = HttpConfig::with_uri(url.as_str())
        .max_concurrent_requests(CONCURRENT)
        .control_request_timeout(CANCEL_LIMIT)
        .reinit_on_expired_session(false);
    config.retry_config = Arc::new(resumes);
    config
}
