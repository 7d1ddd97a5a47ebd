//! A scripted upstream: an HTTP/1.1 server whose every byte, pause and end is a test's choice.

use std::sync::Arc;
use std::time::{Duration, Instant};

use serde_json::{Value as Json, json};
use tokio::io::{AsyncBufReadExt, AsyncReadExt, AsyncWriteExt, BufReader};
use tokio::net::tcp::{ReadHalf, WriteHalf};
use tokio::net::{TcpListener, TcpStream};
use tokio::sync::watch;
use tokio::task::{JoinHandle, JoinSet};

/// The server; it and all its connections end with the value.
pub struct Upstream {
    /// `http://127.0.0.1:{port}/v1`
    pub base: String,
    record: watch::Sender<Record>,
    server: JoinHandle<()>,
}

/// A request as it came, whole.
#[derive(Debug, Clone)]
pub struct Seen {
    pub method: String,
    /// With the query.
    pub path: String,
    /// The names in lower case.
    pub headers: Vec<(String, String)>,
    pub body: Vec<u8>,
    /// When its last byte had come.
    pub at: Instant,
}

/// One step of an answer.
#[derive(Debug, Clone)]
pub enum Act {
    /// Raw bytes, in a write of their own.
    Send(Vec<u8>),
    Wait(Duration),
    /// Silence until the client leaves.
    Hang,
    /// Closes the connection.
    Cut,
    /// Closes the connection with a RST.
    Reset,
}

/// What has happened so far.
#[derive(Default)]
struct Record {
    seen: Vec<Seen>,
    abandoned: Vec<Instant>,
    finished: usize,
    connections: usize,
}

/// How the acts of one answer ended.
enum End {
    Done,
    Cut,
    Reset,
    /// The client was gone before the last act was over.
    Abandoned,
}

type Script = dyn Fn(&Seen) -> Vec<Act> + Send + Sync;

impl Upstream {
    /// Answers every request with the acts that `script` gives for it.
    pub async fn start(script: impl Fn(&Seen) -> Vec<Act> + Send + Sync + 'static) -> Upstream {
        let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
        let base = format!("http://{}/v1", listener.local_addr().unwrap());
        let record = watch::Sender::default();
        let server = tokio::spawn(accept(listener, Arc::new(script), record.clone()));
        Upstream { base, record, server }
    }

    /// The requests so far.
    pub fn seen(&self) -> Vec<Seen> {
        self.record.borrow().seen.clone()
    }

    /// How many connections were made.
    pub fn connections(&self) -> usize {
        self.record.borrow().connections
    }

    /// How many requests had all their acts done.
    pub fn finished(&self) -> usize {
        self.record.borrow().finished
    }

    /// Waits, ten seconds at most, until so many requests have come.
    pub async fn arrived(&self, count: usize) {
        self.until(|record| record.seen.len() >= count).await;
    }

    /// Waits, ten seconds at most, until the client has left so many requests whose acts were not all
    /// done, and says when it left each.
    pub async fn abandoned(&self, count: usize) -> Vec<Instant> {
        self.until(|record| record.abandoned.len() >= count).await;
        self.record.borrow().abandoned.clone()
    }

    async fn until(&self, wanted: impl Fn(&Record) -> bool) {
        let mut changes = self.record.subscribe();
        let waiting =
            tokio::time::timeout(Duration::from_secs(10), changes.wait_for(|record| wanted(record)));
        let in_time = waiting.await.is_ok();
        let Record { seen, abandoned, finished, .. } = &*self.record.borrow();
        let (seen, abandoned) = (seen.len(), abandoned.len());
        assert!(in_time, "never came: {seen} requests seen, {abandoned} abandoned, {finished} finished");
    }
}

impl Drop for Upstream {
    fn drop(&mut self) {
        self.server.abort();
    }
}

impl Seen {
    /// The header of this lower-case name.
    pub fn header(&self, name: &str) -> Option<&str> {
        self.headers.iter().find(|(known, _)| known == name).map(|(_, value)| value.as_str())
    }

    /// The body, which must be JSON.
    pub fn json(&self) -> Json {
        serde_json::from_slice(&self.body).unwrap()
    }
}

async fn accept(listener: TcpListener, script: Arc<Script>, record: watch::Sender<Record>) {
    let mut connections = JoinSet::new();
    while let Ok((stream, _)) = listener.accept().await {
        record.send_modify(|record| record.connections += 1);
        connections.spawn(serve(stream, script.clone(), record.clone()));
        while connections.try_join_next().is_some() {}
    }
}

/// Answers the requests of one connection, one after the other.
async fn serve(mut stream: TcpStream, script: Arc<Script>, record: watch::Sender<Record>) {
    stream.set_nodelay(true).unwrap();
    let (read, mut write) = stream.split();
    let mut requests = Requests(BufReader::new(read));
    let mut end = End::Done;
    while matches!(end, End::Done)
        && let Some(seen) = requests.next().await
    {
        let acts = script(&seen);
        record.send_modify(|record| record.seen.push(seen));
        end = tokio::select! {
            biased;
            end = play(&mut write, acts) => end,
            () = requests.client_left() => End::Abandoned,
        };
        record.send_modify(|record| match end {
            End::Abandoned => record.abandoned.push(Instant::now()),
            _ => record.finished += 1,
        });
    }
    if let End::Reset = end {
        stream.set_zero_linger().unwrap();
    }
}

async fn play(write: &mut WriteHalf<'_>, acts: Vec<Act>) -> End {
    for act in acts {
        match act {
            Act::Send(bytes) => {
                if write.write_all(&bytes).await.is_err() {
                    return End::Abandoned;
                }
            }
            Act::Wait(time) => tokio::time::sleep(time).await,
            Act::Hang => std::future::pending().await,
            Act::Cut => return End::Cut,
            Act::Reset => return End::Reset,
        }
    }
    End::Done
}

/// The requests that come over one connection.
struct Requests<'s>(BufReader<ReadHalf<'s>>);

impl Requests<'_> {
    /// The next request; none once the client has left.
    async fn next(&mut self) -> Option<Seen> {
        let first = self.line().await?;
        let mut words = first.split(' ').map(str::to_owned);
        let (method, path) = (words.next()?, words.next()?);
        let mut seen = Seen { method, path, headers: Vec::new(), body: Vec::new(), at: Instant::now() };
        while let Some((name, value)) = self.line().await?.split_once(':') {
            seen.headers.push((name.to_ascii_lowercase(), value.trim().to_owned()));
        }
        seen.body = match seen.header("content-length") {
            Some(length) => self.bytes(length.parse().unwrap()).await?,
            None if seen.header("transfer-encoding").is_some() => self.chunks().await?,
            None => Vec::new(),
        };
        seen.at = Instant::now();
        Some(seen)
    }

    async fn chunks(&mut self) -> Option<Vec<u8>> {
        let mut body = Vec::new();
        loop {
            let length = usize::from_str_radix(&self.line().await?, 16).unwrap();
            body.extend(self.bytes(length).await?);
            self.line().await?;
            if length == 0 {
                return Some(body);
            }
        }
    }

    /// The next line, without its end.
    async fn line(&mut self) -> Option<String> {
        let mut line = String::new();
        self.0.read_line(&mut line).await.ok()?;
        line.strip_suffix("\r\n").map(str::to_owned)
    }

    async fn bytes(&mut self, length: usize) -> Option<Vec<u8>> {
        let mut bytes = vec![0; length];
        self.0.read_exact(&mut bytes).await.ok()?;
        Some(bytes)
    }

    /// Ends when the client closes or resets the connection. A client that sends its next request
    /// before it has the answer is not watched further.
    async fn client_left(&mut self) {
        if let Ok([_, ..]) = self.0.fill_buf().await {
            std::future::pending().await
        }
    }
}

/// A whole answer, with its content-length.
pub fn reply(status: u16, headers: &[(&str, &str)], body: &[u8]) -> Vec<Act> {
    let mut answer = head(status, headers);
    answer.extend(format!("content-length: {}\r\n\r\n", body.len()).into_bytes());
    answer.extend(body);
    vec![Act::Send(answer)]
}

pub fn json(status: u16, body: Json) -> Vec<Act> {
    reply(status, &[("content-type", "application/json")], body.to_string().as_bytes())
}

/// The head of a stream of events, which come in HTTP chunks.
pub fn stream_head() -> Vec<u8> {
    let mut head = head(200, &[("content-type", "text/event-stream"), ("transfer-encoding", "chunked")]);
    head.extend(b"\r\n");
    head
}

/// The status line and the headers, without the empty line.
fn head(status: u16, headers: &[(&str, &str)]) -> Vec<u8> {
    let lines = headers.iter().map(|(name, value)| format!("{name}: {value}\r\n"));
    format!("HTTP/1.1 {status} Scripted\r\n{}", lines.collect::<String>()).into_bytes()
}

/// One HTTP chunk.
pub fn chunk(bytes: &[u8]) -> Vec<u8> {
    let mut chunk = format!("{:x}\r\n", bytes.len()).into_bytes();
    chunk.extend(bytes);
    chunk.extend(b"\r\n");
    chunk
}

pub fn last_chunk() -> Vec<u8> {
    b"0\r\n\r\n".to_vec()
}

/// One event with this data.
pub fn event(data: &str) -> String {
    format!("data: {data}\n\n")
}

/// A chunk of a chat completion that brings this text.
pub fn delta(content: &str) -> String {
    let choice = json!({"index": 0, "delta": {"content": content}, "finish_reason": null});
    let chunk = json!({
        "id": "chatcmpl-scripted", "object": "chat.completion.chunk", "created": 1_700_000_000,
        "model": "scripted", "choices": [choice]
    });
    event(&chunk.to_string())
}

/// A chat completion that says this text.
pub fn completion(content: &str) -> Json {
    let message = json!({"role": "assistant", "content": content, "refusal": null});
    json!({
        "id": "chatcmpl-scripted", "object": "chat.completion", "created": 1_700_000_000,
        "model": "scripted",
        "choices": [{"index": 0, "message": message, "logprobs": null, "finish_reason": "stop"}],
        "usage": {"prompt_tokens": 3, "completion_tokens": 2, "total_tokens": 5}
    })
}

/// A stream of these events, each in a chunk of its own.
pub fn sse(events: &[String]) -> Vec<Act> {
    let chunks = events.iter().map(|event| chunk(event.as_bytes()));
    std::iter::once(stream_head()).chain(chunks).chain([last_chunk()]).map(Act::Send).collect()
}
