//! The errors of the services as answers: code and details of each.

use actix_web::http::header::{HeaderName, RETRY_AFTER};
use serde_json::{Value as Json, json};

use super::error::{ApiError, place};
use crate::catalog::{NoDocumentError, NotLoadedError, WriteError};
use crate::chat::ChatError;
use crate::content::ContentError;
use crate::llm::LlmError;
use crate::render::{ExpandError, RenderError};
use crate::requests::RequestError;
use crate::store::StoreError;
use crate::structured::{StructuredError, Unsolved, UnsolvedCause};
use crate::toolbox::ToolboxError;
use base::error::{Kind, Kinded};
use base::memory::OutOfMemory;
use base::model::InvalidId;
use base::pool::PoolError;
use base::schema::Violation;
use template::{CompileError, MissingValue};
use tools::ToolError;

impl From<InvalidId> for ApiError {
    fn from(error: InvalidId) -> ApiError {
        ApiError::new(Kind::InvalidInput, "invalid_id", error.to_string()).about("id")
    }
}

impl From<PoolError> for ApiError {
    fn from(error: PoolError) -> ApiError {
        let code = match error {
            PoolError::Overloaded => "overloaded",
            PoolError::NoTurn | PoolError::Timeout => "request_timeout",
            PoolError::Broken => "render_failed",
        };
        ApiError::new(error.kind(), code, format!("the request was not handled: {error}"))
    }
}

impl From<OutOfMemory> for ApiError {
    fn from(error: OutOfMemory) -> ApiError {
        ApiError::new(error.kind(), "overloaded", error.to_string())
    }
}

impl From<RenderError> for ApiError {
    fn from(error: RenderError) -> ApiError {
        ApiError::from(&error)
    }
}

impl From<&RenderError> for ApiError {
    fn from(error: &RenderError) -> ApiError {
        let kind = error.kind();
        let answer = |code| ApiError::new(kind, code, error.to_string());
        match error {
            RenderError::InvalidId(_) => answer("invalid_id").about("id"),
            RenderError::NotFound { .. } => answer("prompt_not_found").about("id"),
            RenderError::InvalidDocument { violations } => {
                answer("invalid_document").with_details(json!({"violations": violations}))
            }
            RenderError::FailedDependency { .. } => answer("failed_dependency"),
            RenderError::InvalidTemplate { source, file } => {
                answer("invalid_template").with_details(compile_details(source, file.as_deref()))
            }
            RenderError::Unreadable { problems, .. } => {
                answer("invalid_template").with_details(json!({"problems": problems}))
            }
            RenderError::InvalidParameters { .. } => answer("invalid_template"),
            RenderError::InvalidVariables { violations } => {
                answer("invalid_variables").about("variables").with_details(json!({"violations": violations}))
            }
            RenderError::AmbiguousVariables { .. } => {
                let violations = json!([{"path": "", "message": error.to_string()}]);
                answer("invalid_variables").about("variables").with_details(json!({"violations": violations}))
            }
            RenderError::Missing { missing, violations } => {
                let mut details = missing_details(missing);
                if let (false, Some(members)) = (violations.is_empty(), details.as_object_mut()) {
                    members.insert("violations".to_owned(), json!(violations));
                }
                answer("missing_variables").about("variables").with_details(details)
            }
            RenderError::Failed { position, .. } => match position {
                Some(position) => answer("render_failed").with_details(json!(position)),
                None => answer("render_failed"),
            },
            RenderError::Timeout | RenderError::NoTurn => answer("render_timeout"),
            RenderError::ToolsTimeout { tools } => {
                answer("render_timeout").with_details(json!({"tools": tools}))
            }
            RenderError::ToolsFailed { failures } => {
                answer("tools_failed").with_details(json!({"tools": failures}))
            }
            RenderError::Overloaded => answer("overloaded"),
            RenderError::NotLoaded(_) => answer("not_ready"),
            RenderError::Own { .. } if kind == Kind::Failed => answer("render_failed"),
            RenderError::Own { id, error } => {
                ApiError::from(error.as_ref()).at(&format!("the prompt `{id}`"))
            }
            RenderError::At { place, error } => ApiError::from(error.as_ref()).at(place),
        }
    }
}

impl ApiError {
    /// The answer to content objects in the member `param` of a request that cannot be expanded.
    pub(super) fn of_contents(error: ExpandError, param: &'static str) -> ApiError {
        let answer = |code, error: &ContentError| ApiError::new(error.kind(), code, error.to_string());
        match error {
            ExpandError::Content(ref error @ ContentError::Invalid { ref violations }) => {
                let details = json!({"violations": violations});
                answer("invalid_request", error).about(param).with_details(details)
            }
            ExpandError::Content(error @ (ContentError::UnknownType { .. } | ContentError::Tool { .. })) => {
                answer("unknown_content_type", &error).about(param)
            }
            ExpandError::Render(error) => match error.kind() {
                Kind::InvalidInput => ApiError::from(error).about(param),
                _ => error.into(),
            },
        }
    }
}

fn compile_details(error: &CompileError, file: Option<&str>) -> Json {
    let position = error.position();
    let mut details = place(position.map(|p| p.line), position.and_then(|p| p.column));
    if let Some(members) = details.as_object_mut() {
        members.extend(position.map(|p| ("template".to_owned(), json!(p.template))));
        members.extend(file.map(|file| ("file".to_owned(), json!(file))));
    }
    details
}

fn missing_details(missing: &[MissingValue]) -> Json {
    let paths: Vec<&str> = missing.iter().map(|m| m.path.as_str()).collect();
    let positions: serde_json::Map<String, Json> =
        missing.iter().filter_map(|m| Some((m.path.clone(), json!(m.position.as_ref()?)))).collect();
    json!({"missing": paths, "positions": positions})
}

impl From<NotLoadedError> for ApiError {
    fn from(error: NotLoadedError) -> ApiError {
        ApiError::new(error.kind(), "not_ready", error.to_string())
    }
}

impl From<&NoDocumentError> for ApiError {
    fn from(error: &NoDocumentError) -> ApiError {
        ApiError::new(error.kind(), error.kind.not_found_code(), error.to_string()).about("id")
    }
}

impl From<ToolboxError> for ApiError {
    fn from(error: ToolboxError) -> ApiError {
        let answer = |code| ApiError::new(error.kind(), code, error.to_string());
        match error {
            ToolboxError::NotFound(ref error) => error.into(),
            ToolboxError::NotLoaded(error) => error.into(),
            ToolboxError::NotChecked(error) => error.into(),
            ToolboxError::Tool(ToolError::Arguments { .. } | ToolError::Effort { .. }) => {
                answer("invalid_arguments").about("arguments")
            }
            ToolboxError::Tool(ToolError::Timeout { .. }) => answer("tool_timeout"),
            ToolboxError::Tool(ToolError::Forbidden { .. }) => answer("tool_forbidden"),
            ToolboxError::Tool(ToolError::Unusable { .. }) => answer("tool_unusable"),
            ToolboxError::Tool(_) => answer("tool_failed"),
        }
    }
}

/// Tells OpenAI's client libraries not to repeat a request that was already retried here, or has used all of its time.
const SHOULD_RETRY: HeaderName = HeaderName::from_static("x-should-retry");

impl From<ChatError> for ApiError {
    fn from(error: ChatError) -> ApiError {
        let answer = |code| ApiError::new(error.kind(), code, error.to_string());
        match error {
            ChatError::Invalid { param, .. } => answer("invalid_request").about(param),
            ChatError::Expand(error) => ApiError::of_contents(error, "messages"),
            ChatError::Render(error) => error.into(),
            ChatError::Structured(error) => error.into(),
            ChatError::Llm(error) => error.into(),
        }
    }
}

impl From<StructuredError> for ApiError {
    fn from(error: StructuredError) -> ApiError {
        let answer = |code| ApiError::new(error.kind(), code, error.to_string());
        match error {
            StructuredError::Schema { ref member, ref violations } => {
                answer("invalid_schema").about(member.clone()).with_details(json!({"violations": violations}))
            }
            StructuredError::Checks { ref violations } => {
                answer("invalid_request").about("checks").with_details(json!({"violations": violations}))
            }
            StructuredError::Unsolved(ref unsolved) => {
                let (code, details) = unsolved_details(unsolved);
                answer(code).with_details(details)
            }
            StructuredError::Timeout { .. } => answer("request_timeout").with_header(SHOULD_RETRY, "false"),
            StructuredError::Llm(error) => error.into(),
            StructuredError::Render(error) => error.into(),
        }
    }
}

/// The code of a request without a value, and what is known of it: what the model said, and what it cost.
fn unsolved_details(unsolved: &Unsolved) -> (&'static str, Json) {
    let Unsolved { cause, spent, report } = unsolved;
    let (code, mut details) = match cause {
        UnsolvedCause::Invalid { answer, violations } => {
            ("solution_invalid", json!({"answer": answer, "violations": violations}))
        }
        UnsolvedCause::Refused { refusal, is_filtered } => {
            let reason = if *is_filtered { "content_filter" } else { "refusal" };
            ("model_refused", json!({"reason": reason, "refusal": refusal}))
        }
        UnsolvedCause::Truncated { answer } => ("answer_truncated", json!({"answer": answer})),
    };
    if let Some(members) = details.as_object_mut() {
        members.insert("attempts".to_owned(), spent.attempts.into());
        members.insert("usage".to_owned(), json!(spent.usage));
        if let Some(last) = report.last() {
            members.insert("model".to_owned(), last.model.clone().into());
            members.insert("strategy".to_owned(), json!(last.strategy));
        }
    }
    (code, details)
}

impl From<RequestError> for ApiError {
    fn from(error: RequestError) -> ApiError {
        let answer = |code| ApiError::new(error.kind(), code, error.to_string());
        match error {
            RequestError::Invalid { ref violations } => {
                let answer = answer("invalid_request").with_details(json!({"violations": violations}));
                let is_of_context = |violation: &Violation| violation.path.starts_with("/context");
                if violations.iter().all(is_of_context) { answer.about("context") } else { answer }
            }
            RequestError::Returns { ref violations } => {
                answer("invalid_schema").about("id").with_details(json!({"violations": violations}))
            }
            RequestError::SchemaMissing { .. } => answer("schema_missing").about("schema"),
            RequestError::IdeaNotFound { .. } => answer("idea_not_found").about("id"),
            RequestError::IdeaUnreadable { .. } => answer("invalid_document").about("id"),
            RequestError::Expand(error) => ApiError::of_contents(error, "context"),
            RequestError::Render(error) => error.into(),
            RequestError::Structured(error) => error.into(),
            RequestError::Store(ref error) => error.into(),
        }
    }
}

impl From<LlmError> for ApiError {
    fn from(error: LlmError) -> ApiError {
        let answer = |code| ApiError::new(error.kind(), code, error.to_string());
        match &error {
            LlmError::NoModel { .. } => answer("invalid_request").about("model"),
            LlmError::Invalid { param, .. } => answer("invalid_request").about(*param),
            LlmError::ModelNotFound { .. } | LlmError::NoEmbeddings { .. } => {
                answer("model_not_found").about("model")
            }
            LlmError::StrategyNotSupported { supported, .. } => answer("strategy_not_supported")
                .about("strategy")
                .with_details(json!({"supported": supported})),
            LlmError::Overloaded { .. } | LlmError::OutOfMemory(_) => answer("overloaded"),
            LlmError::Refused { status, body } => answer("llm_refused").passed_on(*status, body.clone()),
            LlmError::NoClient { .. } | LlmError::Interrupted(_) => answer("llm_unavailable"),
            LlmError::Unavailable { model, attempts, cause, retry_after } => {
                let code = if cause.is_rate_limit() { "llm_rate_limited" } else { "llm_unavailable" };
                let cause = json!({
                    "model": model, "attempts": attempts, "cause": cause.to_string(), "status": cause.status(),
                });
                let error = answer(code).with_details(cause).with_header(SHOULD_RETRY, "false");
                match retry_after {
                    Some(after) => error.with_header(RETRY_AFTER, after.as_secs_f64().ceil().to_string()),
                    None => error,
                }
            }
        }
    }
}

impl From<WriteError> for ApiError {
    fn from(error: WriteError) -> ApiError {
        let kind = error.kind();
        let answer = |code| ApiError::new(kind, code, error.to_string());
        match &error {
            WriteError::NotJson(problem) => {
                answer("invalid_json").with_details(place(problem.line, problem.column))
            }
            WriteError::Invalid { violations, .. } => {
                answer("invalid_document").with_details(json!({"violations": violations}))
            }
            WriteError::Template { problems } => {
                let first = problems.first();
                let mut details = place(first.and_then(|f| f.line), first.and_then(|f| f.column));
                if let Some(members) = details.as_object_mut() {
                    members.insert("problems".to_owned(), json!(problems));
                }
                answer("invalid_template").with_details(details)
            }
            WriteError::NotFound(error) => error.into(),
            WriteError::ReadOnly { .. } => answer("read_only"),
            WriteError::Store(store) => write_refused(store),
        }
    }
}

/// The error of a write. If the store is unavailable, `details` say whether the write may have been done.
fn write_refused(error: &StoreError) -> ApiError {
    match error {
        StoreError::Unsure { .. } => ApiError::from(error).with_details(json!({"may_have_been_done": true})),
        _ if error.kind() == Kind::Unavailable => {
            let message = format!("{error}; the write was not done: try it again later");
            ApiError::new(error.kind(), "store_unavailable", message)
                .with_details(json!({"may_have_been_done": false}))
        }
        _ => error.into(),
    }
}

impl From<&StoreError> for ApiError {
    fn from(error: &StoreError) -> ApiError {
        let code = match error.kind() {
            Kind::PreconditionFailed => "etag_mismatch",
            Kind::Conflict => "conflict",
            Kind::InvalidInput => "invalid_document",
            _ => "store_unavailable",
        };
        ApiError::new(error.kind(), code, error.to_string())
    }
}
