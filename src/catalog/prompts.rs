//! The prompts of a catalog by id: a sorted sequence of chunks, which copies share (copy on write).

use std::sync::Arc;

use super::entry::PromptEntry;
use base::model::Id;

/// A chunk with more prompts is split in two.
const CHUNK_MAX: usize = 512;

/// Prompts sorted by id. A clone is cheap; a change of a clone copies one chunk and the list of chunks.
#[derive(Debug, Clone, Default)]
pub struct Prompts {
    /// The chunks in order; none of them is empty.
    chunks: Arc<Vec<Chunk>>,
    len: usize,
}

type Chunk = Arc<Vec<Arc<PromptEntry>>>;

impl Prompts {
    /// The prompt with this id.
    pub fn get(&self, id: &Id) -> Option<&Arc<PromptEntry>> {
        let chunk = self.chunks.get(self.chunk_of(id))?;
        chunk.get(place_in(chunk, id).ok()?)
    }

    /// Whether there is a prompt with this id.
    pub fn contains_key(&self, id: &Id) -> bool {
        self.get(id).is_some()
    }

    /// All prompts, sorted by id.
    pub fn values(&self) -> impl Iterator<Item = &Arc<PromptEntry>> {
        self.chunks.iter().flat_map(|chunk| chunk.iter())
    }

    /// All ids and prompts, sorted by id.
    pub fn iter(&self) -> impl Iterator<Item = (&Id, &Arc<PromptEntry>)> {
        self.values().map(|entry| (&entry.id, entry))
    }

    /// The number of prompts.
    pub fn len(&self) -> usize {
        self.len
    }

    /// Whether there are no prompts.
    pub fn is_empty(&self) -> bool {
        self.len == 0
    }

    /// Inserts a prompt; replaces a prompt with the same id.
    pub fn insert(&mut self, entry: Arc<PromptEntry>) {
        let at = self.chunk_of(&entry.id);
        let chunks = Arc::make_mut(&mut self.chunks);
        let Some(chunk) = chunks.get_mut(at) else {
            chunks.push(Arc::new(vec![entry]));
            self.len += 1;
            return;
        };
        let place = place_in(chunk, &entry.id);
        let chunk = Arc::make_mut(chunk);
        match place {
            Ok(place) => {
                if let Some(slot) = chunk.get_mut(place) {
                    *slot = entry;
                }
            }
            Err(place) => {
                chunk.insert(place, entry);
                self.len += 1;
            }
        }
        if chunk.len() > CHUNK_MAX {
            let rest = chunk.split_off(CHUNK_MAX / 2);
            chunks.insert(at + 1, Arc::new(rest));
        }
    }

    /// Removes a prompt.
    pub fn remove(&mut self, id: &Id) {
        let at = self.chunk_of(id);
        let Some(place) = self.chunks.get(at).and_then(|chunk| place_in(chunk, id).ok()) else { return };
        let chunks = Arc::make_mut(&mut self.chunks);
        let Some(chunk) = chunks.get_mut(at).map(Arc::make_mut) else { return };
        chunk.remove(place);
        self.len -= 1;
        if chunk.is_empty() {
            chunks.remove(at);
        }
    }

    /// The index of the chunk to which an id belongs: the last chunk that begins at or before it.
    fn chunk_of(&self, id: &Id) -> usize {
        let begins_before = |chunk: &Chunk| chunk.first().is_some_and(|entry| entry.id <= *id);
        self.chunks.partition_point(begins_before).saturating_sub(1)
    }
}

impl FromIterator<Arc<PromptEntry>> for Prompts {
    fn from_iter<I: IntoIterator<Item = Arc<PromptEntry>>>(entries: I) -> Prompts {
        let mut prompts = Prompts::default();
        entries.into_iter().for_each(|entry| prompts.insert(entry));
        prompts
    }
}

/// The index of an id in a chunk, or the index at which to insert it.
fn place_in(chunk: &Chunk, id: &Id) -> Result<usize, usize> {
    chunk.binary_search_by(|entry| entry.id.cmp(id))
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeMap;

    use proptest::prelude::*;

    use super::*;
    use base::model::Origin;

    fn entry(id: &str) -> Arc<PromptEntry> {
        let id = Id::parse(id).unwrap();
        Arc::new(PromptEntry {
            id,
            origin: Origin::Direct,
            prompt: None,
            files: Arc::default(),
            extension: None,
            problems: vec![],
        })
    }

    proptest! {
        #[test]
        fn they_are_like_a_map_and_copies_stay_as_they_were(changes in prop::collection::vec((0..900_u32, any::<bool>()), 0..2_000)) {
            let (mut prompts, mut map) = (Prompts::default(), BTreeMap::new());
            let mut copy = (prompts.clone(), 0);
            for (at, (number, put)) in changes.into_iter().enumerate() {
                let entry = entry(&format!("x.n{number}"));
                if put {
                    prompts.insert(entry.clone());
                    map.insert(entry.id.clone(), entry);
                } else {
                    prompts.remove(&entry.id);
                    map.remove(&entry.id);
                }
                if at == 1_000 {
                    copy = (prompts.clone(), map.len());
                }
            }
            prop_assert_eq!(prompts.len(), map.len());
            prop_assert!(prompts.iter().eq(map.iter()));
            prop_assert!(map.keys().all(|id| prompts.contains_key(id)));
            prop_assert_eq!((copy.0.len(), copy.0.values().count()), (copy.1, copy.1));
        }
    }
}
