//! The error of a call over an MCP session, with whether the call may be repeated.

use rmcp::ServiceError;
use rmcp::model::{ErrorCode, ErrorData, RequestId, ServerJsonRpcMessage};
use rmcp::service::ClientInitializeError;
use rmcp::transport::DynamicTransportError;
use rmcp::transport::streamable_http_client::StreamableHttpError;

use crate::error::ToolError;
use base::error::innermost;
use base::outbound::excerpt;

/// The error code with which the transports replace an answer that is too long; JSON-RPC does not use it.
const TOO_LONG: ErrorCode = ErrorCode(i32::MIN);

/// The error of a call, and whether the call may be repeated.
#[derive(Debug, thiserror::Error)]
#[error("{error}")]
pub(super) struct McpError {
    pub(super) error: ToolError,
    /// Whether the session is gone and the server did not accept the call, so that it may be sent again over a new session.
    pub(super) may_retry: bool,
}

impl From<ToolError> for McpError {
    fn from(error: ToolError) -> McpError {
        McpError { error, may_retry: false }
    }
}

/// The message that a transport delivers instead of an answer of more than `limit` bytes.
pub(super) fn too_long(id: RequestId, limit: usize) -> ServerJsonRpcMessage {
    ServerJsonRpcMessage::error(ErrorData::new(TOO_LONG, longer_than(limit), None), Some(id))
}

/// The error text for an answer of more than `limit` bytes.
pub(super) fn longer_than(limit: usize) -> String {
    format!("it is longer than {limit} bytes")
}

/// Converts the SDK's error of a call.
pub(super) fn of_call(error: ServiceError) -> McpError {
    match error {
        ServiceError::McpError(error) => of_json_rpc(error).into(),
        ServiceError::TransportSend(error) => of_transport(&error),
        ServiceError::TransportClosed => unreachable("the connection broke").into(),
        ServiceError::UnexpectedResponse => unreadable("it is not the result of a tool").into(),
        other => unreachable(&other.to_string()).into(),
    }
}

/// Converts the SDK's error of a handshake.
pub(super) fn of_handshake(error: ClientInitializeError) -> ToolError {
    match error {
        ClientInitializeError::JsonRpcError(error) => of_json_rpc(error),
        ClientInitializeError::TransportError { error, .. } => of_transport(&error).error,
        ClientInitializeError::ConnectionClosed(_) => unreachable("the connection broke in the handshake"),
        _ => unreachable("the server breaks the protocol in the handshake"),
    }
}

fn of_json_rpc(error: ErrorData) -> ToolError {
    match error.code {
        TOO_LONG => ToolError::Answer { message: excerpt(&error.message) },
        code => ToolError::Failed { status: code.0.to_string(), message: excerpt(&error.message) },
    }
}

fn of_transport(error: &DynamicTransportError) -> McpError {
    match error.error.downcast_ref::<StreamableHttpError<McpError>>() {
        Some(StreamableHttpError::Client(McpError { error, may_retry })) => {
            McpError { error: error.clone(), may_retry: *may_retry }
        }
        Some(_) => unreachable("the connection broke").into(),
        // Without an HTTP error, this is the pipe to a child process; it broke before the whole line was written.
        None => McpError { error: unreachable(&innermost(&*error.error).to_string()), may_retry: true },
    }
}

pub(super) fn unreachable(message: &str) -> ToolError {
    ToolError::Unreachable { message: excerpt(message) }
}

pub(super) fn unreadable(message: &str) -> ToolError {
    ToolError::Answer { message: message.to_owned() }
}
