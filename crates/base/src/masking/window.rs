//! The part of a text that a decision may look at: some of what came before, and what has come so far.

/// The decision depends on text that has not come yet.
#[derive(Debug)]
pub(super) struct More;

/// Text around the place that is looked at.
///
/// Whatever looks at it must look at most [`super::LOOK_BEHIND`] bytes back: a stream keeps no more, and must decide as a whole
/// text does. It must look a bounded way ahead, too: for so long a stream is held back.
#[derive(Debug, Clone, Copy)]
pub(super) struct Window<'a> {
    pub(super) text: &'a [u8],
    /// Nothing before this place is looked at: there the text begins, or a masked secret ends.
    pub(super) floor: usize,
    /// Whether `floor` is the end of a masked secret.
    pub(super) after_secret: bool,
    /// Whether no more text will come.
    pub(super) complete: bool,
}

impl<'a> Window<'a> {
    /// The byte at a place; `None` at the end of the text.
    #[inline(always)]
    pub(super) fn get(&self, at: usize) -> Result<Option<u8>, More> {
        match self.text.get(at) {
            Some(byte) => Ok(Some(*byte)),
            None if self.complete => Ok(None),
            None => Err(More),
        }
    }

    /// The byte before a place; a bracket after a masked secret, which ends with one.
    #[inline(always)]
    pub(super) fn before(&self, at: usize) -> Option<u8> {
        match at > self.floor {
            true => self.text.get(at - 1).copied(),
            false => self.after_secret.then_some(b']'),
        }
    }

    /// Whether `what` stands at a place.
    pub(super) fn starts_with(&self, at: usize, what: &[u8]) -> Result<bool, More> {
        for (offset, byte) in what.iter().enumerate() {
            if self.get(at + offset)? != Some(*byte) {
                return Ok(false);
            }
        }
        Ok(true)
    }

    /// Where a run of bytes of one class ends, which begins at `from`; it is followed for at most `limit` bytes.
    pub(super) fn run(&self, from: usize, limit: usize, class: impl Fn(u8) -> bool) -> Result<usize, More> {
        let mut at = from;
        while at < from + limit && self.get(at)?.is_some_and(&class) {
            at += 1;
        }
        Ok(at)
    }

    /// Where a run that ends at `to` begins; it is followed for at most `limit` bytes.
    pub(super) fn run_back(&self, to: usize, limit: usize, class: impl Fn(u8) -> bool) -> usize {
        let mut at = to;
        while to - at < limit && at > self.floor && self.before(at).is_some_and(&class) {
            at -= 1;
        }
        at
    }

    /// The bytes between two places.
    pub(super) fn slice(&self, from: usize, to: usize) -> &'a [u8] {
        self.text.get(from..to).unwrap_or_default()
    }

    /// Whether the letter before a place is the end of an escape, such as the `n` of `\n` in JSON.
    pub(super) fn after_escape(&self, at: usize) -> bool {
        let letter = self.before(at).is_some_and(|byte| matches!(byte, b'n' | b'r' | b't'));
        letter && at > self.floor + 1 && self.before(at - 1) == Some(b'\\')
    }

    /// Whether a word can begin at a place: after none of its characters, after `\n` or `%20`, or after the code of a colour.
    pub(super) fn word_begins(&self, at: usize) -> bool {
        let inside = |byte: u8| byte.is_ascii_alphanumeric() || byte == b'_';
        !self.before(at).is_some_and(inside) || self.after_escape(at) || self.after_code(at)
    }

    fn after_code(&self, at: usize) -> bool {
        let hex = |byte: u8| byte.is_ascii_digit() || (b'A'..=b'F').contains(&byte);
        let percent = self.run_back(at, 2, hex) + 2 == at && self.before(at.saturating_sub(2)) == Some(b'%');
        let colour = self.before(at) == Some(b'm') && {
            let codes = self.run_back(at - 1, 12, |byte| byte.is_ascii_digit() || byte == b';');
            self.before(codes) == Some(b'[') && self.before(codes.saturating_sub(1)) == Some(0x1b)
        };
        percent || colour
    }
}
