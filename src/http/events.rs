//! The body of a streamed answer: its events; an error is the last of them.

use std::convert::Infallible;
use std::pin::Pin;
use std::sync::Arc;
use std::task::{Context, Poll};

use actix_web::web::Bytes;
use futures_util::{Stream, StreamExt};
use serde::Deserialize;

use super::error::ApiError;
use super::shutdown::{Shutdown, ShutdownEnd};
use crate::chat::Api;
use crate::llm::AnswerStream;
use base::events;

/// A body that sends the events of an answer.
pub struct EventBody {
    /// What is sent before the events.
    first: Option<Bytes>,
    /// `None` after the last one.
    events: Option<AnswerStream>,
    api: Api,
    /// The number of the next event, which those of responses have.
    sequence: u64,
    shutdown: Arc<Shutdown>,
    /// Wakes a waiting stream when the service stops.
    over: Option<ShutdownEnd>,
}

impl EventBody {
    /// A body of these events, which are those of an API. When the service stops, they end early, with an error.
    pub fn new(events: AnswerStream, api: Api, shutdown: Arc<Shutdown>) -> EventBody {
        EventBody { first: None, events: Some(events), api, sequence: 0, shutdown, over: None }
    }

    /// The same body with an event of our own before all others.
    pub fn after(self, first: Option<Bytes>) -> EventBody {
        EventBody { first, ..self }
    }

    /// Takes note of the number of the last of these events.
    fn passed(&mut self, events: &[u8]) {
        if self.api == Api::Responses {
            self.sequence = last_number(events).map_or(self.sequence, |last| last.saturating_add(1));
        }
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
        let Some(events) = &mut self.events else { return Poll::Ready(None) };
        let error = match events.poll_next_unpin(context) {
            Poll::Ready(Some(Ok(events))) if !self.shutdown.is_over() => {
                self.passed(&events);
                return Poll::Ready(Some(Ok(events)));
            }
            Poll::Ready(Some(Err(error))) if !self.shutdown.is_over() => {
                return Poll::Ready(Some(Ok(ApiError::from(error).event(self.api, self.sequence))));
            }
            Poll::Ready(Some(_)) => ApiError::stopping(),
            Poll::Ready(None) => return Poll::Ready(None),
            Poll::Pending if self.has_to_end(context) => ApiError::stopping(),
            Poll::Pending => return Poll::Pending,
        };
        self.events = None;
        Poll::Ready(Some(Ok(error.event(self.api, self.sequence))))
    }
}

/// The number of the last event of a response among these, our own or an upstream's.
fn last_number(events: &[u8]) -> Option<u64> {
    #[derive(Deserialize)]
    struct Event {
        sequence_number: u64,
    }
    let data = events::split(events).filter_map(events::data).last()?;
    serde_json::from_slice::<Event>(&data).ok().map(|event| event.sequence_number)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_number_of_the_last_event_is_found() {
        let events = b"event: a\ndata: {\"sequence_number\": 7}\n\ndata: {\"tools\":[{\"sequence_number\":900}],\"sequence_number\":8}\n\n: x\n\n";
        assert_eq!(last_number(events), Some(8));
        assert_eq!(last_number(b": keep-alive\n\n"), None);
    }
}
