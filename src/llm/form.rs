//! The forms in which an answer with a good status is read: whole, as a stream, or as a [`Completion`].

use bytes::Bytes;
use reqwest::Response;

use super::attempt::{Attempt, AttemptError, Form};
use super::completion::Completion;
use super::error::UpstreamError;
use super::transport::DeclaredType;
use base::memory::{BufferedBytes, Reservation};

/// The whole answer, in the format of our clients.
pub struct Whole;

/// A stream whose events are still to come.
pub struct Events;

/// The whole answer to a chat, read, with its bytes.
pub struct Typed;

impl Form for Whole {
    type Answer = BufferedBytes;

    async fn read(attempt: &Attempt<'_>, response: Response) -> Result<BufferedBytes, AttemptError> {
        let declared = DeclaredType::read(response.headers());
        let BufferedBytes { bytes, held } = attempt.body(response).await?;
        let upstream = attempt.upstream;
        let mut answer = upstream.protocol.answer(attempt.service, bytes, attempt.wanted);
        if attempt.is_translated {
            answer = answer.and_then(|bytes| upstream.protocol.chat(bytes, &upstream.secrets));
        }
        match answer {
            Ok(bytes) => buffered(bytes, held),
            Err(error) if attempt.may_lack_service() => Err(AttemptError::other_service(error)),
            Err(error) => Err(no_answer(error, declared)),
        }
    }
}

impl Form for Events {
    type Answer = Response;

    async fn read(attempt: &Attempt<'_>, response: Response) -> Result<Response, AttemptError> {
        let declared = DeclaredType::read(response.headers());
        let error = || UpstreamError::unusable("it is not a stream of events");
        match declared.may_be_events() {
            true => Ok(response),
            false if attempt.may_lack_service() => Err(AttemptError::other_service(error())),
            false => Err(no_answer(error(), declared)),
        }
    }
}

impl Form for Typed {
    type Answer = (Completion, BufferedBytes);

    async fn read(attempt: &Attempt<'_>, response: Response) -> Result<Self::Answer, AttemptError> {
        let declared = DeclaredType::read(response.headers());
        let BufferedBytes { bytes, held } = attempt.body(response).await?;
        let upstream = attempt.upstream;
        let read = upstream.protocol.completion(bytes, attempt.wanted, &upstream.secrets);
        let (completion, bytes) = read.map_err(|error| no_answer(error, declared))?;
        Ok((completion, buffered(bytes, held)?))
    }
}

/// An answer with the reservation for it; it may have become longer.
fn buffered(bytes: Bytes, mut held: Reservation) -> Result<BufferedBytes, AttemptError> {
    held.resize(bytes.len()).map_err(AttemptError::out_of_memory)?;
    Ok(BufferedBytes { bytes, held })
}

fn no_answer(error: UpstreamError, declared: DeclaredType) -> AttemptError {
    AttemptError::fallback(error.with_type(declared.name()))
}
