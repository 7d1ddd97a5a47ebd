//! A request for a value that fits a schema.

use std::sync::Arc;

use tokio::sync::Notify;

use super::plan::Plan;
use super::schema::OutputSchema;
use crate::llm::completion::ToolCall;
use template::value::RawObject;

/// A request for a value that fits a schema.
#[derive(Debug, Clone)]
pub struct StructuredRequest {
    /// The messages and parameters of a chat completion.
    pub payload: Arc<RawObject>,
    /// The schema.
    pub schema: Arc<OutputSchema>,
    /// The schema as a text for the system message; it is needed where [`crate::llm::Prospects::needs_text`] says so.
    pub text: Option<Arc<str>>,
    /// The ways in which the model may be asked.
    pub plan: Plan,
    /// Earlier answers that did not fit.
    pub failed: Vec<FailedAnswer>,
    /// Is told when a model is asked in another way than that of the payload itself.
    pub emulation: Option<Arc<Notify>>,
}

/// An answer that does not fit, and what the model is told of it.
#[derive(Debug, Clone)]
pub struct FailedAnswer {
    /// What the model wrote.
    pub text: String,
    /// The call in which it wrote it, if it was one.
    pub call: Option<ToolCall>,
    /// What is wrong with it.
    pub complaint: String,
}
