//! Writing values as text without being led into endless or exploding structures.

use std::fmt::{self, Write};

use minijinja::value::{DynObject, ObjectRepr};
use minijinja::{Error, ErrorKind, Output, State, Value as Engine};

use super::missing::{Gap, Missing};
use super::pending;
use super::run;
use crate::value::{List, Map};

/// How deep containers may nest that a template builds; our data is bounded by its parser.
const DEEPEST: usize = 64;
/// How many parts a container may have that a template builds, shared parts counted each time.
const MOST_PARTS: usize = 2 * run::ITEMS_LIMIT;

/// Prints a value where the template asks for it. Nothing is ever escaped.
pub(super) fn format(out: &mut Output<'_>, _: &mut State<'_, '_>, value: &Engine) -> Result<(), Error> {
    if let Some(text) = value.as_str() {
        run::write(text.len())?;
        return out.write_str(text).map_err(Error::from);
    }
    if value.as_object().is_none() {
        run::write(8)?;
        return write!(out, "{value}").map_err(Error::from);
    }
    if let Some(call) = pending::call_of(value) {
        return pending::print(out, call);
    }
    check(value)?;
    let room = run::output_left();
    let mut bounded = Bounded { to: out, left: room };
    match write!(bounded, "{value}") {
        Ok(()) => {
            let written = room - bounded.left;
            run::write(written)
        }
        Err(_) => Err(run::output_full()),
    }
}

/// Appends a value's text to `text`, which must not grow beyond the limit for strings.
pub(super) fn append(text: &mut String, value: &Engine) -> Result<(), Error> {
    let left = run::STRING_LIMIT.saturating_sub(text.len());
    if let Some(piece) = value.as_str() {
        if piece.len() > left {
            return Err(run::too_long());
        }
        run::work(piece.len())?;
        text.push_str(piece);
        return Ok(());
    }
    check(value)?;
    write!(Bounded { to: text, left }, "{value}").map_err(|_| run::too_long())
}

/// Refuses a value that a walk would not get through: too deep (or endless), or too many parts.
pub(super) fn check(value: &Engine) -> Result<(), Error> {
    match value.as_object() {
        Some(object) if !is_leaf(object) => Walk::new(false).visit(object, 0),
        _ => Ok(()),
    }
}

/// The same, and no namespace may be in it: a namespace that held itself would never end or be freed.
pub(super) fn check_storable(value: &Engine) -> Result<(), Error> {
    match value.as_object() {
        Some(object) if !is_leaf(object) => Walk::new(true).visit(object, 0),
        _ => Ok(()),
    }
}

/// Whether this is what `namespace()` makes.
fn is_namespace(object: &DynObject) -> bool {
    object.type_name().ends_with("::Namespace")
}

/// Objects that need no look inside: finite, or of no parts that the engine would visit.
fn is_leaf(object: &DynObject) -> bool {
    object.downcast_ref::<Map>().is_some()
        || object.downcast_ref::<List>().is_some()
        || object.downcast_ref::<Missing>().is_some()
        || object.downcast_ref::<Gap>().is_some()
        || object.repr() == ObjectRepr::Plain
        || object.type_name().ends_with("::Loop")
        || object.type_name().ends_with("::Macro")
}

struct Walk {
    left: usize,
    /// Whether to refuse namespaces.
    storing: bool,
}

impl Walk {
    fn new(storing: bool) -> Walk {
        Walk { left: MOST_PARTS, storing }
    }

    fn visit(&mut self, object: &DynObject, depth: usize) -> Result<(), Error> {
        if self.storing && is_namespace(object) {
            let text = "a namespace cannot be stored in a namespace";
            return Err(Error::new(ErrorKind::InvalidOperation, text));
        }
        if depth > DEEPEST {
            return Err(run::limit("nesting", DEEPEST));
        }
        if object.repr() == ObjectRepr::Map {
            for (key, value) in object.try_iter_pairs().into_iter().flatten() {
                self.part(&key, depth)?;
                self.part(&value, depth)?;
            }
        } else {
            for item in object.try_iter().into_iter().flatten() {
                self.part(&item, depth)?;
            }
        }
        Ok(())
    }

    fn part(&mut self, value: &Engine, depth: usize) -> Result<(), Error> {
        run::work(0)?;
        self.left = self.left.checked_sub(1).ok_or_else(run::too_many)?;
        match value.as_object() {
            Some(object) if !is_leaf(object) => self.visit(object, depth + 1),
            _ => Ok(()),
        }
    }
}

/// A writer that fails when it would pass on more than it may.
struct Bounded<'a, W> {
    to: &'a mut W,
    left: usize,
}

impl<W: fmt::Write> fmt::Write for Bounded<'_, W> {
    fn write_str(&mut self, text: &str) -> fmt::Result {
        self.left = self.left.checked_sub(text.len()).ok_or(fmt::Error)?;
        self.to.write_str(text)
    }
}
