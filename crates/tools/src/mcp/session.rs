//! One session with a server: the handshake, calls, and whether it lives.

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

use super::child::{Child, Command};
use super::client;
use super::fault::{self, Fault, unreachable};
use super::http::Http;
use super::pipes::Pipes;
use super::quiet::Quiet;
use crate::error::ToolError;
use crate::gate::Gate;

/// How long a handshake may take; a child process may have to be installed first.
const HANDSHAKE_LIMIT: Duration = Duration::from_secs(30);

/// How many requests may be under way in one session over HTTP.
const CONCURRENT: usize = 256;

/// How long telling a server of a cancelled call may take.
const CANCEL_LIMIT: Duration = Duration::from_secs(1);

/// How often an answer whose connection ended early is asked for again.
const RESUMES: usize = 3;

/// A session; it ends when this is dropped.
pub(super) struct Session {
    service: RunningService<RoleClient, ClientConfig>,
    child: Option<Mutex<Child>>,
}

impl Session {
    /// Meets a server at a URL; `secrets` go with every request.
    pub(super) async fn over_http(
        gate: Gate,
        url: Url,
        secrets: HeaderMap,
        limit: usize,
    ) -> Result<Session, ToolError> {
        let http = Http::new(client::new(&gate, secrets)?, limit);
        let transport = StreamableHttpClientTransport::with_client(http, config(&url));
        Ok(Session { service: handshake(transport).await?, child: None })
    }

    /// Starts a server, and meets it.
    pub(super) async fn with_child(command: &Command, limit: usize) -> Result<Session, ToolError> {
        let started = Child::start(command);
        let (mut child, stdin, stdout) = started
            .map_err(|error| unreachable(&format!("`{}` cannot be started: {error}", command.program)))?;
        match handshake(Pipes::new(stdin, stdout, limit)).await {
            Ok(service) => Ok(Session { service, child: Some(Mutex::new(child)) }),
            Err(error) => Err(child.wait().await.map_or(error, |end| unreachable(&end))),
        }
    }

    /// Whether calls may still be sent.
    pub(super) fn is_open(&self) -> bool {
        !self.service.is_transport_closed()
    }

    /// How the child process ended, if this had one and it did.
    pub(super) fn end(&self) -> Option<String> {
        self.child.as_ref()?.try_lock().ok()?.end()
    }

    /// Calls a tool; the server is told if this is dropped.
    pub(super) async fn call(&self, params: CallToolRequestParams) -> Result<CallToolResponse, Fault> {
        let fault = match self.service.call_tool_once(params).await {
            Ok(answer) => return Ok(answer),
            Err(error) => fault::of_call(error),
        };
        match (&fault.error, &self.child) {
            (ToolError::Unreachable { .. }, Some(child)) if !fault.refused => {
                let end = child.lock().await.wait().await;
                Err(end.map_or(fault, |end| unreachable(&end).into()))
            }
            _ => Err(fault),
        }
    }
}

async fn handshake<T: Transport<RoleClient> + 'static>(
    transport: T,
) -> Result<RunningService<RoleClient, ClientConfig>, ToolError> {
    let ourselves = Implementation::new("ai-prompt-shell", env!("CARGO_PKG_VERSION"));
    let client = ClientConfig::new(ClientCapabilities::default(), ourselves);
    let met = timeout(HANDSHAKE_LIMIT, serve_client(client, Quiet::new(transport))).await;
    let met =
        met.map_err(|_| unreachable(&format!("no handshake within {} s", HANDSHAKE_LIMIT.as_secs())))?;
    met.map_err(fault::of_handshake)
}

fn config(url: &Url) -> HttpConfig {
    let mut resumes = ExponentialBackoff::default();
    resumes.max_times = Some(RESUMES);
    // New sessions are our own business: the SDK's way would break off what runs in the old one.
    let mut config = HttpConfig::with_uri(url.as_str())
        .max_concurrent_requests(CONCURRENT)
        .control_request_timeout(CANCEL_LIMIT)
        .reinit_on_expired_session(false);
    config.retry_config = Arc::new(resumes);
    config
}
