//! A place where a render keeps what it makes, until it ends: values that live in it can be copied freely.

use std::cell::{Cell, OnceCell};

/// The first chunk has this many places; every further one twice as many.
const FIRST_CHUNK: usize = 32;
const CHUNKS: usize = 40;

/// Things that stay where they were put as long as the arena lives.
pub(super) struct Arena<T> {
    chunks: [OnceCell<Box<[OnceCell<T>]>>; CHUNKS],
    chunk: Cell<usize>,
    used: Cell<usize>,
}

impl<T> Arena<T> {
    pub(super) fn new() -> Arena<T> {
        Arena { chunks: std::array::from_fn(|_| OnceCell::new()), chunk: Cell::new(0), used: Cell::new(0) }
    }

    /// Keeps `thing`; `None` when the arena is full, which memory never allows.
    pub(super) fn keep(&self, thing: T) -> Option<&T> {
        let size = FIRST_CHUNK.checked_shl(self.chunk.get() as u32)?;
        if self.used.get() == size {
            self.chunk.set(self.chunk.get() + 1);
            self.used.set(0);
            return self.keep(thing);
        }
        let chunk = self.chunks.get(self.chunk.get())?;
        let places = chunk.get_or_init(|| (0..size).map(|_| OnceCell::new()).collect());
        let place = places.get(self.used.get())?;
        self.used.set(self.used.get() + 1);
        Some(place.get_or_init(|| thing))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_was_kept_stays_while_more_comes() {
        let arena = Arena::new();
        let kept: Vec<&usize> = (0..1000).map(|n| arena.keep(n).unwrap()).collect();
        assert!(kept.iter().enumerate().all(|(at, n)| **n == at));
    }
}
