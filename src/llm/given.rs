//! What an upstream would have sent, given beforehand: it is read as if it had come over the wire.

use bytes::Bytes;

use super::attempt::Meaning;
use super::completion::Completion;
use super::error::{LlmError, UpstreamError};
use super::protocol::{ErrorBody, Protocol, Wanted};
use base::outbound::Secrets;

/// What an upstream would have sent.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum GivenReply {
    /// An answer with this HTTP status, in OpenAI's format.
    Answer {
        /// The HTTP status.
        status: u16,
        /// The body, which is JSON.
        body: Bytes,
    },
    /// It closes the connection without an answer.
    Closed,
}

impl GivenReply {
    /// The completion that `model` gives by it, asked once.
    ///
    /// # Errors
    /// [`LlmError`], as after one attempt.
    pub fn read(self, model: &str) -> Result<Completion, LlmError> {
        let unavailable =
            |cause| LlmError::Unavailable { model: model.to_owned(), attempts: 1, cause, retry_after: None };
        let (status, body) = match self {
            GivenReply::Answer { status, body } => (status, body),
            GivenReply::Closed => {
                let message = "the connection was closed".to_owned();
                return Err(unavailable(UpstreamError::Unreachable { message }));
            }
        };
        let (protocol, secrets) = (Protocol::OpenAi, Secrets::default());
        if (200..300).contains(&status) {
            let completion = protocol.completion(body, Wanted::default(), &secrets);
            let completion = completion.map(|(completion, _)| completion);
            return completion.map_err(|error| unavailable(error.with_type("application/json")));
        }
        let ErrorBody { message, for_client, .. } = protocol.error(&body, &secrets);
        match Meaning::of(status) {
            Meaning::Refused => Err(LlmError::Refused { status, body: for_client }),
            Meaning::Retry | Meaning::Other => Err(unavailable(UpstreamError::Status { status, message })),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::{Value as Json, json};

    fn read(status: u16, body: Json) -> Result<Completion, LlmError> {
        GivenReply::Answer { status, body: body.to_string().into() }.read("m")
    }

    #[test]
    fn a_reply_is_read_as_one_that_comes_over_the_wire() {
        let said = read(200, json!({"choices": [{"message": {"content": "Hi."}}]})).unwrap();
        assert_eq!(said.choices[0].text, "Hi.");
        let busy = json!({"error": {"message": "busy"}});
        for (status, body, expected) in [
            (200, json!({"choices": []}), "it has no choices (content-type: application/json)"),
            (500, busy.clone(), "(attempts: 1): the upstream answered 500: busy"),
            (429, busy.clone(), "the upstream answered 429: busy"),
            (401, busy, "the upstream refused the request with 401"),
            (302, json!({}), "the upstream answered 302"),
        ] {
            let error = read(status, body).unwrap_err().to_string();
            assert!(error.contains(expected), "{error}");
        }
        let closed = GivenReply::Closed.read("m").unwrap_err().to_string();
        assert!(closed.contains("cannot be reached: the connection was closed"), "{closed}");
    }
}
