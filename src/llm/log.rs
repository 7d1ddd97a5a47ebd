//! What the log says of a call: its outcome, and contents only where the settings allow it.

use super::completion::Completion;
use super::error::LlmError;
use base::caller::Caller;
use template::value::RawObject;

/// The log of one call.
#[derive(Debug, Clone)]
pub struct Log {
    request_id: String,
    content: bool,
}

impl Log {
    /// The log of a call for `caller`; contents are shown if the settings allow it (`llm.log_content`).
    pub fn new(caller: &Caller, content: bool) -> Log {
        Log { request_id: caller.request_id().to_owned(), content }
    }

    /// The request.
    pub fn payload(&self, payload: &RawObject) {
        if self.content && tracing::enabled!(tracing::Level::DEBUG) {
            let payload = serde_json::to_string(payload).unwrap_or_default();
            tracing::debug!(request_id = self.request_id, payload, "a model is asked");
        }
    }

    /// An answer, or a piece of it.
    pub fn piece(&self, answer: &[u8]) {
        if self.content {
            let answer = String::from_utf8_lossy(answer);
            tracing::debug!(request_id = self.request_id, answer = &*answer, "a model answers");
        }
    }

    /// An answer that was read.
    pub fn completion(&self, answer: &Completion) {
        if self.content {
            tracing::debug!(request_id = self.request_id, ?answer, "a model answers");
        }
    }

    /// Why there is no answer; without the upstream's own words, which may repeat what it was sent.
    pub fn error(&self, error: &LlmError) {
        let (request_id, cause) = (&self.request_id, error.for_log());
        match error {
            LlmError::Unavailable { attempts, .. } => {
                tracing::warn!(request_id, attempts, cause, "no model answered");
            }
            _ => tracing::info!(request_id, cause, "no model was asked, or it refused"),
        }
    }

    /// Why a stream ended before the answer was complete.
    pub fn broken_off(&self, cause: &str) {
        tracing::warn!(request_id = self.request_id, cause, "a stream broke off");
    }
}
