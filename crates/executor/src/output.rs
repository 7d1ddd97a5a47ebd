//! The end of what a command wrote to one of its outputs, kept in bounded memory.

use tokio::io::{AsyncRead, AsyncReadExt};

use crate::clean::Cleaner;
use crate::supervision::Watcher;

/// How many bytes are read at once; as many as a pipe holds.
const PIECE: usize = 64 * 1024;

/// What a command wrote to one of its outputs.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Output {
    /// The end of it as text: without escape sequences, invalid UTF-8 replaced, no control characters but tab, newline, carriage
    /// return and NUL.
    pub text: String,
    /// Whether more than the text was written: its beginning is missing.
    pub truncated: bool,
    /// How many bytes the command wrote, before they were cleaned.
    pub total_bytes: u64,
}

impl Output {
    /// The last `chars` characters of the text.
    pub fn tail(&self, chars: usize) -> &str {
        let skipped = self.text.chars().count().saturating_sub(chars);
        let start = self.text.char_indices().nth(skipped).map_or(self.text.len(), |(at, _)| at);
        self.text.get(start..).unwrap_or_default()
    }
}

/// Keeps the end of a stream. The bytes are cleaned before they are cut, so that a cut leaves no half of a sequence.
pub(crate) struct Kept<'w> {
    watcher: Option<Watcher<'w>>,
    cleaner: Cleaner,
    text: String,
    limit: usize,
    cut: bool,
    total: u64,
}

impl<'w> Kept<'w> {
    /// Keeps `limit` bytes of text, and shows all of it to the watcher.
    pub(crate) fn new(limit: usize, watcher: Option<Watcher<'w>>) -> Kept<'w> {
        Kept { watcher, cleaner: Cleaner::default(), text: String::new(), limit, cut: false, total: 0 }
    }

    /// Reads to the end. What was read is kept if the future is dropped, or if reading fails.
    pub(crate) async fn read_all(&mut self, mut source: impl AsyncRead + Unpin) {
        let mut piece = vec![0; PIECE];
        while let Ok(count @ 1..) = source.read(&mut piece).await {
            self.add(piece.get(..count).unwrap_or_default());
        }
    }

    fn add(&mut self, bytes: &[u8]) {
        self.total += bytes.len() as u64;
        let before = self.text.len();
        self.cleaner.feed(bytes, &mut self.text);
        if let Some(watcher) = self.watcher {
            watcher(self.text.get(before..).unwrap_or_default());
        }
        // Cutting moves what is kept: rarely, so that each byte is moved about once.
        if self.text.len() > self.limit.saturating_mul(2) {
            self.cut();
        }
    }

    fn cut(&mut self) {
        let start = self.text.ceil_char_boundary(self.text.len().saturating_sub(self.limit));
        self.cut |= start > 0;
        self.text.drain(..start);
    }

    /// What was read, when nothing more will be.
    pub(crate) fn finish(mut self) -> Output {
        self.cleaner.finish(&mut self.text);
        self.cut();
        self.text.shrink_to_fit();
        Output { text: self.text, truncated: self.cut, total_bytes: self.total }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn kept(pieces: &[&[u8]], limit: usize) -> Output {
        let mut kept = Kept::new(limit, None);
        pieces.iter().for_each(|piece| kept.add(piece));
        kept.finish()
    }

    #[test]
    fn the_last_bytes_are_kept_and_all_are_counted() {
        let output = kept(&[b"0123456789".as_slice(); 10], 15);
        assert_eq!(output, Output { text: "567890123456789".into(), truncated: true, total_bytes: 100 });
        let output = kept(&[b"0123456789"], 10);
        assert_eq!(output, Output { text: "0123456789".into(), truncated: false, total_bytes: 10 });
        assert_eq!(kept(&[b"abc"], 0), Output { text: String::new(), truncated: true, total_bytes: 3 });
        assert_eq!(kept(&[], 10), Output::default());
    }

    #[test]
    fn a_cut_splits_no_character_and_no_sequence() {
        let line = "漢\u{1b}[1;31m字\u{1b}[0m".as_bytes();
        for limit in 0..40 {
            let output = kept(&[line; 20], limit);
            assert!(output.text.chars().all(|c| "漢字".contains(c)), "{limit}: {output:?}");
            assert!(output.text.len() <= limit && output.text.len() + 3 > limit, "{limit}: {output:?}");
        }
    }

    #[test]
    fn memory_is_bounded_while_reading() {
        let mut kept = Kept::new(1000, None);
        for _ in 0..50 {
            kept.add(&[b'x'; PIECE]);
            assert!(kept.text.len() <= 2000 + PIECE);
        }
        assert!(kept.text.capacity() < 5 * PIECE, "{}", kept.text.capacity());
    }

    #[test]
    fn a_tail_counts_characters() {
        let output = kept(&["aé漢🎉".as_bytes()], 100);
        assert_eq!(output.tail(2), "漢🎉");
        assert_eq!(output.tail(0), "");
        assert_eq!(output.tail(4), "aé漢🎉");
        assert_eq!(output.tail(100), "aé漢🎉");
    }
}
