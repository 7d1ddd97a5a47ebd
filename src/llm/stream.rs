//! A streamed answer: an upstream's events, passed on within the limits of a stream.
//!
//! - A comment of the upstream counts as a sign of life. When nothing was sent for a while, the client gets a comment.
//! - After the last event the upstream is read on for a second at most, so that its connection can be used again.
//! - When the client leaves, the call is cancelled, or with `drain` read to its end, for ten minutes at most.

use std::collections::VecDeque;
use std::pin::Pin;
use std::task::{Context, Poll};
use std::time::{Duration, Instant};

use bytes::Bytes;
use futures_util::stream::BoxStream;
use futures_util::{Stream, StreamExt};
use reqwest::Response;
use tokio::runtime::Handle;
use tokio::sync::OwnedSemaphorePermit;
use tokio::time::timeout;

use super::coalesce::Coalesce;
use super::error::{LlmError, UpstreamError};
use super::idle::{IdleEvent, IdleTimer};
use super::log::Log;
use super::options::StreamLimits;
use super::protocol::Output;
use super::translator::Translator;
use super::transport::unreachable;
use base::events::EventDecoder;
use base::memory::{BufferedBytes, Reservation};

/// A comment that keeps proxies from closing an idle connection.
const KEEP_ALIVE: Bytes = Bytes::from_static(b": keep-alive\n\n");

/// How long an upstream is read on after its last event.
const REST_TIME: Duration = Duration::from_secs(1);

/// How long an upstream is read for a client that has left.
const DRAIN_TIME: Duration = Duration::from_secs(600);

/// The bytes of an upstream's answer as they come.
type Incoming = BoxStream<'static, Result<Bytes, UpstreamError>>;

/// An answer in server-sent events. Each piece is one or more complete events; the last event is `data: [DONE]`, or an error in
/// its place.
#[derive(Debug)]
pub struct AnswerStream(Source);

#[derive(Debug)]
enum Source {
    /// Events that are there already, and their part of the budget of memory.
    Ready { events: VecDeque<Bytes>, _held: Option<Reservation> },
    /// An upstream; `None` after its last event.
    Upstream(Option<Box<UpstreamStream>>),
}

/// What a stream of an upstream is made of.
pub struct StreamParts {
    /// The upstream's answer, whose status is good and whose body is still to come.
    pub response: Response,
    /// Turns its events into those for the client.
    pub translator: Translator,
    /// Its limits.
    pub limits: StreamLimits,
    /// When the first bytes must have come.
    pub first: Instant,
    /// The log of the call.
    pub log: Log,
    /// The call's place among those that may be under way.
    pub permit: OwnedSemaphorePermit,
    /// Its part of the budget of memory, still empty.
    pub held: Reservation,
}

/// A stream of an upstream that is under way.
struct UpstreamStream {
    incoming: Coalesce<Incoming, UpstreamError>,
    decoder: EventDecoder,
    translator: Translator,
    timer: IdleTimer,
    limits: StreamLimits,
    log: Log,
    _permit: OwnedSemaphorePermit,
    /// Covers what the decoder and the translator keep.
    held: Reservation,
}

impl AnswerStream {
    /// A stream of events that are there already.
    pub fn ready(events: Vec<Bytes>) -> AnswerStream {
        AnswerStream(Source::Ready { events: events.into(), _held: None })
    }

    /// The same, of events that are part of the budget of memory.
    pub fn buffered(events: BufferedBytes) -> AnswerStream {
        let BufferedBytes { bytes, held } = events;
        AnswerStream(Source::Ready { events: [bytes].into(), _held: Some(held) })
    }

    /// The stream of an upstream that has answered with a good status.
    pub(super) async fn upstream(parts: StreamParts) -> AnswerStream {
        let StreamParts { response, translator, limits, first, log, permit, held } = parts;
        let chunks = response.bytes_stream().map(|chunk| chunk.map_err(|error| unreachable(&error)));
        AnswerStream(Source::Upstream(Some(Box::new(UpstreamStream {
            incoming: Coalesce::begin(chunks.boxed()).await,
            decoder: EventDecoder::new(limits.event_bytes),
            translator,
            timer: IdleTimer::new(first, &limits),
            limits,
            log,
            _permit: permit,
            held,
        }))))
    }
}

impl Stream for AnswerStream {
    type Item = Result<Bytes, LlmError>;

    fn poll_next(mut self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<Option<Self::Item>> {
        let stream = match &mut self.0 {
            Source::Ready { events, .. } => return Poll::Ready(events.pop_front().map(Ok)),
            Source::Upstream(None) => return Poll::Ready(None),
            Source::Upstream(Some(stream)) => stream,
        };
        let Poll::Ready(piece) = stream.poll_piece(context) else { return Poll::Pending };
        let piece = match piece {
            Piece::More(bytes) => return Poll::Ready(Some(Ok(bytes))),
            Piece::Last(bytes) => Ok(bytes),
            Piece::Error(error) => Err(LlmError::Interrupted(error)),
        };
        if let (Source::Upstream(stream), Ok(_)) = (&mut self.0, &piece) {
            stream.take().into_iter().for_each(UpstreamStream::read_the_rest);
        }
        self.0 = Source::Upstream(None);
        Poll::Ready(Some(piece))
    }
}

impl Drop for AnswerStream {
    fn drop(&mut self) {
        let Source::Upstream(stream) = &mut self.0 else { return };
        let drained = stream.take().filter(|stream| stream.limits.drain);
        if let (Some(stream), Ok(runtime)) = (drained, Handle::try_current()) {
            runtime.spawn(timeout(DRAIN_TIME, stream.drain()));
        }
    }
}

/// What the client gets next.
enum Piece {
    /// These bytes; the stream goes on.
    More(Bytes),
    /// These bytes, and nothing else.
    Last(Bytes),
    /// An error, and nothing else.
    Error(UpstreamError),
}

impl UpstreamStream {
    /// The next piece; logs how the stream ends.
    fn poll_piece(&mut self, context: &mut Context<'_>) -> Poll<Piece> {
        let piece = self.poll_unlogged(context);
        match &piece {
            Poll::Ready(Piece::More(bytes) | Piece::Last(bytes)) => self.log.piece(bytes),
            Poll::Ready(Piece::Error(error)) => self.log.broken_off(&error.for_log()),
            Poll::Pending => {}
        }
        piece
    }

    fn poll_unlogged(&mut self, context: &mut Context<'_>) -> Poll<Piece> {
        loop {
            if let Some(limit) = self.timer.stream_timeout() {
                return Poll::Ready(Piece::Error(UpstreamError::endless(limit)));
            }
            match self.incoming.poll_next_unpin(context) {
                Poll::Ready(Some(Ok(bytes))) => match self.receive(bytes) {
                    Piece::More(bytes) if bytes.is_empty() => {}
                    piece => return Poll::Ready(piece),
                },
                Poll::Ready(Some(Err(error))) => return Poll::Ready(Piece::Error(error)),
                Poll::Ready(None) => return Poll::Ready(self.end()),
                Poll::Pending => {
                    return self.timer.poll(context).map(|event| match event {
                        IdleEvent::KeepAlive => Piece::More(KEEP_ALIVE),
                        IdleEvent::ChunkTimeout(limit) => Piece::Error(UpstreamError::timeout(limit)),
                        IdleEvent::StreamTimeout(limit) => Piece::Error(UpstreamError::endless(limit)),
                    });
                }
            }
        }
    }

    fn receive(&mut self, bytes: Bytes) -> Piece {
        self.timer.received();
        let pushed = self.decoder.push(bytes);
        let kept = self.translator.kept();
        if kept > self.limits.event_bytes {
            return Piece::Error(UpstreamError::unusable("it is too long (llm.answer_bytes)"));
        }
        if let Err(error) = self.held.resize(self.decoder.buffered() + kept) {
            return Piece::Error(UpstreamError::unusable(error.to_string()));
        }
        match pushed {
            Ok(events) if events.is_empty() => Piece::More(events),
            Ok(events) => {
                self.timer.sent();
                let output = self.translator.translate(events);
                self.piece(output)
            }
            Err(error) => Piece::Error(UpstreamError::unusable(format!("{error} (llm.answer_bytes)"))),
        }
    }

    fn end(&mut self) -> Piece {
        let decoder = std::mem::replace(&mut self.decoder, EventDecoder::new(0));
        match self.translator.end(&decoder.rest()) {
            Ok(output) => self.piece(output),
            Err(error) => Piece::Error(error),
        }
    }

    fn piece(&self, output: Output) -> Piece {
        match output {
            Output::More(bytes) => Piece::More(bytes),
            Output::Last(bytes) => Piece::Last(bytes),
            Output::Error(bytes) => {
                self.log.broken_off("the upstream reports an error in its stream");
                Piece::Last(bytes)
            }
        }
    }

    /// Reads what is still to come after the client has left.
    async fn drain(mut self: Box<Self>) {
        while let Piece::More(_) = std::future::poll_fn(|context| self.poll_piece(context)).await {}
    }

    /// Reads what comes after the last event, usually nothing but the end.
    fn read_the_rest(self: Box<Self>) {
        let mut incoming = self.incoming;
        let rest = async move { while let Some(Ok(_)) = incoming.next().await {} };
        if let Ok(runtime) = Handle::try_current() {
            runtime.spawn(timeout(REST_TIME, rest));
        }
    }
}

impl std::fmt::Debug for UpstreamStream {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("UpstreamStream").field("limits", &self.limits).finish_non_exhaustive()
    }
}
