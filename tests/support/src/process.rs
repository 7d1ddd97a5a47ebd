//! The service as a process of its own, and its log.

use std::fs::File;
use std::path::{Path, PathBuf};
use std::process::{Child, ChildStderr, Command, ExitStatus, Stdio};
use std::time::Duration;

use rustix::process::{Pid, Signal, kill_process};

use crate::app::TestApp;

/// The service's binary, which cargo builds beside the tests.
fn program() -> PathBuf {
    let test = std::env::current_exe().unwrap();
    test.parent().and_then(Path::parent).unwrap().join("ai-prompt-shell")
}

/// The process; it ends with the value.
pub struct Service {
    child: Child,
    folder: tempfile::TempDir,
    app: TestApp,
}

impl Service {
    /// Starts it with these settings, over a store in memory unless they name one, and waits until it is ready.
    pub async fn start(settings: &str) -> Service {
        let service = Service::begin(settings, |_| {}).await;
        service.app.eventually("/readyz", |answer| answer.status == 200).await;
        service
    }

    /// Starts it by a command that `change` has had its way with, and waits until it can be connected to.
    pub async fn begin(settings: &str, change: impl FnOnce(&mut Command)) -> Service {
        let service = Service::spawn(settings, change);
        let address = service.app.base.strip_prefix("http://").unwrap();
        for _ in 0..1_000 {
            if tokio::net::TcpStream::connect(address).await.is_ok() {
                break;
            }
            tokio::time::sleep(Duration::from_millis(10)).await;
        }
        service
    }

    /// Starts it where it cannot serve.
    pub fn begin_in_vain(settings: &str) -> Service {
        Service::spawn(settings, |_| {})
    }

    fn spawn(settings: &str, change: impl FnOnce(&mut Command)) -> Service {
        let folder = tempfile::tempdir().unwrap();
        let address = std::net::TcpListener::bind("127.0.0.1:0").unwrap().local_addr().unwrap();
        std::fs::write(folder.path().join("ai-prompt-shell.toml"), settings).unwrap();
        let log = File::create(folder.path().join("log")).unwrap();
        let mut command = Command::new(program());
        command.current_dir(folder.path()).args(["--listen", &address.to_string()]);
        if !settings.contains("[store]") {
            command.args(["--store", "memory:"]);
        }
        command.stdin(Stdio::null()).stdout(Stdio::null()).stderr(log);
        change(&mut command);
        let child = command.spawn().unwrap();
        Service { child, folder, app: TestApp::at(&format!("http://{address}")) }
    }

    /// The process.
    pub fn pid(&self) -> Pid {
        Pid::from_child(&self.child)
    }

    /// Its end of what it writes to, where that is a pipe.
    pub fn stderr(&mut self) -> ChildStderr {
        self.child.stderr.take().unwrap()
    }

    /// Sends it a signal.
    pub fn signal(&self, signal: Signal) {
        kill_process(self.pid(), signal).unwrap();
    }

    /// Waits, twenty seconds at most, until it ends by itself.
    pub async fn ended(&mut self) -> ExitStatus {
        for _ in 0..2_000 {
            if let Some(status) = self.child.try_wait().unwrap() {
                return status;
            }
            tokio::time::sleep(Duration::from_millis(10)).await;
        }
        panic!("the service does not end");
    }

    /// What it has logged so far.
    pub fn log(&self) -> String {
        std::fs::read_to_string(self.folder.path().join("log")).unwrap()
    }

    /// A client of it.
    pub fn client(&self) -> &TestApp {
        &self.app
    }

    /// Ends it and gives its log.
    pub fn stop(mut self) -> String {
        self.end();
        self.log()
    }

    fn end(&mut self) {
        // One that has ended by itself is fine.
        let _ = self.child.kill();
        self.child.wait().unwrap();
    }
}

impl Drop for Service {
    fn drop(&mut self) {
        self.end();
    }
}
