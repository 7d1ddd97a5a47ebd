//! The errors of the services as answers: code and details of each.

use actix_web::http::header::{HeaderName, RETRY_AFTER};
use serde_json::{Value as Json, json};

use super::error::{ApiError, place};
use crate::catalog::{NotLoadedError, WriteError};
use crate::chat::ChatError;
use crate::content::ContentError;
use crate::llm::LlmError;
use crate::render::RenderError;
use crate::store::StoreError;
use crate::toolbox::ToolboxError;
use base::error::{Kind, Kinded};
use base::memory::OutOfMemory;
use base::model::{DocumentKind, InvalidId};
use base::pool::PoolError;
use template::{CompileError, Missing};
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
    fn from(failure: RenderError) -> ApiError {
        let kind = failure.kind();
        let error = |code| ApiError::new(kind, code, failure.to_string());
        match &failure {
            RenderError::InvalidId(_) => error("invalid_id").about("id"),
            RenderError::NotFound { .. } => error("prompt_not_found").about("id"),
            RenderError::InvalidDocument { violations } => {
                error("invalid_document").with_details(json!({"violations": violations}))
            }
            RenderError::FailedDependency { .. } => error("failed_dependency"),
            RenderError::InvalidTemplate { source, file } => {
                error("invalid_template").with_details(compile_details(source, file.as_deref()))
            }
            RenderError::Unreadable { problems, .. } => {
                error("invalid_template").with_details(json!({"problems": problems}))
            }
            RenderError::InvalidParameters { .. } => error("invalid_template"),
            RenderError::InvalidVariables { violations } => {
                error("invalid_variables").about("variables").with_details(json!({"violations": violations}))
            }
            RenderError::AmbiguousVariables { .. } => {
                let violations = json!([{"path": "", "message": failure.to_string()}]);
                error("invalid_variables").about("variables").with_details(json!({"violations": violations}))
            }
            RenderError::Missing { missing, violations } => {
                let mut details = missing_details(missing);
                if let (false, Some(members)) = (violations.is_empty(), details.as_object_mut()) {
                    members.insert("violations".to_owned(), json!(violations));
                }
                error("missing_variables").about("variables").with_details(details)
            }
            RenderError::Failed { position, .. } => match position {
                Some(position) => error("render_failed").with_details(json!(position)),
                None => error("render_failed"),
            },
            RenderError::Timeout | RenderError::NoTurn => error("render_timeout"),
            RenderError::ToolsTimeout { tools } => {
                error("render_timeout").with_details(json!({"tools": tools}))
            }
            RenderError::Overloaded => error("overloaded"),
            RenderError::NotLoaded(_) => error("not_ready"),
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

fn missing_details(missing: &[Missing]) -> Json {
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

impl From<ToolboxError> for ApiError {
    fn from(failure: ToolboxError) -> ApiError {
        let error = |code| ApiError::new(failure.kind(), code, failure.to_string());
        match failure {
            ToolboxError::NotFound { id } => ApiError::not_found(DocumentKind::Tool, id.as_str()),
            ToolboxError::NotLoaded(failure) => failure.into(),
            ToolboxError::NotChecked(failure) => failure.into(),
            ToolboxError::Tool(ToolError::Arguments { .. } | ToolError::Effort { .. }) => {
                error("invalid_arguments").about("arguments")
            }
            ToolboxError::Tool(ToolError::Timeout { .. }) => error("tool_timeout"),
            ToolboxError::Tool(ToolError::Forbidden { .. }) => error("tool_forbidden"),
            ToolboxError::Tool(ToolError::Unusable { .. }) => error("tool_unusable"),
            ToolboxError::Tool(_) => error("tool_failed"),
        }
    }
}

/// Tells OpenAI's clients not to multiply attempts that were made already.
const SHOULD_RETRY: HeaderName = HeaderName::from_static("x-should-retry");

impl From<ChatError> for ApiError {
    fn from(failure: ChatError) -> ApiError {
        let error = |code| ApiError::new(failure.kind(), code, failure.to_string());
        match failure {
            ChatError::Invalid { param, .. } => error("invalid_request").about(param),
            ChatError::Content(ContentError::Invalid { ref violations }) => {
                error("invalid_request").about("messages").with_details(json!({"violations": violations}))
            }
            ChatError::Content(ContentError::UnknownType { .. } | ContentError::Tool { .. }) => {
                error("unknown_content_type").about("messages")
            }
            ChatError::Render(failure) => failure.into(),
            ChatError::Llm(failure) => failure.into(),
        }
    }
}

impl From<LlmError> for ApiError {
    fn from(failure: LlmError) -> ApiError {
        let error = |code| ApiError::new(failure.kind(), code, failure.to_string());
        match &failure {
            LlmError::NoModel { .. } => error("invalid_request").about("model"),
            LlmError::Invalid { param, .. } => error("invalid_request").about(param),
            LlmError::ModelNotFound { .. } | LlmError::NoEmbeddings { .. } => {
                error("model_not_found").about("model")
            }
            LlmError::Overloaded { .. } | LlmError::OutOfMemory(_) => error("overloaded"),
            LlmError::Refused { status, body } => error("llm_refused").passed_on(*status, body.clone()),
            LlmError::NoClient { .. } | LlmError::Interrupted(_) => error("llm_unavailable"),
            LlmError::Unavailable { model, attempts, cause, retry_after } => {
                let cause = json!({
                    "model": model, "attempts": attempts, "cause": cause.to_string(), "status": cause.status(),
                });
                let error = error("llm_unavailable").with_details(cause).with_header(SHOULD_RETRY, "false");
                match retry_after {
                    Some(after) => error.with_header(RETRY_AFTER, after.as_secs_f64().ceil().to_string()),
                    None => error,
                }
            }
        }
    }
}

impl From<WriteError> for ApiError {
    fn from(failure: WriteError) -> ApiError {
        let kind = failure.kind();
        let error = |code| ApiError::new(kind, code, failure.to_string());
        match &failure {
            WriteError::NotJson(reason) => {
                error("invalid_json").with_details(place(reason.line, reason.column))
            }
            WriteError::Invalid { violations, .. } => {
                error("invalid_document").with_details(json!({"violations": violations}))
            }
            WriteError::Template { problems } => {
                let first = problems.first();
                let mut details = place(first.and_then(|f| f.line), first.and_then(|f| f.column));
                if let Some(members) = details.as_object_mut() {
                    members.insert("problems".to_owned(), json!(problems));
                }
                error("invalid_template").with_details(details)
            }
            WriteError::NotFound { kind, id } => ApiError::not_found(*kind, id.as_str()),
            WriteError::ReadOnly { .. } => error("read_only"),
            WriteError::Store(store) => write_refused(store),
        }
    }
}

/// What a store says to a write: when it is unavailable, the answer says whether the write may have been done.
fn write_refused(failure: &StoreError) -> ApiError {
    match failure {
        StoreError::Unsure { .. } => {
            ApiError::from(failure).with_details(json!({"may_have_been_done": true}))
        }
        _ if failure.kind() == Kind::Unavailable => {
            let message = format!("{failure}; the write was not done: try it again later");
            ApiError::new(failure.kind(), "store_unavailable", message)
                .with_details(json!({"may_have_been_done": false}))
        }
        _ => failure.into(),
    }
}

impl From<&StoreError> for ApiError {
    fn from(failure: &StoreError) -> ApiError {
        let code = match failure.kind() {
            Kind::PreconditionFailed => "etag_mismatch",
            Kind::Conflict => "conflict",
            Kind::InvalidInput => "invalid_document",
            _ => "store_unavailable",
        };
        ApiError::new(failure.kind(), code, failure.to_string())
    }
}
