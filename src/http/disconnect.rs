//! Clients that disconnect before they have their answer: logged with status 499, not counted as errors.

use std::pin::Pin;
use std::task::{Context, Poll};

use actix_web::body::{BodySize, BoxBody, MessageBody};
use actix_web::http::header::HeaderValue;
use actix_web::web::Bytes;

/// The status that nginx logs for a request whose client has closed the connection.
const CLIENT_CLOSED_REQUEST: u16 = 499;

/// Logs a disconnect when it is dropped before the answer was complete.
#[derive(Debug)]
pub struct DisconnectWatch {
    request_id: HeaderValue,
    complete: bool,
}

impl DisconnectWatch {
    /// Watches the answer to a request.
    pub fn watch(request_id: HeaderValue) -> DisconnectWatch {
        DisconnectWatch { request_id, complete: false }
    }

    /// The answer is complete.
    pub fn complete(mut self) {
        self.complete = true;
    }

    /// Watches a streamed body until it has been sent. A body of known length counts as sent at once.
    pub fn until_sent(self, body: BoxBody) -> BoxBody {
        match body.size() {
            BodySize::Stream => BoxBody::new(WatchedBody { body, disconnect: Some(self) }),
            _ => {
                self.complete();
                body
            }
        }
    }
}

impl Drop for DisconnectWatch {
    fn drop(&mut self) {
        // A panic drops it, too, and is logged elsewhere.
        if !self.complete && !std::thread::panicking() {
            let request_id = self.request_id.to_str().unwrap_or_default();
            tracing::info!(
                request_id,
                status = CLIENT_CLOSED_REQUEST,
                "the client disconnected before its answer was complete"
            );
        }
    }
}

/// A streamed body that is watched.
struct WatchedBody {
    body: BoxBody,
    disconnect: Option<DisconnectWatch>,
}

impl MessageBody for WatchedBody {
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
            && let Some(disconnect) = self.disconnect.take()
        {
            disconnect.complete();
        }
        piece
    }
}
