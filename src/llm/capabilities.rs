//! What models can do, as far as it is known.

use serde::Serialize;

/// What a model can do; `None` where that is not known.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize)]
pub struct Capabilities {
    /// `response_format` with a JSON Schema.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub json_schema: Option<bool>,
    /// Calls of tools.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub tools: Option<bool>,
    /// `response_format` for any JSON object.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub json_object: Option<bool>,
    /// `functions` in the place of `tools`: the form of OpenAI's API before there were tools.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub functions: Option<bool>,
}
