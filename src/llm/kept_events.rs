//! The events of a stream as they came, kept until it is known whether the client gets them.

use bytes::Bytes;

use super::error::{LlmError, UpstreamError};
use super::stream::AnswerStream;
use base::memory::Buffer;

/// The events of an answer, within the limit on answers.
#[derive(Debug)]
pub struct KeptEvents {
    buffer: Buffer,
    /// The most bytes.
    limit: usize,
}

impl KeptEvents {
    /// No events yet; they may have `limit` bytes.
    pub(super) fn new(buffer: Buffer, limit: usize) -> KeptEvents {
        KeptEvents { buffer, limit }
    }

    /// Adds complete events.
    ///
    /// # Errors
    /// [`LlmError::Interrupted`] if they get too long; [`LlmError::OutOfMemory`].
    pub fn push(&mut self, events: Bytes) -> Result<(), LlmError> {
        if events.len() > self.limit.saturating_sub(self.buffer.len()) {
            let error = UpstreamError::unusable("its events are too long (llm.answer_bytes)");
            return Err(LlmError::Interrupted(error));
        }
        Ok(self.buffer.push(events)?)
    }

    /// All of them, for the client.
    ///
    /// # Errors
    /// [`LlmError::OutOfMemory`].
    pub fn stream(self) -> Result<AnswerStream, LlmError> {
        Ok(AnswerStream::buffered(self.buffer.finish()?))
    }
}
