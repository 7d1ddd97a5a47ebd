//! What a prompt's templates see of the catalog while they are compiled: other prompts as partials, and names of functions.

use super::compiled::syntax_of;
use crate::catalog::PromptScope;
use base::model::Body;
use template::{Arguments, CallResult, Functions, Partial, Partials};

impl Partials for PromptScope {
    fn find(&self, name: &str) -> Result<Partial, String> {
        let entry = self
            .prompt(name)
            .ok_or_else(|| format!("there is no template, and no prompt, called `{name}`"))?;
        let prompt =
            entry.prompt.as_ref().ok_or_else(|| format!("the prompt `{}` has no good version", entry.id))?;
        match &prompt.body {
            Body::Text(text) => Ok(Partial {
                id: entry.id.to_string(),
                text: text.text.clone(),
                syntax: syntax_of(prompt, self),
            }),
            Body::Messages { .. } => Err(format!(
                "the prompt `{}` is a list of messages; only text prompts can be included",
                entry.id
            )),
        }
    }
}

/// For compiling, only the names of functions matter.
impl Functions for PromptScope {
    fn contains(&self, name: &str) -> bool {
        self.has_function(name)
    }

    fn call(&self, name: &str, _arguments: Arguments) -> CallResult {
        CallResult::Denied(format!("`{name}` is called while templates are only compiled"))
    }
}
