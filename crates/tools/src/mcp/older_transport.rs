//! Recognizes servers that speak only the older HTTP+SSE transport of MCP (2024-11-05), to refuse them by its name.
//!
//! Such a server refuses the `initialize` request, and answers a GET with an event stream that begins with `endpoint`.

use std::time::Duration;

use futures_util::StreamExt;
use reqwest::header::ACCEPT;
use reqwest::{RequestBuilder, StatusCode};
use rmcp::model::{ClientJsonRpcMessage, ClientRequest, JsonRpcMessage};
use rmcp::transport::common::http_header::EVENT_STREAM_MIME_TYPE;
use sse_stream::SseStream;
use tokio::time::timeout;

use super::http::{bounded, is};
use crate::error::ToolError;
use base::outbound::ERROR_BODY_BYTES;

/// How long the first event may take.
const EVENT_LIMIT: Duration = Duration::from_secs(2);

/// Whether a refusal of this message can mean that the server speaks the older transport; these are the statuses for which
/// the protocol has clients find out.
pub(super) fn may_be_spoken(message: &ClientJsonRpcMessage, status: StatusCode) -> bool {
    let refused = [StatusCode::BAD_REQUEST, StatusCode::NOT_FOUND, StatusCode::METHOD_NOT_ALLOWED];
    let JsonRpcMessage::Request(message) = message else { return false };
    matches!(message.request, ClientRequest::InitializeRequest(_)) && refused.contains(&status)
}

/// Whether `get`, a GET of the server's address, is answered as the older transport does.
pub(super) async fn is_spoken(get: RequestBuilder) -> bool {
    let first_event = async {
        let response = get.header(ACCEPT, EVENT_STREAM_MIME_TYPE).send().await.ok()?;
        if !response.status().is_success() || !is(&response, EVENT_STREAM_MIME_TYPE) {
            return None;
        }
        SseStream::from_bytes_stream(bounded(response, ERROR_BODY_BYTES)).next().await?.ok()
    };
    let event = timeout(EVENT_LIMIT, first_event).await.ok().flatten();
    event.is_some_and(|event| event.event.as_deref() == Some("endpoint"))
}

/// The error for a server that speaks it.
pub(super) fn refusal() -> ToolError {
    let message = "its MCP server speaks the older HTTP+SSE transport (2024-11-05); only streamable HTTP is supported: use the \
                   server's streamable endpoint (often /mcp)";
    ToolError::Unusable { message: message.to_owned() }
}
