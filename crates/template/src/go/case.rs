//! `strings.ToUpper` and `strings.ToLower`, for functions that templates call: each character becomes one character.

use super::unicode::Runes;

/// The text in capital letters. A byte that belongs to no character becomes U+FFFD.
///
/// ```
/// assert_eq!(ai_prompt_template::go::to_upper("straße ǆ".as_bytes()), "STRAßE Ǆ".as_bytes());
/// ```
pub fn to_upper(text: &[u8]) -> Vec<u8> {
    mapped(text, |c| match c {
        // Greek letters with an iota below, whose capitals are two characters: the single one has it beside.
        '\u{1f80}'..='\u{1f87}' | '\u{1f90}'..='\u{1f97}' | '\u{1fa0}'..='\u{1fa7}' => offset(c, 8),
        '\u{1fb3}' | '\u{1fc3}' | '\u{1ff3}' => offset(c, 9),
        _ => single(c, c.to_uppercase()),
    })
}

/// The text in small letters. A byte that belongs to no character becomes U+FFFD.
pub fn to_lower(text: &[u8]) -> Vec<u8> {
    mapped(text, |c| match c {
        'İ' => 'i',
        _ => single(c, c.to_lowercase()),
    })
}

fn mapped(text: &[u8], map: impl Fn(char) -> char) -> Vec<u8> {
    let text: String = Runes(text).map(|(c, _)| c.map_or('\u{fffd}', &map)).collect();
    text.into_bytes()
}

fn offset(c: char, by: u32) -> char {
    char::from_u32(c as u32 + by).unwrap_or(c)
}

/// What `c` is mapped to if that is a single character, and else `c`.
fn single(c: char, mut mapped: impl Iterator<Item = char>) -> char {
    match (mapped.next(), mapped.next()) {
        (Some(other), None) => other,
        _ => c,
    }
}
