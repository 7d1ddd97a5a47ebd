//! A request for a value that fits a schema.

use std::sync::Arc;

use super::schema::OutputSchema;
use super::strategy::Strategy;
use crate::llm::completion::ToolCall;
use template::value::RawObject;

/// A request for a value that fits a schema.
#[derive(Debug, Clone)]
pub struct StructuredRequest {
    /// The messages and parameters of a chat completion.
    pub payload: Arc<RawObject>,
    /// The schema.
    pub schema: Arc<OutputSchema>,
    /// The schema as a text for the system message; it is needed where [`crate::llm::Llm::needs_schema_text`] says so.
    pub text: Option<Arc<str>>,
    /// The only strategy that is wanted.
    pub strategy: Option<Strategy>,
    /// Earlier answers that did not fit.
    pub failed: Vec<FailedAnswer>,
    /// Whether the payload itself asks for the schema, by its `response_format`: where a model has that, it goes out as it is.
    pub is_native: bool,
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
