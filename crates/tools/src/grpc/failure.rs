//! What a gRPC status means (some come from the server, some are made here when there is no connection), and other
//! failures of this room.

use std::error::Error;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::time::Duration;

use tonic::{Code, ConnectError, Status, TimeoutExpired};
use tower::buffer::error::Closed;

use crate::error::ToolError;
use base::outbound::quoted;

/// The names of the statuses, by code.
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

/// The status of a method that the server does not have.
pub(super) const UNIMPLEMENTED: &str = "UNIMPLEMENTED";

/// What a status means for a caller who had so much time.
pub(super) fn explain(status: &Status, timeout: Duration) -> ToolError {
    if let Some(error) = causes(status).find_map(|cause| cause.downcast_ref::<ToolError>()) {
        return error.clone();
    }
    if causes(status).any(|cause| cause.is::<TimeoutExpired>()) {
        return ToolError::Timeout { milliseconds: timeout.as_millis() };
    }
    // Only what is made here has a cause.
    if let Some(cause) = causes(status).last() {
        return ToolError::Unreachable { message: quoted(&format!("the connection failed: {cause}")) };
    }
    if status.code() == Code::OutOfRange && status.message().contains("decoded message length too large") {
        return ToolError::Answer { message: "it is too long".into() };
    }
    let name = NAMES.get(status.code() as usize).copied().unwrap_or("UNKNOWN");
    ToolError::Failed { status: name.to_owned(), message: quoted(status.message()) }
}

/// Whether nothing of the request can have reached the server, so that it may be sent again.
pub(super) fn is_before_sending(status: &Status) -> bool {
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

/// A status that [`explain`] turns back into this error.
pub(super) fn status(error: ToolError) -> Status {
    Status::from_error(Box::new(error))
}

/// The status of an answer that has more than `limit` bytes.
pub(super) fn too_long(limit: usize) -> Status {
    status(ToolError::Answer { message: format!("it is longer than {limit} bytes") })
}

/// The status of an answer that has too many messages.
pub(super) fn too_many() -> Status {
    status(ToolError::Answer { message: "there is more than one message in it".into() })
}

/// The tool cannot be called as its document and its server say.
pub(super) fn unusable(message: &str) -> ToolError {
    ToolError::Unusable { message: quoted(message) }
}

/// Does what descriptors have a say in: strange ones, which documents and servers may have, make the library panic.
pub(super) fn guarded<T>(work: impl FnOnce() -> Result<T, ToolError>) -> Result<T, ToolError> {
    let done = catch_unwind(AssertUnwindSafe(work));
    done.unwrap_or_else(|_| Err(unusable("its message types cannot be worked with")))
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
        assert!(is_before_sending(&status), "{status:?}");
        assert!(matches!(explain(&status, Duration::ZERO), ToolError::Unreachable { .. }));
    }

    #[test]
    fn what_fails_here_is_told_as_it_is_and_what_fails_there_by_its_name() {
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
