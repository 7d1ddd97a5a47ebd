//! A filter around a transport: it lets a server's responses through, and handles its requests and notifications itself.

use futures_util::future::BoxFuture;
use futures_util::stream::FuturesUnordered;
use futures_util::{FutureExt, StreamExt};
use rmcp::RoleClient;
use rmcp::model::{
    ClientJsonRpcMessage, ClientResult, ErrorCode, ErrorData, JsonRpcRequest, ServerJsonRpcMessage,
    ServerRequest,
};
use rmcp::transport::Transport;

/// How many replies may be under way; further requests of the server get none.
const REPLIES: usize = 16;

/// A transport that refuses a server's requests (except pings) and drops its notifications, so that a flood of them takes
/// no memory.
pub(super) struct RequestFilter<T> {
    inner: T,
    replies: FuturesUnordered<BoxFuture<'static, ()>>,
}

impl<T> RequestFilter<T> {
    pub(super) fn new(inner: T) -> RequestFilter<T> {
        RequestFilter { inner, replies: FuturesUnordered::new() }
    }
}

impl<T: Transport<RoleClient>> Transport<RoleClient> for RequestFilter<T> {
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
