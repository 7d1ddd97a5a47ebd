//! An upstream that takes as little processor time as possible: fixed answers, on a thread of its own.
//!
//! It speaks as much HTTP/1.1 as clients of chat completions need: persistent connections, and request bodies with a
//! length or in chunks. The model `slow-N` streams one chunk each second for N seconds, `large-N` gives an answer of N MB, `after-N` wants a command
//! after N ms, and `burst` sends a stream in one piece; all others answer at once.

use std::io::{Error, ErrorKind, Result};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use bytes::BytesMut;
use memchr::memmem;
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::{TcpListener, TcpSocket, TcpStream};

use crate::Outcome;
use crate::completions::{self, CHUNKS, DONE, chunk, whole};
use crate::structured;

/// How long a request's head and its body may be.
const LIMIT: usize = 16 << 20;
/// How many connections may wait to be accepted.
const BACKLOG: u32 = 4096;
/// How much is read at once.
const READ: usize = 16 << 10;
const STREAM_HEAD: &str =
    "HTTP/1.1 200 OK\r\ncontent-type: text/event-stream\r\ntransfer-encoding: chunked\r\n\r\n";
/// How a request names [`completions::BURST`].
const BURST_MARK: &[u8] = br#""model":"burst""#;
/// How the name of a request's model begins that is [`completions::VALUE`].
const VALUE_MARK: &[u8] = br#""model":"value"#;
/// What a model of sessions says.
const COMMAND: &str = "[CMD] git status --porcelain";
const NOT_FOUND: &str = "HTTP/1.1 404 Not Found\r\nconnection: close\r\n\r\n";
const MODELS: &str =
    r#"{"object":"list","data":[{"id":"bench","object":"model","created":1735689600,"owned_by":"bench"}]}"#;

/// The running server; it lasts as long as the program.
pub struct ModelServer {
    /// `http://127.0.0.1:PORT/v1`.
    pub base: String,
    served: Arc<Served>,
}

/// The answers as bytes, and what was asked.
struct Served {
    models: String,
    completion: String,
    /// A completion that says a value.
    value: String,
    /// A completion that wants a command, whole and as a stream.
    command: String,
    command_stream: String,
    /// The writes of a stream: each chunk has one of its own.
    stream: Vec<String>,
    /// All of it, with its head.
    burst: String,
    last_body: Mutex<Vec<u8>>,
}

/// A connection and what has arrived on it that nobody has taken yet.
struct Connection {
    stream: TcpStream,
    arrived: BytesMut,
}

impl ModelServer {
    /// Starts the server.
    pub fn start() -> Outcome<ModelServer> {
        let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build()?;
        let listener = {
            let _inside = runtime.enter();
            let socket = TcpSocket::new_v4()?;
            socket.bind(([127, 0, 0, 1], 0).into())?;
            socket.listen(BACKLOG)?
        };
        let base = format!("http://{}/v1", listener.local_addr()?);
        let served = Arc::new(Served::new());
        let server = ModelServer { base, served: served.clone() };
        std::thread::spawn(move || runtime.block_on(accept(listener, served)));
        Ok(server)
    }

    /// The body of the last request for a completion.
    pub fn last_body(&self) -> Vec<u8> {
        self.served.last_body.lock().unwrap_or_else(PoisonError::into_inner).clone()
    }
}

async fn accept(listener: TcpListener, served: Arc<Served>) -> Result<()> {
    loop {
        let (stream, _) = listener.accept().await?;
        stream.set_nodelay(true)?;
        let connection = Connection { stream, arrived: BytesMut::new() };
        tokio::spawn(connection.serve(served.clone()));
    }
}

impl Served {
    fn new() -> Served {
        let events = (0..CHUNKS).map(chunk).map(|event| http_chunk(&event));
        let stream: Vec<String> = events.chain([stream_end()]).collect();
        let burst = STREAM_HEAD.to_owned() + &stream.concat();
        Served {
            models: json(MODELS),
            completion: json(&whole()),
            value: json(&completions::of(&escaped(&structured::value().to_string()))),
            command: json(&completions::of(COMMAND)),
            command_stream: STREAM_HEAD.to_owned() + &http_chunk(&completions::part(COMMAND)) + &stream_end(),
            stream,
            burst,
            last_body: Mutex::default(),
        }
    }
}

/// A JSON text as it stands inside of a JSON text.
fn escaped(json: &str) -> String {
    json.replace('"', "\\\"")
}

fn json(body: &str) -> String {
    let length = body.len();
    format!("HTTP/1.1 200 OK\r\ncontent-type: application/json\r\ncontent-length: {length}\r\n\r\n{body}")
}

fn http_chunk(data: &str) -> String {
    format!("{:x}\r\n{data}\r\n", data.len())
}

/// The last event and the chunk of no bytes that ends the answer.
fn stream_end() -> String {
    http_chunk(DONE) + "0\r\n\r\n"
}

impl Connection {
    /// Answers requests until the client leaves.
    async fn serve(mut self, served: Arc<Served>) -> Result<()> {
        loop {
            let head = String::from_utf8_lossy(&self.until(b"\r\n\r\n").await?).to_ascii_lowercase();
            let body = self.body(&head).await?;
            match head.split_once(" http/1.1") {
                Some(("get /v1/models", _)) => self.stream.write_all(served.models.as_bytes()).await?,
                Some(("post /v1/chat/completions", _)) => self.complete(&body, &served).await?,
                _ => return self.stream.write_all(NOT_FOUND.as_bytes()).await,
            }
        }
    }

    async fn complete(&mut self, body: &[u8], served: &Served) -> Result<()> {
        body.clone_into(&mut served.last_body.lock().unwrap_or_else(PoisonError::into_inner));
        if let Some(megabytes) = numbered(body, "large") {
            let answer = json(&completions::of(&"x".repeat(megabytes * 1_000_000)));
            return self.stream.write_all(answer.as_bytes()).await;
        }
        if let Some(milliseconds) = numbered(body, "after") {
            tokio::time::sleep(Duration::from_millis(milliseconds as u64)).await;
            let is_stream = memmem::find(body, br#""stream":true"#).is_some();
            let answer = if is_stream { &served.command_stream } else { &served.command };
            return self.stream.write_all(answer.as_bytes()).await;
        }
        if memmem::find(body, VALUE_MARK).is_some() {
            return self.stream.write_all(served.value.as_bytes()).await;
        }
        if memmem::find(body, br#""stream":true"#).is_none() {
            return self.stream.write_all(served.completion.as_bytes()).await;
        }
        if memmem::find(body, BURST_MARK).is_some() {
            return self.stream.write_all(served.burst.as_bytes()).await;
        }
        self.stream.write_all(STREAM_HEAD.as_bytes()).await?;
        if let Some(seconds) = numbered(body, "slow") {
            return self.stream_slowly(seconds).await;
        }
        for part in &served.stream {
            self.stream.write_all(part.as_bytes()).await?;
            // The others get their turn, so that the chunks of one stream do not arrive together.
            tokio::task::yield_now().await;
        }
        Ok(())
    }

    async fn stream_slowly(&mut self, seconds: usize) -> Result<()> {
        for number in 0..seconds {
            self.stream.write_all(http_chunk(&chunk(number)).as_bytes()).await?;
            tokio::time::sleep(Duration::from_secs(1)).await;
        }
        self.stream.write_all(stream_end().as_bytes()).await
    }

    /// Takes the body of a request with this head.
    async fn body(&mut self, head: &str) -> Result<BytesMut> {
        if header(head, "transfer-encoding") == Some("chunked") {
            return self.chunked_body().await;
        }
        let length = header(head, "content-length").unwrap_or("0");
        self.exactly(length.parse().map_err(Error::other)?).await
    }

    async fn chunked_body(&mut self) -> Result<BytesMut> {
        let mut body = BytesMut::new();
        loop {
            let line = self.until(b"\r\n").await?;
            let size = String::from_utf8_lossy(&line);
            let size = usize::from_str_radix(size.trim_end(), 16).map_err(Error::other)?;
            let chunk = self.exactly(size).await?;
            self.until(b"\r\n").await?;
            if size == 0 {
                return Ok(body);
            }
            body.extend_from_slice(&chunk);
            within_limit(body.len())?;
        }
    }

    /// Takes all up to a mark, and the mark.
    async fn until(&mut self, mark: &[u8]) -> Result<BytesMut> {
        loop {
            if let Some(at) = memmem::find(&self.arrived, mark) {
                return Ok(self.arrived.split_to(at + mark.len()));
            }
            self.read().await?;
        }
    }

    async fn exactly(&mut self, length: usize) -> Result<BytesMut> {
        within_limit(length)?;
        while self.arrived.len() < length {
            self.read().await?;
        }
        Ok(self.arrived.split_to(length))
    }

    async fn read(&mut self) -> Result<()> {
        within_limit(self.arrived.len())?;
        self.arrived.reserve(READ);
        match self.stream.read_buf(&mut self.arrived).await? {
            0 => Err(ErrorKind::UnexpectedEof.into()),
            _ => Ok(()),
        }
    }
}

fn within_limit(length: usize) -> Result<()> {
    if length > LIMIT { Err(Error::other("the request is too long")) } else { Ok(()) }
}

/// The value of a header in a head of small letters.
fn header<'a>(head: &'a str, name: &str) -> Option<&'a str> {
    head.lines().find_map(|line| line.strip_prefix(name)?.strip_prefix(':')).map(str::trim)
}

/// The number N of a model `KIND-N`.
fn numbered(body: &[u8], kind: &str) -> Option<usize> {
    let mark = format!(r#""model":"{kind}-"#);
    let number = &body[memmem::find(body, mark.as_bytes())? + mark.len()..];
    let digits = number.iter().take_while(|byte| byte.is_ascii_digit()).count();
    std::str::from_utf8(&number[..digits]).ok()?.parse().ok()
}
