//! Bodies that nobody reads to their end: the server must not go on reading them, and so their connection is closed.

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

/// What is left of a request's body; nothing once it was read to its end.
#[derive(Clone)]
pub struct Unread(Rc<RefCell<Option<Payload>>>);

impl Unread {
    /// Keeps hold of the body of a request, if it is chunked: the HTTP server reads on, without a bound, where the reader of such
    /// a body has gone, and closes the connection, after a moment, where the reader is there and does not read.
    pub fn of(request: &mut ServiceRequest) -> Option<Unread> {
        if !request.headers().contains_key(TRANSFER_ENCODING) {
            return None;
        }
        let unread = Unread(Rc::new(RefCell::new(Some(request.take_payload()))));
        let stream: Pin<Box<dyn Stream<Item = Result<Bytes, PayloadError>>>> = Box::pin(unread.clone());
        request.set_payload(Payload::Stream { payload: stream });
        Some(unread)
    }

    /// Keeps what was not read until the answer has been sent.
    pub fn until_sent(self, body: BoxBody) -> BoxBody {
        match self.0.borrow().is_some() {
            true => BoxBody::new(With::new(body, self.clone())),
            false => body,
        }
    }
}

impl Stream for Unread {
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

/// A body that keeps something until it has been sent.
pub struct With<T> {
    body: BoxBody,
    _kept: T,
}

impl<T: Unpin + 'static> With<T> {
    /// A body that keeps `kept`.
    pub fn new(body: BoxBody, kept: T) -> With<T> {
        With { body, _kept: kept }
    }
}

impl<T: Unpin> MessageBody for With<T> {
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
