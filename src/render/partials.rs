//! What a prompt's templates see of the catalog while they are compiled: other prompts and files of its package as partials, and names of
//! functions.

use super::compiled::syntax_of;
use crate::catalog::{PartialFile, PromptScope};
use crate::formats::dialect_of;
use base::model::Body;
use template::{Arguments, CallResult, Functions, Partial, Partials, detect};

impl Partials for PromptScope {
    fn find(&self, name: &str) -> Result<Partial, String> {
        let Some(entry) = self.prompt(name) else { return self.file(name).map(|file| from_file(file, self)) };
        let prompt =
            entry.prompt.as_ref().ok_or_else(|| format!("the prompt `{}` has no good version", entry.id))?;
        match &prompt.body {
            Body::Text(_) if prompt.roles => Err(format!(
                "the prompt `{}` renders to messages; only text prompts can be included",
                entry.id
            )),
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

/// A file of a package as a partial. Its extension says the dialect; if it does not, the text does.
fn from_file(file: PartialFile, functions: &dyn Functions) -> Partial {
    let PartialFile { extension, path, text } = file;
    let syntax = dialect_of(&path).unwrap_or_else(|| detect(&[text.as_ref()], functions));
    Partial { id: format!("{extension}/{path}"), text, syntax }
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
