//! The HTTP side of the SDK's streamable HTTP transport, with answers of bounded length.

use std::collections::HashMap;
use std::sync::Arc;

use bytes::Bytes;
use futures_util::stream::BoxStream;
use futures_util::{Stream, StreamExt};
use reqwest::header::{ACCEPT, CONTENT_TYPE, HeaderMap, HeaderName, HeaderValue};
use reqwest::{Client, RequestBuilder, Response, StatusCode};
use rmcp::model::{ClientJsonRpcMessage, ClientRequest, JsonRpcMessage, RequestId, ServerJsonRpcMessage};
use rmcp::transport::common::http_header::{
    EVENT_STREAM_MIME_TYPE, HEADER_LAST_EVENT_ID, HEADER_SESSION_ID, JSON_MIME_TYPE,
};
use rmcp::transport::streamable_http_client::{
    SseError, StreamableHttpClient, StreamableHttpError, StreamableHttpPostResponse,
};
use sse_stream::{Sse, SseStream};

use super::error::{McpError, longer_than, too_long, unreadable};
use super::older_transport;
use crate::client;
use crate::error::ToolError;
use base::outbound::{BodyError, ERROR_BODY_BYTES, body, error_body, excerpt, whole_body};

/// The members of a call's `_meta` that are also sent as headers, for proxies and logs that do not read bodies.
const TRACE: [&str; 2] = ["x-request-id", "traceparent"];

type HttpError = StreamableHttpError<McpError>;
type Events = BoxStream<'static, Result<Sse, SseError>>;
type Headers = HashMap<HeaderName, HeaderValue>;

/// The HTTP client of one session.
#[derive(Clone)]
pub(super) struct Http {
    client: Client,
    /// The most bytes that the body of an answer may have.
    limit: usize,
}

impl Http {
    pub(super) fn new(client: Client, limit: usize) -> Http {
        Http { client, limit }
    }

    /// Sends a request; a status other than 2xx is an error.
    async fn send(&self, request: RequestBuilder, session: Option<Arc<str>>) -> Result<Response, HttpError> {
        accepted(self.ask(request, session.as_deref()).await?, session.is_some()).await
    }

    /// Sends a request, and gives the answer, whatever its status.
    async fn ask(&self, request: RequestBuilder, session: Option<&str>) -> Result<Response, HttpError> {
        let request = match session {
            Some(id) => request.header(HEADER_SESSION_ID, id),
            None => request,
        };
        request.send().await.map_err(|error| http_error(client::tool_error(&error)))
    }
}

/// The answer, if its status is 2xx.
async fn accepted(response: Response, in_session: bool) -> Result<Response, HttpError> {
    let status = response.status();
    if status.is_success() {
        return Ok(response);
    }
    // For an unknown session, the protocol demands 404, and many servers answer 400. The call was not made then.
    let may_retry = in_session && matches!(status, StatusCode::NOT_FOUND | StatusCode::BAD_REQUEST);
    let error = ToolError::Failed { status: status.to_string(), message: error_text(response).await };
    Err(HttpError::Client(McpError { error, may_retry }))
}

impl StreamableHttpClient for Http {
    type Error = McpError;

    async fn post_message(
        &self,
        url: Arc<str>,
        message: ClientJsonRpcMessage,
        session: Option<Arc<str>>,
        _token: Option<String>,
        headers: Headers,
    ) -> Result<StreamableHttpPostResponse, HttpError> {
        let headers: HeaderMap = headers.into_iter().collect();
        let request = self.client.post(url.as_ref()).headers(headers.clone()).json(&message);
        let kinds = format!("{JSON_MIME_TYPE}, {EVENT_STREAM_MIME_TYPE}");
        let response = self.ask(traced(request.header(ACCEPT, kinds), &message), session.as_deref()).await?;
        if older_transport::may_be_spoken(&message, response.status())
            && older_transport::is_spoken(self.client.get(url.as_ref()).headers(headers)).await
        {
            return Err(http_error(older_transport::refusal()));
        }
        let response = accepted(response, session.is_some()).await?;
        let JsonRpcMessage::Request(request) = message else {
            return Ok(StreamableHttpPostResponse::Accepted);
        };
        let session = header(&response, HEADER_SESSION_ID);
        if is(&response, EVENT_STREAM_MIME_TYPE) {
            let events = events(response, self.limit, request.id);
            Ok(StreamableHttpPostResponse::Sse(events, session))
        } else if is(&response, JSON_MIME_TYPE) {
            let body = whole_body(response, self.limit).await;
            let body = body.map_err(|error| http_error(unreadable_body(&error)))?;
            let answer = answer(&body, request.id)
                .ok_or_else(|| http_error(unreadable("it is not a JSON-RPC response")))?;
            Ok(StreamableHttpPostResponse::Json(answer, session))
        } else {
            Err(http_error(unreadable("it is neither JSON nor an event stream")))
        }
    }

    async fn delete_session(
        &self,
        url: Arc<str>,
        session: Arc<str>,
        _token: Option<String>,
        headers: Headers,
    ) -> Result<(), HttpError> {
        let request = self.client.delete(url.as_ref()).headers(headers.into_iter().collect());
        self.send(request, Some(session)).await.map(drop)
    }

    /// Resumes an answer whose connection ended early. The optional stream of server messages is not opened.
    async fn get_stream(
        &self,
        url: Arc<str>,
        session: Option<Arc<str>>,
        last_event: Option<String>,
        _token: Option<String>,
        headers: Headers,
    ) -> Result<Events, HttpError> {
        let last_event = last_event.ok_or(HttpError::ServerDoesNotSupportSse)?;
        let request = self.client.get(url.as_ref()).headers(headers.into_iter().collect());
        let request = request.header(ACCEPT, EVENT_STREAM_MIME_TYPE).header(HEADER_LAST_EVENT_ID, last_event);
        let response = self.send(request, session).await?;
        Ok(SseStream::from_bytes_stream(bounded(response, self.limit)).boxed())
    }
}

fn http_error(error: ToolError) -> HttpError {
    HttpError::Client(error.into())
}

fn header(response: &Response, name: &str) -> Option<String> {
    response.headers().get(name)?.to_str().ok().map(str::to_owned)
}

pub(super) fn is(response: &Response, kind: &str) -> bool {
    header(response, CONTENT_TYPE.as_str()).is_some_and(|found| found.starts_with(kind))
}

/// Adds the trace headers to a tool call.
fn traced(request: RequestBuilder, message: &ClientJsonRpcMessage) -> RequestBuilder {
    let JsonRpcMessage::Request(message) = message else { return request };
    let ClientRequest::CallToolRequest(call) = &message.request else { return request };
    let Some(meta) = &call.params.meta else { return request };
    let texts = TRACE.iter().filter_map(|name| Some((*name, meta.get(*name)?.as_str()?)));
    texts.fold(request, |request, (name, text)| request.header(name, text))
}

/// The chunks of a body, up to a limit.
pub(super) fn bounded(response: Response, limit: usize) -> impl Stream<Item = Result<Bytes, ToolError>> {
    body(response, limit).map(|chunk| chunk.map_err(|error| unreadable_body(&error)))
}

fn unreadable_body(error: &BodyError) -> ToolError {
    match error {
        BodyError::TooLong { limit } => unreadable(&longer_than(*limit)),
        BodyError::Broken(error) => client::tool_error(error),
    }
}

/// Parses a body as the response to the request `id`. Its own `id` is ignored, since some servers leave it out of errors.
fn answer(body: &[u8], id: RequestId) -> Option<ServerJsonRpcMessage> {
    let mut answer = serde_json::from_slice(body).ok()?;
    match &mut answer {
        ServerJsonRpcMessage::Response(answer) => answer.id = id,
        ServerJsonRpcMessage::Error(answer) => answer.id = Some(id),
        _ => return None,
    }
    Some(answer)
}

/// The event stream that answers a request; if it gets too long, the last event is an error that says so.
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

/// The text of an error response: the message if it is a JSON-RPC error, else the beginning of the body.
async fn error_text(response: Response) -> String {
    let body = error_body(response, ERROR_BODY_BYTES).await;
    match serde_json::from_slice(&body) {
        Ok(ServerJsonRpcMessage::Error(error)) => excerpt(&error.error.message),
        _ => excerpt(&String::from_utf8_lossy(&body)),
    }
}
