//! The service as a process of its own, and its log.

use std::fs::File;
use std::process::{Child, Command, Stdio};
use std::time::Duration;

use crate::app::TestApp;

/// The process; it ends with the value.
pub struct Service {
    child: Child,
    folder: tempfile::TempDir,
    app: TestApp,
}

impl Service {
    /// Starts it with these settings, over a store in memory, and waits until it is ready.
    pub async fn start(settings: &str) -> Service {
        let folder = tempfile::tempdir().unwrap();
        let address = std::net::TcpListener::bind("127.0.0.1:0").unwrap().local_addr().unwrap();
        std::fs::write(folder.path().join("ai-prompt-shell.toml"), settings).unwrap();
        let log = File::create(folder.path().join("log")).unwrap();
        let mut command = Command::new(env!("CARGO_BIN_EXE_ai-prompt-shell"));
        command.current_dir(folder.path()).args(["--store", "memory:", "--listen", &address.to_string()]);
        let child = command.stdin(Stdio::null()).stdout(Stdio::null()).stderr(log).spawn().unwrap();
        let service = Service { child, folder, app: TestApp::at(&format!("http://{address}")) };
        for _ in 0..1_000 {
            if tokio::net::TcpStream::connect(address).await.is_ok() {
                break;
            }
            tokio::time::sleep(Duration::from_millis(10)).await;
        }
        service.app.eventually("/readyz", |answer| answer.status == 200).await;
        service
    }

    /// A client of it.
    pub fn client(&self) -> &TestApp {
        &self.app
    }

    /// Ends it and gives its log.
    pub fn stop(mut self) -> String {
        self.end();
        std::fs::read_to_string(self.folder.path().join("log")).unwrap()
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
