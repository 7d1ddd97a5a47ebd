//! A real MCP server over streamable HTTP, on a port of its own; it can be stopped, and started again.

use std::net::SocketAddr;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Mutex};

use axum::Router;
use axum::extract::Request;
use axum::http::HeaderMap;
use axum::middleware::{Next, from_fn};
use axum::serve::ListenerExt;
use reqwest::Url;
use rmcp::transport::streamable_http_server::session::local::LocalSessionManager;
use rmcp::transport::{StreamableHttpServerConfig, StreamableHttpService};
use tokio::runtime::{Builder, Runtime};

use support::mcp_tools::Tools;

/// The server, what it counted, and the headers of the requests that it got, which it keeps over restarts.
pub struct McpServer {
    address: SocketAddr,
    tools: Tools,
    sessions: Arc<AtomicUsize>,
    headers: Arc<Mutex<Vec<HeaderMap>>>,
    config: StreamableHttpServerConfig,
    manager: Arc<LocalSessionManager>,
    running: Option<Runtime>,
}

impl McpServer {
    /// A server that answers with events and keeps sessions.
    pub fn start() -> McpServer {
        McpServer::start_with(StreamableHttpServerConfig::default())
    }

    /// A server that answers with JSON and has no sessions.
    pub fn start_stateless() -> McpServer {
        let mut config = StreamableHttpServerConfig::default();
        config.legacy_session_mode = false;
        config.json_response = true;
        McpServer::start_with(config)
    }

    fn start_with(config: StreamableHttpServerConfig) -> McpServer {
        let mut server = McpServer {
            address: ([127, 0, 0, 1], 0).into(),
            tools: Tools::default(),
            sessions: Arc::default(),
            headers: Arc::default(),
            config,
            manager: Arc::default(),
            running: None,
        };
        server.restart();
        server
    }

    pub fn url(&self) -> Url {
        Url::parse(&format!("http://{}/mcp", self.address)).unwrap()
    }

    /// How many calls reached a tool.
    pub fn calls(&self) -> usize {
        self.tools.calls.load(Ordering::SeqCst)
    }

    /// How many pages of the list of tools were asked for.
    pub fn lists(&self) -> usize {
        self.tools.lists.load(Ordering::SeqCst)
    }

    /// How many slow calls were cancelled.
    pub fn cancelled(&self) -> usize {
        self.tools.cancelled.load(Ordering::SeqCst)
    }

    /// How many sessions were opened; a server without sessions opens one per request.
    pub fn sessions(&self) -> usize {
        self.sessions.load(Ordering::SeqCst)
    }

    /// How many sessions are open.
    pub async fn open_sessions(&self) -> usize {
        self.manager.sessions.read().await.len()
    }

    /// Forgets all sessions.
    pub async fn expire(&self) {
        self.manager.sessions.write().await.clear();
    }

    /// The headers of all requests so far.
    pub fn headers_seen(&self) -> Vec<HeaderMap> {
        self.headers.lock().unwrap().clone()
    }

    /// Breaks all connections, forgets all sessions, and leaves the port.
    pub fn stop(&mut self) {
        if let Some(runtime) = self.running.take() {
            runtime.shutdown_background();
        }
        self.manager = Arc::default();
    }

    /// Serves on the same port again.
    pub fn restart(&mut self) {
        self.stop();
        let runtime = Builder::new_multi_thread().worker_threads(1).enable_all().build().unwrap();
        let listener = self.listen();
        let router = self.router();
        runtime.spawn(async move {
            let listener = tokio::net::TcpListener::from_std(listener).unwrap();
            // Events that are sent piece by piece would wait for the acknowledgement of the last one.
            let listener = listener.tap_io(|connection| connection.set_nodelay(true).unwrap());
            axum::serve(listener, router).await.unwrap();
        });
        self.running = Some(runtime);
    }

    /// Connections of the last life may still hold the port for a moment.
    fn listen(&mut self) -> std::net::TcpListener {
        let listener = (0..500).find_map(|_| {
            let pause = || std::thread::sleep(std::time::Duration::from_millis(10));
            std::net::TcpListener::bind(self.address).inspect_err(|_| pause()).ok()
        });
        let listener = listener.expect("the port stays in use");
        listener.set_nonblocking(true).unwrap();
        self.address = listener.local_addr().unwrap();
        listener
    }

    fn router(&self) -> Router {
        let (tools, sessions, headers) = (self.tools.clone(), self.sessions.clone(), self.headers.clone());
        let make = move || {
            sessions.fetch_add(1, Ordering::SeqCst);
            Ok(tools.clone())
        };
        let service = StreamableHttpService::new(make, self.manager.clone(), self.config.clone());
        let record = from_fn(move |request: Request, next: Next| {
            headers.lock().unwrap().push(request.headers().clone());
            next.run(request)
        });
        Router::new().route_service("/mcp", service).layer(record)
    }
}

impl Drop for McpServer {
    fn drop(&mut self) {
        self.stop();
    }
}
