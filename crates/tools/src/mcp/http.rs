//! Streamable HTTP for the SDK: what its transport asks of an HTTP client, with answers of bounded length.

use std::collections::HashMap;
use std::sync::Arc;

use bytes::Bytes;
use futures_util::stream::BoxStream;
use futures_util::{Stream, StreamExt};
use reqwest::header::{ACCEPT, CONTENT_TYPE, HeaderName, HeaderValue};
use reqwest::{Client, RequestBuilder, Response, StatusCode};
use rmcp::model::{ClientJsonRpcMessage, ClientRequest, JsonRpcMessage, RequestId, ServerJsonRpcMessage};
use rmcp::transport::common::http_header::{
    EVENT_STREAM_MIME_TYPE, HEADER_LAST_EVENT_ID, HEADER_SESSION_ID, JSON_MIME_TYPE,
};
use rmcp::transport::streamable_http_client::{
    SseError, StreamableHttpClient, StreamableHttpError, StreamableHttpPostResponse,
};
use sse_stream::{Sse, SseStream};

use super::fault::{Fault, longer_than, too_long, unreadable};
use crate::client;
use crate::error::ToolError;
use base::outbound::{BodyError, HEARD_BYTES, body, heard, quoted, whole_body};

/// What of a call's `_meta` is sent as headers too, for those on the way who read no bodies.
const TRACE: [&str; 2] = ["x-request-id", "traceparent"];

type Failure = StreamableHttpError<Fault>;
type Events = BoxStream<'static, Result<Sse, SseError>>;
type Headers = HashMap<HeaderName, HeaderValue>;

/// The client of one session.
#[derive(Clone)]
pub(super) struct Http {
    client: Client,
    /// The longest body of an answer, in bytes.
    limit: usize,
}

impl Http {
    pub(super) fn new(client: Client, limit: usize) -> Http {
        Http { client, limit }
    }

    /// Sends a request; anything but success is a failure.
    async fn send(&self, request: RequestBuilder, session: Option<Arc<str>>) -> Result<Response, Failure> {
        let request = match &session {
            Some(id) => request.header(HEADER_SESSION_ID, id.as_ref()),
            None => request,
        };
        let response = request.send().await.map_err(|error| failure(client::failure(&error)))?;
        let status = response.status();
        if status.is_success() {
            return Ok(response);
        }
        // The protocol asks for 404 when a session is unknown; many servers say 400. Neither saw the call.
        let refused = session.is_some() && matches!(status, StatusCode::NOT_FOUND | StatusCode::BAD_REQUEST);
        let error = ToolError::Failed { status: status.to_string(), message: words(response).await };
        Err(Failure::Client(Fault { error, refused }))
    }
}

impl StreamableHttpClient for Http {
    type Error = Fault;

    async fn post_message(
        &self,
        url: Arc<str>,
        message: ClientJsonRpcMessage,
        session: Option<Arc<str>>,
        _token: Option<String>,
        headers: Headers,
    ) -> Result<StreamableHttpPostResponse, Failure> {
        let request = self.client.post(url.as_ref()).headers(headers.into_iter().collect()).json(&message);
        let accepted = format!("{JSON_MIME_TYPE}, {EVENT_STREAM_MIME_TYPE}");
        let response = self.send(traced(request.header(ACCEPT, accepted), &message), session).await?;
        let JsonRpcMessage::Request(request) = message else {
            return Ok(StreamableHttpPostResponse::Accepted);
        };
        let session = header(&response, HEADER_SESSION_ID);
        if is(&response, EVENT_STREAM_MIME_TYPE) {
            let events = events(response, self.limit, request.id);
            Ok(StreamableHttpPostResponse::Sse(events, session))
        } else if is(&response, JSON_MIME_TYPE) {
            let body = whole_body(response, self.limit).await;
            let body = body.map_err(|error| failure(unreadable_body(&error)))?;
            let answer =
                answer(&body, request.id).ok_or_else(|| failure(unreadable("it is no JSON-RPC answer")))?;
            Ok(StreamableHttpPostResponse::Json(answer, session))
        } else {
            Err(failure(unreadable("it is neither JSON nor a stream of events")))
        }
    }

    async fn delete_session(
        &self,
        url: Arc<str>,
        session: Arc<str>,
        _token: Option<String>,
        headers: Headers,
    ) -> Result<(), Failure> {
        let request = self.client.delete(url.as_ref()).headers(headers.into_iter().collect());
        self.send(request, Some(session)).await.map(drop)
    }

    /// Only goes on with an answer whose connection ended early; nothing else is listened to.
    async fn get_stream(
        &self,
        url: Arc<str>,
        session: Option<Arc<str>>,
        last_event: Option<String>,
        _token: Option<String>,
        headers: Headers,
    ) -> Result<Events, Failure> {
        let last_event = last_event.ok_or(Failure::ServerDoesNotSupportSse)?;
        let request = self.client.get(url.as_ref()).headers(headers.into_iter().collect());
        let request = request.header(ACCEPT, EVENT_STREAM_MIME_TYPE).header(HEADER_LAST_EVENT_ID, last_event);
        let response = self.send(request, session).await?;
        Ok(SseStream::from_bytes_stream(bounded(response, self.limit)).boxed())
    }
}

fn failure(error: ToolError) -> Failure {
    Failure::Client(error.into())
}

fn header(response: &Response, name: &str) -> Option<String> {
    response.headers().get(name)?.to_str().ok().map(str::to_owned)
}

fn is(response: &Response, kind: &str) -> bool {
    header(response, CONTENT_TYPE.as_str()).is_some_and(|found| found.starts_with(kind))
}

/// Adds what says where a call comes from.
fn traced(request: RequestBuilder, message: &ClientJsonRpcMessage) -> RequestBuilder {
    let JsonRpcMessage::Request(message) = message else { return request };
    let ClientRequest::CallToolRequest(call) = &message.request else { return request };
    let Some(meta) = &call.params.meta else { return request };
    let texts = TRACE.iter().filter_map(|name| Some((*name, meta.get(*name)?.as_str()?)));
    texts.fold(request, |request, (name, text)| request.header(name, text))
}

/// The bytes of a body, up to a limit.
fn bounded(response: Response, limit: usize) -> impl Stream<Item = Result<Bytes, ToolError>> {
    body(response, limit).map(|chunk| chunk.map_err(|error| unreadable_body(&error)))
}

fn unreadable_body(error: &BodyError) -> ToolError {
    match error {
        BodyError::TooLong { limit } => unreadable(&longer_than(*limit)),
        BodyError::Broken(error) => client::failure(error),
    }
}

/// The answer in a body: one to this request whatever its `id` says, as some servers leave it out of errors.
fn answer(body: &[u8], id: RequestId) -> Option<ServerJsonRpcMessage> {
    let mut answer = serde_json::from_slice(body).ok()?;
    match &mut answer {
        ServerJsonRpcMessage::Response(answer) => answer.id = id,
        ServerJsonRpcMessage::Error(answer) => answer.id = Some(id),
        _ => return None,
    }
    Some(answer)
}

/// The events of the answer to a request; when it gets too long, the last one says so.
fn events(response: Response, limit: usize, id: RequestId) -> Events {
    let events = SseStream::from_bytes_stream(bounded(response, limit));
    let events = events.map(move |event| match event {
        Err(SseError::Body(error)) if matches!(error.downcast_ref(), Some(ToolError::Answer { .. })) => {
            let message = serde_json::to_string(&too_long(id.clone(), limit));
            Ok(Sse::default().data(message.unwrap_or_default()))
        }
        event => event,
    });
    events.boxed()
}

/// What a server says about a failure: the message of a JSON-RPC error, else the beginning of the text.
async fn words(response: Response) -> String {
    let body = heard(response, HEARD_BYTES).await;
    match serde_json::from_slice(&body) {
        Ok(ServerJsonRpcMessage::Error(error)) => quoted(&error.error.message),
        _ => quoted(&String::from_utf8_lossy(&body)),
    }
}
