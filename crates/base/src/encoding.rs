//! What stands around the texts of HTTP: media types, byte order marks, and the escapes of addresses.

use percent_encoding::{AsciiSet, NON_ALPHANUMERIC, utf8_percent_encode};

/// All that RFC 3986 does not call unreserved.
const RESERVED: &AsciiSet = &NON_ALPHANUMERIC.remove(b'-').remove(b'.').remove(b'_').remove(b'~');

/// The media type in the value of a `content-type`, without its parameters (RFC 9110, section 8.3.1). Capitals mean nothing
/// in it.
pub fn media_type(content_type: &str) -> &str {
    content_type.split(';').next().unwrap_or_default().trim()
}

/// The text without the byte order mark that it may begin with, which RFC 8259 (section 8.1) lets parsers ignore.
pub fn without_bom(text: &[u8]) -> &[u8] {
    text.strip_prefix(b"\xef\xbb\xbf").unwrap_or(text)
}

/// The text as a part of an address: everything but letters, digits, `-`, `.`, `_` and `~` is percent-encoded.
pub fn percent_encoded(text: &str) -> String {
    utf8_percent_encode(text, RESERVED).to_string()
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
    fn what_is_not_unreserved_is_encoded() {
        assert_eq!(percent_encoded("a-z.0_9~ä/b c"), "a-z.0_9~%C3%A4%2Fb%20c");
        assert_eq!(without_bom("\u{feff}{}".as_bytes()), b"{}");
    }
}
