//! The strategies that make a model answer by a schema, and the refusals that tell that a model does not have one.

use std::fmt;

use serde::{Deserialize, Serialize};

/// The function that carries the value in [`Strategy::Tools`].
pub const FUNCTION: &str = "generate_response";

/// How a model is made to answer by a schema.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Strategy {
    /// `response_format` with the schema, which the upstream enforces.
    JsonSchema,
    /// The schema is the parameters of a function that has to be called.
    Tools,
    /// The schema is a text in the system message; `response_format` asks for any JSON object, where the model has it.
    JsonObject,
}

impl Strategy {
    /// All strategies, the most reliable first.
    pub const ALL: [Strategy; 3] = [Strategy::JsonSchema, Strategy::Tools, Strategy::JsonObject];

    /// The name in requests, answers and settings.
    pub fn name(self) -> &'static str {
        match self {
            Strategy::JsonSchema => "json_schema",
            Strategy::Tools => "tools",
            Strategy::JsonObject => "json_object",
        }
    }
}

impl fmt::Display for Strategy {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.name())
    }
}

/// A parameter of a request that a model may not support.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Parameter {
    /// `response_format`.
    ResponseFormat,
    /// `tools` and `tool_choice`.
    Tools,
}

/// What an upstream's refusal says of a parameter.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Refusal {
    /// The model does not support it.
    Unsupported,
    /// It does, but not with this schema.
    OfSchema,
}

impl Parameter {
    /// What the words of a refusal with status 400, 404 or 422 say of this parameter; `None` if they do not name it.
    ///
    /// Servers have words of their own: `response_format` (OpenAI, DeepSeek), ``response format `json_schema` `` (Groq), `does
    /// not support tools` (Ollama), `"auto" tool choice requires …` (vLLM), `support tool use` (OpenRouter).
    pub fn refused_by(self, status: u16, message: &str, param: Option<&str>) -> Option<Refusal> {
        if ![400, 404, 422].contains(&status) {
            return None;
        }
        let words = plain(message);
        let param = plain(param.unwrap_or_default());
        let (names, params): (&[&str], &[&str]) = match self {
            Parameter::ResponseFormat => {
                (&["response format", "json schema", "json object"], &["response format"])
            }
            Parameter::Tools => {
                (&["tools", "tool choice", "tool use", "tool call", "function call"], &["tool"])
            }
        };
        let is_named = names.iter().any(|name| words.contains(name))
            || params.iter().any(|name| param.starts_with(name));
        let is_of_schema = words.contains("invalid schema") || words.contains("invalid json schema");
        is_named.then_some(if is_of_schema { Refusal::OfSchema } else { Refusal::Unsupported })
    }
}

/// A text in small letters, with spaces for the characters that join words.
fn plain(text: &str) -> String {
    text.to_lowercase().replace(['_', '-'], " ")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn refusals_are_understood_in_the_words_of_many_servers() {
        use Parameter::{ResponseFormat, Tools};
        let unsupported = Some(Refusal::Unsupported);
        for (parameter, status, message, param, expected) in [
            (
                ResponseFormat,
                400,
                "Invalid parameter: 'response_format' of type 'json_schema' is not supported with this model.",
                None,
                unsupported,
            ),
            (ResponseFormat, 400, "This response_format type is unavailable now", None, unsupported),
            (
                ResponseFormat,
                400,
                "This model does not support response format `json_schema`.",
                None,
                unsupported,
            ),
            (ResponseFormat, 422, "Extra inputs are not permitted", Some("response_format"), unsupported),
            (
                ResponseFormat,
                400,
                "Invalid schema for response_format 'x': In context=(), 'required' is required",
                Some("response_format"),
                Some(Refusal::OfSchema),
            ),
            (ResponseFormat, 400, "The maximum context length is 8192 tokens", None, None),
            (ResponseFormat, 500, "response_format", None, None),
            (Tools, 400, "registry.ollama.ai/library/x does not support tools", None, unsupported),
            (Tools, 400, "\"auto\" tool choice requires --enable-auto-tool-choice", None, unsupported),
            (Tools, 404, "No endpoints found that support tool use", None, unsupported),
            (Tools, 400, "not supported", Some("tool_choice"), unsupported),
            (Tools, 400, "This model does not support response_format", None, None),
        ] {
            assert_eq!(parameter.refused_by(status, message, param), expected, "{message}");
        }
    }
}
