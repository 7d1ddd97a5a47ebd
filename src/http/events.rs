//! The body of a streamed answer: its events; an error is the last of them.

use std::convert::Infallible;
use std::pin::Pin;
use std::sync::Arc;
use std::task::{Context, Poll};

use actix_web::web::Bytes;
use futures_util::{Stream, StreamExt};

use super::error::ApiError;
use super::shutdown::{Shutdown, ShutdownEnd};
use crate::chat::Api;
use crate::llm::AnswerStream;

/// A body that sends the events of an answer.
pub struct EventBody {
    /// What is sent before the events.
    first: Option<Bytes>,
    /// `None` after the last one.
    events: Option<AnswerStream>,
    api: Api,
    shutdown: Arc<Shutdown>,
    /// Wakes a waiting stream when the service stops.
    over: Option<ShutdownEnd>,
}

impl EventBody {
    /// A body of these events, which are those of an API. When the service stops, they end early, with an error.
    pub fn new(events: AnswerStream, api: Api, shutdown: Arc<Shutdown>) -> EventBody {
        EventBody { first: None, events: Some(events), api, shutdown, over: None }
    }

    /// The same body with an event of our own before all others.
    pub fn after(self, first: Option<Bytes>) -> EventBody {
        EventBody { first, ..self }
    }

    fn has_to_end(&mut self, context: &mut Context<'_>) -> bool {
        let over = self.over.get_or_insert_with(|| Box::pin(self.shutdown.over()));
        over.as_mut().poll(context).is_ready()
    }
}

impl Stream for EventBody {
    type Item = Result<Bytes, Infallible>;

    fn poll_next(mut self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<Option<Self::Item>> {
        if let Some(first) = self.first.take() {
            return Poll::Ready(Some(Ok(first)));
        }
        let api = self.api;
        let Some(events) = &mut self.events else { return Poll::Ready(None) };
        let event = match events.poll_next_unpin(context) {
            Poll::Ready(Some(event)) if !self.shutdown.is_over() => {
                return Poll::Ready(Some(Ok(event.unwrap_or_else(|error| ApiError::from(error).event(api)))));
            }
            Poll::Ready(Some(_)) => ApiError::stopping().event(api),
            Poll::Ready(None) => return Poll::Ready(None),
            Poll::Pending if self.has_to_end(context) => ApiError::stopping().event(api),
            Poll::Pending => return Poll::Pending,
        };
        self.events = None;
        Poll::Ready(Some(Ok(event)))
    }
}
