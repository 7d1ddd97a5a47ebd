//! Small conversions for HTTP: media types, byte order marks, percent-encoding.

use percent_encoding::{AsciiSet, NON_ALPHANUMERIC, percent_decode_str, utf8_percent_encode};

/// All characters that are not unreserved in RFC 3986.
const RESERVED: &AsciiSet = &NON_ALPHANUMERIC.remove(b'-').remove(b'.').remove(b'_').remove(b'~');

/// The media type of a `content-type`, without parameters (RFC 9110, section 8.3.1). It is to be compared without case.
pub fn media_type(content_type: &str) -> &str {
    content_type.split(';').next().unwrap_or_default().trim()
}

/// The text without a byte order mark at its start, which RFC 8259 (section 8.1) lets JSON parsers ignore.
pub fn without_bom(text: &[u8]) -> &[u8] {
    text.strip_prefix(b"\xef\xbb\xbf").unwrap_or(text)
}

/// The text without a byte order mark at its start, which says nothing in UTF-8.
pub fn without_mark(text: &str) -> &str {
    text.strip_prefix('\u{feff}').unwrap_or(text)
}

/// Percent-encodes a text for use in a URL: all but ASCII letters, digits, `-`, `.`, `_` and `~`.
pub fn percent_encoded(text: &str) -> String {
    utf8_percent_encode(text, RESERVED).to_string()
}

/// The text without its percent-encoding; `None` if that is broken, or if it is no UTF-8.
pub fn percent_decoded(text: &str) -> Option<String> {
    let is_whole = |part: &str| part.bytes().take_while(u8::is_ascii_hexdigit).count() >= 2;
    let is_sound = text.split('%').skip(1).all(is_whole);
    let decoded = percent_decode_str(text).decode_utf8().ok()?;
    is_sound.then(|| decoded.into_owned())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn media_types_lose_their_parameters() {
        assert_eq!(media_type(" application/json ; charset=utf-8"), "application/json");
        assert_eq!(media_type(""), "");
    }

    #[test]
    fn all_but_unreserved_characters_are_encoded() {
        assert_eq!(percent_encoded("a-z.0_9~ä/b c"), "a-z.0_9~%C3%A4%2Fb%20c");
        assert_eq!(percent_decoded("a-z.0_9~%C3%A4%2Fb%20c").as_deref(), Some("a-z.0_9~ä/b c"));
        assert!(["%", "%4", "%zz", "%+4", "%ff"].iter().all(|broken| percent_decoded(broken).is_none()));
        assert_eq!(without_bom("\u{feff}{}".as_bytes()), b"{}");
        assert_eq!(without_mark("\u{feff}{}"), "{}");
    }
}
