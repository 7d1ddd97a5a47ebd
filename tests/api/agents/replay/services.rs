//! The services of the simple agent as they ship, `extensions/simple-agent/demo/services.py`, run by a script.

use std::path::Path;
use std::process::Stdio;

use serde_json::{Value as Json, json};
use support::app::client;
use tokio::io::{AsyncBufReadExt, BufReader};
use tokio::process::{Child, Command};

/// A service as a process of its own, which ends with the value.
pub struct Service {
    pub url: String,
    client: reqwest::Client,
    _child: Child,
}

impl Service {
    /// Starts `rag` or `haiku`.
    pub async fn start(name: &str) -> Service {
        let program = Path::new(env!("CARGO_MANIFEST_DIR")).join("extensions/simple-agent/demo/services.py");
        let mut command = Command::new("python3");
        command.arg(program).args([name, "--scripted"]).stdout(Stdio::piped()).kill_on_drop(true);
        let mut child = command.spawn().expect("python3 must be installed: run `make setup`");
        let mut lines = BufReader::new(child.stdout.take().unwrap()).lines();
        let url = lines.next_line().await.unwrap().expect("it prints its address");
        Service { url, client: client(), _child: child }
    }

    /// Has it give these answers next; the requests since the last script, and how many answers of that are left.
    pub async fn script(&self, answers: &[Json]) -> (Vec<Json>, u64) {
        let request = self.client.put(format!("{}/script", self.url)).json(&json!(answers));
        let told: Json = request.send().await.unwrap().json().await.unwrap();
        (told["seen"].as_array().unwrap().clone(), told["left"].as_u64().unwrap())
    }
}
