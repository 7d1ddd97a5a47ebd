//! From the bytes of an answer to a value, as its `content-type` says.

use encoding_rs::{Encoding, UTF_8};
use http::HeaderMap;
use http::header::CONTENT_TYPE;

use crate::error::ToolError;
use crate::offload::{LARGE_BYTES, offload};
use base::encoding::{media_type, without_bom};
use template::value::{Value, from_json};

/// What a `content-type` says about the bytes.
#[derive(Debug, Clone, Copy)]
pub struct AnswerType {
    is_json: bool,
    charset: &'static Encoding,
}

impl AnswerType {
    /// Reads the `content-type`. Without a charset, or with one that is not known, the bytes are UTF-8.
    pub fn of(headers: &HeaderMap) -> AnswerType {
        let declared = headers.get(CONTENT_TYPE).and_then(|value| value.to_str().ok()).unwrap_or_default();
        let media_type = media_type(declared).to_ascii_lowercase();
        AnswerType {
            is_json: media_type == "application/json" || media_type.ends_with("+json"),
            charset: charset(declared).unwrap_or(UTF_8),
        }
    }

    /// The value of the bytes: JSON parsed, anything else as a text. No bytes are an empty text.
    ///
    /// # Errors
    /// [`ToolError::Answer`] if they are not valid.
    pub async fn value(self, bytes: Vec<u8>) -> Result<Value, ToolError> {
        let is_large = bytes.len() > LARGE_BYTES;
        let parse = move || self.parse(bytes);
        if is_large { offload(parse).await } else { parse() }
    }

    /// The text of an error's body; what is not valid in it is replaced.
    pub fn lossy(self, bytes: &[u8]) -> String {
        self.charset.decode(bytes).0.into_owned()
    }

    fn parse(self, bytes: Vec<u8>) -> Result<Value, ToolError> {
        let bytes = if self.charset == UTF_8 { bytes } else { self.to_utf8(&bytes)?.into_bytes() };
        if self.is_json && !bytes.is_empty() {
            let invalid = |error| ToolError::Answer { message: format!("it is not valid JSON: {error}") };
            return from_json(without_bom(&bytes)).map_err(invalid);
        }
        let text = String::from_utf8(bytes);
        let text =
            text.map_err(|_| ToolError::Answer { message: "it is neither JSON nor UTF-8 text".into() })?;
        Ok(Value::from(text.as_str()))
    }

    fn to_utf8(self, bytes: &[u8]) -> Result<String, ToolError> {
        // A byte order mark says more than the header.
        let charset = Encoding::for_bom(bytes).map_or(self.charset, |(charset, _)| charset);
        let text = charset.decode_with_bom_removal(bytes);
        match text {
            (text, false) => Ok(text.into_owned()),
            (_, true) => {
                let message = format!("it says that it is {}, but is not", charset.name());
                Err(ToolError::Answer { message })
            }
        }
    }
}

/// The charset of a `content-type` (RFC 9110, section 8.3.2); `None` without one that is known.
fn charset(content_type: &str) -> Option<&'static Encoding> {
    let mut parameters = content_type.split(';').skip(1).filter_map(|parameter| parameter.split_once('='));
    let (_, label) = parameters.find(|(name, _)| name.trim().eq_ignore_ascii_case("charset"))?;
    Encoding::for_label_no_replacement(label.trim().trim_matches('"').as_bytes())
}

#[cfg(test)]
mod tests {
    use super::*;
    use http::HeaderValue;

    fn value(content_type: &'static str, bytes: &[u8]) -> Result<Value, ToolError> {
        let headers = HeaderMap::from_iter([(CONTENT_TYPE, HeaderValue::from_static(content_type))]);
        AnswerType::of(&headers).parse(bytes.to_vec())
    }

    #[test]
    fn texts_are_read_in_the_charset_that_they_declare() {
        for (content_type, bytes, text) in [
            ("text/plain; charset=iso-8859-1", &b"gr\xfc\xdfe"[..], "grüße"),
            ("text/plain; Charset=\"Windows-1251\"", b"\xcf\xf0\xe8\xe2\xe5\xf2", "Привет"),
            ("text/plain;format=flowed;charset=shift_jis", b"\x93\xfa\x96\x7b", "日本"),
            ("text/plain; charset=utf-16", b"\xfe\xff\0a\0b", "ab"),
            ("text/plain; charset=utf-8", "ä".as_bytes(), "ä"),
            ("text/plain; charset=unheard-of", "ä".as_bytes(), "ä"),
            ("application/json; charset=iso-8859-1", b"\"\xe4\"", "ä"),
            ("application/json; charset=utf-16", b"\xff\xfe\"\0a\0\"\0", "a"),
        ] {
            assert_eq!(value(content_type, bytes), Ok(Value::from(text)), "{content_type}");
        }
    }

    #[test]
    fn bytes_that_are_not_what_they_declare_are_refused() {
        for (content_type, bytes, expected) in [
            ("text/plain; charset=shift_jis", &b"\x93"[..], "Shift_JIS"),
            ("text/plain; charset=iso-2022-kr", b"\xff", "UTF-8"),
            ("text/plain", b"\xff", "UTF-8"),
        ] {
            let error = value(content_type, bytes).unwrap_err().to_string();
            assert!(error.contains(expected), "{content_type}: {error}");
        }
    }
}
