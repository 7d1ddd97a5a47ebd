//! Chunked bodies that no handler reads to the end: the server must stop reading them, so their connection is closed.

use std::cell::RefCell;
use std::pin::Pin;
use std::rc::Rc;
use std::task::{Context, Poll};

use actix_web::HttpMessage;
use actix_web::body::{BodySize, BoxBody, MessageBody};
use actix_web::dev::{Payload, ServiceRequest};
use actix_web::error::PayloadError;
use actix_web::http::header::TRANSFER_ENCODING;
use actix_web::web::Bytes;
use futures_util::{Stream, StreamExt};

/// The rest of a request's body; `None` once it was read to the end.
#[derive(Clone)]
pub struct UnreadBody(Rc<RefCell<Option<Payload>>>);

impl UnreadBody {
    /// Keeps the body of a request, if it is chunked. If the reader of such a body is dropped, the HTTP server reads on without
    /// a bound; if the reader exists and does not read, it closes the connection after a moment. So the reader is kept.
    pub fn of(request: &mut ServiceRequest) -> Option<UnreadBody> {
        if !request.headers().contains_key(TRANSFER_ENCODING) {
            return None;
        }
        let unread = UnreadBody(Rc::new(RefCell::new(Some(request.take_payload()))));
        let stream: Pin<Box<dyn Stream<Item = Result<Bytes, PayloadError>>>> = Box::pin(unread.clone());
        request.set_payload(Payload::Stream { payload: stream });
        Some(unread)
    }

    /// A body that keeps the reader until the answer has been sent.
    pub fn until_sent(self, body: BoxBody) -> BoxBody {
        match self.0.borrow().is_some() {
            true => BoxBody::new(BodyWith::new(body, self.clone())),
            false => body,
        }
    }
}

impl Stream for UnreadBody {
    type Item = Result<Bytes, PayloadError>;

    fn poll_next(self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<Option<Self::Item>> {
        let mut payload = self.0.borrow_mut();
        let Some(reading) = payload.as_mut() else { return Poll::Ready(None) };
        let next = reading.poll_next_unpin(context);
        if matches!(next, Poll::Ready(None)) {
            *payload = None;
        }
        next
    }
}

/// A body that owns another value until it has been sent.
pub struct BodyWith<T> {
    body: BoxBody,
    _kept: T,
}

impl<T: Unpin + 'static> BodyWith<T> {
    /// A body that owns `kept`.
    pub fn new(body: BoxBody, kept: T) -> BodyWith<T> {
        BodyWith { body, _kept: kept }
    }
}

impl<T: Unpin> MessageBody for BodyWith<T> {
    type Error = <BoxBody as MessageBody>::Error;

    fn size(&self) -> BodySize {
        self.body.size()
    }

    fn poll_next(
        mut self: Pin<&mut Self>,
        context: &mut Context<'_>,
    ) -> Poll<Option<Result<Bytes, Self::Error>>> {
        Pin::new(&mut self.body).poll_next(context)
    }
}
