//! `Marshal` of Go's `encoding/json`, for the values of templates.

use super::super::unicode::Runes;
use super::super::val::{V, Val};
use super::Printer;
use super::float::Decimal;

/// The special characters of HTML, which `Marshal` escapes.
const HTML: [char; 3] = ['<', '>', '&'];

impl Printer<'_> {
    /// Prints the value as JSON, with sorted keys and without spaces.
    ///
    /// # Errors
    /// Go's message for a value that JSON cannot represent.
    pub(in super::super) fn json(&mut self, value: &Val<'_>, escape_html: bool) -> Result<(), String> {
        self.json_at(value, escape_html, 0)
    }

    fn json_at(&mut self, value: &Val<'_>, escape_html: bool, depth: usize) -> Result<(), String> {
        if !self.enters(depth) {
            return Ok(());
        }
        match value.v {
            V::None | V::Absent(_) | V::Pending(_) | V::Gap | V::Nil => self.push(b"null"),
            V::Bool(truth) => self.push(if truth { b"true" } else { b"false" }),
            V::Int(n) | V::Whole(_, n) => self.push(itoa::Buffer::new().format(n).as_bytes()),
            V::Byte(n) => self.push(itoa::Buffer::new().format(n).as_bytes()),
            V::Float(n) => self.json_number(n)?,
            V::Complex(..) => return Err("json: unsupported type: complex128".into()),
            V::Str(text) => self.json_string(text, escape_html),
            V::Slice(slice) if slice.nil => self.push(b"null"),
            V::Time(moment) => {
                self.push(b"\"");
                self.push(&moment.json()?);
                self.push(b"\"");
            }
            V::List(_) | V::Slice(_) => {
                self.push(b"[");
                let mut at = 0;
                while let Some(item) = value.item(at).filter(|_| !self.overflow) {
                    self.push(if at > 0 { b"," } else { b"" });
                    self.json_at(&item, escape_html, depth + 1)?;
                    at += 1;
                }
                self.push(b"]");
            }
            V::Map(_) | V::Dict(_) => {
                self.push(b"{");
                for (at, (key, member)) in value.members().iter().enumerate() {
                    if self.overflow {
                        break;
                    }
                    self.push(if at > 0 { b"," } else { b"" });
                    self.json_string(key, escape_html);
                    self.push(b":");
                    self.json_at(member, escape_html, depth + 1)?;
                }
                self.push(b"}");
            }
        }
        Ok(())
    }

    /// The fewest digits, with an exponent only for very small and very large numbers.
    fn json_number(&mut self, number: f64) -> Result<(), String> {
        if !number.is_finite() {
            let name = super::sprint(&[Val::float(number)]);
            return Err(format!("json: unsupported value: {name}"));
        }
        self.push(if number.is_sign_negative() { b"-" } else { b"" });
        let mut text = Vec::new();
        Decimal::shortest(number.abs()).push_json(&mut text);
        self.push(&text);
        Ok(())
    }

    fn json_string(&mut self, text: &[u8], escape_html: bool) {
        self.push(b"\"");
        for (c, bytes) in Runes(text) {
            match c {
                Some('"') => self.push(b"\\\""),
                Some('\\') => self.push(b"\\\\"),
                Some('\n') => self.push(b"\\n"),
                Some('\r') => self.push(b"\\r"),
                Some('\t') => self.push(b"\\t"),
                Some('\x08') => self.push(b"\\b"),
                Some('\x0c') => self.push(b"\\f"),
                Some(c @ ('\0'..' ' | '\u{2028}' | '\u{2029}')) => self.json_code(c),
                Some(c) if escape_html && HTML.contains(&c) => self.json_code(c),
                Some(_) => self.push(bytes),
                None => self.push_char('\u{fffd}'),
            }
        }
        self.push(b"\"");
    }

    fn json_code(&mut self, c: char) {
        self.push(format!("\\u{:04x}", c as u32).as_bytes());
    }
}

#[cfg(test)]
mod tests {
    use super::super::super::val::Val;
    use super::Printer;
    use crate::value::from_json;

    fn json(value: &Val<'_>, escape_html: bool) -> String {
        let mut out = Vec::new();
        Printer::new(&mut out, 1 << 20).json(value, escape_html).unwrap();
        String::from_utf8(out).unwrap()
    }

    #[test]
    fn numbers_and_keys_are_written_as_go_writes_them() {
        for (data, expected) in [
            ("1e20", "100000000000000000000"),
            ("1e21", "1e+21"),
            ("1.5e-7", "1.5e-7"),
            ("1.25e-10", "1.25e-10"),
            ("0.000001", "0.000001"),
            ("2.9802322387695312e-08", "2.9802322387695312e-8"),
            ("-0", "-0"),
            ("-12.5", "-12.5"),
            ("1e6", "1000000"),
            (r#"{"b":[1,null,{}],"a":{"<":"&\n"}}"#, r#"{"a":{"<":"&\n"},"b":[1,null,{}]}"#),
        ] {
            assert_eq!(json(&Val::data(&from_json(data.as_bytes()).unwrap()), false), expected, "{data}");
        }
    }

    #[test]
    fn strings_are_escaped_as_go_escapes_them() {
        assert_eq!(
            json(&Val::bytes(b"<&>\xff\x01\"\\"), true),
            "\"\\u003c\\u0026\\u003e\u{fffd}\\u0001\\\"\\\\\""
        );
        assert_eq!(json(&Val::text("\u{2028}<"), false), "\"\\u2028<\"");
    }
}
