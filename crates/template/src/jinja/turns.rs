//! What loops run over: numbers and turns that keep an eye on the clock.

use std::sync::Arc;

use minijinja::value::{Enumerator, Object, ObjectRepr};
use minijinja::{Error, ErrorKind, Value as Engine};

use super::missing;
use super::operators::defined;
use super::run::{self, ITEMS_LIMIT};
use crate::value::{List, Map};

/// What a loop runs over: it keeps an eye on the clock, and accounts for the text of each turn.
pub(super) fn each(value: &Engine, bytes: usize) -> Result<Engine, Error> {
    defined(value)?;
    let Some(object) = value.as_object() else {
        run::work(value.as_str().map_or(0, str::len))?;
        return Ok(if bytes == 0 || value.is_none() { value.clone() } else { turns(value, bytes) });
    };
    let watched = object.is::<List>() || object.is::<Map>() || object.is::<Range>();
    let empty = !missing::is_there(value);
    Ok(if empty || (watched && bytes == 0) { value.clone() } else { turns(value, bytes) })
}

fn turns(value: &Engine, bytes: usize) -> Engine {
    Engine::from_object(Turns { over: value.clone(), bytes })
}

/// The turns of a loop over a value.
#[derive(Debug)]
struct Turns {
    over: Engine,
    bytes: usize,
}

impl Object for Turns {
    fn repr(self: &Arc<Self>) -> ObjectRepr {
        ObjectRepr::Iterable
    }

    fn enumerate(self: &Arc<Self>) -> Enumerator {
        match self.over.try_iter() {
            Ok(items) => Enumerator::Iter(Box::new(Counted { items, bytes: self.bytes, done: false })),
            Err(error) => Enumerator::Values(vec![Engine::from(error)]),
        }
    }
}

struct Counted<I> {
    items: I,
    bytes: usize,
    done: bool,
}

impl<I: Iterator<Item = Engine>> Iterator for Counted<I> {
    type Item = Engine;

    fn next(&mut self) -> Option<Engine> {
        if self.done {
            return None;
        }
        let item = self.items.next()?;
        match run::write(self.bytes) {
            Ok(()) => Some(item),
            Err(error) => {
                self.done = true;
                Some(Engine::from(error))
            }
        }
    }

    fn size_hint(&self) -> (usize, Option<usize>) {
        self.items.size_hint()
    }
}

/// The numbers of a `range`, counted out one by one.
#[derive(Debug, Clone, Copy)]
pub(super) struct Range {
    at: i64,
    step: i64,
    left: usize,
}

/// Jinja's `range([start,] stop[, step])`, of at most as many numbers as a sequence may have.
pub(super) fn range(first: i64, stop: Option<i64>, step: Option<i64>) -> Result<Engine, Error> {
    let (start, stop) = stop.map_or((0, first), |stop| (first, stop));
    let step = step.unwrap_or(1);
    if step == 0 {
        return Err(Error::new(ErrorKind::InvalidOperation, "cannot create range with step of 0"));
    }
    let way =
        if step > 0 { i128::from(stop) - i128::from(start) } else { i128::from(start) - i128::from(stop) };
    let pace = i128::from(step).abs();
    let left = usize::try_from((way.max(0) + pace - 1) / pace).unwrap_or(usize::MAX);
    if left > ITEMS_LIMIT {
        return Err(run::too_many());
    }
    Ok(Engine::from_object(Range { at: start, step, left }))
}

impl Object for Range {
    fn repr(self: &Arc<Self>) -> ObjectRepr {
        ObjectRepr::Iterable
    }

    fn enumerate(self: &Arc<Self>) -> Enumerator {
        Enumerator::Iter(Box::new(Numbers(**self)))
    }

    fn enumerator_len(self: &Arc<Self>) -> Option<usize> {
        Some(self.left)
    }
}

struct Numbers(Range);

impl Iterator for Numbers {
    type Item = Engine;

    fn next(&mut self) -> Option<Engine> {
        self.0.left = self.0.left.checked_sub(1)?;
        if let Err(error) = run::work(0) {
            self.0.left = 0;
            return Some(Engine::from(error));
        }
        let at = self.0.at;
        self.0.at = at.saturating_add(self.0.step);
        Some(Engine::from(at))
    }

    fn size_hint(&self) -> (usize, Option<usize>) {
        (self.0.left, Some(self.0.left))
    }
}
