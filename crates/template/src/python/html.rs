//! `markupsafe` and `html`: escaping, references of characters, tags, and the keys of `xmlattr`.

use std::borrow::Cow;

use super::PyError;
use super::chars::is_space;
use super::entities::ENTITIES;
use super::repr::write_repr;

/// `markupsafe.escape` of a text that is no markup yet.
pub fn escape(text: &str) -> Cow<'_, str> {
    if !text.contains(['&', '<', '>', '\'', '"']) {
        return Cow::Borrowed(text);
    }
    let mut out = String::with_capacity(text.len() + text.len() / 8);
    for c in text.chars() {
        match c {
            '&' => out.push_str("&amp;"),
            '<' => out.push_str("&lt;"),
            '>' => out.push_str("&gt;"),
            '\'' => out.push_str("&#39;"),
            '"' => out.push_str("&#34;"),
            c => out.push(c),
        }
    }
    Cow::Owned(out)
}

/// `html.unescape`: all named references of HTML 5 and numeric ones. (Python refuses a decimal reference of more than 4300
/// digits; here it gives U+FFFD.)
pub fn unescape(text: &str) -> Cow<'_, str> {
    if !text.contains('&') {
        return Cow::Borrowed(text);
    }
    let mut out = String::with_capacity(text.len());
    let mut rest = text;
    while let Some((plain, reference)) = rest.split_once('&') {
        out.push_str(plain);
        rest = numeric(&mut out, reference).or_else(|| named(&mut out, reference)).unwrap_or_else(|| {
            out.push('&');
            reference
        });
    }
    out.push_str(rest);
    Cow::Owned(out)
}

/// Reads `#38;` or `#x26;` and gives what follows.
fn numeric<'t>(out: &mut String, text: &'t str) -> Option<&'t str> {
    let text = text.strip_prefix('#')?;
    let (text, radix) = text.strip_prefix(['x', 'X']).map_or((text, 10), |hex| (hex, 16));
    let end = text.find(|c: char| !c.is_digit(radix)).unwrap_or(text.len());
    let (digits, rest) = text.split_at(end);
    if digits.is_empty() {
        return None;
    }
    let significant = digits.trim_start_matches('0');
    let code = if significant.is_empty() { Ok(0) } else { u32::from_str_radix(significant, radix) };
    out.extend(referenced(code.unwrap_or(u32::MAX)));
    Some(rest.strip_prefix(';').unwrap_or(rest))
}

/// What the codes 0x80 to 0x9f mean in references: those of Windows-1252.
const WINDOWS_1252: &str = "€\u{81}‚ƒ„…†‡ˆ‰Š‹Œ\u{8d}Ž\u{8f}\u{90}‘’“”•–—˜™š›œ\u{9d}žŸ";

/// The character of a numeric reference; nothing for a control character.
fn referenced(code: u32) -> Option<char> {
    match code {
        0 => Some('\u{fffd}'),
        0x80..=0x9f => WINDOWS_1252.chars().nth((code - 0x80) as usize),
        0x1..=0x8 | 0xb | 0xe..=0x1f | 0x7f | 0xfdd0..=0xfdef => None,
        _ if code <= 0x10_ffff && code & 0xfffe == 0xfffe => None,
        _ => Some(char::from_u32(code).unwrap_or('\u{fffd}')),
    }
}

/// Reads `amp;` and gives what follows; of an unknown name the longest known start counts.
fn named<'t>(out: &mut String, text: &'t str) -> Option<&'t str> {
    let ends = |c| matches!(c, '\t' | '\n' | '\x0c' | ' ' | '<' | '&' | '#' | ';');
    let end = text.char_indices().take(33).enumerate().find(|&(count, (_, c))| count == 32 || ends(c));
    let end = end.map_or(text.len(), |(_, (at, _))| at);
    let (name, rest) = text.split_at(end);
    let end = if rest.starts_with(';') { end + 1 } else { end };
    if name.is_empty() {
        return None;
    }
    let whole = text.get(..end).and_then(entity).map(|found| (end, found));
    let start = || (2..end).rev().find_map(|end| Some((end, entity(text.get(..end)?)?)));
    let (end, found) = whole.or_else(start)?;
    out.push_str(found);
    text.get(end..)
}

fn entity(name: &str) -> Option<&'static str> {
    let at = ENTITIES.binary_search_by_key(&name, |&(name, _)| name).ok()?;
    ENTITIES.get(at).map(|&(_, text)| text)
}

/// `Markup(text).striptags()`: without comments and tags, with single spaces, and unescaped.
pub fn strip_tags(text: &str) -> String {
    let text = strip_comments(text);
    let mut out = String::with_capacity(text.len());
    let mut rest = text.as_str();
    while let Some((plain, tag)) = rest.split_once('<') {
        let Some((_, after)) = tag.split_once('>') else { break };
        out.push_str(plain);
        rest = after;
    }
    out.push_str(rest);
    let words: Vec<_> = out.split(is_space).filter(|word| !word.is_empty()).collect();
    unescape(&words.join(" ")).into_owned()
}

/// Without `<!-- … -->`, also where one is formed by what stood around another.
fn strip_comments(text: &str) -> String {
    let mut out = String::with_capacity(text.len());
    let mut rest = text;
    while let Some(body) = comment_body(&mut out, &mut rest) {
        let end = match body.strip_prefix('-') {
            // The end may share its hyphens with the start.
            _ if body.starts_with('>') => Some(1),
            Some(after) if after.starts_with('>') => Some(2),
            _ => body.find("-->").map(|end| end + 3),
        };
        let Some(end) = end else {
            out.push_str("<!--");
            rest = body;
            break;
        };
        rest = body.get(end..).unwrap_or_default();
    }
    out.push_str(rest);
    out
}

/// Moves what stands before the next comment to `out`, and gives what follows its `<!--`; of that, a part may be in `out`.
fn comment_body<'t>(out: &mut String, rest: &mut &'t str) -> Option<&'t str> {
    for (left, right) in [("<!-", "-"), ("<!", "--"), ("<", "!--")] {
        if let Some(body) = rest.strip_prefix(right).filter(|_| out.ends_with(left)) {
            out.truncate(out.len() - left.len());
            return Some(body);
        }
    }
    let (plain, body) = rest.split_once("<!--")?;
    out.push_str(plain);
    Some(body)
}

/// `jinja2.utils.url_quote`: percent-encodes UTF-8; in a query string (`for_qs`) also `/`, and a space becomes `+`.
pub fn url_quote(text: &str, for_qs: bool) -> String {
    const HEX: &[u8; 16] = b"0123456789ABCDEF";
    let mut out = String::with_capacity(text.len());
    for byte in text.bytes() {
        match byte {
            b'a'..=b'z' | b'A'..=b'Z' | b'0'..=b'9' | b'_' | b'.' | b'-' | b'~' => out.push(char::from(byte)),
            b'/' if !for_qs => out.push('/'),
            b' ' if for_qs => out.push('+'),
            _ => {
                let digit = |at: u8| char::from(HEX.get(usize::from(at)).copied().unwrap_or(b'0'));
                out.extend(['%', digit(byte >> 4), digit(byte & 15)]);
            }
        }
    }
    out
}

/// The check that the `xmlattr` filter makes of every key.
pub fn check_attribute_name(key: &str) -> Result<(), PyError> {
    // `\s` is that of ASCII here.
    if !key.contains(|c| matches!(c, '\t'..='\r' | ' ' | '/' | '>' | '=')) {
        return Ok(());
    }
    let mut message = "Invalid character in attribute name: ".to_owned();
    write_repr(&mut message, key);
    PyError::value_error(message)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn references_are_read_as_html_5_has_them() {
        let cases = [
            ("&lt;&#39;&#x26;&amp", "<'&&"),
            ("&notit;&notin;", "¬it;∉"),
            ("&#0;&#128;&#x110000;&#1;&#xd800;", "\u{fffd}€\u{fffd}\u{fffd}"),
            ("&unknown; & &; &#; &#x;", "&unknown; & &; &#; &#x;"),
            ("&NotEqualTilde;", "≂\u{338}"),
        ];
        for (text, plain) in cases {
            assert_eq!(unescape(text), plain);
        }
    }

    #[test]
    fn tags_are_stripped_as_markupsafe_strips_them() {
        let cases = [
            ("<a href='x'>Main &raquo;</a>\t<em>About</em>", "Main » About"),
            ("<<!-- x -->!-- y -->z", "z"),
            ("<!-->a<!--->b", "ab"),
            ("a <!-- b", "a <!-- b"),
            ("1 < 2 > 3 <", "1 3 <"),
        ];
        for (text, plain) in cases {
            assert_eq!(strip_tags(text), plain, "{text}");
        }
    }

    #[test]
    fn texts_are_quoted() {
        assert_eq!(escape("a<b>&\"'"), "a&lt;b&gt;&amp;&#34;&#39;");
        assert_eq!(
            (url_quote("a b/é~", false), url_quote("a b/", true)),
            ("a%20b/%C3%A9~".into(), "a+b%2F".into())
        );
        assert_eq!(
            check_attribute_name("a b"),
            PyError::value_error("Invalid character in attribute name: 'a b'")
        );
        assert_eq!(check_attribute_name("a\u{a0}b"), Ok(()));
    }
}
