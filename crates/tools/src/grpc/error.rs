//! gRPC statuses, from the server or from the client library, as [`ToolError`]s; and [`ToolError`]s as statuses.

use std::error::Error;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::time::Duration;

use tonic::{Code, ConnectError, Status, TimeoutExpired};
use tower::buffer::error::Closed;

use crate::error::ToolError;
use base::outbound::excerpt;

/// The names of the status codes 0 to 16.
const NAMES: [&str; 17] = [
    "OK",
    "CANCELLED",
    "UNKNOWN",
    "INVALID_ARGUMENT",
    "DEADLINE_EXCEEDED",
    "NOT_FOUND",
    "ALREADY_EXISTS",
    "PERMISSION_DENIED",
    "RESOURCE_EXHAUSTED",
    "FAILED_PRECONDITION",
    "ABORTED",
    "OUT_OF_RANGE",
    UNIMPLEMENTED,
    "INTERNAL",
    "UNAVAILABLE",
    "DATA_LOSS",
    "UNAUTHENTICATED",
];

/// The status with which a server answers for a method that it does not have.
pub(super) const UNIMPLEMENTED: &str = "UNIMPLEMENTED";

/// The error that a status stands for, in a call with the time limit `timeout`.
pub(super) fn explain(status: &Status, timeout: Duration) -> ToolError {
    if let Some(error) = causes(status).find_map(|cause| cause.downcast_ref::<ToolError>()) {
        return error.clone();
    }
    if causes(status).any(|cause| cause.is::<TimeoutExpired>()) {
        return ToolError::Timeout { milliseconds: timeout.as_millis() };
    }
    // A status from the server has no cause; one with a cause is the client library's.
    if let Some(cause) = causes(status).last() {
        return ToolError::Unreachable { message: excerpt(&format!("the connection failed: {cause}")) };
    }
    if status.code() == Code::OutOfRange && status.message().contains("decoded message length too large") {
        return ToolError::Answer { message: "it is too long".into() };
    }
    let name = NAMES.get(status.code() as usize).copied().unwrap_or("UNKNOWN");
    ToolError::Failed { status: name.to_owned(), message: excerpt(status.message()) }
}

/// Whether nothing of the request can have reached the server, so that sending it again is safe.
pub(super) fn is_unsent(status: &Status) -> bool {
    let forbidden = |cause: Cause<'_>| {
        matches!(cause.downcast_ref(), Some(ToolError::Forbidden { .. } | ToolError::Unusable { .. }))
    };
    let unsent = |cause: Cause<'_>| {
        cause.is::<ConnectError>()
            || cause.is::<Closed>()
            || cause.downcast_ref().is_some_and(hyper::Error::is_canceled)
    };
    causes(status).any(unsent) && !causes(status).any(forbidden)
}

type Cause<'a> = &'a (dyn Error + 'static);

fn causes(status: &Status) -> impl Iterator<Item = Cause<'_>> {
    base::error::causes(status).skip(1)
}

/// A status that carries `error`; [`explain`] turns it back.
pub(super) fn status(error: ToolError) -> Status {
    Status::from_error(Box::new(error))
}

/// The status for an answer of more than `limit` bytes.
pub(super) fn too_long(limit: usize) -> Status {
    status(ToolError::Answer { message: format!("it is longer than {limit} bytes") })
}

/// The status for an answer of more than one message.
pub(super) fn too_many() -> Status {
    status(ToolError::Answer { message: "it has more than one message".into() })
}

/// The error for a document, or a server's description of itself, with which the tool cannot be called.
pub(super) fn unusable(message: &str) -> ToolError {
    ToolError::Unusable { message: excerpt(message) }
}

/// Runs work on descriptors of documents and servers, which can be malformed in ways that make the library panic; a panic
/// becomes an error.
pub(super) fn catch_panic<T>(work: impl FnOnce() -> Result<T, ToolError>) -> Result<T, ToolError> {
    let done = catch_unwind(AssertUnwindSafe(work));
    done.unwrap_or_else(|_| Err(unusable("its message types are malformed")))
}

#[cfg(test)]
mod tests {
    use tokio::runtime::{Builder, Runtime};
    use tonic::client::Grpc;

    use super::*;
    use crate::gate::Gate;
    use crate::grpc::channels::Channels;

    fn runtime() -> Runtime {
        Builder::new_current_thread().enable_all().build().unwrap()
    }

    #[test]
    fn nothing_is_sent_over_a_channel_whose_runtime_is_gone() {
        let channels = Channels::new(Gate::new(&[]).unwrap());
        let gone = runtime();
        let channel = gone.block_on(async { channels.get("http://127.0.0.1:1") }).unwrap();
        drop(gone);
        let error = runtime().block_on(Grpc::new(channel).ready()).unwrap_err();
        let status = Status::from_error(error.into());
        assert!(is_unsent(&status), "{status:?}");
        assert!(matches!(explain(&status, Duration::ZERO), ToolError::Unreachable { .. }));
    }

    #[test]
    fn errors_of_the_client_survive_as_statuses_and_those_of_servers_get_their_names() {
        let forbidden = ToolError::Forbidden { message: "x".into() };
        assert_eq!(explain(&status(forbidden.clone()), Duration::ZERO), forbidden);
        for code in 0..17 {
            let ToolError::Failed { status, .. } = explain(&Status::new(code.into(), "x"), Duration::ZERO)
            else {
                panic!("{code}");
            };
            let words = status.replace('_', "").to_lowercase();
            assert_eq!(words, format!("{:?}", Code::from(code)).to_lowercase());
        }
    }
}
