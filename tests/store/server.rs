//! What only the tests of the store ask of a Redis server: other arguments, TLS, and standing still.

use std::path::Path;
use std::process::Command;

use crate::redis_server::RedisServer;

impl RedisServer {
    /// Starts a server with more arguments: `["--requirepass", "x"]`.
    pub fn start_with(arguments: &[&str]) -> RedisServer {
        RedisServer::launch(arguments, |port| vec!["--port".to_owned(), port.to_string()])
    }

    /// Starts a server that speaks only TLS, with this certificate and key.
    pub fn start_with_tls(certificate: &Path, key: &Path) -> RedisServer {
        let (certificate, key) = (certificate.to_str().unwrap(), key.to_str().unwrap());
        let arguments = ["--tls-cert-file", certificate, "--tls-key-file", key, "--tls-auth-clients", "no"];
        RedisServer::launch(&arguments, |port| {
            ["--port", "0", "--tls-port", &port.to_string()].map(str::to_owned).to_vec()
        })
    }

    /// The port.
    pub fn port(&self) -> u16 {
        self.port
    }

    /// Makes the server stop answering; its connections stay open.
    pub fn pause(&self) {
        self.signal("-STOP");
    }

    /// Lets a paused server go on.
    pub fn go_on(&self) {
        self.signal("-CONT");
    }

    fn signal(&self, signal: &str) {
        let process = self.process.as_ref().expect("the server runs").id().to_string();
        assert!(Command::new("kill").args([signal, &process]).status().unwrap().success());
    }
}
