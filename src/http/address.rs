//! The address that the service listens on: a port, or a Unix socket.

use std::fmt;
use std::io::{Error, ErrorKind};
use std::net::{SocketAddr, TcpListener};
use std::os::fd::OwnedFd;
use std::os::unix::fs::FileTypeExt;
use std::os::unix::net::{UnixListener, UnixStream};
use std::path::{Path, PathBuf};

use crate::settings::Listen;

/// Connections that may wait to be accepted.
const BACKLOG: i32 = 1024;

/// Where a running server can be reached.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Address {
    /// At a port.
    Port(SocketAddr),
    /// On a Unix socket.
    Socket(PathBuf),
}

/// `http://…`, or `unix:…`.
impl fmt::Display for Address {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Address::Port(address) => write!(f, "http://{address}"),
            Address::Socket(path) => write!(f, "unix:{}", path.display()),
        }
    }
}

/// A socket that is listened on.
pub enum Listener {
    /// A port.
    Port(TcpListener),
    /// A Unix socket.
    Socket(UnixListener),
}

impl Listener {
    /// Listens where the settings say.
    ///
    /// # Errors
    /// When the address is taken or cannot be had. A file that is no socket is never removed.
    pub fn bind(listen: &Listen) -> std::io::Result<(Listener, Address)> {
        match listen {
            Listen::Port { .. } => {
                let listener = TcpListener::bind(listen.to_string())?;
                // The standard library's accept queue is shorter, and a client that finds it full waits a second before it
                // tries again.
                rustix::net::listen(&listener, BACKLOG)?;
                let address = Address::Port(listener.local_addr()?);
                Ok((Listener::Port(listener), address))
            }
            Listen::Socket(path) => {
                remove_stale(path)?;
                Ok((Listener::Socket(UnixListener::bind(path)?), Address::Socket(path.clone())))
            }
        }
    }

    /// The same socket once more, to close it later.
    ///
    /// # Errors
    /// When there are too many open files.
    pub fn handle(&self) -> std::io::Result<OwnedFd> {
        Ok(match self {
            Listener::Port(listener) => listener.try_clone()?.into(),
            Listener::Socket(listener) => listener.try_clone()?.into(),
        })
    }
}

/// Removes the socket that a service left behind which did not stop in order.
fn remove_stale(path: &Path) -> std::io::Result<()> {
    let Ok(about) = std::fs::symlink_metadata(path) else { return Ok(()) };
    if !about.file_type().is_socket() {
        return Err(Error::new(ErrorKind::AlreadyExists, "the file exists, and is no socket"));
    }
    if UnixStream::connect(path).is_ok() {
        return Err(Error::new(ErrorKind::AddrInUse, "another service listens there"));
    }
    std::fs::remove_file(path)
}
