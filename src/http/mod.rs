//! The HTTP front door: parse, one service call, reply.
//!
//! - `routes`: every path and the handler behind it
//! - `documents`: lists, single documents, writes; `views`: how they look; `render`: prompts; `chat`: prompts and chats
//!   answered, `events`: in pieces; `tools`: calls of tools; `status`: the service itself
//! - `guard`: what holds for every request; `connections`: how many there may be; `caller`: who asks
//! - `body`: request bodies, `unread`: those that nobody reads; `error`, `failures`: failures as answers
//! - `departure`: clients that leave; `leaving`: the service that leaves; `unless`: work that something may end early

mod body;
mod caller;
mod chat;
mod connections;
mod departure;
mod documents;
mod error;
mod events;
mod failures;
mod guard;
mod leaving;
mod render;
mod routes;
mod status;
mod tools;
mod unless;
mod unread;
mod views;

use std::any::Any;
use std::net::{SocketAddr, TcpListener};
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
    let door = listener.try_clone()?;
    let leaving = Leaving::new();
    let guard = Guard::new(address, settings, leaving.clone());
    let services = Data::from(app.clone());
    let bounds = body::Bounds::new(settings, app.memory.clone(), app.pool.clone());
    let over = Data::from(leaving.clone());
    let server = HttpServer::new(move || {
        // What every request counts a reference to is one for each serving thread: they would wait for each other's counts.
        let (guard, bounds) = (Rc::new(guard.clone()), Data::new(bounds.clone()));
        ActixApp::new()
            .app_data(services.clone())
            .app_data(bounds)
            .app_data(over.clone())
            .app_data(query())
            .configure(routes::configure)
            .wrap_fn(move |request, service| guard.clone().around(request, service))
    });
    let send_timeout_ms = settings.send_timeout_ms;
    let connections = Connections::new(settings.connections);
    let (open, accepted) = (connections.clone(), connections.accepted());
    let grace = Duration::from_millis(settings.stop_timeout_ms);
    let workers = match settings.workers {
        0 => std::thread::available_parallelism().map_or(1, std::num::NonZero::get),
        workers => workers,
    };
    let server = server
        .workers(workers)
        .max_connections(accepted.div_ceil(workers))
        .client_request_timeout(HEAD_TIMEOUT)
        .keep_alive(Duration::from_millis(settings.idle_timeout_ms))
        // Signals are the command line's, and so is the time to stop (`leaving`): this one is never reached.
        .disable_signals()
        .shutdown_timeout(grace.as_secs().saturating_add(60))
        // Pieces of a stream go out at once, and a client that leaves is noticed while its answer is still being made.
        .tcp_nodelay(true)
        .on_connect(move |connection, data| {
            limit_unread(connection, send_timeout_ms);
            data.insert(open.open());
        })
        .h1_allow_half_closed(false)
        .listen(listener)?
        .run();
    let exit = Exit { leaving, connections, listener: door, server: server.handle(), grace };
    Ok(Bound { address, server, exit })
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
