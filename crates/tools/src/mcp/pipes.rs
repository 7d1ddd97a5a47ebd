//! The stdio transport: one JSON-RPC message per line over the pipes of a child process, with lines of bounded length.

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

use super::error::too_long;
use super::id_scanner::IdScanner;

/// How long writing a message may take. It bounds the calls that queue up behind a child that does not read.
const WRITE_LIMIT: Duration = Duration::from_secs(2);

/// The stdin and stdout of a child process, as a transport.
pub(super) struct Pipes {
    stdout: BufReader<ChildStdout>,
    line: Line,
    /// `None` after a message was written in part only: what follows would be read as its continuation.
    stdin: Arc<Mutex<Option<ChildStdin>>>,
}

impl Pipes {
    /// A transport that reads no line of more than `limit` bytes.
    pub(super) fn new(stdin: ChildStdin, stdout: ChildStdout, limit: usize) -> Pipes {
        let line = Line { buffer: Vec::new(), scanner: None, limit };
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

    /// Cancel-safe: the part of a line that was read stays in `self.line`.
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

/// A line that is being read: buffered up to the limit, then only scanned for its `id`.
struct Line {
    buffer: Vec<u8>,
    scanner: Option<IdScanner>,
    limit: usize,
}

impl Line {
    fn push(&mut self, part: &[u8]) {
        if self.scanner.is_none() && self.buffer.len() + part.len() > self.limit {
            let mut scanner = IdScanner::default();
            scanner.read(&mem::take(&mut self.buffer));
            self.scanner = Some(scanner);
        }
        match &mut self.scanner {
            Some(scanner) => scanner.read(part),
            None => self.buffer.extend_from_slice(part),
        }
    }

    /// The message of the finished line; an error for an answer that is too long; `None` for anything else.
    fn finish(&mut self) -> Option<ServerJsonRpcMessage> {
        let line = mem::take(&mut self.buffer);
        match self.scanner.take() {
            Some(scanner) => scanner.id().map(|id| too_long(id, self.limit)),
            None => serde_json::from_slice(&line).ok(),
        }
    }
}
