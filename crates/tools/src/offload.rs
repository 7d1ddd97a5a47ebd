//! Moves CPU-bound work off the serving threads, so that it does not hold up other requests.

use tokio::task::JoinSet;

use super::error::ToolError;

/// Answers of more bytes than this are parsed and checked on a blocking thread.
pub(super) const LARGE_BYTES: usize = 256 << 10;

/// Runs `work` on a blocking thread of the runtime. If the caller is dropped before the work has begun, it never runs.
///
/// # Errors
/// Those of the work, and [`ToolError::Answer`] if it panics.
pub(super) async fn offload<T: Send + 'static>(
    work: impl FnOnce() -> Result<T, ToolError> + Send + 'static,
) -> Result<T, ToolError> {
    let mut tasks = JoinSet::new();
    tasks.spawn_blocking(work);
    let done = tasks.join_next().await.and_then(Result::ok);
    done.unwrap_or_else(|| Err(ToolError::Answer { message: "processing it panicked".into() }))
}
