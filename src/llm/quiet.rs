//! How long nothing has come, and how long nothing was passed on.

use std::future::Future;
use std::pin::Pin;
use std::task::{Context, Poll};
use std::time::{Duration, Instant};

use tokio::time::{Sleep, sleep_until};

use super::stream::StreamLimits;

/// The times of a stream.
pub struct Quiet {
    /// The longest silence between two pieces.
    silence: Duration,
    /// How long the client may be left without anything.
    keep_alive: Duration,
    /// When it has been silent for too long, and the time that it had.
    dead: (Instant, Duration),
    comment_at: Instant,
    /// When the whole of it must have come, and the time that it had.
    end: (Instant, Duration),
    alarm: Option<Pin<Box<Sleep>>>,
}

/// What the quiet means.
pub enum Silence {
    /// The client should be sent something.
    Quiet,
    /// The upstream has been silent for this long, which is too long.
    Dead(Duration),
    /// The stream has had this long, and has not ended.
    Over(Duration),
}

impl Quiet {
    /// The times of a stream whose first piece comes until `first`.
    pub fn new(first: Instant, limits: &StreamLimits) -> Quiet {
        let now = Instant::now();
        let &StreamLimits { silence, whole, keep_alive, .. } = limits;
        let dead = (first, first.saturating_duration_since(now));
        Quiet {
            silence,
            keep_alive,
            dead,
            comment_at: now + keep_alive,
            end: (now + whole, whole),
            alarm: None,
        }
    }

    /// The time that the stream had, if that is over.
    pub fn over(&self) -> Option<Duration> {
        let (end, whole) = self.end;
        (Instant::now() >= end).then_some(whole)
    }

    /// Something has come.
    pub fn heard(&mut self) {
        self.dead = (Instant::now() + self.silence, self.silence);
        let next = self.next();
        // An alarm that is too early is cheap: when it rings, the times tell that it means nothing. One that is too late is not.
        if let Some(alarm) = self.alarm.as_mut().filter(|alarm| alarm.deadline() > next.into()) {
            alarm.as_mut().reset(next.into());
        }
    }

    /// Something was passed on.
    pub fn told(&mut self) {
        self.comment_at = Instant::now() + self.keep_alive;
    }

    fn next(&self) -> Instant {
        self.dead.0.min(self.comment_at).min(self.end.0)
    }

    /// Waits until the quiet means something.
    pub fn poll(&mut self, context: &mut Context<'_>) -> Poll<Silence> {
        loop {
            let next = self.next();
            let alarm = self.alarm.get_or_insert_with(|| Box::pin(sleep_until(next.into())));
            if alarm.as_mut().poll(context).is_pending() {
                return Poll::Pending;
            }
            let (now, (dead_at, had)) = (Instant::now(), self.dead);
            if let Some(whole) = self.over() {
                return Poll::Ready(Silence::Over(whole));
            }
            if now >= dead_at {
                return Poll::Ready(Silence::Dead(had));
            }
            let is_quiet = now >= self.comment_at;
            if is_quiet {
                self.comment_at = now + self.keep_alive;
            }
            let next = self.next();
            if let Some(alarm) = self.alarm.as_mut() {
                alarm.as_mut().reset(next.into());
            }
            if is_quiet {
                return Poll::Ready(Silence::Quiet);
            }
        }
    }
}
