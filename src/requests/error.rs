//! The errors of requests and ideas.

use crate::render::{ExpandError, RenderError};
use crate::store::StoreError;
use crate::structured::StructuredError;
use base::error::{Kind, Kinded};
use base::schema::{Violation, in_words};

/// The error of a request, or of an idea.
#[derive(Debug, thiserror::Error)]
pub enum RequestError {
    /// Members of the request cannot be used.
    #[error("the request cannot be used: {}", in_words(violations))]
    Invalid {
        /// Everything that is wrong with them.
        violations: Vec<Violation>,
    },
    /// There is no schema.
    #[error("there is no schema: give `schema`, a JSON Schema{}", if *is_of_prompt { ", or add `returns` to the prompt" } else { "" })]
    SchemaMissing {
        /// Whether a prompt could have one.
        is_of_prompt: bool,
    },
    /// What the prompt has as its schema is none.
    #[error(
        "the `returns` of the prompt is not a valid JSON Schema: {}; mend the prompt, or give `schema`",
        in_words(violations)
    )]
    Returns {
        /// Everything that is wrong with it.
        violations: Vec<Violation>,
    },
    /// There is no such idea.
    #[error("there is no idea `{id}`; ideas are kept for requests.ideas_ttl_seconds")]
    IdeaNotFound {
        /// The id that was asked for.
        id: String,
    },
    /// What is stored as an idea is none.
    #[error("what is stored as the idea `{id}` is none; another program may have written it")]
    IdeaUnreadable {
        /// The id that was asked for.
        id: String,
    },
    /// The content objects of the context cannot be expanded.
    #[error(transparent)]
    Expand(#[from] ExpandError),
    /// The prompt cannot be rendered.
    #[error(transparent)]
    Render(#[from] RenderError),
    /// There is no value.
    #[error(transparent)]
    Structured(#[from] StructuredError),
    /// The store does not answer.
    #[error(transparent)]
    Store(#[from] StoreError),
}

impl RequestError {
    /// One violation.
    pub(super) fn invalid(path: impl Into<String>, message: impl Into<String>) -> RequestError {
        RequestError::Invalid { violations: vec![Violation::new(path, message)] }
    }
}

impl Kinded for RequestError {
    fn kind(&self) -> Kind {
        match self {
            RequestError::Invalid { .. }
            | RequestError::SchemaMissing { .. }
            | RequestError::Returns { .. } => Kind::InvalidInput,
            RequestError::IdeaNotFound { .. } => Kind::NotFound,
            RequestError::IdeaUnreadable { .. } => Kind::Failed,
            RequestError::Expand(error) => error.kind(),
            RequestError::Render(error) => error.kind(),
            RequestError::Structured(error) => error.kind(),
            RequestError::Store(error) => error.kind(),
        }
    }
}
