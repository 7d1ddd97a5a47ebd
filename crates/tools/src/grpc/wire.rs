//! Sends encoded messages to a server and receives the answers, with metadata and within the time limit of the call.

use std::time::{Duration, Instant};

use futures_util::stream;
use http::uri::PathAndQuery;
use prost_reflect::prost::bytes::{Buf, BufMut, Bytes};
use tonic::client::Grpc;
use tonic::codec::{Codec, DecodeBuf, Decoder, EncodeBuf, Encoder};
use tonic::metadata::MetadataMap;
use tonic::{Request, Status};

use super::UnaryCall;
use super::address::FORMS;
use super::channels::Channels;
use super::error;
use crate::error::ToolError;

/// The longest time limit that is sent to servers (`grpc-timeout` has eight digits only).
const LONGEST: Duration = Duration::from_secs(24 * 60 * 60);

/// The connection to one server, for one call.
pub(super) struct Wire<'a> {
    channels: &'a Channels,
    server: String,
    metadata: MetadataMap,
    started: Instant,
    timeout: Duration,
}

impl<'a> Wire<'a> {
    /// Reads server and metadata of a call; sends nothing yet.
    pub(super) fn new(channels: &'a Channels, call: &UnaryCall<'_>) -> Result<Wire<'a>, ToolError> {
        let server = call.url.origin().ascii_serialization();
        if call.url.as_str().strip_suffix('/') != Some(&server) {
            return Err(error::unusable(&format!("its URL must be {FORMS}, without a path")));
        }
        let metadata = MetadataMap::from_headers(call.headers.clone());
        Ok(Wire { channels, server, metadata, started: Instant::now(), timeout: call.timeout })
    }

    /// The server's origin: scheme, host and port.
    pub(super) fn server(&self) -> &str {
        &self.server
    }

    /// The time since the call began.
    pub(super) fn elapsed(&self) -> Duration {
        self.started.elapsed()
    }

    /// Sends one message, and receives one of at most `limit` bytes.
    pub(super) async fn unary(
        &self,
        path: PathAndQuery,
        message: Bytes,
        limit: usize,
    ) -> Result<Bytes, ToolError> {
        let answers = self.exchange(path, vec![message], limit).await;
        let answer = answers.map_err(|status| self.explain(&status))?.pop();
        answer.ok_or_else(|| ToolError::Answer { message: "it has no message".into() })
    }

    /// Sends messages, and receives all answers: at most one for each message, and at most `limit` bytes in all.
    pub(super) async fn exchange(
        &self,
        path: PathAndQuery,
        messages: Vec<Bytes>,
        limit: usize,
    ) -> Result<Vec<Bytes>, Status> {
        match self.send(path.clone(), messages.clone(), limit).await {
            // Once more over a new channel: the old one may hold a closed connection, or the error of a connection
            // attempt that an earlier, cancelled call had started.
            Err(status) if error::is_unsent(&status) => {
                self.channels.forget(&self.server);
                self.send(path, messages, limit).await
            }
            outcome => outcome,
        }
    }

    async fn send(
        &self,
        path: PathAndQuery,
        messages: Vec<Bytes>,
        limit: usize,
    ) -> Result<Vec<Bytes>, Status> {
        let channel = self.channels.get(&self.server).map_err(error::status)?;
        let mut client = Grpc::new(channel).max_decoding_message_size(limit);
        client.ready().await.map_err(|error| Status::from_error(error.into()))?;
        let (expected, mut room) = (messages.len(), limit);
        let mut request =
            Request::from_parts(self.metadata.clone(), Default::default(), stream::iter(messages));
        request.set_timeout(self.timeout.saturating_sub(self.elapsed()).min(LONGEST));
        let mut incoming = client.streaming(request, path, BytesCodec).await?.into_inner();
        let mut answers = Vec::with_capacity(expected);
        while let Some(answer) = incoming.message().await? {
            room = room.checked_sub(answer.len()).ok_or_else(|| error::too_long(limit))?;
            if answers.len() == expected {
                return Err(error::too_many());
            }
            answers.push(answer);
        }
        Ok(answers)
    }

    /// The error that a status stands for in this call.
    pub(super) fn explain(&self, status: &Status) -> ToolError {
        error::explain(status, self.timeout)
    }
}

/// A codec for messages that are already encoded: it copies bytes.
struct BytesCodec;

impl Codec for BytesCodec {
    type Encode = Bytes;
    type Decode = Bytes;
    type Encoder = BytesCodec;
    type Decoder = BytesCodec;

    fn encoder(&mut self) -> BytesCodec {
        BytesCodec
    }

    fn decoder(&mut self) -> BytesCodec {
        BytesCodec
    }
}

impl Encoder for BytesCodec {
    type Item = Bytes;
    type Error = Status;

    fn encode(&mut self, message: Bytes, out: &mut EncodeBuf<'_>) -> Result<(), Status> {
        out.put(message);
        Ok(())
    }
}

impl Decoder for BytesCodec {
    type Item = Bytes;
    type Error = Status;

    fn decode(&mut self, message: &mut DecodeBuf<'_>) -> Result<Option<Bytes>, Status> {
        Ok(Some(message.copy_to_bytes(message.remaining())))
    }
}
