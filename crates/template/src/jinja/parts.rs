//! The parts of values: iteration, length, truth.

use super::error::Stop;
use super::iter::{Iter, Source};
use super::machine::{Machine, needed};
use super::val::{Object, Val, View, ViewKind};

impl<'a> Machine<'a> {
    /// Python's truth of a value; a missing one is false.
    pub fn truth(&mut self, value: Val<'a>) -> Result<bool, Stop> {
        Ok(match self.live(value) {
            Val::Bool(value) => value,
            Val::Unset | Val::Undefined(_) | Val::Gap | Val::None => false,
            Val::Pending(call) => return Err(needed(call)),
            Val::Int(value) => value != 0,
            Val::Float(value) => value != 0.0,
            Val::Str(text) | Val::Markup(text) => !text.is_empty(),
            Val::Bytes(bytes) => !bytes.is_empty(),
            Val::DataList(list) => !list.is_empty(),
            Val::DataMap(map) => !map.is_empty(),
            Val::List(list) => !list.borrow().is_empty(),
            Val::Tuple(tuple) => !tuple.items.is_empty(),
            Val::Dict(dict) => dict.borrow().len() > 0,
            Val::View(view) => self.known_len(view.of) != Some(0),
            Val::Range(range) => range.len() > 0,
            Val::Loop(state) => self.loop_length(state)? > 0,
            Val::Big(_) | Val::Iter(_) | Val::Namespace(_) | Val::Object(_) => true,
        })
    }

    /// The length of a value, if it has one that is known without reading it.
    pub fn known_len(&self, value: Val<'a>) -> Option<usize> {
        Some(match self.live(value) {
            Val::Str(text) | Val::Markup(text) => crate::python::text::len(text),
            Val::Bytes(bytes) => bytes.len(),
            Val::DataList(list) => list.len(),
            Val::DataMap(map) => map.len(),
            Val::List(list) => list.borrow().len(),
            Val::Tuple(tuple) => tuple.items.len(),
            Val::Dict(dict) => dict.borrow().len(),
            Val::View(view) => self.known_len(view.of)?,
            Val::Range(range) => usize::try_from(range.len()).ok()?,
            Val::Undefined(_) | Val::Gap => 0,
            _ => return None,
        })
    }

    /// Whether a value has parts to iterate over.
    pub fn is_iterable(&self, value: Val<'a>) -> bool {
        match value {
            Val::Loop(_) | Val::Iter(_) | Val::Str(_) | Val::Markup(_) => true,
            value => self.known_len(value).is_some(),
        }
    }

    /// Begins an iteration over the parts of a value.
    ///
    /// # Errors
    /// If it has none.
    pub fn iterate(&mut self, value: Val<'a>) -> Result<Source<'a>, Stop> {
        Ok(match self.live(value) {
            Val::Str(text) | Val::Markup(text) => Source::Chars(text.chars()),
            Val::Iter(iter) => Source::Other(iter),
            Val::Undefined(_) | Val::Gap => {
                self.settle(value, self.at)?;
                Source::Empty
            }
            Val::Pending(call) => return Err(needed(call)),
            Val::Loop(state) => Source::Other(state.iter),
            value if self.known_len(value).is_some() => Source::Parts { of: value, at: 0 },
            value => return Err(self.fail(format!("'{}' object is not iterable", value.type_name()))),
        })
    }

    /// The next item of an iteration.
    #[inline]
    pub fn advance(&mut self, source: &mut Source<'a>) -> Result<Option<Val<'a>>, Stop> {
        match source {
            Source::Parts { of, at } => {
                let item = self.part(*of, *at)?;
                *at += 1;
                Ok(item)
            }
            other => self.advance_other(other),
        }
    }

    fn advance_other(&mut self, source: &mut Source<'a>) -> Result<Option<Val<'a>>, Stop> {
        match source {
            Source::Empty => Ok(None),
            Source::Parts { .. } => Ok(None),
            Source::Chars(chars) => {
                let before = chars.as_str();
                let Some(_) = chars.next() else { return Ok(None) };
                let len = before.len() - chars.as_str().len();
                Ok(before.get(..len).map(Val::Str))
            }
            Source::Backwards { of, left } => {
                let Some(at) = left.checked_sub(1) else { return Ok(None) };
                *left = at;
                self.part(*of, at)
            }
            Source::Items { items, at } => {
                let item = items.get(*at).copied();
                *at += 1;
                Ok(item)
            }
            Source::Other(iter) => self.next(iter),
            // Iterators over iterators may be strung together without end.
            Source::Tested { inner, looping, here } => {
                self.deeper(|machine| machine.advance_tested(inner, looping, here))
            }
            Source::Lazy { of, step } => self.deeper(|machine| machine.advance_lazy(of, step)),
            Source::Deferred(deferred) => {
                *source = self.deeper(|machine| machine.begin(deferred))?;
                self.advance(source)
            }
        }
    }

    /// The next item of an iterator.
    pub fn next(&mut self, iter: &'a Iter<'a>) -> Result<Option<Val<'a>>, Stop> {
        if let Some(part) = self.next_part(iter) {
            return part;
        }
        if iter.running.replace(true) {
            return Err(self.fail("generator already executing"));
        }
        let mut source = iter.source.replace(Source::Empty);
        let item = self.advance(&mut source);
        if matches!(item, Ok(Some(_))) {
            iter.source.replace(source);
        }
        iter.running.set(false);
        item
    }

    /// The next part, if the iterator is over the parts of a value and there is one: the usual case, without moving the
    /// source.
    #[inline]
    fn next_part(&mut self, iter: &'a Iter<'a>) -> Option<Result<Option<Val<'a>>, Stop>> {
        let mut source = iter.source.borrow_mut();
        let Source::Parts { of, at } = &mut *source else { return None };
        let part = self.part(*of, *at);
        *at += 1;
        if !matches!(part, Ok(Some(_))) {
            *source = Source::Empty;
        }
        Some(part)
    }

    /// The part of a value at a position: an item, or a key of a `dict`.
    #[inline]
    pub fn part(&mut self, of: Val<'a>, at: usize) -> Result<Option<Val<'a>>, Stop> {
        Ok(match self.live(of) {
            Val::DataList(list) => match list.get(at) {
                Some(value) => Some(self.data(value)?),
                None => None,
            },
            Val::List(list) => list.borrow().get(at).copied(),
            Val::Tuple(tuple) => tuple.items.get(at).copied(),
            Val::Dict(dict) => dict.borrow().at(at).map(|(name, _)| name),
            Val::DataMap(_) => self.map_entry(of, at)?.map(|(name, _)| name),
            Val::View(view) => self.view_part(view, at)?,
            Val::Range(range) => (at < range.len() as usize).then(|| Val::Int(range.get(at as u64))),
            Val::Bytes(bytes) => bytes.get(at).map(|byte| Val::Int(i64::from(*byte))),
            _ => None,
        })
    }

    /// The entry of a `dict` at a position.
    pub fn map_entry(&mut self, of: Val<'a>, at: usize) -> Result<Option<(Val<'a>, Val<'a>)>, Stop> {
        Ok(match self.live(of) {
            Val::Dict(dict) => dict.borrow().at(at),
            Val::DataMap(map) => match map.shown_at(at) {
                Some((name, value)) => Some((Val::Str(name), self.data(value)?)),
                None => None,
            },
            _ => None,
        })
    }

    fn view_part(&mut self, view: &'a View<'a>, at: usize) -> Result<Option<Val<'a>>, Stop> {
        let Some((name, value)) = self.map_entry(view.of, at)? else { return Ok(None) };
        Ok(Some(match view.kind {
            ViewKind::Keys => name,
            ViewKind::Values => value,
            ViewKind::Items => self.tuple(&[name, value])?,
        }))
    }

    /// All parts of a value.
    pub fn collect(&mut self, value: Val<'a>) -> Result<Vec<Val<'a>>, Stop> {
        let mut source = self.iterate(value)?;
        let expected = self.known_len(value).unwrap_or(0);
        self.check_room(expected.saturating_mul(size_of::<Val<'a>>()))?;
        let mut items = Vec::with_capacity(expected.min(4096));
        while let Some(item) = self.advance(&mut source)? {
            self.work_items(1)?;
            self.check_room(items.len() * size_of::<Val<'a>>())?;
            items.push(item);
        }
        Ok(items)
    }

    /// Python's `len`.
    pub fn len(&mut self, value: Val<'a>) -> Result<usize, Stop> {
        if let Val::Str(text) | Val::Markup(text) = value {
            self.work(text.len() / 16)?;
        }
        if let Val::Loop(state) = value {
            return self.loop_length(state);
        }
        match self.known_len(value) {
            Some(len) => Ok(len),
            None => Err(self.fail(format!("object of type '{}' has no len()", value.type_name()))),
        }
    }

    /// Whether the value is a function, a macro or the like.
    pub fn is_callable(&self, value: Val<'a>) -> bool {
        match value {
            Val::Loop(_) | Val::Undefined(_) => true,
            Val::Object(object) => !matches!(object, Object::Module(_) | Object::Blocks(_)),
            _ => false,
        }
    }
}
