//! Masks a text that comes in pieces.

use super::scanner::{Scanner, Step};
use super::{LOOK_BEHIND, push_mask};

/// Masks a text that comes in pieces; together they become what [`super::mask`] makes of the whole text.
///
/// What may still turn out to be a secret is held back: at most 2 KiB, and nothing of a text that looks like none. Of a secret
/// nothing is kept, however long it is.
#[derive(Debug, Default)]
pub struct Masker {
    /// What is held back, and before it what the rules may look back at.
    text: String,
    scanner: Scanner,
}

impl Masker {
    /// Masks texts from their beginning.
    pub fn new() -> Masker {
        Masker::default()
    }

    /// Adds a piece. Returns what can be shown now, masked.
    pub fn push(&mut self, piece: &str) -> String {
        self.text.push_str(piece);
        let shown = self.advance(false);
        self.forget();
        shown
    }

    /// Returns the rest, at the end of the text.
    pub fn finish(mut self) -> String {
        self.advance(true)
    }

    /// How many bytes are held back.
    pub fn held(&self) -> usize {
        self.text.len() - self.scanner.at
    }

    fn advance(&mut self, complete: bool) -> String {
        let mut shown = String::new();
        let mut from = self.scanner.at;
        loop {
            match self.scanner.step(self.text.as_bytes(), complete) {
                Step::Secret { start, kind } => {
                    shown.push_str(self.text.get(from..start).unwrap_or_default());
                    push_mask(&mut shown, kind);
                }
                Step::End(end) => from = end,
                Step::Wait => break,
            }
        }
        if !self.scanner.is_inside() {
            shown.push_str(self.text.get(from..self.scanner.at).unwrap_or_default());
        }
        shown
    }

    /// Drops what no rule will look back at.
    fn forget(&mut self) {
        let bytes = self.text.floor_char_boundary(self.scanner.at.saturating_sub(LOOK_BEHIND));
        self.text.drain(..bytes);
        self.scanner.dropped(bytes);
    }
}
