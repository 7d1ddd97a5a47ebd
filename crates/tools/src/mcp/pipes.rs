//! The transport over the pipes of a child process: one JSON-RPC message per line, lines of bounded length.

use std::io;
use std::mem;
use std::sync::Arc;
use std::time::Duration;

use rmcp::RoleClient;
use rmcp::model::{ClientJsonRpcMessage, ServerJsonRpcMessage};
use rmcp::transport::Transport;
use tokio::io::{AsyncBufReadExt, AsyncWriteExt, BufReader};
use tokio::process::{ChildStdin, ChildStdout};
use tokio::sync::Mutex;
use tokio::time::timeout;

use super::fault::too_long;
use super::skim::Skim;

/// How long the child may leave a message in the pipe; calls that wait for it pile up no longer than this.
const WRITE_LIMIT: Duration = Duration::from_secs(2);

/// Both pipes.
pub(super) struct Pipes {
    stdout: BufReader<ChildStdout>,
    line: Line,
    /// `None` once a message could not be written as a whole: what follows it would make no sense.
    stdin: Arc<Mutex<Option<ChildStdin>>>,
}

impl Pipes {
    /// A transport that reads no line of more than `limit` bytes.
    pub(super) fn new(stdin: ChildStdin, stdout: ChildStdout, limit: usize) -> Pipes {
        let line = Line { kept: Vec::new(), skimmed: None, limit };
        Pipes { stdout: BufReader::new(stdout), line, stdin: Arc::new(Mutex::new(Some(stdin))) }
    }
}

impl Transport<RoleClient> for Pipes {
    type Error = io::Error;

    fn send(
        &mut self,
        message: ClientJsonRpcMessage,
    ) -> impl Future<Output = io::Result<()>> + Send + 'static {
        let stdin = self.stdin.clone();
        async move {
            let mut line = serde_json::to_vec(&message)?;
            line.push(b'\n');
            let mut stdin = stdin.lock().await;
            let pipe = stdin.as_mut().ok_or(io::ErrorKind::BrokenPipe)?;
            let written = timeout(WRITE_LIMIT, pipe.write_all(&line)).await;
            let written = written.unwrap_or_else(|_| Err(io::Error::other("the server does not read")));
            if written.is_err() {
                *stdin = None;
            }
            written
        }
    }

    /// What was read of a line is kept if this is cancelled.
    async fn receive(&mut self) -> Option<ServerJsonRpcMessage> {
        loop {
            let bytes = self.stdout.fill_buf().await.ok().filter(|bytes| !bytes.is_empty())?;
            let end = memchr::memchr(b'\n', bytes);
            let (part, _) = bytes.split_at(end.unwrap_or(bytes.len()));
            self.line.push(part);
            let used = part.len() + usize::from(end.is_some());
            self.stdout.consume(used);
            if end.is_some()
                && let Some(message) = self.line.finish()
            {
                return Some(message);
            }
        }
    }

    async fn close(&mut self) -> io::Result<()> {
        *self.stdin.lock().await = None;
        Ok(())
    }
}

/// A line as it comes in: kept as long as it is short enough; after that, only its `id` is looked for.
struct Line {
    kept: Vec<u8>,
    skimmed: Option<Skim>,
    limit: usize,
}

impl Line {
    fn push(&mut self, part: &[u8]) {
        if self.skimmed.is_none() && self.kept.len() + part.len() > self.limit {
            let mut skim = Skim::default();
            skim.read(&mem::take(&mut self.kept));
            self.skimmed = Some(skim);
        }
        match &mut self.skimmed {
            Some(skim) => skim.read(part),
            None => self.kept.extend_from_slice(part),
        }
    }

    /// The message, or an error in the place of an answer that is too long; `None` for anything else.
    fn finish(&mut self) -> Option<ServerJsonRpcMessage> {
        let kept = mem::take(&mut self.kept);
        match self.skimmed.take() {
            Some(skim) => skim.id().map(|id| too_long(id, self.limit)),
            None => serde_json::from_slice(&kept).ok(),
        }
    }
}
