//! The HTTP front door: parse, one service call, reply.
//!
//! - `routes`: every path and the handler behind it
//! - `documents`: lists, single documents, writes; `views`: how they look; `render`: prompts; `chat`: prompts and chats
//!   answered, `events`: in pieces; `tools`: calls of tools; `status`: the service itself
//! - `guard`: what holds for every request; `connections`: how many there may be; `caller`: who asks
//! - `body`: request bodies, `unread`: those that nobody reads; `error`, `service_errors`: errors as answers
//! - `departure`: clients that leave; `leaving`: the service that leaves; `unless`: work that something may end early

mod body;
mod caller;
mod chat;
mod connections;
mod departure;
mod documents;
mod error;
mod events;
mod guard;
mod leaving;
mod render;
mod routes;
mod service_errors;
mod status;
mod tools;
mod unless;
mod unread;
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
use leaving::Leaving;

pub use leaving::Exit;
pub use routes::{Role, Route, routes};

/// How long a client may take to send the head of its request.
const HEAD_TIMEOUT: Duration = Duration::from_secs(10);

/// Connections that may wait to be accepted.
const BACKLOG: i32 = 1024;

/// A server that listens; it serves while `server` is polled.
pub struct Bound {
    /// The address that it listens on.
    pub address: SocketAddr,
    /// The running server.
    pub server: Server,
    /// The way out of it.
    pub exit: Exit,
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
pub fn bind(app: &Arc<App>, settings: &settings::Server) -> std::io::Result<Bound> {
    let listener = TcpListener::bind(settings.listen)?;
    // The standard library's own queue is shorter, and a client that finds it full waits a second.
    rustix::net::listen(&listener, BACKLOG)?;
    connections::allow_open_files();
    let address = listener.local_addr()?;
    let (leaving, connections) = (Leaving::new(), Connections::new(settings.connections));
    let door = Door::Port(listener.try_clone()?);
    let server = serve(app, settings, door, leaving.clone(), connections.clone())?;
    let grace = Duration::from_millis(settings.stop_timeout_ms);
    let exit = Exit { leaving, connections, listener, server: server.handle(), grace };
    Ok(Bound { address, server, exit })
}

/// Starts to serve on a Unix socket at `path`. Whoever can reach the folder may do everything, so that it must be private.
///
/// # Errors
/// When the socket cannot be made.
pub fn bind_socket(app: &Arc<App>, settings: &settings::Server, path: PathBuf) -> std::io::Result<Server> {
    let connections = Connections::new(settings.connections);
    serve(app, settings, Door::Socket(path), Leaving::new(), connections)
}

fn serve(
    app: &Arc<App>,
    settings: &settings::Server,
    door: Door,
    leaving: Arc<Leaving>,
    connections: Arc<Connections>,
) -> std::io::Result<Server> {
    let guard = Guard::new(settings, leaving.clone());
    let services = Data::from(app.clone());
    let bounds = body::Bounds::new(settings, app.memory.clone(), app.pool.clone());
    let leaving = Data::from(leaving);
    let server = HttpServer::new(move || {
        // What every request counts a reference to is one for each serving thread: they would wait for each other's counts.
        let (guard, bounds) = (Rc::new(guard.clone()), Data::new(bounds.clone()));
        ActixApp::new()
            .app_data(services.clone())
            .app_data(bounds)
            .app_data(leaving.clone())
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
        // The command line handles signals, and `leaving` ends the server before this time is over.
        .disable_signals()
        .shutdown_timeout(settings.stop_timeout_ms / 1_000 + 60)
        // Pieces of a stream go out at once, and a client that leaves is noticed while its answer is still being made.
        .tcp_nodelay(true)
        .on_connect(move |connection, data| {
            limit_unread(connection, send_timeout_ms);
            data.insert(connections.open());
        })
        .h1_allow_half_closed(false);
    Ok(match door {
        Door::Port(listener) => server.listen(listener)?.run(),
        Door::Socket(path) => server.bind_uds(path)?.run(),
    })
}

/// Has the system give up a connection whose client acknowledges or takes nothing for this long: otherwise, one that never
/// reads would keep its answer, and the call behind it, for ever.
fn limit_unread(connection: &dyn Any, timeout_ms: u32) {
    #[cfg(target_os = "linux")]
    if let Some(stream) = connection.downcast_ref::<TcpStream>()
        && let Err(error) = rustix::net::sockopt::set_tcp_user_timeout(stream, timeout_ms)
    {
        tracing::debug!(%error, "the time to send on a connection cannot be limited");
    }
}

/// Queries that cannot be read are told in the shape of all errors.
fn query() -> QueryConfig {
    QueryConfig::default().error_handler(|error, _| error::ApiError::invalid_query(&error.to_string()).into())
}
