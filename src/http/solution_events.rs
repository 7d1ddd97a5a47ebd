//! The body of a streamed solution: one event for each part; an error is the last of them.

use std::convert::Infallible;
use std::pin::Pin;
use std::sync::Arc;
use std::task::{Context, Poll};
use std::time::Duration;

use actix_web::web::Bytes;
use futures_util::{Future, Stream, StreamExt};
use serde::Serialize;
use serde_json::json;
use tokio::time::{Instant, Sleep, sleep_until};

use super::error::ApiError;
use super::requests::{SolutionReply, explained_by};
use super::shutdown::{Shutdown, ShutdownEnd};
use crate::chat::Api;
use crate::requests::{RequestStream, Solution};
use crate::structured::SolutionEvent;

/// A client that hears nothing for so long gets a comment, which keeps proxies from closing the connection.
pub(super) const QUIET: Duration = Duration::from_secs(10);

/// What it gets then.
pub(super) const COMMENT: Bytes = Bytes::from_static(b": keep-alive\n\n");

/// A body that sends the events of a solution.
pub struct SolutionEvents {
    /// `None` after the last one.
    events: Option<RequestStream>,
    explain: bool,
    over: ShutdownEnd,
    quiet: Pin<Box<Sleep>>,
}

impl SolutionEvents {
    /// A body of these events. When the service stops, they end early, with an error.
    pub fn new(events: RequestStream, shutdown: Arc<Shutdown>, explain: bool) -> SolutionEvents {
        let quiet = Box::pin(sleep_until(Instant::now() + QUIET));
        SolutionEvents { events: Some(events), explain, over: Box::pin(shutdown.over()), quiet }
    }

    fn last(&mut self, error: &ApiError) -> Bytes {
        self.events = None;
        error.event(Api::Completions, 0)
    }

    fn event(&mut self, event: SolutionEvent<Solution>) -> Bytes {
        match event {
            SolutionEvent::Partial(value) => data(&json!({"partial": value})),
            SolutionEvent::Item(value) => data(&json!({"item": value})),
            SolutionEvent::Repair { attempt, violations } => {
                data(&json!({"repair": {"attempt": attempt, "violations": violations}}))
            }
            SolutionEvent::Solution(solution) => {
                self.events = None;
                data(&SolutionReply::new(&solution, 1, self.explain))
            }
        }
    }
}

fn data(event: &impl Serialize) -> Bytes {
    // It holds only texts, numbers and JSON, which can always be written.
    format!("data: {}\n\n", serde_json::to_string(event).unwrap_or_default()).into()
}

impl Stream for SolutionEvents {
    type Item = Result<Bytes, Infallible>;

    fn poll_next(mut self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<Option<Self::Item>> {
        let this = &mut *self;
        let Some(events) = &mut this.events else { return Poll::Ready(None) };
        let next = events.poll_next_unpin(context);
        if this.over.as_mut().poll(context).is_ready() {
            return Poll::Ready(Some(Ok(this.last(&ApiError::stopping()))));
        }
        let piece = match next {
            Poll::Ready(Some(Ok(event))) => this.event(event),
            Poll::Ready(Some(Err(error))) => this.last(&explained_by(error, this.explain)),
            Poll::Ready(None) => return Poll::Ready(None),
            Poll::Pending => match this.quiet.as_mut().poll(context) {
                Poll::Ready(()) => COMMENT,
                Poll::Pending => return Poll::Pending,
            },
        };
        this.quiet.as_mut().reset(Instant::now() + QUIET);
        Poll::Ready(Some(Ok(piece)))
    }
}
