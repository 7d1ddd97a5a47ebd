//! A piece of work on a session that those who watch are told of.

use serde_json::json;

use super::event::EventKind;
use super::work::Teller;

/// Work under way, during which those who watch see the state [`super::SessionState::Thinking`]. If it comes to nothing, also because
/// whoever waited for it has left, they are told the state before.
pub struct Thinking {
    teller: Option<Teller>,
    before: String,
}

impl Thinking {
    /// Work that begins in a state, as those who watch are told of it.
    pub fn new(teller: Teller, before: String) -> Thinking {
        Thinking { teller: Some(teller), before }
    }

    /// The session is stored in another state: it is the one before from now on.
    pub fn stored(&mut self, state: String) {
        self.before = state;
    }

    /// Ends the work. If it failed and the session goes on, they are told why, and the state before.
    pub fn end(mut self, failure: Option<&str>) {
        match (failure, &self.teller) {
            (Some(message), Some(teller)) => {
                teller.tell(EventKind::Error, json!({"message": message}).to_string());
            }
            _ => self.teller = None,
        }
    }
}

impl Drop for Thinking {
    fn drop(&mut self) {
        if let Some(teller) = &self.teller {
            teller.tell(EventKind::State, std::mem::take(&mut self.before));
        }
    }
}
