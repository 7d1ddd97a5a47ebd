//! One template type over both dialects, and how a text's dialect is recognized.

use std::sync::Arc;

use super::contract::{CompileError, Functions, Limits, Partials, RenderError, Requires, Run, Syntax};
use crate::value::Map;

/// A compiled template of either dialect.
pub enum Template {
    /// A text without actions.
    Text(Arc<str>, Requires),
}

/// What a template is compiled against: other prompts, and the functions that exist.
pub type Around<'a> = (&'a Arc<dyn Partials>, &'a dyn Functions);

impl Template {
    /// Compiles a text; `name` is what errors call it.
    ///
    /// # Errors
    /// [`CompileError`], with the place.
    pub fn compile(
        name: &str,
        text: &Arc<str>,
        syntax: Syntax,
        around: Around<'_>,
        limits: &Limits,
    ) -> Result<Template, CompileError> {
        if text.len() > limits.source_bytes {
            return Err(CompileError::TooLarge { bytes: text.len(), limit: limits.source_bytes });
        }
        let _ = (name, syntax, around);
        Ok(Template::Text(text.clone(), Requires::default()))
    }

    /// What the template can touch.
    pub fn requires(&self) -> &Requires {
        match self {
            Template::Text(_, requires) => requires,
        }
    }

    /// Renders the template.
    ///
    /// # Errors
    /// [`RenderError`].
    pub fn render(
        &self,
        _root: &Arc<Map>,
        _functions: &Arc<dyn Functions>,
        run: &Run,
    ) -> Result<String, RenderError> {
        match self {
            Template::Text(text, _) if text.len() > run.output_bytes => {
                Err(RenderError::Limit { what: "output", limit: run.output_bytes as u64 })
            }
            Template::Text(text, _) => Ok(text.to_string()),
        }
    }
}

/// The dialect of a prompt whose texts are these: Jinja if a `{%` or `{#` occurs, else Go if all parse as Go, else
/// Jinja; plain text without any action.
pub fn detect(texts: &[&str], functions: &dyn Functions) -> Syntax {
    let _ = functions;
    let any = |mark: &str| texts.iter().any(|text| text.contains(mark));
    if any("{%") || any("{#") {
        Syntax::Jinja
    } else if !any("{{") {
        Syntax::Text
    } else {
        Syntax::Go
    }
}
