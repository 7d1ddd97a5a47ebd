//! The items of the latest answers, which requests may refer to by their ids.
//!
//! The Responses API stores answers unless a request says `"store": false`, and some clients rely on it: the AI SDK sends the texts
//! of earlier answers as references. This service keeps as many of the items that were last used as fit into a limit, in memory only;
//! thoughts are not kept, as a chat has no place for them.

use std::fmt;
use std::sync::{Arc, Mutex, PoisonError};

use lru::LruCache;
use serde_json::Value as Json;

/// What an item costs beside its text, in bytes.
const ENTRY_BYTES: usize = 200;

/// The items that are kept.
pub struct KeptItems {
    bytes_max: usize,
    kept: Mutex<Kept>,
}

struct Kept {
    /// The JSON of the items by their ids, the latest used first.
    items: LruCache<String, Arc<str>>,
    bytes: usize,
}

impl KeptItems {
    /// Room for items of `bytes_max` bytes in all; for none with 0.
    pub fn new(bytes_max: usize) -> KeptItems {
        KeptItems { bytes_max, kept: Mutex::new(Kept { items: LruCache::unbounded(), bytes: 0 }) }
    }

    /// Keeps the items of an answer.
    pub fn keep(&self, items: &[Json]) {
        for item in items {
            let Some(id) = item.get("id").and_then(Json::as_str).filter(|id| !is_of_thoughts(id)) else {
                continue;
            };
            self.lock().keep(id, item.to_string().into(), self.bytes_max);
        }
    }

    /// The item with this id, if it is kept still.
    pub fn get(&self, id: &str) -> Option<Json> {
        let text = self.lock().items.get(id).cloned()?;
        serde_json::from_str(&text).ok()
    }

    fn lock(&self) -> std::sync::MutexGuard<'_, Kept> {
        self.kept.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// Whether an id is that of an item with thoughts.
pub fn is_of_thoughts(id: &str) -> bool {
    id.starts_with("rs_")
}

impl Kept {
    fn keep(&mut self, id: &str, item: Arc<str>, bytes_max: usize) {
        let cost = cost(id, &item);
        if cost > bytes_max {
            return;
        }
        self.bytes += cost;
        if let Some(old) = self.items.put(id.to_owned(), item) {
            self.bytes -= self::cost(id, &old);
        }
        while self.bytes > bytes_max {
            let Some((id, item)) = self.items.pop_lru() else { return };
            self.bytes -= self::cost(&id, &item);
        }
    }
}

fn cost(id: &str, item: &str) -> usize {
    id.len() + item.len() + ENTRY_BYTES
}

/// How many items there are; what they say is nobody's business.
impl fmt::Debug for KeptItems {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("KeptItems").field("items", &self.lock().items.len()).finish_non_exhaustive()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    fn item(id: &str, bytes: usize) -> Json {
        json!({"id": id, "text": "x".repeat(bytes)})
    }

    #[test]
    fn the_latest_items_are_kept_as_far_as_there_is_room() {
        let kept = KeptItems::new(3_000);
        kept.keep(&[item("a", 1_000), json!({"no": "id"}), Json::Null, item("rs_a", 10), item("b", 1_000)]);
        assert_eq!(kept.get("a"), Some(item("a", 1_000)));
        kept.keep(&[item("c", 1_000)]);
        assert_eq!((kept.get("b"), kept.get("nobody"), kept.get("rs_a")), (None, None, None));
        assert_eq!([kept.get("a"), kept.get("c")], [Some(item("a", 1_000)), Some(item("c", 1_000))]);
        // One that is kept again replaces the old one, and one that is too large changes nothing.
        kept.keep(&[item("a", 10), item("d", 1_000), item("e", 3_000)]);
        assert_eq!(kept.get("a"), Some(item("a", 10)));
        assert!(kept.get("c").is_some() && kept.get("d").is_some() && kept.get("e").is_none());
        let none = KeptItems::new(0);
        none.keep(&[item("a", 1)]);
        assert_eq!(none.get("a"), None);
    }
}
