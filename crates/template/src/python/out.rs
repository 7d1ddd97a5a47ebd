//! A string that refuses to grow beyond its room.

use super::PyError;

/// Text that is being written, and the most bytes that it may have.
pub(super) struct Bounded {
    text: String,
    room: usize,
}

impl Bounded {
    pub(super) fn new(room: usize) -> Bounded {
        Bounded { text: String::new(), room }
    }

    /// How many more bytes fit.
    pub(super) fn left(&self) -> usize {
        self.room.saturating_sub(self.text.len())
    }

    pub(super) fn push_str(&mut self, text: &str) -> Result<(), PyError> {
        fits(text.len(), self.left())?;
        self.text.push_str(text);
        Ok(())
    }

    pub(super) fn push(&mut self, c: char) -> Result<(), PyError> {
        self.push_str(c.encode_utf8(&mut [0; 4]))
    }

    pub(super) fn fill(&mut self, c: char, count: usize) -> Result<(), PyError> {
        fits(count.saturating_mul(c.len_utf8()), self.left())?;
        self.text.extend(std::iter::repeat_n(c, count));
        Ok(())
    }

    pub(super) fn text(&self) -> &str {
        &self.text
    }

    pub(super) fn finish(self) -> String {
        self.text
    }
}

/// An error unless `size` bytes fit into `room`.
pub(super) fn fits(size: usize, room: usize) -> Result<(), PyError> {
    if size <= room { Ok(()) } else { Err(PyError::TooLarge) }
}
