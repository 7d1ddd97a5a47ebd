//! The body of a streamed answer: its events, and a failure as the last of them.

use std::convert::Infallible;
use std::pin::Pin;
use std::sync::Arc;
use std::task::{Context, Poll};

use actix_web::web::Bytes;
use futures_util::{Stream, StreamExt};

use super::error::ApiError;
use super::leaving::{Leaving, Over};
use crate::llm::AnswerStream;

/// The events of an answer.
pub struct EventBody {
    /// `None` after the last one.
    events: Option<AnswerStream>,
    leaving: Arc<Leaving>,
    /// Wakes a stream that is waiting when it has to end because the service does.
    over: Option<Over>,
}

impl EventBody {
    /// The body of these events, which end early, with an error, when the service has to end.
    pub fn new(events: AnswerStream, leaving: Arc<Leaving>) -> EventBody {
        EventBody { events: Some(events), leaving, over: None }
    }

    fn has_to_end(&mut self, context: &mut Context<'_>) -> bool {
        let over = self.over.get_or_insert_with(|| Box::pin(self.leaving.over()));
        over.as_mut().poll(context).is_ready()
    }
}

impl Stream for EventBody {
    type Item = Result<Bytes, Infallible>;

    fn poll_next(mut self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<Option<Self::Item>> {
        let Some(events) = &mut self.events else { return Poll::Ready(None) };
        let event = match events.poll_next_unpin(context) {
            Poll::Ready(Some(event)) if !self.leaving.is_over() => {
                return Poll::Ready(Some(
                    Ok(event.unwrap_or_else(|failure| ApiError::from(failure).event())),
                ));
            }
            Poll::Ready(Some(_)) => ApiError::stopping().event(),
            Poll::Ready(None) => return Poll::Ready(None),
            Poll::Pending if self.has_to_end(context) => ApiError::stopping().event(),
            Poll::Pending => return Poll::Pending,
        };
        self.events = None;
        Poll::Ready(Some(Ok(event)))
    }
}
