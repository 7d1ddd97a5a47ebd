//! Why a prompt was not rendered.

use crate::catalog::NotLoaded;
use base::error::{Kind, Kinded};
use base::model::{Id, InvalidId, ProblemDetail};
use base::pool::PoolError;
use base::schema::{Violation, in_words};
use template::{CompileError, MissingValue, Position};

/// Why a prompt was not rendered.
#[derive(Debug, thiserror::Error)]
pub enum RenderFailure {
    /// The id is none.
    #[error(transparent)]
    InvalidId(#[from] InvalidId),
    /// A template that is not registered is no prompt.
    #[error("not a prompt: {}", in_words(violations))]
    InvalidDocument {
        /// Everything that is wrong.
        violations: Vec<Violation>,
    },
    /// No such prompt.
    #[error("there is no prompt `{id}`; GET /api/prompts lists the prompts that exist")]
    NotFound {
        /// Its id.
        id: Id,
    },
    /// The prompt's document is broken, and no good version of it was ever seen.
    #[error("the prompt `{id}` cannot be used: {}", reasons.iter().map(|r| r.message.as_str()).collect::<Vec<_>>().join("; "))]
    Unreadable {
        /// Its id.
        id: Id,
        /// What is wrong.
        reasons: Vec<ProblemDetail>,
    },
    /// The prompt's extension lacks something that it depends on.
    #[error("the prompt `{id}` cannot be used: its extension {reason}")]
    FailedDependency {
        /// Its id.
        id: Id,
        /// What is lacking.
        reason: String,
    },
    /// A template does not compile.
    #[error("the template is not valid: {source}")]
    InvalidTemplate {
        /// Why.
        source: CompileError,
        /// The file that it was read from.
        file: Option<String>,
    },
    /// The prompt's own `parameters` are not a JSON Schema.
    #[error("the `parameters` of the prompt are {message}")]
    InvalidParameters {
        /// What is wrong with them.
        message: String,
    },
    /// The variables break the prompt's schema.
    #[error("the variables do not fit the prompt: {}", in_words(violations))]
    InvalidVariables {
        /// Every way in which they do.
        violations: Vec<Violation>,
    },
    /// The request has variables in several places that mean the same.
    #[error("the variables are given more than once, in {}; give them in one place", places.join(" and "))]
    AmbiguousVariables {
        /// The members of the request.
        places: Vec<&'static str>,
    },
    /// Values that the prompt needs are not there.
    #[error("the prompt needs values that are missing: {}; give them in `variables`, or register the environs", missing.iter().map(|m| m.path.as_str()).collect::<Vec<_>>().join(", "))]
    Missing {
        /// All of them, sorted by path.
        missing: Vec<MissingValue>,
        /// What else is wrong with the variables.
        violations: Vec<Violation>,
    },
    /// The template did something that is not possible, or passed a limit.
    #[error("the template failed as it ran: {message}")]
    Failed {
        /// What happened.
        message: String,
        /// Where.
        position: Option<Position>,
    },
    /// The time for one render passed.
    #[error(
        "the render did not end within its time limit; simplify the template, or raise render.timeout_ms"
    )]
    Timeout,
    /// The time for one render passed while it waited for others.
    #[error("the render's turn did not come within its time limit: too many long renders are running")]
    NoTurn,
    /// The time for one render passed while tools were called.
    #[error("the render did not end within its time limit: no answer yet from {}; make the tools faster, or raise render.timeout_ms", tools.join(", "))]
    ToolsTimeout {
        /// The ids of the tools that had not answered.
        tools: Vec<String>,
    },
    /// There is no such prompt in the packages, and the store was never read.
    #[error(transparent)]
    NotLoaded(#[from] NotLoaded),
    /// Too many long renders wait for their turn.
    #[error("too many long renders are waiting; try again in a moment")]
    Overloaded,
}

impl From<PoolError> for RenderFailure {
    fn from(error: PoolError) -> RenderFailure {
        match error {
            PoolError::Overloaded => RenderFailure::Overloaded,
            PoolError::NoTurn => RenderFailure::NoTurn,
            PoolError::Timeout => RenderFailure::Timeout,
            PoolError::Broken => {
                RenderFailure::Failed { message: "the render broke off".to_owned(), position: None }
            }
        }
    }
}

impl Kinded for RenderFailure {
    fn kind(&self) -> Kind {
        use RenderFailure as F;
        match self {
            F::InvalidId(_)
            | F::InvalidDocument { .. }
            | F::Unreadable { .. }
            | F::InvalidTemplate { .. }
            | F::InvalidParameters { .. }
            | F::InvalidVariables { .. }
            | F::AmbiguousVariables { .. }
            | F::Missing { .. } => Kind::InvalidInput,
            F::NotFound { .. } => Kind::NotFound,
            F::FailedDependency { .. } => Kind::FailedDependency,
            F::Failed { .. } => Kind::Failed,
            F::Timeout | F::NoTurn | F::ToolsTimeout { .. } => Kind::Timeout,
            F::NotLoaded(error) => error.kind(),
            F::Overloaded => Kind::Overloaded,
        }
    }
}
