//! Which characters are letters, digits or printable, in the Unicode version of Go 1.27.

use crate::ranges::within;

use super::unicode_tables::{DIGITS, LETTERS, PRINTABLE};

/// Go's `unicode.IsLetter`.
pub(crate) fn is_letter(c: char) -> bool {
    if c.is_ascii() { c.is_ascii_alphabetic() } else { within(LETTERS, c) }
}

/// Whether `c` may be a part of a name: letters, digits and `_`.
pub(crate) fn is_word(c: char) -> bool {
    if c.is_ascii() { c.is_ascii_alphanumeric() || c == '_' } else { is_letter(c) || within(DIGITS, c) }
}

/// Go's `unicode.IsPrint` and `strconv.IsPrint`.
pub(super) fn is_print(c: char) -> bool {
    if c.is_ascii() { (' '..='~').contains(&c) } else { within(PRINTABLE, c) }
}

/// The first character of a byte string, with its length; `None` stands for a byte that starts no character.
pub(crate) fn decode(bytes: &[u8]) -> Option<(Option<char>, usize)> {
    let &first = bytes.first()?;
    if first < 0x80 {
        return Some((Some(char::from(first)), 1));
    }
    let wide = bytes.get(..4).unwrap_or(bytes);
    let valid = match std::str::from_utf8(wide) {
        Ok(text) => text,
        Err(error) => {
            wide.get(..error.valid_up_to()).and_then(|good| std::str::from_utf8(good).ok()).unwrap_or("")
        }
    };
    Some(valid.chars().next().map_or((None, 1), |c| (Some(c), c.len_utf8())))
}

/// How many characters a byte string has; a byte that starts no character counts as one.
pub(crate) fn count(bytes: &[u8]) -> usize {
    if bytes.is_ascii() {
        return bytes.len();
    }
    match std::str::from_utf8(bytes) {
        Ok(text) => text.chars().count(),
        Err(_) => Runes(bytes).count(),
    }
}

/// The characters of a byte string with their bytes; `None` stands for a byte that starts no character.
pub(crate) struct Runes<'b>(pub(crate) &'b [u8]);

impl<'b> Iterator for Runes<'b> {
    type Item = (Option<char>, &'b [u8]);

    fn next(&mut self) -> Option<Self::Item> {
        let (c, length) = decode(self.0)?;
        let (bytes, rest) = self.0.split_at_checked(length)?;
        self.0 = rest;
        Some((c, bytes))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn range_bounds_belong_to_their_range_and_neighbours_do_not() {
        assert!(is_letter('é') && is_letter('世') && is_letter('ª'));
        assert!(!is_letter('×') && !is_letter('«'));
        assert!(is_word('٣') && !is_letter('٣'));
        assert!(is_print('\u{a1}') && !is_print('\u{a0}') && !is_print('\u{ad}') && !is_print('\u{200b}'));
    }

    #[test]
    fn broken_bytes_count_one_each() {
        assert_eq!(count(b"a\xff\xe4\xb8"), 4);
        assert_eq!(count("h\u{e9}llo \u{4e16}".as_bytes()), 7);
        let runes: Vec<_> = Runes(b"\xe4\xb8\xadx\xe4").map(|(c, _)| c).collect();
        assert_eq!(runes, [Some('中'), Some('x'), None]);
    }
}
