//! Work that would hold up other requests, done on a thread for such.

use tokio::task::JoinSet;

use super::error::ToolError;

/// Answers that are larger than this are worked on aside.
pub(super) const LARGE_BYTES: usize = 256 << 10;

/// Works away from the runtime's own thread. What has not begun when the caller is gone is not done.
///
/// # Errors
/// Those of the work; [`ToolError::Answer`] if it breaks off.
pub(super) async fn aside<T: Send + 'static>(
    work: impl FnOnce() -> Result<T, ToolError> + Send + 'static,
) -> Result<T, ToolError> {
    let mut tasks = JoinSet::new();
    tasks.spawn_blocking(work);
    let done = tasks.join_next().await.and_then(Result::ok);
    done.unwrap_or_else(|| Err(ToolError::Answer { message: "working on it broke off".into() }))
}
