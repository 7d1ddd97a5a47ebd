//! A `redis-server` of our own, on a free port, that keeps nothing on disk.

use std::process::{Child, Command, Stdio};
use std::time::Duration;

use tempfile::TempDir;

use crate::Outcome;
use crate::process::{free_address, stop};

/// How many commands are sent before their answers are read.
const PIPELINE: usize = 5_000;

/// A running server; it ends when dropped.
pub struct Redis {
    address: String,
    child: Child,
    _folder: TempDir,
}

impl Redis {
    /// Starts a server.
    pub async fn start() -> Outcome<Redis> {
        let (address, folder) = (free_address()?, tempfile::tempdir()?);
        let port = address.rsplit(':').next().unwrap_or_default();
        let child = Command::new("redis-server")
            .args(["--bind", "127.0.0.1", "--port", port, "--save", "", "--appendonly", "no"])
            .arg("--dir")
            .arg(folder.path())
            .stdin(Stdio::null())
            .stdout(Stdio::null())
            .spawn()
            .map_err(|error| format!("redis-server does not start (apt install redis-server): {error}"))?;
        let mut server = Redis { address, child, _folder: folder };
        while server.connection(0).is_err() {
            if server.child.try_wait()?.is_some() {
                return Err("redis-server has ended".into());
            }
            tokio::time::sleep(Duration::from_millis(10)).await;
        }
        Ok(server)
    }

    /// The address of a database.
    pub fn url(&self, database: u32) -> String {
        format!("redis://{}/{database}", self.address)
    }

    /// A connection to a database.
    pub fn connection(&self, database: u32) -> Outcome<redis::Connection> {
        Ok(redis::Client::open(self.url(database))?.get_connection()?)
    }
}

/// Sets keys, thousands at a time.
pub fn set_all(connection: &mut redis::Connection, documents: &[(String, String)]) -> Outcome {
    for chunk in documents.chunks(PIPELINE) {
        let mut pipe = redis::pipe();
        for (key, value) in chunk {
            pipe.set(key, value).ignore();
        }
        pipe.query::<()>(connection)?;
    }
    Ok(())
}

impl Drop for Redis {
    fn drop(&mut self) {
        stop(&mut self.child);
    }
}
