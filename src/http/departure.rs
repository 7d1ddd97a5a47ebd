//! Clients that leave before they have their answer: logged, and counted as no error.

use std::pin::Pin;
use std::task::{Context, Poll};

use actix_web::body::{BodySize, BoxBody, MessageBody};
use actix_web::http::header::HeaderValue;
use actix_web::web::Bytes;

/// What nginx calls a request whose client has closed the connection.
const CLIENT_CLOSED_REQUEST: u16 = 499;

/// Says, when it is dropped, that the client has left; unless the answer was complete before.
#[derive(Debug)]
pub struct Departure {
    request_id: HeaderValue,
    complete: bool,
}

impl Departure {
    /// Watches over the answer to this request.
    pub fn watch(request_id: HeaderValue) -> Departure {
        Departure { request_id, complete: false }
    }

    /// The answer is complete.
    pub fn complete(mut self) {
        self.complete = true;
    }

    /// Goes on watching while a body is sent; one of known length counts as sent.
    pub fn over(self, body: BoxBody) -> BoxBody {
        match body.size() {
            BodySize::Stream => BoxBody::new(Watched { body, departure: Some(self) }),
            _ => {
                self.complete();
                body
            }
        }
    }
}

impl Drop for Departure {
    fn drop(&mut self) {
        // A panic drops it, too, and is told by others.
        if !self.complete && !std::thread::panicking() {
            let request_id = self.request_id.to_str().unwrap_or_default();
            tracing::info!(request_id, status = CLIENT_CLOSED_REQUEST, "the client has left");
        }
    }
}

/// A body that is sent in pieces.
struct Watched {
    body: BoxBody,
    departure: Option<Departure>,
}

impl MessageBody for Watched {
    type Error = <BoxBody as MessageBody>::Error;

    fn size(&self) -> BodySize {
        self.body.size()
    }

    fn poll_next(
        mut self: Pin<&mut Self>,
        context: &mut Context<'_>,
    ) -> Poll<Option<Result<Bytes, Self::Error>>> {
        let piece = Pin::new(&mut self.body).poll_next(context);
        if matches!(piece, Poll::Ready(None))
            && let Some(departure) = self.departure.take()
        {
            departure.complete();
        }
        piece
    }
}
