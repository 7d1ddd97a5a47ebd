//! Encoded messages there and back: what every request to a server carries, and how long it may last.

use std::time::{Duration, Instant};

use futures_util::stream;
use http::uri::PathAndQuery;
use prost_reflect::prost::bytes::{Buf, BufMut, Bytes};
use tonic::client::Grpc;
use tonic::codec::{Codec, DecodeBuf, Decoder, EncodeBuf, Encoder};
use tonic::metadata::MetadataMap;
use tonic::{Request, Status};

use super::UnaryCall;
use super::channels::Channels;
use super::failure;
use crate::error::ToolError;

/// The longest time that servers are told; the protocol has no room for arbitrary ones.
const LONGEST: Duration = Duration::from_secs(24 * 60 * 60);

/// The way to one server, for one call.
pub(super) struct Wire<'a> {
    channels: &'a Channels,
    server: String,
    metadata: MetadataMap,
    started: Instant,
    timeout: Duration,
}

impl<'a> Wire<'a> {
    /// Sends nothing yet.
    pub(super) fn new(channels: &'a Channels, call: &UnaryCall<'_>) -> Result<Wire<'a>, ToolError> {
        let server = call.url.origin().ascii_serialization();
        if call.url.as_str().strip_suffix('/') != Some(&server) {
            return Err(failure::unusable(
                "its URL must be http://host:port or https://host:port, without a path",
            ));
        }
        let metadata = MetadataMap::from_headers(call.headers.clone());
        Ok(Wire { channels, server, metadata, started: Instant::now(), timeout: call.timeout })
    }

    /// Scheme, host and port.
    pub(super) fn server(&self) -> &str {
        &self.server
    }

    /// How long the call has taken so far.
    pub(super) fn elapsed(&self) -> Duration {
        self.started.elapsed()
    }

    /// One message there, one of at most `limit` bytes back.
    pub(super) async fn unary(
        &self,
        path: PathAndQuery,
        message: Bytes,
        limit: usize,
    ) -> Result<Bytes, ToolError> {
        let answers = self.exchange(path, vec![message], limit).await;
        let answer = answers.map_err(|status| self.explain(&status))?.pop();
        answer.ok_or_else(|| ToolError::Answer { message: "there is no message in it".into() })
    }

    /// Messages there, and all that come back: at most one for each, and at most `limit` bytes.
    pub(super) async fn exchange(
        &self,
        path: PathAndQuery,
        messages: Vec<Bytes>,
        limit: usize,
    ) -> Result<Vec<Bytes>, Status> {
        match self.send(path.clone(), messages.clone(), limit).await {
            // A new channel neither hangs on to a connection that is gone, nor does it tell of the failure of an
            // attempt to connect that an earlier call had begun and was dropped in.
            Err(status) if failure::is_before_sending(&status) => {
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
        let channel = self.channels.get(&self.server).map_err(failure::status)?;
        let mut client = Grpc::new(channel).max_decoding_message_size(limit);
        client.ready().await.map_err(|error| Status::from_error(error.into()))?;
        let (expected, mut room) = (messages.len(), limit);
        let mut request =
            Request::from_parts(self.metadata.clone(), Default::default(), stream::iter(messages));
        request.set_timeout(self.timeout.saturating_sub(self.elapsed()).min(LONGEST));
        let mut incoming = client.streaming(request, path, Encoded).await?.into_inner();
        let mut answers = Vec::with_capacity(expected);
        while let Some(answer) = incoming.message().await? {
            room = room.checked_sub(answer.len()).ok_or_else(|| failure::too_long(limit))?;
            if answers.len() == expected {
                return Err(failure::too_many());
            }
            answers.push(answer);
        }
        Ok(answers)
    }

    /// What a status means for the caller.
    pub(super) fn explain(&self, status: &Status) -> ToolError {
        failure::explain(status, self.timeout)
    }
}

/// The codec of messages that are encoded already.
struct Encoded;

impl Codec for Encoded {
    type Encode = Bytes;
    type Decode = Bytes;
    type Encoder = Encoded;
    type Decoder = Encoded;

    fn encoder(&mut self) -> Encoded {
        Encoded
    }

    fn decoder(&mut self) -> Encoded {
        Encoded
    }
}

impl Encoder for Encoded {
    type Item = Bytes;
    type Error = Status;

    fn encode(&mut self, message: Bytes, out: &mut EncodeBuf<'_>) -> Result<(), Status> {
        out.put(message);
        Ok(())
    }
}

impl Decoder for Encoded {
    type Item = Bytes;
    type Error = Status;

    fn decode(&mut self, message: &mut DecodeBuf<'_>) -> Result<Option<Bytes>, Status> {
        Ok(Some(message.copy_to_bytes(message.remaining())))
    }
}
