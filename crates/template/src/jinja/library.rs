//! The texts that a template is made of: its own and those of the partials that it names.

use std::collections::{BTreeMap, BTreeSet, HashMap};
use std::sync::{Arc, Mutex, PoisonError};

use minijinja::machinery::ast::{Expr, Stmt};
use minijinja::{Error, ErrorKind};

use super::error::sentence;
use super::guard::{Guarded, guard};
use super::pending::{Patience, pending_names};
use super::requires::Analysis;
use super::source::{parse_checked, position};
use super::tree::{bodies, literal_text};
use crate::{CompileError, Limits, Partial, Partials, Position, Requirements, Syntax};

/// The engine's name of the template itself, which no partial can have.
pub(super) const MAIN: &str = "\0main";

/// One text, as the author wrote it and as the engine gets it.
#[derive(Debug)]
pub(super) struct Text {
    /// The name under which errors show it.
    pub name: String,
    /// As it was written.
    pub original: Arc<str>,
    /// As the engine gets it.
    pub guarded: Guarded,
}

impl Text {
    /// What it means for the author that the engine refuses the text as it has been rewritten.
    pub fn refused(&self, error: &Error) -> CompileError {
        let message = format!("the expression here is too complex; split it up ({})", sentence(error));
        let position = error.range().map(|range| self.position(range.start));
        CompileError::Invalid { message, position }
    }

    /// The author's place of an offset in the text of the engine.
    pub fn position(&self, offset: usize) -> Position {
        position(&self.name, &self.original, self.guarded.original(offset))
    }
}

/// Every text that a template has been made of so far, by the name that the engine uses.
///
/// Partials with computed names join it as they are met.
pub(super) struct Library {
    /// `None` when all partials have been read.
    partials: Option<Arc<dyn Partials>>,
    limits: Limits,
    /// The names that the template gives to results of calls.
    pending: BTreeSet<String>,
    texts: Mutex<HashMap<String, Arc<Text>>>,
}

impl Library {
    /// An empty library.
    pub fn new(partials: Arc<dyn Partials>, limits: Limits) -> Library {
        Library { partials: Some(partials), limits, pending: BTreeSet::new(), texts: Mutex::default() }
    }

    /// The text behind a name of the engine.
    pub fn text(&self, name: &str) -> Option<Arc<Text>> {
        self.texts.lock().unwrap_or_else(PoisonError::into_inner).get(name).cloned()
    }

    /// The names known by now, and their texts.
    pub fn texts(&self) -> Vec<(String, Arc<Text>)> {
        let texts = self.texts.lock().unwrap_or_else(PoisonError::into_inner);
        texts.iter().map(|(name, text)| (name.clone(), text.clone())).collect()
    }

    fn keep(&self, name: &str, text: Text) {
        self.texts.lock().unwrap_or_else(PoisonError::into_inner).insert(name.to_owned(), Arc::new(text));
    }

    /// Reads a template and everything that it includes by a written name.
    ///
    /// # Errors
    /// For text that is too large or not Jinja, here or in a partial.
    pub fn read(&mut self, name: &str, source: &str) -> Result<Requirements, CompileError> {
        self.fits(source)?;
        let tree = parse_checked(name, source)?;
        self.pending = pending_names(&tree);
        let guarded = guard(name, source, &tree, &Patience { names: &self.pending, own: true })?;
        let sources = self.follow(&tree, name, source)?;
        let requires = Analysis::new(&sources).of(&tree);
        if !requires.partials.iter().any(|partial| partial.dynamic) {
            self.partials = None;
        }
        self.keep(MAIN, Text { name: name.to_owned(), original: source.into(), guarded });
        Ok(requires)
    }

    fn fits(&self, source: &str) -> Result<(), CompileError> {
        let limit = self.limits.source_bytes;
        if source.len() > limit {
            return Err(CompileError::TooLarge { bytes: source.len(), limit });
        }
        Ok(())
    }

    /// Reads the partials that a tree names, each once, so that circles end; their texts by those names.
    fn follow(
        &self,
        tree: &Stmt<'_>,
        name: &str,
        source: &str,
    ) -> Result<BTreeMap<String, Arc<str>>, CompileError> {
        let mut sources = BTreeMap::new();
        // A work list instead of recursion: partials may be strung together without end.
        let mut waiting = Vec::new();
        collect(tree, name, source, &mut waiting);
        while let Some(wanted) = waiting.pop() {
            if sources.contains_key(&wanted.name) {
                continue;
            }
            match self.find(&wanted.name) {
                Ok(partial) => {
                    let id = partial.id;
                    let prepared = self.prepare(&id, &partial.text);
                    let (text, more) = prepared.map_err(|error| wanted.inside(&id, error))?;
                    waiting.extend(more);
                    sources.insert(wanted.name.clone(), text.original.clone());
                    self.keep(&wanted.name, text);
                }
                Err(_) if wanted.lenient => {}
                Err(message) => return Err(wanted.error(format!("partial `{}`: {message}", wanted.name))),
            }
        }
        Ok(sources)
    }

    /// The partial of a name, or why there is none that can be used.
    fn find(&self, name: &str) -> Result<Partial, String> {
        let partials = self.partials.as_ref().ok_or("it was not there when the template was compiled")?;
        let partial = partials.find(name)?;
        if partial.syntax == Syntax::Go {
            return Err("it is written in the Go dialect".to_owned());
        }
        Ok(partial)
    }

    fn prepare(&self, id: &str, source: &Arc<str>) -> Result<(Text, Vec<Wanted>), CompileError> {
        self.fits(source)?;
        let tree = parse_checked(id, source)?;
        let guarded = guard(id, source, &tree, &Patience { names: &self.pending, own: false })?;
        let mut wanted = Vec::new();
        collect(&tree, id, source, &mut wanted);
        Ok((Text { name: id.to_owned(), original: source.clone(), guarded }, wanted))
    }

    /// The text for the engine of a partial whose name was computed.
    ///
    /// # Errors
    /// If there is one that cannot be used.
    pub fn load(&self, name: &str) -> Result<Option<String>, Error> {
        if let Some(text) = self.text(name) {
            return Ok(Some(text.guarded.text.clone()));
        }
        let Ok(partial) = self.find(name) else { return Ok(None) };
        let (text, _) = self.prepare(&partial.id, &partial.text).map_err(|error| {
            Error::new(ErrorKind::SyntaxError, format!("partial `{name}` ({}): {error}", partial.id))
        })?;
        let guarded = text.guarded.text.clone();
        self.keep(name, text);
        Ok(Some(guarded))
    }
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
        match error {
            CompileError::Invalid { message, position } => CompileError::Invalid {
                message: if message.starts_with("partial `") {
                    message
                } else {
                    format!("partial `{}` ({id}): {message}", self.name)
                },
                position,
            },
            CompileError::TooLarge { .. } => self.error(format!("partial `{}` ({id}): {error}", self.name)),
        }
    }
}

/// Collects the partials that a tree names in writing.
fn collect(stmt: &Stmt<'_>, template: &str, source: &str, wanted: &mut Vec<Wanted>) {
    let mut want = |expr: &Expr<'_>, lenient: bool| {
        if let Some(name) = literal_text(expr) {
            let position = position(template, source, expr.span().start_offset as usize);
            wanted.push(Wanted { name: name.to_owned(), lenient, position });
        }
    };
    match stmt {
        Stmt::Include(node) => match &node.name {
            Expr::List(list) => list.items.iter().for_each(|item| want(item, true)),
            Expr::Tuple(tuple) => tuple.items.iter().for_each(|item| want(item, true)),
            name => want(name, node.ignore_missing),
        },
        Stmt::Import(node) => want(&node.expr, false),
        Stmt::FromImport(node) => want(&node.expr, false),
        Stmt::Extends(node) => want(&node.name, false),
        _ => {}
    }
    for body in bodies(stmt) {
        body.iter().for_each(|stmt| collect(stmt, template, source, wanted));
    }
}
