//! An answer that comes in pieces: an upstream's events, kept correct whatever the upstream does.

use std::collections::VecDeque;
use std::pin::Pin;
use std::task::{Context, Poll};
use std::time::{Duration, Instant};

use bytes::Bytes;
use futures_util::stream::BoxStream;
use futures_util::{Stream, StreamExt};
use tokio::runtime::Handle;
use tokio::sync::OwnedSemaphorePermit;
use tokio::time::timeout;

use super::error::{Cause, LlmError};
use super::events::{Collector, TooLong};
use super::joined::Joined;
use super::log::Log;
use super::quiet::{Quiet, Silence};
use super::wire::{Passed, Wire};
use base::memory::Reservation;

/// A comment, so that nobody on the way takes a quiet connection for a dead one.
const KEEP_ALIVE: Bytes = Bytes::from_static(b": keep-alive\n\n");

/// How long an upstream is read on after its last event: a connection that is read to its end can be used again.
const REST_TIME: Duration = Duration::from_secs(1);

/// How long an upstream is read for a client that has left.
const DRAIN_TIME: Duration = Duration::from_secs(600);

/// How a stream is kept.
#[derive(Debug, Clone, Copy)]
pub struct StreamLimits {
    /// The longest silence between two pieces.
    pub silence: Duration,
    /// The time for the whole of it.
    pub whole: Duration,
    /// How long it may be quiet until the client gets a comment.
    pub keep_alive: Duration,
    /// The longest event.
    pub event_bytes: usize,
    /// Whether the upstream is read to its end when the client has left.
    pub drain: bool,
}

/// What an upstream sends, as it comes.
pub type Incoming = BoxStream<'static, Result<Bytes, Cause>>;

/// An answer in server-sent events: pieces of whole events, the last one `data: [DONE]`, or an error in its place.
#[derive(Debug)]
pub struct AnswerStream(Source);

#[derive(Debug)]
enum Source {
    /// What is there already.
    Ready(VecDeque<Bytes>),
    /// What an upstream sends; `None` when it has come to its end.
    Upstream(Option<Box<Live>>),
}

/// A stream that an upstream has begun.
pub struct Begun {
    /// What the upstream sends.
    pub incoming: Incoming,
    /// What of it the client sees.
    pub wire: Wire,
    /// How it is kept.
    pub limits: StreamLimits,
    /// Until when its first bytes come.
    pub first: Instant,
    /// What the log says of it.
    pub log: Log,
    /// Its place among the calls that may be under way.
    pub place: OwnedSemaphorePermit,
    /// What it takes of the budget of memory.
    pub held: Reservation,
}

/// A stream under way.
struct Live {
    incoming: Joined<Incoming, Cause>,
    collector: Collector,
    wire: Wire,
    quiet: Quiet,
    limits: StreamLimits,
    log: Log,
    _place: OwnedSemaphorePermit,
    /// The event that has not come whole is part of the budget of memory.
    held: Reservation,
}

impl AnswerStream {
    /// A stream of events that are there already.
    pub(super) fn ready(events: Vec<Bytes>) -> AnswerStream {
        AnswerStream(Source::Ready(events.into()))
    }

    /// A stream that an upstream has begun.
    pub(super) fn upstream(begun: Begun) -> AnswerStream {
        let Begun { incoming, wire, limits, first, log, place, held } = begun;
        let collector = Collector::new(limits.event_bytes);
        let quiet = Quiet::new(first, &limits);
        let incoming = Joined::new(incoming);
        let live = Live { incoming, collector, wire, quiet, limits, log, _place: place, held };
        AnswerStream(Source::Upstream(Some(Box::new(live))))
    }
}

impl Stream for AnswerStream {
    type Item = Result<Bytes, LlmError>;

    fn poll_next(mut self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<Option<Self::Item>> {
        let live = match &mut self.0 {
            Source::Ready(events) => return Poll::Ready(events.pop_front().map(Ok)),
            Source::Upstream(None) => return Poll::Ready(None),
            Source::Upstream(Some(live)) => live,
        };
        let Poll::Ready(piece) = live.poll_piece(context) else { return Poll::Pending };
        let piece = match piece {
            Piece::On(bytes) => return Poll::Ready(Some(Ok(bytes))),
            Piece::Last(bytes) => Ok(bytes),
            Piece::Broken(cause) => Err(LlmError::Interrupted(cause)),
        };
        if let (Source::Upstream(live), Ok(_)) = (&mut self.0, &piece) {
            live.take().into_iter().for_each(Live::read_the_rest);
        }
        self.0 = Source::Upstream(None);
        Poll::Ready(Some(piece))
    }
}

impl Drop for AnswerStream {
    fn drop(&mut self) {
        let Source::Upstream(live) = &mut self.0 else { return };
        if let (Some(live), Ok(runtime)) =
            (live.take().filter(|live| live.limits.drain), Handle::try_current())
        {
            runtime.spawn(timeout(DRAIN_TIME, live.drain()));
        }
    }
}

/// What comes next.
enum Piece {
    On(Bytes),
    Last(Bytes),
    Broken(Cause),
}

impl Live {
    /// The next piece; how the stream ends is logged here.
    fn poll_piece(&mut self, context: &mut Context<'_>) -> Poll<Piece> {
        let piece = self.poll_quietly(context);
        match &piece {
            Poll::Ready(Piece::On(bytes) | Piece::Last(bytes)) => self.log.piece(bytes),
            Poll::Ready(Piece::Broken(cause)) => self.log.broken_off(&cause.for_log()),
            Poll::Pending => {}
        }
        piece
    }

    fn poll_quietly(&mut self, context: &mut Context<'_>) -> Poll<Piece> {
        loop {
            if let Some(whole) = self.quiet.over() {
                return Poll::Ready(Piece::Broken(Cause::endless(whole)));
            }
            match self.incoming.poll_next_unpin(context) {
                Poll::Ready(Some(Ok(bytes))) => match self.take(bytes) {
                    Piece::On(bytes) if bytes.is_empty() => {}
                    piece => return Poll::Ready(piece),
                },
                Poll::Ready(Some(Err(cause))) => return Poll::Ready(Piece::Broken(cause)),
                Poll::Ready(None) => return Poll::Ready(self.end()),
                Poll::Pending => {
                    return self.quiet.poll(context).map(|silence| match silence {
                        Silence::Quiet => Piece::On(KEEP_ALIVE),
                        Silence::Dead(limit) => Piece::Broken(Cause::timeout(limit)),
                        Silence::Over(whole) => Piece::Broken(Cause::endless(whole)),
                    });
                }
            }
        }
    }

    fn take(&mut self, bytes: Bytes) -> Piece {
        self.quiet.heard();
        let pushed = self.collector.push(bytes);
        if let Err(error) = self.held.resize(self.collector.waiting()) {
            return Piece::Broken(Cause::unusable(error.to_string()));
        }
        match pushed {
            Ok(whole) if whole.is_empty() => Piece::On(whole),
            Ok(whole) => {
                self.quiet.told();
                let passed = self.wire.pass(whole);
                self.piece(passed)
            }
            Err(TooLong) => Piece::Broken(Cause::unusable(format!(
                "an event is longer than {} bytes (llm.answer_bytes)",
                self.limits.event_bytes
            ))),
        }
    }

    fn end(&mut self) -> Piece {
        let collector = std::mem::replace(&mut self.collector, Collector::new(0));
        match self.wire.end(&collector.rest()) {
            Ok(passed) => self.piece(passed),
            Err(cause) => Piece::Broken(cause),
        }
    }

    fn piece(&self, passed: Passed) -> Piece {
        match passed {
            Passed::On(bytes) => Piece::On(bytes),
            Passed::Last(bytes) => Piece::Last(bytes),
            Passed::Failed(bytes) => {
                self.log.broken_off("the upstream reports an error in its stream");
                Piece::Last(bytes)
            }
        }
    }

    /// Reads what is still to come, for nobody.
    async fn drain(mut self: Box<Self>) {
        while let Piece::On(_) = std::future::poll_fn(|context| self.poll_piece(context)).await {}
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

impl std::fmt::Debug for Live {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Live").field("limits", &self.limits).finish_non_exhaustive()
    }
}
