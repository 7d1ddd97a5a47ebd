//! The arena for the values that a run makes.

use std::cell::{Cell, RefCell};
use std::sync::Arc;

use bumpalo::Bump;
use num_bigint::BigInt;
use typed_arena::Arena;

use super::context::Context;
use super::dict::Dict;
use super::iter::{Deferred, Iter, LazyStep};
use super::library::Text;
use super::val::{Activation, Loop, Object, Undefined, Val};
use crate::value::Value;

/// Everything that a run makes and that its values borrow. It is freed when the run ends, so that values which contain
/// themselves do no harm.
pub(super) struct Store<'a> {
    /// Texts, slices and other values without anything to drop.
    pub bump: Bump,
    pub lists: Arena<RefCell<Vec<Val<'a>>>>,
    pub dicts: Arena<RefCell<Dict<'a>>>,
    pub iters: Arena<Iter<'a>>,
    pub steps: Arena<LazyStep<'a>>,
    pub deferred: Arena<Deferred<'a>>,
    pub loops: Arena<Loop<'a>>,
    pub objects: Arena<Object<'a>>,
    pub undefineds: Arena<Undefined<'a>>,
    pub bigs: Arena<BigInt>,
    pub values: Arena<Value>,
    pub contexts: Arena<Context<'a>>,
    pub texts: Arena<Arc<Text>>,
}

impl<'a> Store<'a> {
    pub fn new() -> Store<'a> {
        Store {
            bump: Bump::new(),
            lists: Arena::with_capacity(0),
            dicts: Arena::with_capacity(0),
            iters: Arena::with_capacity(0),
            steps: Arena::with_capacity(0),
            deferred: Arena::with_capacity(0),
            loops: Arena::with_capacity(0),
            objects: Arena::with_capacity(0),
            undefineds: Arena::with_capacity(0),
            bigs: Arena::with_capacity(0),
            values: Arena::with_capacity(0),
            contexts: Arena::with_capacity(0),
            texts: Arena::with_capacity(0),
        }
    }

    /// The variables of a function that begins to run.
    pub fn activation(&'a self, slots: usize, outer: Option<&'a Activation<'a>>) -> &'a Activation<'a> {
        let slots = self.bump.alloc_slice_fill_with(slots, |_| Cell::new(Val::Unset));
        self.bump.alloc(Activation { slots, outer })
    }
}
