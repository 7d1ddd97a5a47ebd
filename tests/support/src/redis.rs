//! A real `redis-server` for a test, on a port of its own, gone when the test ends.

use std::fs::File;
use std::io::{Read, Write};
use std::net::{TcpListener, TcpStream};
use std::path::Path;
use std::process::{Child, Command, Stdio};
use std::time::{Duration, Instant};

use tempfile::TempDir;

/// How long a server may take to start before the test gives up.
const START_LIMIT: Duration = Duration::from_secs(20);

/// A running server; it keeps nothing on disk.
pub struct RedisServer {
    /// The port that it listens on.
    pub port: u16,
    arguments: Vec<String>,
    folder: TempDir,
    process: Option<Child>,
}

impl RedisServer {
    /// Starts a server on a free port of the loopback address.
    pub fn start() -> RedisServer {
        RedisServer::launch(&[], |port| vec!["--port".to_owned(), port.to_string()])
    }

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

    /// Starts a server with these arguments, those for the port included.
    fn launch(arguments: &[&str], port_arguments: impl Fn(u16) -> Vec<String>) -> RedisServer {
        // Somebody else may take the free port before the server does: then try another one.
        for _ in 0..10 {
            let port = free_port();
            let mut all = port_arguments(port);
            all.extend(arguments.iter().map(|&argument| argument.to_owned()));
            let folder = tempfile::tempdir().unwrap();
            let mut server = RedisServer { port, arguments: all, folder, process: None };
            if server.run() {
                return server;
            }
        }
        panic!("redis-server does not start: see its output above");
    }

    /// The address of database 0, without user and password.
    pub fn url(&self) -> String {
        format!("redis://127.0.0.1:{}/0", self.port)
    }

    /// A plain connection, to do what others than the store may do.
    pub fn connection(&self) -> redis::Connection {
        redis::Client::open(self.url()).unwrap().get_connection().unwrap()
    }

    /// Ends the server at once.
    pub fn kill(&mut self) {
        if let Some(mut process) = self.process.take() {
            process.kill().unwrap();
            process.wait().unwrap();
        }
    }

    /// Starts the server again, empty, on the same port.
    pub fn restart(&mut self) {
        self.kill();
        assert!(self.run(), "redis-server does not start again on port {}", self.port);
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

    /// Whether the server is up; otherwise it ended, and its log is printed.
    fn run(&mut self) -> bool {
        let log = self.folder.path().join("log");
        let process = Command::new("redis-server")
            .args(["--bind", "127.0.0.1", "--save", "", "--appendonly", "no", "--loglevel", "warning"])
            .arg("--dir")
            .arg(self.folder.path())
            .args(&self.arguments)
            .stdin(Stdio::null())
            .stdout(File::create(&log).unwrap())
            .stderr(Stdio::null())
            .spawn();
        self.process = Some(process.expect("install redis-server (make test installs it)"));
        let up = self.wait_until_up();
        if !up {
            println!("{}", std::fs::read_to_string(log).unwrap());
        }
        up
    }

    fn wait_until_up(&mut self) -> bool {
        let start = Instant::now();
        while self.process.as_mut().unwrap().try_wait().unwrap().is_none() {
            if self.answers() {
                return true;
            }
            assert!(start.elapsed() < START_LIMIT, "redis-server is not up after {START_LIMIT:?}");
            std::thread::sleep(Duration::from_millis(5));
        }
        false
    }

    /// Whether the server says anything to a stranger; with TLS it is enough that it listens.
    fn answers(&self) -> bool {
        let Ok(mut stream) = TcpStream::connect(("127.0.0.1", self.port)) else { return false };
        stream.set_read_timeout(Some(Duration::from_secs(1))).unwrap();
        self.arguments.iter().any(|argument| argument == "--tls-port")
            || stream.write_all(b"PING\r\n").is_ok() && stream.read(&mut [0; 64]).is_ok_and(|read| read > 0)
    }
}

impl Drop for RedisServer {
    fn drop(&mut self) {
        self.kill();
    }
}

/// A port that nobody listens on at this moment.
pub fn free_port() -> u16 {
    TcpListener::bind("127.0.0.1:0").unwrap().local_addr().unwrap().port()
}
