//! An answer that comes in pieces: an upstream's events, kept correct whatever the upstream does.

use std::collections::VecDeque;
use std::future::Future;
use std::pin::Pin;
use std::task::{Context, Poll};
use std::time::{Duration, Instant};

use bytes::Bytes;
use futures_util::stream::BoxStream;
use futures_util::{Stream, StreamExt};
use tokio::runtime::Handle;
use tokio::sync::OwnedSemaphorePermit;
use tokio::time::{Sleep, sleep_until};

use super::error::{Cause, LlmError};
use super::events::{Collector, TooLong};
use super::wire::{Passed, Wire};

/// A comment, so that nobody on the way takes a quiet connection for a dead one.
const KEEP_ALIVE: Bytes = Bytes::from_static(b": keep-alive\n\n");

/// How a stream is kept.
#[derive(Debug, Clone, Copy)]
pub struct StreamLimits {
    /// The longest silence between two pieces.
    pub silence: Duration,
    /// How long it may be quiet until the client gets a comment.
    pub keep_alive: Duration,
    /// The longest event.
    pub event_bytes: usize,
    /// Whether the upstream is read to its end when the client has left.
    pub drain: bool,
}

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

/// What an upstream sends.
struct Live {
    incoming: BoxStream<'static, Result<Bytes, Cause>>,
    collector: Collector,
    wire: Wire,
    quiet: Quiet,
    limits: StreamLimits,
    /// Its place among the calls that may be under way.
    _place: OwnedSemaphorePermit,
}

impl AnswerStream {
    /// A stream of events that are there already.
    pub(super) fn ready(events: Vec<Bytes>) -> AnswerStream {
        AnswerStream(Source::Ready(events.into()))
    }

    /// The stream that an upstream sends, whose first bytes come until `first`.
    pub(super) fn upstream(
        incoming: BoxStream<'static, Result<Bytes, Cause>>,
        wire: Wire,
        limits: StreamLimits,
        first: Instant,
        place: OwnedSemaphorePermit,
    ) -> AnswerStream {
        let collector = Collector::new(limits.event_bytes);
        let quiet = Quiet::new(first, limits);
        let live = Live { incoming, collector, wire, quiet, limits, _place: place };
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
        let piece = match live.poll_piece(context) {
            Poll::Pending => return Poll::Pending,
            Poll::Ready(piece) => piece,
        };
        let piece = match piece {
            Piece::On(bytes) => return Poll::Ready(Some(Ok(bytes))),
            Piece::Last(bytes) => (!bytes.is_empty()).then_some(Ok(bytes)),
            Piece::Broken(cause) => Some(Err(LlmError::Interrupted(cause))),
        };
        self.0 = Source::Upstream(None);
        Poll::Ready(piece)
    }
}

impl Drop for AnswerStream {
    fn drop(&mut self) {
        let Source::Upstream(live) = &mut self.0 else { return };
        if let (Some(live), Ok(runtime)) =
            (live.take().filter(|live| live.limits.drain), Handle::try_current())
        {
            runtime.spawn(live.drain());
        }
    }
}

/// What comes next.
enum Piece {
    On(Bytes),
    Last(Bytes),
    Broken(Cause),
}

impl From<Passed> for Piece {
    fn from(passed: Passed) -> Piece {
        match passed {
            Passed::On(bytes) => Piece::On(bytes),
            Passed::Last(bytes) => Piece::Last(bytes),
        }
    }
}

impl Live {
    fn poll_piece(&mut self, context: &mut Context<'_>) -> Poll<Piece> {
        loop {
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
                    });
                }
            }
        }
    }

    fn take(&mut self, bytes: Bytes) -> Piece {
        self.quiet.heard();
        match self.collector.push(bytes) {
            Ok(whole) if whole.is_empty() => Piece::On(whole),
            Ok(whole) => self.wire.pass(whole).into(),
            Err(TooLong) => Piece::Broken(Cause::unusable(format!(
                "an event is longer than {} bytes (llm.answer_bytes)",
                self.limits.event_bytes
            ))),
        }
    }

    fn end(&mut self) -> Piece {
        let collector = std::mem::replace(&mut self.collector, Collector::new(0));
        match self.wire.end(&collector.rest()) {
            Ok(bytes) => Piece::Last(bytes),
            Err(cause) => Piece::Broken(cause),
        }
    }

    /// Reads what is still to come, for nobody.
    async fn drain(mut self: Box<Self>) {
        while let Piece::On(_) = std::future::poll_fn(|context| self.poll_piece(context)).await {}
    }
}

impl std::fmt::Debug for Live {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Live").field("limits", &self.limits).finish_non_exhaustive()
    }
}

/// How long nothing has come.
struct Quiet {
    /// When it has been silent for too long.
    dead_at: Instant,
    /// When the client gets the next comment.
    comment_at: Instant,
    /// The time that it had, for the message.
    limit: Duration,
    limits: StreamLimits,
    alarm: Option<Pin<Box<Sleep>>>,
}

enum Silence {
    Quiet,
    Dead(Duration),
}

impl Quiet {
    fn new(first: Instant, limits: StreamLimits) -> Quiet {
        let now = Instant::now();
        Quiet {
            dead_at: first,
            comment_at: now + limits.keep_alive,
            limit: first.saturating_duration_since(now),
            limits,
            alarm: None,
        }
    }

    /// Something has come. The alarm is not touched: when it rings, the times tell whether it means something.
    fn heard(&mut self) {
        let now = Instant::now();
        self.dead_at = now + self.limits.silence;
        self.comment_at = now + self.limits.keep_alive;
        self.limit = self.limits.silence;
    }

    fn poll(&mut self, context: &mut Context<'_>) -> Poll<Silence> {
        loop {
            let next = self.dead_at.min(self.comment_at);
            let alarm = self.alarm.get_or_insert_with(|| Box::pin(sleep_until(next.into())));
            if alarm.as_mut().poll(context).is_pending() {
                return Poll::Pending;
            }
            let now = Instant::now();
            if now >= self.dead_at {
                return Poll::Ready(Silence::Dead(self.limit));
            }
            if now >= self.comment_at {
                self.comment_at = now + self.limits.keep_alive;
                alarm.as_mut().reset(self.dead_at.min(self.comment_at).into());
                return Poll::Ready(Silence::Quiet);
            }
            alarm.as_mut().reset(next.into());
        }
    }
}
