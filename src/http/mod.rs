//! The HTTP front door: parse, one service call, reply.
//!
//! - `routes`: the table of routes, with their names and roles
//! - handlers: `documents` (with `views`, their replies), `render`, `chat` (with `events`, streamed bodies), `tools`, `status`
//! - every request: `guard` (host, origin, request id), `caller` (its headers), `connections` (how many)
//! - bodies: `body` (reads JSON within limits), `unread_body` (bodies that no handler reads)
//! - errors: `error` (the table from kinds to statuses), `service_errors` (code and details of each error)
//! - endings: `disconnect` (clients that leave), `shutdown` (the service stops), `cancel` (one future ends another)

mod body;
mod caller;
mod chat;
mod connections;
mod disconnect;
mod documents;
mod error;
mod events;
mod guard;
mod shutdown;
mod render;
mod routes;
mod service_errors;
mod status;
mod tools;
mod cancel;
mod unread_body;
mod views;

use std::any::Any;
use std::net::{SocketAddr, TcpListener};
use std::path::PathBuf;
use std::rc::Rc;
use std::sync::Arc;
use std::time::Duration;

use actix_web::dev::Server;
use actix_web::rt::net::TcpStream;
use actix_web::web::{Data, QueryConfig};
use actix_web::{App as ActixApp, HttpServer};

use crate::app::App;
use crate::settings;
use connections::Connections;
use guard::Guard;
use shutdown::Shutdown;

pub use routes::{Role, Route, routes};
pub use shutdown::ShutdownHandle;

/// How long a client may take to send the head of its request.
const HEAD_TIMEOUT: Duration = Duration::from_secs(10);

/// Connections that may wait to be accepted.
const BACKLOG: i32 = 1024;

/// A server on a TCP port. It serves while `server` is polled.
pub struct RunningServer {
    /// The address that it listens on.
    pub address: SocketAddr,
    /// The future that serves.
    pub server: Server,
    /// Stops it gracefully.
    pub shutdown: ShutdownHandle,
}

/// Where a server waits for connections.
enum Door {
    Port(TcpListener),
    /// The path of a Unix socket.
    Socket(PathBuf),
}

/// Binds the address of the settings and starts to serve.
///
/// # Errors
/// When the address cannot be bound.
pub fn bind(app: &Arc<App>, settings: &settings::Server) -> std::io::Result<RunningServer> {
    let listener = TcpListener::bind(settings.listen)?;
    // The standard library's accept queue is shorter, and a client that finds it full waits a second before it tries again.
    rustix::net::listen(&listener, BACKLOG)?;
    connections::allow_open_files();
    let address = listener.local_addr()?;
    let (shutdown, connections) = (Shutdown::new(), Connections::new(settings.connections));
    let door = Door::Port(listener.try_clone()?);
    let server = serve(app, settings, door, shutdown.clone(), connections.clone())?;
    let grace = Duration::from_millis(settings.stop_timeout_ms);
    let shutdown = ShutdownHandle { shutdown, connections, listener, server: server.handle(), grace };
    Ok(RunningServer { address, server, shutdown })
}

/// Starts to serve on a Unix socket at `path`. Whoever can reach the folder may do everything, so that it must be private.
///
/// # Errors
/// When the socket cannot be made.
pub fn bind_socket(app: &Arc<App>, settings: &settings::Server, path: PathBuf) -> std::io::Result<Server> {
    let connections = Connections::new(settings.connections);
    serve(app, settings, Door::Socket(path), Shutdown::new(), connections)
}

fn serve(
    app: &Arc<App>,
    settings: &settings::Server,
    door: Door,
    shutdown: Arc<Shutdown>,
    connections: Arc<Connections>,
) -> std::io::Result<Server> {
    let guard = Guard::new(settings, shutdown.clone());
    let services = Data::from(app.clone());
    let bounds = body::BodyLimits::new(settings, app.memory.clone(), app.pool.clone());
    let shutdown = Data::from(shutdown);
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
    Ok(match door {
        Door::Port(listener) => server.listen(listener)?.run(),
        Door::Socket(path) => server.bind_uds(path)?.run(),
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
