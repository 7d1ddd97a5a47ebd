//! What the answer to a request has to look like, as the request itself says.

use crate::llm::tool_form::ToolForm;
use template::value::RawObject;

/// What a client wants of an answer that has to be translated.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Wanted {
    /// In which form it knows calls of functions.
    pub form: ToolForm,
    /// Whether it wants vectors in base64.
    pub base64: bool,
}

impl Wanted {
    /// What a request wants, which is in the format of our clients.
    pub fn of(payload: &RawObject) -> Wanted {
        let base64 = payload.get("encoding_format").is_some_and(|format| format.get() == "\"base64\"");
        Wanted { form: ToolForm::of(payload), base64 }
    }
}
