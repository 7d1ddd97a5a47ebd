//! Python's `repr(str)`, and the escapes of string literals.

use super::{PyError, chars};

/// `repr(str)`: in single quotes, or in double quotes where the text has single quotes only.
pub fn write_repr(out: &mut String, text: &str) {
    let quote = if text.contains('\'') && !text.contains('"') { '"' } else { '\'' };
    out.push(quote);
    for c in text.chars() {
        match c {
            '\n' => out.push_str("\\n"),
            '\t' => out.push_str("\\t"),
            '\r' => out.push_str("\\r"),
            '\\' => out.push_str("\\\\"),
            c if c == quote => out.extend(['\\', c]),
            c if chars::is_printable(c) => out.push(c),
            c => push_escape(out, c),
        }
    }
    out.push(quote);
}

/// Writes `text` with escapes for what is not ASCII, as Python's `backslashreplace`.
pub fn escape_wide(out: &mut String, text: &str) {
    for c in text.chars() {
        if c.is_ascii() { out.push(c) } else { push_escape(out, c) }
    }
}

/// `\xNN`, `\uNNNN` or `\UNNNNNNNN`.
fn push_escape(out: &mut String, c: char) {
    let code = c as u32;
    out.push_str(&match code {
        0..=0xff => format!("\\x{code:02x}"),
        0x100..=0xffff => format!("\\u{code:04x}"),
        _ => format!("\\U{code:08x}"),
    });
}

/// What Jinja2's lexer makes of the text between the quotes of a string literal: newlines become `\n`, then the escapes of
/// Python's `unicode-escape` are read. An escape of a surrogate gives U+FFFD. Errors are `ValueError`s with the text that
/// Jinja2 reports.
pub fn unescape(literal_body: &str) -> Result<String, PyError> {
    let body = normalize_newlines(literal_body);
    let mut out = String::with_capacity(body.len());
    let mut rest = body.as_str();
    while let Some((plain, escape)) = rest.split_once('\\') {
        out.push_str(plain);
        rest = read_escape(&mut out, escape)?;
    }
    out.push_str(rest);
    Ok(out)
}

fn normalize_newlines(text: &str) -> String {
    if text.contains('\r') { text.replace("\r\n", "\n").replace('\r', "\n") } else { text.to_owned() }
}

/// Reads the escape after a backslash and gives what follows it.
fn read_escape<'t>(out: &mut String, text: &'t str) -> Result<&'t str, PyError> {
    let mut chars = text.chars();
    let Some(c) = chars.next() else { return PyError::value_error("\\ at end of string") };
    let rest = chars.as_str();
    match c {
        '\n' => {}
        '\\' | '\'' | '"' => out.push(c),
        'a' => out.push('\x07'),
        'b' => out.push('\x08'),
        'f' => out.push('\x0c'),
        'n' => out.push('\n'),
        'r' => out.push('\r'),
        't' => out.push('\t'),
        'v' => out.push('\x0b'),
        '0'..='7' => return Ok(read_octal(out, text)),
        'x' => return read_hex(out, rest, 2, "truncated \\xXX escape"),
        'u' => return read_hex(out, rest, 4, "truncated \\uXXXX escape"),
        'U' => return read_hex(out, rest, 8, "truncated \\UXXXXXXXX escape"),
        'N' => return read_name(out, rest),
        // Python first replaces the character by an escape, whose backslash then pairs with the one before it.
        c if !c.is_ascii() => push_escape(out, c),
        c => out.extend(['\\', c]),
    }
    Ok(rest)
}

fn read_octal<'t>(out: &mut String, text: &'t str) -> &'t str {
    let count = text.bytes().take(3).take_while(|digit| (b'0'..=b'7').contains(digit)).count();
    let (digits, rest) = text.split_at_checked(count).unwrap_or((text, ""));
    out.extend(u32::from_str_radix(digits, 8).ok().and_then(char::from_u32));
    rest
}

fn read_hex<'t>(out: &mut String, text: &'t str, count: usize, problem: &str) -> Result<&'t str, PyError> {
    let digits = text.get(..count).filter(|digits| digits.bytes().all(|digit| digit.is_ascii_hexdigit()));
    let Some(digits) = digits else { return PyError::value_error(problem) };
    let code = u32::from_str_radix(digits, 16).unwrap_or(u32::MAX);
    if code > 0x10_ffff {
        return PyError::value_error("illegal Unicode character");
    }
    out.push(char::from_u32(code).unwrap_or('\u{fffd}'));
    Ok(text.get(count..).unwrap_or_default())
}

/// Reads the rest of `\N{name}`. Other than in Python, spaces, hyphens and underscores do not matter.
fn read_name<'t>(out: &mut String, text: &'t str) -> Result<&'t str, PyError> {
    let braced = text.strip_prefix('{').and_then(|text| text.split_once('}'));
    let Some((name, rest)) = braced.filter(|(name, _)| !name.is_empty()) else {
        return PyError::value_error("malformed \\N character escape");
    };
    let Some(c) = unicode_names2::character(name) else {
        return PyError::value_error("unknown Unicode character name");
    };
    out.push(c);
    Ok(rest)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn repr_chooses_its_quotes_and_escapes_what_cannot_be_printed() {
        let cases = [
            ("it's", "\"it's\""),
            ("a\"b'c", "'a\"b\\'c'"),
            ("\n\t\r\\\x00\x7f", "'\\n\\t\\r\\\\\\x00\\x7f'"),
            ("é\u{a0}世\u{200b}😀\u{e0001}", "'é\\xa0世\\u200b😀\\U000e0001'"),
        ];
        for (text, repr) in cases {
            let mut out = String::new();
            write_repr(&mut out, text);
            assert_eq!(out, repr);
        }
    }

    #[test]
    fn literals_are_read_as_the_lexer_of_jinja2_reads_them() {
        let cases = [
            (r"a\nb\t\\\'\q", "a\nb\t\\'\\q"),
            (r"\x41\u00e9\U0001F600\101\7\400", "Aé😀A\x07Ā"),
            ("a\r\nb\rc\\\nd", "a\nb\ncd"),
            (r"\é", "\\xe9"),
            ("é\\世", "é\\u4e16"),
            (r"\ud83d", "\u{fffd}"),
            (r"\N{BULLET}\N{latin small letter e with acute}.\N{NO-BREAK SPACE}\N{LF}", "•é.\u{a0}\n"),
            (r"\N{HANGUL SYLLABLE GA}\N{CJK UNIFIED IDEOGRAPH-4E16}\N{BELL}", "가世🔔"),
        ];
        for (literal, text) in cases {
            assert_eq!(unescape(literal).as_deref(), Ok(text));
        }
        for (literal, message) in [
            (r"\x4", "truncated \\xXX escape"),
            (r"\u12g4", "truncated \\uXXXX escape"),
            (r"\U00110000", "illegal Unicode character"),
            (r"\N{BULLETIN}", "unknown Unicode character name"),
            (r"\N{KEYCAP DIGIT ONE}", "unknown Unicode character name"),
            (r"\NBULLET", "malformed \\N character escape"),
            (r"\N{}", "malformed \\N character escape"),
            (r"\N{BULLET", "malformed \\N character escape"),
            ("\\", "\\ at end of string"),
        ] {
            assert_eq!(unescape(literal), PyError::value_error(message));
        }
    }
}
