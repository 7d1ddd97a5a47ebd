//! The HTTP front door: parse, one service call, reply.
//!
//! - `routes`: the table of routes, with their names and roles
//! - handlers: `documents` (with `views` and `skill_views`, their replies), `skill_files`, `render`, `chat` (with `events`, streamed
//!   bodies), `requests` (with `solution_events`), `batch`, `ideas`, `skills`, `agents`, `sessions` (with `session_stream` and
//!   `session_socket`), `tools`, `status`
//! - every request: `guard` (host, origin, request id), `cors` (web pages of other origins), `caller` (its headers)
//! - connections: `address` (where they come in), `connections` (how many)
//! - bodies: `body` (reads JSON within limits), `document_body` (documents of writes), `compression` (with gzip), `lines` (JSON lines),
//!   `unread_body` (bodies that no handler reads)
//! - errors: `error` (the table from kinds to statuses), `service_errors` and `session_errors` (code and details of each error)
//! - endings: `disconnect` (clients that leave), `shutdown` (the service stops), `cancel` (one future ends another)

mod address;
mod agents;
mod batch;
mod body;
mod caller;
mod chat;
mod compression;
mod connections;
mod cors;
mod disconnect;
mod document_body;
mod documents;
mod error;
mod events;
mod guard;
mod ideas;
mod lines;
mod shutdown;
mod session_errors;
mod skill_files;
mod skill_views;
mod render;
mod requests;
mod routes;
mod service_errors;
mod session_socket;
mod session_stream;
mod sessions;
mod skills;
mod solution_events;
mod status;
mod tools;
mod cancel;
mod unread_body;
mod views;

use std::any::Any;
use std::path::PathBuf;
use std::rc::Rc;
use std::sync::Arc;
use std::time::Duration;

use actix_web::dev::Server;
use actix_web::middleware::{Compat, Condition};
use actix_web::rt::net::TcpStream;
use actix_web::web::{Data, QueryConfig};
use actix_web::{App as ActixApp, HttpServer};

use crate::app::App;
use crate::settings;
use address::Listener;
use connections::Connections;
use guard::Guard;
use shutdown::Shutdown;

pub use address::Address;
pub use error::ApiError;
pub use routes::{Role, Route, routes};
pub use sessions::read_event;
pub use shutdown::ShutdownHandle;
pub use skills::start_of;

/// How long a client may take to send the head of its request.
const HEAD_TIMEOUT: Duration = Duration::from_secs(10);

/// A server on a TCP port. It serves while `server` is polled.
pub struct RunningServer {
    /// Where it can be reached.
    pub address: Address,
    /// The future that serves.
    pub server: Server,
    /// Stops it gracefully.
    pub shutdown: ShutdownHandle,
}

/// Binds the address of the settings and starts to serve.
///
/// # Errors
/// When the address cannot be bound.
pub fn bind(app: &Arc<App>, settings: &settings::Server) -> std::io::Result<RunningServer> {
    let (listener, address) = Listener::bind(&settings.listen)?;
    connections::allow_open_files();
    let (shutdown, connections) = (Shutdown::new(), Connections::new(settings.connections));
    let handle = listener.handle()?;
    let server = serve(app, settings, listener, shutdown.clone(), connections.clone())?;
    let shutdown = ShutdownHandle {
        shutdown,
        connections,
        listener: handle,
        address: address.clone(),
        server: server.handle(),
        grace: Duration::from_millis(settings.stop_timeout_ms),
    };
    Ok(RunningServer { address, server, shutdown })
}

/// Starts to serve on a Unix socket at `path`. Whoever can reach the folder may do everything, so that it must be private.
///
/// # Errors
/// When the socket cannot be made.
pub fn bind_socket(app: &Arc<App>, settings: &settings::Server, path: PathBuf) -> std::io::Result<Server> {
    let connections = Connections::new(settings.connections);
    let (listener, _) = Listener::bind(&settings::Listen::Socket(path))?;
    serve(app, settings, listener, Shutdown::new(), connections)
}

fn serve(
    app: &Arc<App>,
    settings: &settings::Server,
    listener: Listener,
    shutdown: Arc<Shutdown>,
    connections: Arc<Connections>,
) -> std::io::Result<Server> {
    let guard = Guard::new(settings, shutdown.clone());
    let services = Data::from(app.clone());
    let bounds = body::BodyLimits::new(settings, app.memory.clone(), app.pool.clone());
    let shutdown = Data::from(shutdown);
    let origins = settings.origins.clone();
    let has_origins = !origins.is_empty();
    let server = HttpServer::new(move || {
        // One of each for each serving thread: reference counts that all threads share would be contended.
        let (guard, bounds) = (Rc::new(guard.clone()), Data::new(bounds.clone()));
        ActixApp::new()
            .app_data(services.clone())
            .app_data(bounds)
            .app_data(shutdown.clone())
            .app_data(query())
            .configure(routes::configure)
            .wrap_fn(move |request, service| guard.clone().around(request, service))
            .wrap(Condition::new(has_origins, Compat::new(cors::answers(&origins))))
    });
    let send_timeout_ms = settings.send_timeout_ms;
    let accepted = connections.accepted();
    let workers = match settings.workers {
        0 => std::thread::available_parallelism().map_or(1, std::num::NonZero::get),
        workers => workers,
    };
    let server = server
        .workers(workers)
        .max_connections(accepted.div_ceil(workers))
        .client_request_timeout(HEAD_TIMEOUT)
        .keep_alive(Duration::from_millis(settings.idle_timeout_ms))
        // The command line handles signals, and `shutdown` ends the server before this time is over.
        .disable_signals()
        .shutdown_timeout(settings.stop_timeout_ms / 1_000 + 60)
        // Chunks of a stream are sent at once.
        .tcp_nodelay(true)
        .on_connect(move |connection, data| {
            limit_unread(connection, send_timeout_ms);
            data.insert(connections.open());
        })
        // A client that closes its sending side has usually left. So it is noticed before its answer is ready.
        .h1_allow_half_closed(false);
    Ok(match listener {
        // HTTP/1.1, and HTTP/2 for clients that begin with its preface (RFC 9113, section 3.3).
        Listener::Port(listener) => server.listen_auto_h2c(listener)?.run(),
        Listener::Socket(listener) => server.listen_uds(listener)?.run(),
    })
}

/// Has the operating system close a connection whose client acknowledges nothing for this long (`TCP_USER_TIMEOUT`). A client
/// that never reads would otherwise keep its answer, and the upstream call behind it, forever.
fn limit_unread(connection: &dyn Any, timeout_ms: u32) {
    #[cfg(target_os = "linux")]
    if let Some(stream) = connection.downcast_ref::<TcpStream>()
        && let Err(error) = rustix::net::sockopt::set_tcp_user_timeout(stream, timeout_ms)
    {
        tracing::debug!(%error, "TCP_USER_TIMEOUT cannot be set");
    }
}

/// Errors in query strings get the shape of all errors.
fn query() -> QueryConfig {
    QueryConfig::default().error_handler(|error, _| error::ApiError::invalid_query(&error.to_string()).into())
}
