//! Programs of `servers/`, and of npm, that run beside the service.

use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::time::Duration;

/// A server at a port of its own; it ends with the value.
pub struct Server {
    child: Child,
    /// `127.0.0.1:PORT`.
    pub address: String,
}

impl Server {
    /// A program of `servers/`, whose last argument is its port.
    pub async fn python(program: &str, arguments: &[&str]) -> Server {
        let mut command = Command::new(python());
        command.arg(servers().join(program)).args(arguments);
        let address = free_address();
        command.arg(port(&address));
        Server::start(command, address).await
    }

    /// The server of an npm package, which reads its port from the environment.
    pub async fn node(package: &str, arguments: &[&str]) -> Server {
        let mut command = Command::new("node");
        let address = free_address();
        command.arg(node_program(package)).args(arguments).env("PORT", port(&address));
        Server::start(command, address).await
    }

    async fn start(mut command: Command, address: String) -> Server {
        command.stdin(Stdio::null()).stdout(Stdio::null()).stderr(Stdio::null());
        let spawned = command.spawn();
        let child =
            spawned.unwrap_or_else(|error| panic!("{error}; run the tests by `make test-tool-servers`"));
        let mut server = Server { child, address };
        for _ in 0..600 {
            if tokio::net::TcpStream::connect(&server.address).await.is_ok() {
                return server;
            }
            assert_eq!(server.child.try_wait().unwrap(), None, "{command:?} has ended");
            tokio::time::sleep(Duration::from_millis(50)).await;
        }
        panic!("{command:?} does not listen");
    }
}

impl Drop for Server {
    fn drop(&mut self) {
        // One that has ended by itself is fine.
        let _ = self.child.kill();
        self.child.wait().unwrap();
    }
}

/// The program of an npm package, for `node`.
pub fn node_program(package: &str) -> PathBuf {
    installed().join("node_modules/@modelcontextprotocol").join(package).join("dist/index.js")
}

/// The interpreter that has what `servers.txt` lists.
pub fn python() -> PathBuf {
    installed().join("venv/servers/bin/python")
}

/// The folder of the Python programs.
pub fn servers() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/tool_servers/servers")
}

fn installed() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("target/tool_servers")
}

fn free_address() -> String {
    std::net::TcpListener::bind("127.0.0.1:0").unwrap().local_addr().unwrap().to_string()
}

fn port(address: &str) -> &str {
    address.rsplit(':').next().unwrap()
}
