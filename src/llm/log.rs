//! What the log says of a call: its outcome, and contents only where the settings allow it.

use super::Caller;
use super::error::LlmError;
use crate::value::RawObject;

/// The log of one call.
pub struct Log<'c> {
    request_id: &'c str,
    content: bool,
}

impl<'c> Log<'c> {
    /// The log of a call for `caller`; contents are shown if it is verbose and the settings allow it.
    pub fn new(caller: &'c Caller, allowed: bool) -> Log<'c> {
        Log { request_id: caller.trace.request_id(), content: caller.verbose && allowed }
    }

    /// What is asked.
    pub fn payload(&self, payload: &RawObject) {
        if self.content && tracing::enabled!(tracing::Level::DEBUG) {
            let payload = serde_json::to_string(payload).unwrap_or_default();
            tracing::debug!(request_id = self.request_id, payload, "a model is asked");
        }
    }

    /// What came of it; an error without the upstream's own words, which may repeat what it was sent.
    pub fn outcome(&self, outcome: Result<&[u8], &LlmError>) {
        let request_id = self.request_id;
        match outcome {
            Ok(body) if self.content => {
                let answer = String::from_utf8_lossy(body);
                tracing::debug!(request_id, %answer, "a model answered");
            }
            Ok(_) => {}
            Err(LlmError::Unavailable { attempts, cause, .. }) => {
                let cause = cause.for_log();
                tracing::warn!(request_id, attempts, cause, "no model answered");
            }
            Err(error) => tracing::info!(request_id, %error, "no model was asked, or it refused"),
        }
    }
}
