//! Makes lists: new ones, and such as share the elements of others.

use std::cell::RefCell;

use super::call::Type;
use super::context::{Context, deepest};
use super::val::{Base, Slice, V, Val};

impl<'a> Context<'a> {
    /// Makes a list.
    pub fn list(&self, items: Vec<Val<'a>>) -> Val<'a> {
        self.list_of(Type::Any, items)
    }

    /// Makes a list whose elements all have this type.
    pub fn list_of(&self, of: Type, items: Vec<Val<'a>>) -> Val<'a> {
        self.charge(items.len() * size_of::<Val<'a>>() + 96);
        let (len, depth) = (items.len(), deepest(items.iter()));
        let hold = if of == Type::Any { Val::boxed } else { Val::unboxed };
        let base = Base::Made(self.store.items.alloc(items.into_iter().map(hold).collect()));
        let slice = self.store.slices.alloc(Slice { base, start: 0, len, cap: len, of, nil: false });
        self.nested(Val::of(V::Slice(slice)), depth)
    }

    /// Makes a list (`[]interface {}`) of the elements of another one, and more behind them.
    ///
    /// A list that was made so shares its elements with the longer one, so that a list which grows step by step takes the
    /// memory of one.
    pub fn extended(&self, list: &Val<'a>, more: &[Val<'a>]) -> Val<'a> {
        let depth = deepest(more.iter()).max(list.depth.saturating_sub(1));
        let grows = |items: &RefCell<Vec<Val<'a>>>, slice: &Slice<'a>| {
            slice.of == Type::Any && slice.start + slice.len == items.borrow().len()
        };
        let (known, copied) = match list.v {
            V::Slice(slice) => match slice.base {
                Base::Grown(items) if grows(items, slice) => (Some((items, slice.start)), 0),
                _ => (None, slice.len),
            },
            _ => (None, list.len().unwrap_or(0)),
        };
        // What grows has room for as much again.
        let bytes = copied.saturating_add(2 * more.len()).saturating_mul(size_of::<Val<'a>>());
        if !self.has_room(bytes) {
            return Val::NONE;
        }
        self.charge(bytes);
        let (items, start) = known.unwrap_or_else(|| {
            let copies = (0..copied).filter_map(|at| list.item(at)).map(Val::boxed).collect();
            (self.store.grown.alloc(RefCell::new(copies)), 0)
        });
        items.borrow_mut().extend(more.iter().map(|item| item.boxed()));
        let len = items.borrow().len() - start;
        let base = Base::Grown(items);
        self.nested(self.slice(Slice { base, start, len, cap: len, of: Type::Any, nil: false }), depth)
    }

    /// Makes a list (`[]interface {}`) of so many elements of another one, with which it shares them.
    pub fn part(&self, list: &Val<'a>, start: usize, len: usize) -> Val<'a> {
        let (base, start) = match list.v {
            V::List(items) => (Base::Data(items), start),
            V::Slice(slice) if slice.of == Type::Any => (slice.base, slice.start + start),
            _ if self.has_room(len.saturating_mul(size_of::<Val<'a>>())) => {
                return self.list((start..start + len).filter_map(|at| list.item(at)).collect());
            }
            _ => return Val::NONE,
        };
        let mut part = self.slice(Slice { base, start, len, cap: len, of: Type::Any, nil: false });
        part.depth = list.depth;
        part
    }

    /// Makes a list of the type of another one.
    pub fn list_like(&self, list: &Val<'a>, items: Vec<Val<'a>>) -> Val<'a> {
        match list.v {
            V::Slice(slice) if slice.nil => self.nil_list(slice.of),
            V::Slice(slice) => self.list_of(slice.of, items),
            _ => self.list(items),
        }
    }

    /// Makes Go's nil slice, which is empty.
    pub fn nil_list(&self, of: Type) -> Val<'a> {
        let none = Slice { base: Base::Made(&[]), start: 0, len: 0, cap: 0, of, nil: true };
        self.nested(self.slice(none), 0)
    }

    pub(super) fn slice(&self, slice: Slice<'a>) -> Val<'a> {
        self.charge(size_of::<Slice<'a>>());
        Val::of(V::Slice(self.store.slices.alloc(slice)))
    }
}
