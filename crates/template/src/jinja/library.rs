//! The texts that a template is made of: its own and those of the partials that it names.

use std::borrow::Cow;
use std::collections::BTreeMap;
use std::sync::{Arc, Mutex, PoisonError};

use super::ast::{Spot, Tree};
use super::error::{SyntaxError, position};
use super::lex::tokens;
use super::parse::parse;
use super::requires::{TemplateName, template_names};
use super::resolve::resolve;
use crate::{CompileError, Limits, Partials, Position, Syntax};

/// A parsed text.
#[derive(Debug)]
pub(crate) struct Text {
    /// The name under which errors show it.
    pub name: String,
    /// The source, with `\n` as its only line break, and without the last one.
    pub source: Box<str>,
    pub tree: Tree,
}

impl Text {
    fn parse(name: &str, source: &str) -> Result<Text, CompileError> {
        let source = one_line_break(source);
        match tree(&source) {
            Ok(tree) => Ok(Text { name: name.to_owned(), source: source.into(), tree }),
            Err(error) => {
                let position = Some(position(name, &source, error.at));
                Err(CompileError::Invalid { message: error.message, position })
            }
        }
    }

    /// The line and the column of a place.
    pub fn position(&self, spot: Spot) -> Position {
        position(&self.name, &self.source, spot as usize)
    }
}

/// Parses a text whose line breaks are `\n`.
pub(super) fn tree(source: &str) -> Result<Tree, SyntaxError> {
    resolve(parse(source, &tokens(source)?)?)
}

/// The text with `\n` for every line break, and without the last one, which Jinja2 drops.
fn one_line_break(source: &str) -> Cow<'_, str> {
    let text = match source.contains('\r') {
        true => Cow::Owned(source.replace("\r\n", "\n").replace('\r', "\n")),
        false => Cow::Borrowed(source),
    };
    match text {
        Cow::Borrowed(text) => Cow::Borrowed(text.strip_suffix('\n').unwrap_or(text)),
        Cow::Owned(mut text) => {
            if text.ends_with('\n') {
                text.pop();
            }
            Cow::Owned(text)
        }
    }
}

/// Why a partial cannot be used.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum PartialError {
    /// There is none of this name; the text says why.
    NotFound(String),
    /// It is not valid.
    Invalid(String),
}

/// A template's own text and those of its partials, by the name that the template uses.
///
/// Partials with computed names join it as they are met.
pub(super) struct Library {
    pub main: Arc<Text>,
    partials: Arc<dyn Partials>,
    limits: Limits,
    texts: Mutex<BTreeMap<String, Arc<Text>>>,
}

impl Library {
    /// Parses a template and everything that it includes by a written name.
    ///
    /// # Errors
    /// For text that is too large or not Jinja, here or in a partial.
    pub fn read(
        name: &str,
        source: &str,
        partials: Arc<dyn Partials>,
        limits: Limits,
    ) -> Result<Library, CompileError> {
        fits(source, &limits)?;
        let main = Arc::new(Text::parse(name, source)?);
        let library = Library { main, partials, limits, texts: Mutex::default() };
        library.follow()?;
        Ok(library)
    }

    /// The partials read so far.
    pub fn texts(&self) -> BTreeMap<String, Arc<Text>> {
        self.texts.lock().unwrap_or_else(PoisonError::into_inner).clone()
    }

    fn known(&self, name: &str) -> Option<Arc<Text>> {
        self.texts.lock().unwrap_or_else(PoisonError::into_inner).get(name).cloned()
    }

    fn keep(&self, name: &str, text: &Arc<Text>) {
        self.texts.lock().unwrap_or_else(PoisonError::into_inner).insert(name.to_owned(), text.clone());
    }

    /// Reads the partials that the texts name, each once, so that circles end.
    fn follow(&self) -> Result<(), CompileError> {
        // A work list instead of recursion: partials may be strung together without end.
        let mut waiting = Vec::new();
        wanted_by(&self.main, &mut waiting);
        while let Some(wanted) = waiting.pop() {
            if self.known(&wanted.name).is_some() {
                continue;
            }
            match self.read_partial(&wanted.name) {
                Ok(text) => wanted_by(&text, &mut waiting),
                Err(PartialReadError::NotFound(_)) if wanted.lenient => {}
                Err(PartialReadError::NotFound(reason)) => {
                    return Err(wanted.error(format!("partial `{}`: {reason}", wanted.name)));
                }
                Err(PartialReadError::Invalid(id, error)) => return Err(wanted.inside(&id, error)),
            }
        }
        Ok(())
    }

    fn read_partial(&self, name: &str) -> Result<Arc<Text>, PartialReadError> {
        let partial = self.partials.find(name).map_err(PartialReadError::NotFound)?;
        if partial.syntax == Syntax::Go {
            return Err(PartialReadError::NotFound("it is written in the Go dialect".to_owned()));
        }
        let source = match partial.syntax {
            Syntax::Text => as_printed(&partial.text),
            _ => Cow::Borrowed(partial.text.as_ref()),
        };
        let text = fits(&partial.text, &self.limits).and_then(|()| Text::parse(&partial.id, &source));
        let text = Arc::new(text.map_err(|error| PartialReadError::Invalid(partial.id.clone(), error))?);
        self.keep(name, &text);
        Ok(text)
    }

    /// The partial of a name, read now if its name was computed.
    pub fn find(&self, name: &str) -> Result<Arc<Text>, PartialError> {
        if let Some(text) = self.known(name) {
            return Ok(text);
        }
        self.read_partial(name).map_err(|error| match error {
            PartialReadError::NotFound(reason) => PartialError::NotFound(reason),
            PartialReadError::Invalid(id, error) => {
                PartialError::Invalid(format!("partial `{name}` ({id}): {error}"))
            }
        })
    }
}

/// A template that prints a text which is none.
fn as_printed(text: &str) -> Cow<'_, str> {
    if !["{{", "{%", "{#"].iter().any(|mark| text.contains(mark)) {
        return Cow::Borrowed(text);
    }
    let text = text.replace('\\', "\\\\").replace('"', "\\\"").replace('\r', "\\r");
    Cow::Owned(format!("{{{{ \"{text}\" }}}}"))
}

fn fits(source: &str, limits: &Limits) -> Result<(), CompileError> {
    match source.len() > limits.source_bytes {
        true => Err(CompileError::TooLarge { bytes: source.len(), limit: limits.source_bytes }),
        false => Ok(()),
    }
}

enum PartialReadError {
    NotFound(String),
    /// The id of the partial, and its error.
    Invalid(String, CompileError),
}

/// A partial that a text names.
struct Wanted {
    name: String,
    /// Whether the text does without it.
    lenient: bool,
    position: Position,
}

impl Wanted {
    fn error(&self, message: String) -> CompileError {
        CompileError::Invalid { message, position: Some(self.position.clone()) }
    }

    /// An error inside of the partial keeps its own place and says how one came there.
    fn inside(&self, id: &str, error: CompileError) -> CompileError {
        let from = format!("partial `{}` ({id})", self.name);
        match error {
            CompileError::Invalid { message, position } => {
                CompileError::Invalid { message: format!("{from}: {message}"), position }
            }
            CompileError::TooLarge { .. } => self.error(format!("{from}: {error}")),
        }
    }
}

/// Collects the partials that a text names in writing.
fn wanted_by(text: &Text, wanted: &mut Vec<Wanted>) {
    // Most texts have no such statement.
    if !["include", "import", "extends"].iter().any(|tag| text.source.contains(tag)) {
        return;
    }
    for name in template_names(&text.tree) {
        let TemplateName { name: Some(name), lenient, spot } = name else { continue };
        wanted.push(Wanted { name: name.to_owned(), lenient, position: text.position(spot) });
    }
}
