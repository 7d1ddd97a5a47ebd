//! White space as models and terminals write it.

/// Whether a character is white space; the byte order mark and characters without a width are, too.
pub(crate) fn is_space(c: char) -> bool {
    c.is_whitespace() || matches!(c, '\u{200b}' | '\u{2060}' | '\u{feff}')
}

/// The text without white space around it.
pub(crate) fn trim(text: &str) -> &str {
    text.trim_matches(is_space)
}

/// Whether a text is nothing but white space.
pub(crate) fn is_blank(text: &str) -> bool {
    text.chars().all(is_space)
}
