//! Go's `strings.ToUpper` and `strings.ToLower`, which map each character to one character.

use super::unicode::Runes;

/// The text in upper case. Invalid UTF-8 becomes U+FFFD.
///
/// ```
/// assert_eq!(ai_prompt_template::go::to_upper("straße ǆ".as_bytes()), "STRAßE Ǆ".as_bytes());
/// ```
pub fn to_upper(text: &[u8]) -> Vec<u8> {
    mapped(text, to_upper_char)
}

/// The text in lower case. Invalid UTF-8 becomes U+FFFD.
pub fn to_lower(text: &[u8]) -> Vec<u8> {
    mapped(text, to_lower_char)
}

/// Go's `unicode.ToUpper`.
pub(crate) fn to_upper_char(c: char) -> char {
    match c {
        // Greek letters with iota subscript: Unicode's upper case has two characters, Go maps to the single one
        // (titlecase).
        '\u{1f80}'..='\u{1f87}' | '\u{1f90}'..='\u{1f97}' | '\u{1fa0}'..='\u{1fa7}' => offset(c, 8),
        '\u{1fb3}' | '\u{1fc3}' | '\u{1ff3}' => offset(c, 9),
        _ => single(c, c.to_uppercase()),
    }
}

/// Go's `unicode.ToLower`.
pub(crate) fn to_lower_char(c: char) -> char {
    match c {
        'İ' => 'i',
        _ => single(c, c.to_lowercase()),
    }
}

fn mapped(text: &[u8], map: impl Fn(char) -> char) -> Vec<u8> {
    let text: String = Runes(text).map(|(c, _)| c.map_or('\u{fffd}', &map)).collect();
    text.into_bytes()
}

fn offset(c: char, by: u32) -> char {
    char::from_u32(c as u32 + by).unwrap_or(c)
}

/// The mapped character if there is exactly one, else `c`.
fn single(c: char, mut mapped: impl Iterator<Item = char>) -> char {
    match (mapped.next(), mapped.next()) {
        (Some(other), None) => other,
        _ => c,
    }
}
