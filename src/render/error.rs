//! The errors of a render.

use super::report::Warning;
use crate::catalog::NotLoadedError;
use base::error::{Kind, Kinded};
use base::model::{Id, InvalidId, ProblemDetail};
use base::pool::PoolError;
use base::schema::{Violation, in_words};
use template::{CompileError, MissingValue, Position};

/// The error of a render.
#[derive(Debug, thiserror::Error)]
pub enum RenderError {
    /// The text is not an id.
    #[error(transparent)]
    InvalidId(#[from] InvalidId),
    /// The document of a preview is not a prompt.
    #[error("not a prompt: {}", in_words(violations))]
    InvalidDocument {
        /// All violations of the schema of prompts.
        violations: Vec<Violation>,
    },
    /// There is no prompt with this id.
    #[error("there is no prompt `{id}`; GET /api/prompts lists the prompts that exist")]
    NotFound {
        /// The id that was asked for.
        id: Id,
    },
    /// The prompt's document is bad, and this process has never seen a good version of it.
    #[error("the prompt `{id}` cannot be used: {}", problems.iter().map(|p| p.message.as_str()).collect::<Vec<_>>().join("; "))]
    Unreadable {
        /// The id of the prompt.
        id: Id,
        /// The problems of the document.
        problems: Vec<ProblemDetail>,
    },
    /// The prompt's extension has unmet dependences.
    #[error("the prompt `{id}` cannot be used: its extension {message}")]
    FailedDependency {
        /// The id of the prompt.
        id: Id,
        /// The unmet dependences.
        message: String,
    },
    /// A template does not compile.
    #[error("the template is not valid: {source}")]
    InvalidTemplate {
        /// The error of the template.
        source: CompileError,
        /// The file that it was read from.
        file: Option<String>,
    },
    /// The prompt's own `parameters` are not a JSON Schema.
    #[error("the `parameters` of the prompt are {message}")]
    InvalidParameters {
        /// The error of compiling the schema.
        message: String,
    },
    /// The variables break the prompt's schema.
    #[error("the variables do not fit the prompt: {}", in_words(violations))]
    InvalidVariables {
        /// All violations.
        violations: Vec<Violation>,
    },
    /// The request has variables in several members with the same meaning.
    #[error("{} given more than once, in {}; give {} in one place", match name { Some(name) => format!("the variable `{name}` is"), None => "the variables are".to_owned() }, places.join(" and "), if name.is_some() { "it" } else { "them" })]
    AmbiguousVariables {
        /// The variable, if it is only one of them.
        name: Option<String>,
        /// The names of these members.
        places: Vec<&'static str>,
    },
    /// Values that the prompt needs are missing.
    #[error("the prompt needs values that are missing: {}; give them in `variables`, or register the environs", missing.iter().map(|m| m.path.as_str()).collect::<Vec<_>>().join(", "))]
    Missing {
        /// All missing values, sorted by path.
        missing: Vec<MissingValue>,
        /// All other violations of the variables.
        violations: Vec<Violation>,
    },
    /// The template failed at run time, or exceeded a limit.
    #[error("the template failed at run time: {message}")]
    Failed {
        /// The error of the template.
        message: String,
        /// The position in the template.
        position: Option<Position>,
    },
    /// The render exceeded its time limit.
    #[error(
        "the render did not end within its time limit; simplify the template, or raise render.timeout_ms"
    )]
    Timeout,
    /// The render exceeded its time limit while it waited in a queue.
    #[error("the render was still queued at the end of its time limit: too many long renders are running")]
    NoTurn,
    /// The render exceeded its time limit during tool calls.
    #[error("the render did not end within its time limit: no answer yet from {}; make the tools faster, or raise render.timeout_ms", tools.join(", "))]
    ToolsTimeout {
        /// The ids of the tools that had not answered.
        tools: Vec<String>,
    },
    /// Calls of tools failed, and the prompt or the settings allow no defaults.
    #[error("the prompt is not rendered without these tools: {}; mend them, or set tools.on_failure to `default`", failures.iter().map(|failure| format!("{}: {}", failure.tool, failure.error)).collect::<Vec<_>>().join("; "))]
    ToolsFailed {
        /// The calls that failed, in the order of the requests.
        failures: Vec<Warning>,
    },
    /// The prompt, or something that it needs, was not found, but it may be in the store, which has not been read yet.
    #[error(transparent)]
    NotLoaded(#[from] NotLoadedError),
    /// The queue of renders is full.
    #[error("too many long renders are waiting; try again in a moment")]
    Overloaded,
    /// A text of the service itself cannot be rendered. If its prompt is wrong, that is not the client's fault.
    #[error("the prompt `{id}`: {error}")]
    Own {
        /// The id of its prompt.
        id: &'static str,
        /// The error.
        error: Box<RenderError>,
    },
    /// The error of a render that is a part of something else.
    #[error("{place}: {error}")]
    At {
        /// What was rendered, or where it stands.
        place: String,
        /// The error.
        error: Box<RenderError>,
    },
}

impl RenderError {
    /// The same error, which says what was rendered, or where it stands.
    pub(super) fn at(self, place: impl Into<String>) -> RenderError {
        RenderError::At { place: place.into(), error: Box::new(self) }
    }
}

impl From<PoolError> for RenderError {
    fn from(error: PoolError) -> RenderError {
        match error {
            PoolError::Overloaded => RenderError::Overloaded,
            PoolError::NoTurn => RenderError::NoTurn,
            PoolError::Timeout => RenderError::Timeout,
            PoolError::Broken => {
                RenderError::Failed { message: "the render ended in a panic".to_owned(), position: None }
            }
        }
    }
}

impl Kinded for RenderError {
    fn kind(&self) -> Kind {
        use RenderError as F;
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
            F::FailedDependency { .. } | F::ToolsFailed { .. } => Kind::FailedDependency,
            F::Failed { .. } => Kind::Failed,
            F::Timeout | F::NoTurn | F::ToolsTimeout { .. } => Kind::Timeout,
            F::NotLoaded(error) => error.kind(),
            F::Overloaded => Kind::Overloaded,
            F::Own { error, .. } => match error.kind() {
                Kind::InvalidInput | Kind::NotFound => Kind::Failed,
                kind => kind,
            },
            F::At { error, .. } => error.kind(),
        }
    }
}
