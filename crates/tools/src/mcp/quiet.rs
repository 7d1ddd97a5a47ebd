//! A transport that lets a server answer, and nothing else.

use futures_util::future::BoxFuture;
use futures_util::stream::FuturesUnordered;
use futures_util::{FutureExt, StreamExt};
use rmcp::RoleClient;
use rmcp::model::{
    ClientJsonRpcMessage, ClientResult, ErrorCode, ErrorData, JsonRpcRequest, ServerJsonRpcMessage,
    ServerRequest,
};
use rmcp::transport::Transport;

/// How many replies may be on their way; a server that asks for more at once gets none.
const REPLIES: usize = 16;

/// Refuses a server's requests and drops its notifications, so that one that sends many makes nothing grow.
pub(super) struct Quiet<T> {
    inner: T,
    replies: FuturesUnordered<BoxFuture<'static, ()>>,
}

impl<T> Quiet<T> {
    pub(super) fn new(inner: T) -> Quiet<T> {
        Quiet { inner, replies: FuturesUnordered::new() }
    }
}

impl<T: Transport<RoleClient>> Transport<RoleClient> for Quiet<T> {
    type Error = T::Error;

    fn send(
        &mut self,
        message: ClientJsonRpcMessage,
    ) -> impl Future<Output = Result<(), T::Error>> + Send + 'static {
        self.inner.send(message)
    }

    async fn receive(&mut self) -> Option<ServerJsonRpcMessage> {
        loop {
            let message = tokio::select! {
                Some(()) = self.replies.next() => continue,
                message = self.inner.receive() => message?,
            };
            match message {
                ServerJsonRpcMessage::Request(request) => {
                    if self.replies.len() < REPLIES {
                        self.replies.push(self.inner.send(reply_to(request)).map(drop).boxed());
                    }
                }
                ServerJsonRpcMessage::Notification(_) => {}
                answer => return Some(answer),
            }
        }
    }

    fn close(&mut self) -> impl Future<Output = Result<(), T::Error>> + Send {
        self.inner.close()
    }
}

fn reply_to(request: JsonRpcRequest<ServerRequest>) -> ClientJsonRpcMessage {
    match request.request {
        ServerRequest::PingRequest(_) => ClientJsonRpcMessage::response(ClientResult::empty(()), request.id),
        _ => {
            let error = ErrorData::new(ErrorCode::METHOD_NOT_FOUND, "this client only calls tools", None);
            ClientJsonRpcMessage::error(error, Some(request.id))
        }
    }
}
