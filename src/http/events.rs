//! The body of a streamed answer: its events, and a failure as the last of them.

use std::convert::Infallible;
use std::pin::Pin;
use std::task::{Context, Poll};

use actix_web::web::Bytes;
use futures_util::{Stream, StreamExt};

use super::error::ApiError;
use crate::llm::AnswerStream;

/// The events of an answer.
pub struct EventBody {
    events: AnswerStream,
}

impl EventBody {
    /// The body of these events.
    pub fn new(events: AnswerStream) -> EventBody {
        EventBody { events }
    }
}

impl Stream for EventBody {
    type Item = Result<Bytes, Infallible>;

    fn poll_next(mut self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<Option<Self::Item>> {
        self.events.poll_next_unpin(context).map(|event| {
            event.map(|event| Ok(event.unwrap_or_else(|failure| ApiError::from(failure).event())))
        })
    }
}
