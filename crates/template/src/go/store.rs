//! The arena of a run: everything that it makes and that values borrow.

use std::cell::{Cell, RefCell};
use std::collections::HashMap;
use std::sync::Arc;

use typed_arena::Arena;

use crate::run::Absent;
use crate::value::{List, Map, Value};

use super::call::Type;
use super::time::Moment;
use super::val::{Base, Dict, Slice, V, Val};

/// The arena: everything that a run makes and that values borrow.
pub(super) struct Store<'a> {
    pub(super) bytes: Arena<Box<[u8]>>,
    pub(super) values: Arena<Value>,
    pub(super) items: Arena<Box<[Val<'a>]>>,
    pub(super) grown: Arena<RefCell<Vec<Val<'a>>>>,
    pub(super) slices: Arena<Slice<'a>>,
    pub(super) dicts: Arena<Dict<'a>>,
    pub(super) absents: Arena<Absent<'a>>,
    pub(super) moments: Arena<Moment>,
    /// In a run that may change maps: what stands for the maps and lists of the data that were read, by their addresses.
    live_maps: RefCell<HashMap<usize, &'a Dict<'a>>>,
    live_lists: RefCell<HashMap<usize, &'a Slice<'a>>>,
    /// Whether any of those maps was changed.
    pub(super) changed: Cell<bool>,
}

impl<'a> Store<'a> {
    pub(super) fn new() -> Store<'a> {
        Store {
            bytes: Arena::with_capacity(0),
            values: Arena::with_capacity(0),
            items: Arena::with_capacity(0),
            grown: Arena::with_capacity(0),
            slices: Arena::with_capacity(0),
            dicts: Arena::with_capacity(0),
            absents: Arena::with_capacity(0),
            moments: Arena::with_capacity(0),
            live_maps: RefCell::default(),
            live_lists: RefCell::default(),
            changed: Cell::new(false),
        }
    }

    /// A part of the data in a run that may change maps: the same map always gives the same value, so that a change is seen
    /// wherever the map is read.
    pub(super) fn live(&'a self, value: &'a Value) -> Val<'a> {
        let v = match value {
            Value::Map(map) => V::Dict(self.live_map(map)),
            Value::List(list) => V::Slice(self.live_list(list)),
            _ => return Val::data(value),
        };
        Val::of(v).boxed()
    }

    fn live_map(&'a self, map: &'a Arc<Map>) -> &'a Dict<'a> {
        let mut known = self.live_maps.borrow_mut();
        known.entry(Arc::as_ptr(map) as usize).or_insert_with(|| self.dicts.alloc(Dict::over(map, self)))
    }

    fn live_list(&'a self, list: &'a Arc<List>) -> &'a Slice<'a> {
        let mut known = self.live_lists.borrow_mut();
        known.entry(Arc::as_ptr(list) as usize).or_insert_with(|| {
            let cap = super::index::grown_capacity(list.len());
            let base = Base::Live(list, self);
            self.slices.alloc(Slice { base, start: 0, len: list.len(), cap, of: Type::Any, nil: false })
        })
    }
}
