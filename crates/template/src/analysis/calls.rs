//! Calls under way, by which recursion is found.

/// Calls under way: what is called, and the call that it is part of.
pub(crate) struct Calls<K> {
    calls: Vec<(K, usize)>,
}

impl<K: PartialEq> Calls<K> {
    /// What stands for "no call" as an outer call.
    pub(crate) const NONE: usize = usize::MAX;

    /// No calls.
    pub(crate) fn new() -> Calls<K> {
        Calls { calls: Vec::new() }
    }

    /// Forgets all calls.
    pub(crate) fn clear(&mut self) {
        self.calls.clear();
    }

    /// Adds a call that is part of the call `outer`; returns its number.
    pub(crate) fn begin(&mut self, called: K, outer: usize) -> usize {
        self.calls.push((called, outer));
        self.calls.len() - 1
    }

    /// Whether the call `call`, or one that it is part of, is a call of `called`.
    pub(crate) fn is_under_way(&self, called: &K, mut call: usize) -> bool {
        while let Some((running, outer)) = self.calls.get(call) {
            if running == called {
                return true;
            }
            call = *outer;
        }
        false
    }
}
