//! The time limits of a stream: the longest pause, the whole, and the keep-alive comments for its client.

use std::future::Future;
use std::pin::Pin;
use std::task::{Context, Poll};
use std::time::{Duration, Instant};

use tokio::time::{Sleep, sleep_until};

use super::options::StreamLimits;

/// The timer of one stream.
pub struct IdleTimer {
    /// The longest pause between two pieces.
    chunk_timeout: Duration,
    /// How long the client may be sent nothing.
    keep_alive: Duration,
    /// When the next piece must have come, and the time that it had.
    next_piece: (Instant, Duration),
    /// When the client is sent a comment.
    comment_at: Instant,
    /// When the stream must have ended, and the time that it had.
    end: (Instant, Duration),
    alarm: Option<Pin<Box<Sleep>>>,
}

/// What is due while nothing comes.
pub enum IdleEvent {
    /// The client should be sent a comment.
    KeepAlive,
    /// The upstream has paused for this long, which is too long.
    ChunkTimeout(Duration),
    /// The stream has had this long, and has not ended.
    StreamTimeout(Duration),
}

impl IdleTimer {
    /// A timer that starts now, for a stream whose first piece must come before `first`.
    pub fn new(first: Instant, limits: &StreamLimits) -> IdleTimer {
        let now = Instant::now();
        let &StreamLimits { chunk_timeout, stream_timeout, keep_alive, .. } = limits;
        IdleTimer {
            chunk_timeout,
            keep_alive,
            next_piece: (first, first.saturating_duration_since(now)),
            comment_at: now + keep_alive,
            end: (now + stream_timeout, stream_timeout),
            alarm: None,
        }
    }

    /// The time limit of the whole stream, if it has passed.
    pub fn stream_timeout(&self) -> Option<Duration> {
        let (end, limit) = self.end;
        (Instant::now() >= end).then_some(limit)
    }

    /// The upstream has sent something, be it a comment.
    pub fn received(&mut self) {
        self.next_piece = (Instant::now() + self.chunk_timeout, self.chunk_timeout);
        let next = self.next();
        // An alarm that is too early is cheap: when it rings, nothing is due. One that is too late must be set anew.
        if let Some(alarm) = self.alarm.as_mut().filter(|alarm| alarm.deadline() > next.into()) {
            alarm.as_mut().reset(next.into());
        }
    }

    /// The client was sent something.
    pub fn sent(&mut self) {
        self.comment_at = Instant::now() + self.keep_alive;
    }

    fn next(&self) -> Instant {
        self.next_piece.0.min(self.comment_at).min(self.end.0)
    }

    /// Waits until something is due.
    pub fn poll(&mut self, context: &mut Context<'_>) -> Poll<IdleEvent> {
        loop {
            let next = self.next();
            let alarm = self.alarm.get_or_insert_with(|| Box::pin(sleep_until(next.into())));
            if alarm.as_mut().poll(context).is_pending() {
                return Poll::Pending;
            }
            let (now, (next_piece, limit)) = (Instant::now(), self.next_piece);
            if let Some(limit) = self.stream_timeout() {
                return Poll::Ready(IdleEvent::StreamTimeout(limit));
            }
            if now >= next_piece {
                return Poll::Ready(IdleEvent::ChunkTimeout(limit));
            }
            let is_comment_due = now >= self.comment_at;
            if is_comment_due {
                self.comment_at = now + self.keep_alive;
            }
            let next = self.next();
            if let Some(alarm) = self.alarm.as_mut() {
                alarm.as_mut().reset(next.into());
            }
            if is_comment_due {
                return Poll::Ready(IdleEvent::KeepAlive);
            }
        }
    }
}
