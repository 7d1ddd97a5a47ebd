//! Nodes of a syntax tree that are told apart by their places in memory.

use std::cmp::Ordering;
use std::fmt;
use std::hash::{Hash, Hasher};

/// A node of a syntax tree, compared by its address.
pub(super) struct Node<'a, T>(pub &'a T);

impl<T> Node<'_, T> {
    /// The address of the node.
    pub fn address(self) -> usize {
        std::ptr::from_ref(self.0).addr()
    }
}

impl<T> Clone for Node<'_, T> {
    fn clone(&self) -> Self {
        *self
    }
}

impl<T> Copy for Node<'_, T> {}

impl<T> PartialEq for Node<'_, T> {
    fn eq(&self, other: &Self) -> bool {
        std::ptr::eq(self.0, other.0)
    }
}

impl<T> Eq for Node<'_, T> {}

impl<T> PartialOrd for Node<'_, T> {
    fn partial_cmp(&self, other: &Self) -> Option<Ordering> {
        Some(self.cmp(other))
    }
}

impl<T> Ord for Node<'_, T> {
    fn cmp(&self, other: &Self) -> Ordering {
        self.address().cmp(&other.address())
    }
}

impl<T> Hash for Node<'_, T> {
    fn hash<H: Hasher>(&self, state: &mut H) {
        self.address().hash(state);
    }
}

impl<T> fmt::Debug for Node<'_, T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{:#x}", self.address())
    }
}
