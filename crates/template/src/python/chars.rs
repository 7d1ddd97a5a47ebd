//! The classes and the case mappings of characters in Unicode 14, which Python 3.11 uses.
//!
//! Rust's tables are of a newer Unicode, which only adds characters. What is added is not printable in Unicode 14; so where
//! Rust's tables answer, a character counts only if it is printable.

use super::char_tables as tables;
use crate::ranges::within;

/// Category L*.
pub fn is_alpha(c: char) -> bool {
    if c.is_ascii() { c.is_ascii_alphabetic() } else { within(tables::ALPHA, c) }
}

/// Category Nd: the digits of any script.
pub fn is_decimal(c: char) -> bool {
    if c.is_ascii() { c.is_ascii_digit() } else { within(tables::DECIMAL, c) }
}

/// The value of a decimal digit of any script.
pub fn decimal_value(c: char) -> Option<u8> {
    if c.is_ascii() {
        return c.is_ascii_digit().then(|| c as u8 - b'0');
    }
    let code = c as u32;
    let below = tables::DECIMAL.partition_point(|&bound| bound <= code);
    let start = tables::DECIMAL.get(below.checked_sub(1)? & !1)?;
    is_decimal(c).then(|| ((code - start) % 10) as u8)
}

/// Decimal digits and digits such as superscripts.
pub fn is_digit(c: char) -> bool {
    is_decimal(c) || !c.is_ascii() && within(tables::DIGIT, c)
}

/// Digits, fractions, and numerals of other scripts.
pub fn is_numeric(c: char) -> bool {
    is_digit(c) || !c.is_ascii() && within(tables::NUMERIC, c)
}

/// Letters and numeric characters.
pub fn is_alnum(c: char) -> bool {
    is_alpha(c) || is_numeric(c)
}

/// What `\w` matches.
pub fn is_word(c: char) -> bool {
    c == '_' || is_alnum(c)
}

/// Whitespace of `str.isspace`, `str.split` and of `\s`.
pub fn is_space(c: char) -> bool {
    matches!(
        c,
        '\t'..='\r' | '\x1c'..=' ' | '\u{85}' | '\u{a0}' | '\u{1680}' | '\u{2000}'..='\u{200a}'
            | '\u{2028}' | '\u{2029}' | '\u{202f}' | '\u{205f}' | '\u{3000}'
    )
}

/// Where `str.splitlines` ends a line.
pub fn is_line_end(c: char) -> bool {
    matches!(c, '\n'..='\r' | '\x1c'..='\x1e' | '\u{85}' | '\u{2028}' | '\u{2029}')
}

/// Whether `repr` leaves the character as it is.
pub fn is_printable(c: char) -> bool {
    if c.is_ascii() { (' '..='~').contains(&c) } else { within(tables::PRINTABLE, c) }
}

/// Upper-case letters, without title-case letters.
pub fn is_upper(c: char) -> bool {
    if c.is_ascii() { c.is_ascii_uppercase() } else { c.is_uppercase() && is_printable(c) }
}

/// Lower-case letters and letter-like characters.
pub fn is_lower(c: char) -> bool {
    match c {
        _ if c.is_ascii() => c.is_ascii_lowercase(),
        '\u{295}' => true,
        '\u{10fc}' | '\u{a7f2}'..='\u{a7f4}' | '\u{ab69}' => false,
        _ => c.is_lowercase() && is_printable(c),
    }
}

/// Title-case letters such as `ǅ`.
pub fn is_title(c: char) -> bool {
    !c.is_ascii() && within(tables::TITLE, c)
}

/// Whether the character begins an identifier.
pub fn starts_name(c: char) -> bool {
    match c {
        '_' => true,
        _ if c.is_ascii() => c.is_ascii_alphabetic(),
        _ => is_alpha(c) && !within(tables::NO_NAME_START, c) || within(tables::NAME_START, c),
    }
}

/// Whether the character may stand in an identifier.
pub fn continues_name(c: char) -> bool {
    starts_name(c) || c.is_ascii_digit() || !c.is_ascii() && within(tables::NAME_PART, c)
}

/// Whether the character is of upper, lower or title case.
pub fn is_cased(c: char) -> bool {
    is_upper(c) || is_lower(c) || is_title(c)
}

/// Whether the character is passed over where case is looked for.
pub(super) fn is_case_ignorable(c: char) -> bool {
    if c.is_ascii() { matches!(c, '\'' | '.' | ':' | '^' | '`') } else { within(tables::IGNORABLE, c) }
}

/// Writes the upper case of one character.
pub fn push_upper(out: &mut String, c: char) {
    push_known(out, c, c.to_uppercase());
}

/// Writes the lower case of one character; a sigma is never final.
pub fn push_lower(out: &mut String, c: char) {
    push_known(out, c, c.to_lowercase());
}

/// Writes the mapping of `c`, or `c` itself where Unicode 14 has no such mapping.
fn push_known(out: &mut String, c: char, mapping: impl Iterator<Item = char> + Clone) {
    if c.is_ascii() || is_printable(c) && mapping.clone().all(is_printable) {
        out.extend(mapping);
    } else {
        out.push(c);
    }
}

/// Writes the title case of one character.
pub fn push_title(out: &mut String, c: char) {
    if c.is_ascii() {
        out.push(c.to_ascii_uppercase());
    } else if is_title(c) || matches!(c, '\u{10d0}'..='\u{10fa}' | '\u{10fd}'..='\u{10ff}') {
        // Georgian has capitals that are never used to begin a word.
        out.push(c);
    } else if let Some(title) = mapped(tables::TITLE_CASE, c) {
        out.push_str(title);
    } else {
        push_upper(out, c);
    }
}

/// Writes what `str.casefold` makes of one character.
pub fn push_fold(out: &mut String, c: char) {
    match c {
        // Cherokee folds to its capitals, which are the older letters.
        '\u{13a0}'..='\u{13f5}' => out.push(c),
        '\u{ab70}'..='\u{abbf}' => out.extend(char::from_u32(c as u32 - 0xab70 + 0x13a0)),
        _ => match mapped(tables::FOLD, c) {
            Some(folded) => out.push_str(folded),
            None => push_lower(out, c),
        },
    }
}

fn mapped(table: &[(char, &'static str)], c: char) -> Option<&'static str> {
    let at = table.binary_search_by_key(&c, |&(from, _)| from).ok()?;
    table.get(at).map(|&(_, to)| to)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn classes_are_those_of_unicode_14() {
        assert!(is_alpha('ª') && !is_alpha('Ⅷ') && is_numeric('Ⅷ') && is_numeric('五') && is_alpha('五'));
        assert!(is_digit('²') && !is_decimal('²') && is_decimal('٣') && decimal_value('٣') == Some(3));
        assert!(!is_numeric('a') && is_numeric('½') && decimal_value('½').is_none());
        assert!(is_space('\x1f') && is_space('\u{3000}') && !is_space('\u{200b}'));
        assert!(starts_name('℘') && !starts_name('1') && continues_name('·') && !continues_name('-'));
        // Given to Unicode 16: no letter yet.
        assert!(!is_alpha('\u{a7cb}') && !is_upper('\u{a7cb}') && !is_printable('\u{a7cb}'));
    }

    #[test]
    fn mappings_are_those_of_unicode_14() {
        let map = |push: fn(&mut String, char), c| {
            let mut out = String::new();
            push(&mut out, c);
            out
        };
        assert_eq!(map(push_upper, 'ß'), "SS");
        assert_eq!(map(push_title, 'ß'), "Ss");
        assert_eq!(map(push_title, 'ა'), "ა");
        assert_eq!(map(push_upper, 'ა'), "Ა");
        assert_eq!(map(push_fold, 'ß'), "ss");
        assert_eq!(map(push_fold, 'ꭰ'), "Ꭰ");
        assert_eq!(map(push_lower, 'İ'), "i̇");
        assert_eq!(map(push_upper, '\u{264}'), "\u{264}");
    }
}
