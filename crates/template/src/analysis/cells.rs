//! Values that flow backwards, found by a fixed-point iteration.

use std::collections::HashMap;
use std::hash::Hash;

/// Sets of possible values, which only grow.
pub(crate) trait Join {
    /// Adds other possible values; true if there was a new one.
    fn add(&mut self, other: &Self) -> bool;
}

/// Values that are read before all of what flows into them is known. A round of the analysis uses what the rounds before it
/// have found; the iteration ends with the first round that adds nothing.
pub(crate) struct Cells<K, V> {
    values: Vec<V>,
    known: HashMap<K, usize>,
    changed: bool,
}

impl<K: Hash + Eq, V: Join> Cells<K, V> {
    /// No cells; the first round is still to come.
    pub(crate) fn new() -> Cells<K, V> {
        Cells { values: Vec::new(), known: HashMap::new(), changed: true }
    }

    /// Whether another round is needed; it counts as begun.
    pub(crate) fn begin_round(&mut self) -> bool {
        std::mem::take(&mut self.changed)
    }

    /// Asks for another round.
    pub(crate) fn ask_for_round(&mut self) {
        self.changed = true;
    }

    /// The cell of a key, which must be the same in every round; a new one has the value `initial`.
    pub(crate) fn cell(&mut self, key: K, initial: impl FnOnce() -> V) -> usize {
        let values = &mut self.values;
        *self.known.entry(key).or_insert_with(|| {
            values.push(initial());
            values.len() - 1
        })
    }

    /// Adds a value to those that the cell of a key may have.
    #[cfg(feature = "jinja")]
    pub(crate) fn feed(&mut self, key: K, value: &V)
    where
        V: Clone,
    {
        let count = self.values.len();
        let cell = self.cell(key, || value.clone());
        self.changed |= self.values.len() > count;
        self.flow(cell, value);
    }

    /// What is known of the value of a key's cell.
    #[cfg(feature = "jinja")]
    pub(crate) fn of(&self, key: &K) -> Option<&V> {
        self.get(*self.known.get(key)?)
    }

    /// What is known of a cell's value.
    pub(crate) fn get(&self, cell: usize) -> Option<&V> {
        self.values.get(cell)
    }

    /// Adds a value to those that the cell may have.
    pub(crate) fn flow(&mut self, cell: usize, value: &V) {
        if let Some(known) = self.values.get_mut(cell) {
            self.changed |= known.add(value);
        }
    }
}
