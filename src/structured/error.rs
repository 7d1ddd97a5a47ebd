//! Why there is no value.

use std::borrow::Cow;

use super::run::{AttemptReport, Spent};
use crate::llm::LlmError;
use crate::render::RenderError;
use base::error::{Kind, Kinded};
use base::schema::{Violation, in_words};

/// Why there is no value that fits.
#[derive(Debug, thiserror::Error)]
pub enum StructuredError {
    /// What was given as the schema is none.
    #[error("`{member}` is not a valid JSON Schema: {}", in_words(violations))]
    Schema {
        /// The member of the request that is to be one.
        member: Cow<'static, str>,
        /// Everything that is wrong with it.
        violations: Vec<Violation>,
    },
    /// Checks cannot be used.
    #[error("`checks` cannot be used: {}", in_words(violations))]
    Checks {
        /// Everything that is wrong with them.
        violations: Vec<Violation>,
    },
    /// The model's answers are of no use.
    #[error(transparent)]
    Unsolved(#[from] Box<Unsolved>),
    /// All attempts together took too long.
    #[error("there was no valid answer within {milliseconds} ms (requests.timeout_ms)")]
    Timeout {
        /// The time that they had.
        milliseconds: u128,
    },
    /// No model answered.
    #[error(transparent)]
    Llm(#[from] LlmError),
    /// A text for the model cannot be rendered, or there is no room for a check.
    #[error(transparent)]
    Render(#[from] RenderError),
}

/// The end of a request whose answers are of no use.
#[derive(Debug, thiserror::Error)]
#[error("{cause}")]
pub struct Unsolved {
    /// Why.
    pub cause: UnsolvedCause,
    /// What it cost.
    pub spent: Spent,
    /// What happened in each attempt.
    pub report: Vec<AttemptReport>,
}

/// Why answers are of no use. The messages do not quote them.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum UnsolvedCause {
    /// The last answer does not fit.
    #[error("the model's last answer does not fit: {}", in_words(violations))]
    Invalid {
        /// What the model wrote.
        answer: String,
        /// Everything that is wrong with it.
        violations: Vec<Violation>,
    },
    /// The model does not want to answer, or a filter keeps it from answering.
    #[error("{}", if *is_filtered { "a filter of the provider stopped the answer" } else { "the model refuses to answer" })]
    Refused {
        /// Its words; empty if it gave none.
        refusal: String,
        /// Whether it was a filter of the provider.
        is_filtered: bool,
    },
    /// The answer reached the limit of tokens.
    #[error("the answer was cut at the limit of tokens; raise `max_tokens`, or ask for less")]
    Truncated {
        /// What the model wrote.
        answer: String,
    },
}

impl Kinded for StructuredError {
    fn kind(&self) -> Kind {
        match self {
            StructuredError::Schema { .. } | StructuredError::Checks { .. } => Kind::InvalidInput,
            StructuredError::Unsolved(_) => Kind::Unprocessable,
            StructuredError::Timeout { .. } => Kind::Timeout,
            StructuredError::Llm(error) => error.kind(),
            StructuredError::Render(error) => error.kind(),
        }
    }
}
