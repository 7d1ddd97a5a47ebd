//! Where the service listens: a port, or a Unix socket.

use std::fmt;
use std::net::{IpAddr, SocketAddr};
use std::path::PathBuf;
use std::str::FromStr;

use serde::{Deserialize, Deserializer, Serialize, Serializer, de};

/// How the address of a Unix socket begins.
const UNIX: &str = "unix:";

/// Where the service listens.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Listen {
    /// A port of this machine.
    Port {
        /// An address or a host name, without brackets.
        host: String,
        /// The port; 0 takes a free one.
        port: u16,
    },
    /// A Unix socket at this path.
    Socket(PathBuf),
}

/// The text says no address.
#[derive(Debug, thiserror::Error)]
#[error(
    "`{0}` is no address to listen on: give HOST:PORT, such as 127.0.0.1:8080, [::1]:8080 or localhost:8080, or unix:PATH"
)]
pub struct InvalidListen(String);

impl Listen {
    /// The host, as an address; `None` for host names and sockets.
    pub fn ip(&self) -> Option<IpAddr> {
        match self {
            Listen::Port { host, .. } => host.parse().ok(),
            Listen::Socket(_) => None,
        }
    }

    /// The host; `None` for sockets.
    pub fn host(&self) -> Option<&str> {
        match self {
            Listen::Port { host, .. } => Some(host),
            Listen::Socket(_) => None,
        }
    }
}

impl FromStr for Listen {
    type Err = InvalidListen;

    fn from_str(text: &str) -> Result<Listen, InvalidListen> {
        let invalid = || InvalidListen(text.to_owned());
        if let Some(path) = text.strip_prefix(UNIX) {
            return if path.is_empty() { Err(invalid()) } else { Ok(Listen::Socket(path.into())) };
        }
        let (host, port) = text.rsplit_once(':').ok_or_else(invalid)?;
        let port = port.parse().map_err(|_| invalid())?;
        let bare = host.strip_prefix('[').and_then(|host| host.strip_suffix(']')).unwrap_or(host);
        let is_name = |c: char| c.is_ascii_alphanumeric() || c == '-' || c == '.' || c == '_';
        let is_host = !bare.is_empty()
            && (bare.chars().all(is_name) || (bare != host && bare.parse::<IpAddr>().is_ok()));
        if is_host { Ok(Listen::Port { host: bare.to_owned(), port }) } else { Err(invalid()) }
    }
}

impl From<SocketAddr> for Listen {
    fn from(address: SocketAddr) -> Listen {
        Listen::Port { host: address.ip().to_string(), port: address.port() }
    }
}

/// As it is written in the settings.
impl fmt::Display for Listen {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Listen::Port { host, port } if host.contains(':') => write!(f, "[{host}]:{port}"),
            Listen::Port { host, port } => write!(f, "{host}:{port}"),
            Listen::Socket(path) => write!(f, "{UNIX}{}", path.display()),
        }
    }
}

impl Serialize for Listen {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.collect_str(self)
    }
}

impl<'de> Deserialize<'de> for Listen {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Listen, D::Error> {
        String::deserialize(deserializer)?.parse().map_err(de::Error::custom)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn addresses_names_and_sockets_are_read_and_written_alike() {
        for (text, host) in [
            ("127.0.0.1:8080", Some("127.0.0.1")),
            ("[::1]:0", Some("::1")),
            ("localhost:80", Some("localhost")),
            ("my_host.test:1", Some("my_host.test")),
            ("unix:/run/a.sock", None),
        ] {
            let listen: Listen = text.parse().unwrap();
            assert_eq!((listen.host(), listen.to_string()), (host, text.to_owned()));
        }
        for none in
            ["", "8080", "localhost", ":80", "unix:", "a b:1", "h:70000", "::1:80", "[x:y]:1", "http://h:1"]
        {
            assert!(none.parse::<Listen>().is_err(), "{none}");
        }
    }
}
