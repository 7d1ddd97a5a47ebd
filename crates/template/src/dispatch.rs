//! One template type over both dialects, and how a text's dialect is recognized.

use std::sync::Arc;

use super::contract::{CompileError, Functions, Limits, Partials, RenderError, Requires, Run, Syntax};
use super::go_prompt::{self, GoTemplate};
use super::jinja;
use crate::value::Map;

/// A compiled template of either dialect.
pub enum Template {
    /// Go's `text/template`.
    Go(Box<GoTemplate>),
    /// Jinja.
    Jinja(Box<jinja::Template>),
    /// A text without actions.
    Text(Arc<str>),
}

/// What a template is compiled against.
#[derive(Clone, Copy)]
pub struct Surroundings<'a> {
    /// The prompts that it may include.
    pub partials: &'a Arc<dyn Partials>,
    /// The functions that exist.
    pub functions: &'a dyn Functions,
}

/// What a text without actions requires.
static NOTHING: Requires =
    Requires { variables: Vec::new(), environs: Vec::new(), tools: Vec::new(), partials: Vec::new() };

impl Template {
    /// Compiles a text; `name` is what errors call it.
    ///
    /// # Errors
    /// [`CompileError`], with the place.
    pub fn compile(
        name: &str,
        text: &Arc<str>,
        syntax: Syntax,
        surroundings: Surroundings<'_>,
        limits: &Limits,
    ) -> Result<Template, CompileError> {
        let Surroundings { partials, functions } = surroundings;
        if text.len() > limits.source_bytes {
            return Err(CompileError::TooLarge { bytes: text.len(), limit: limits.source_bytes });
        }
        Ok(match syntax {
            _ if is_plain(text) => Template::Text(text.clone()),
            Syntax::Text => Template::Text(text.clone()),
            Syntax::Go => {
                let template = GoTemplate::compile(name, text, partials.as_ref(), functions, limits)?;
                Template::Go(Box::new(template))
            }
            Syntax::Jinja => {
                let compiled = jinja::Template::compile(name, text, partials, limits);
                let template = compiled.map_err(|error| with_go_error(error, name, text, functions))?;
                Template::Jinja(Box::new(template))
            }
        })
    }

    /// What the template can touch.
    pub fn requires(&self) -> &Requires {
        match self {
            Template::Go(template) => template.requires(),
            Template::Jinja(template) => template.requires(),
            Template::Text(_) => &NOTHING,
        }
    }

    /// Renders the template.
    ///
    /// # Errors
    /// [`RenderError`].
    pub fn render(
        &self,
        root: &Arc<Map>,
        functions: &Arc<dyn Functions>,
        run: &Run,
    ) -> Result<String, RenderError> {
        match self {
            Template::Go(template) => template.render(root, functions.as_ref(), run),
            Template::Jinja(template) => template.render(root, functions, run),
            Template::Text(text) if text.len() > run.output_bytes => {
                Err(RenderError::Limit { what: "output", limit: run.output_bytes as u64 })
            }
            Template::Text(text) => Ok(text.to_string()),
        }
    }
}

/// Whether both dialects would copy the text as it stands, so that neither is needed: it has no action, and no line
/// end at its end, which Jinja drops.
fn is_plain(text: &str) -> bool {
    !(["{{", "{%", "{#"].iter().any(|mark| text.contains(mark)) || text.ends_with('\n'))
}

/// The dialect of a prompt whose texts are these: Jinja if a `{%` or `{#` occurs, else Go if all parse as Go (or one cannot
/// be meant otherwise, so that its fault is told in Go's terms), else Jinja; plain text without any action.
pub fn detect(texts: &[&str], functions: &dyn Functions) -> Syntax {
    let any = |mark: &str| texts.iter().any(|text| text.contains(mark));
    if any("{%") || any("{#") {
        Syntax::Jinja
    } else if !any("{{") {
        Syntax::Text
    } else if texts.iter().all(|text| go_prompt::parses(text, functions))
        || texts.iter().any(|text| is_meant_as_go(text))
    {
        Syntax::Go
    } else {
        Syntax::Jinja
    }
}

/// Whether an action begins with a field or a variable of Go, after one of its keywords or without.
///
/// `{{if .x}}` would be legal Jinja, by accident: a look-up in a variable called `if`.
fn is_meant_as_go(text: &str) -> bool {
    text.split("{{").skip(1).any(|action| {
        let mut words = action.strip_prefix('-').unwrap_or(action).split_ascii_whitespace();
        let first = words.find(|word| !["if", "else", "range", "with"].contains(word));
        first.is_some_and(|word| word.starts_with(['.', '$']))
    })
}

/// Why a text is no Jinja, and, where it might have been meant as Go, why it is no Go either.
fn with_go_error(error: CompileError, name: &str, text: &str, functions: &dyn Functions) -> CompileError {
    let is_jinja = text.contains("{%") || text.contains("{#");
    match (error, go_prompt::parse_error(name, text, functions).filter(|_| !is_jinja)) {
        (CompileError::Invalid { message, position }, Some(go)) => {
            CompileError::Invalid { message: format!("{message} (and it is no Go template: {go})"), position }
        }
        (error, _) => error,
    }
}
