//! Why a call over a session failed, and whether the far end may have seen it.

use rmcp::ServiceError;
use rmcp::model::{ErrorCode, ErrorData, RequestId, ServerJsonRpcMessage};
use rmcp::service::ClientInitializeError;
use rmcp::transport::DynamicTransportError;
use rmcp::transport::streamable_http_client::StreamableHttpError;

use crate::error::ToolError;
use base::error::innermost;
use base::outbound::quoted;

/// Marks the errors that the transports put in the place of an answer that is too long; no code of JSON-RPC.
const TOO_LONG: ErrorCode = ErrorCode(i32::MIN);

/// A failure, and whether the server cannot have acted on the call.
#[derive(Debug, thiserror::Error)]
#[error("{error}")]
pub(super) struct Fault {
    pub(super) error: ToolError,
    /// The session is gone and the call was not accepted, so that it may be sent again over a new one.
    pub(super) refused: bool,
}

impl From<ToolError> for Fault {
    fn from(error: ToolError) -> Fault {
        Fault { error, refused: false }
    }
}

/// What a transport hands on instead of an answer of more than `limit` bytes.
pub(super) fn too_long(id: RequestId, limit: usize) -> ServerJsonRpcMessage {
    ServerJsonRpcMessage::error(ErrorData::new(TOO_LONG, longer_than(limit), None), Some(id))
}

/// The words for an answer of more than `limit` bytes.
pub(super) fn longer_than(limit: usize) -> String {
    format!("it is longer than {limit} bytes")
}

/// What a failed call means.
pub(super) fn of_call(error: ServiceError) -> Fault {
    match error {
        ServiceError::McpError(error) => of_json_rpc(error).into(),
        ServiceError::TransportSend(error) => of_transport(&error),
        ServiceError::TransportClosed => unreachable("the connection broke").into(),
        ServiceError::UnexpectedResponse => unreadable("it is no result of a tool").into(),
        other => unreachable(&other.to_string()).into(),
    }
}

/// What a failed handshake means.
pub(super) fn of_handshake(error: ClientInitializeError) -> ToolError {
    match error {
        ClientInitializeError::JsonRpcError(error) => of_json_rpc(error),
        ClientInitializeError::TransportError { error, .. } => of_transport(&error).error,
        ClientInitializeError::ConnectionClosed(_) => unreachable("the connection broke in the handshake"),
        _ => unreachable("the server does not keep to the protocol in the handshake"),
    }
}

fn of_json_rpc(error: ErrorData) -> ToolError {
    match error.code {
        TOO_LONG => ToolError::Answer { message: quoted(&error.message) },
        code => ToolError::Failed { status: code.0.to_string(), message: quoted(&error.message) },
    }
}

fn of_transport(error: &DynamicTransportError) -> Fault {
    match error.error.downcast_ref::<StreamableHttpError<Fault>>() {
        Some(StreamableHttpError::Client(Fault { error, refused })) => {
            Fault { error: error.clone(), refused: *refused }
        }
        Some(_) => unreachable("the connection broke").into(),
        // A pipe to a child process: it broke before the whole line was written.
        None => Fault { error: unreachable(&innermost(&*error.error).to_string()), refused: true },
    }
}

pub(super) fn unreachable(message: &str) -> ToolError {
    ToolError::Unreachable { message: quoted(message) }
}

pub(super) fn unreadable(message: &str) -> ToolError {
    ToolError::Answer { message: message.to_owned() }
}
