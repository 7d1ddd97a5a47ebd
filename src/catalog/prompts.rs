//! The prompts of a catalog by id, in pieces that a changed copy shares with the one before.

use std::sync::Arc;

use super::snapshot::PromptEntry;
use base::model::Id;

/// A piece with more prompts is cut in two.
const PIECE_MAX: usize = 512;

/// Prompts sorted by id. A copy costs nothing, and a change of a copy costs one piece and the list of pieces.
#[derive(Debug, Clone, Default)]
pub struct Prompts {
    /// No piece is empty.
    pieces: Arc<Vec<Piece>>,
    len: usize,
}

type Piece = Arc<Vec<Arc<PromptEntry>>>;

impl Prompts {
    /// The prompt of this id.
    pub fn get(&self, id: &Id) -> Option<&Arc<PromptEntry>> {
        let piece = self.pieces.get(self.piece_of(id))?;
        piece.get(place_in(piece, id).ok()?)
    }

    /// Whether there is a prompt of this id.
    pub fn contains_key(&self, id: &Id) -> bool {
        self.get(id).is_some()
    }

    /// All prompts, sorted by id.
    pub fn values(&self) -> impl Iterator<Item = &Arc<PromptEntry>> {
        self.pieces.iter().flat_map(|piece| piece.iter())
    }

    /// All ids and prompts, sorted by id.
    pub fn iter(&self) -> impl Iterator<Item = (&Id, &Arc<PromptEntry>)> {
        self.values().map(|entry| (&entry.id, entry))
    }

    /// How many there are.
    pub fn len(&self) -> usize {
        self.len
    }

    /// Whether there are none.
    pub fn is_empty(&self) -> bool {
        self.len == 0
    }

    /// Puts a prompt in, in the place of one of its id.
    pub fn insert(&mut self, entry: Arc<PromptEntry>) {
        let at = self.piece_of(&entry.id);
        let pieces = Arc::make_mut(&mut self.pieces);
        let Some(piece) = pieces.get_mut(at) else {
            pieces.push(Arc::new(vec![entry]));
            self.len += 1;
            return;
        };
        let place = place_in(piece, &entry.id);
        let piece = Arc::make_mut(piece);
        match place {
            Ok(place) => {
                if let Some(slot) = piece.get_mut(place) {
                    *slot = entry;
                }
            }
            Err(place) => {
                piece.insert(place, entry);
                self.len += 1;
            }
        }
        if piece.len() > PIECE_MAX {
            let rest = piece.split_off(PIECE_MAX / 2);
            pieces.insert(at + 1, Arc::new(rest));
        }
    }

    /// Takes a prompt out.
    pub fn remove(&mut self, id: &Id) {
        let at = self.piece_of(id);
        let Some(place) = self.pieces.get(at).and_then(|piece| place_in(piece, id).ok()) else { return };
        let pieces = Arc::make_mut(&mut self.pieces);
        let Some(piece) = pieces.get_mut(at).map(Arc::make_mut) else { return };
        piece.remove(place);
        self.len -= 1;
        if piece.is_empty() {
            pieces.remove(at);
        }
    }

    /// The piece in which an id has its place: the last one that begins at or before it.
    fn piece_of(&self, id: &Id) -> usize {
        let begins_before = |piece: &Piece| piece.first().is_some_and(|entry| entry.id <= *id);
        self.pieces.partition_point(begins_before).saturating_sub(1)
    }
}

impl FromIterator<Arc<PromptEntry>> for Prompts {
    fn from_iter<I: IntoIterator<Item = Arc<PromptEntry>>>(entries: I) -> Prompts {
        let mut prompts = Prompts::default();
        entries.into_iter().for_each(|entry| prompts.insert(entry));
        prompts
    }
}

/// The place of an id in a piece, or where it would be.
fn place_in(piece: &Piece, id: &Id) -> Result<usize, usize> {
    piece.binary_search_by(|entry| entry.id.cmp(id))
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeMap;

    use proptest::prelude::*;

    use super::*;
    use base::model::Origin;

    fn entry(id: &str) -> Arc<PromptEntry> {
        let id = Id::parse(id).unwrap();
        Arc::new(PromptEntry { id, origin: Origin::Direct, prompt: None, extension: None, problems: vec![] })
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
