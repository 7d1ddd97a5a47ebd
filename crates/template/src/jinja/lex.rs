//! Splits a text into tokens, as Jinja2's lexer does.

use super::error::SyntaxError;

/// A token and where it begins.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(crate) struct Token<'s> {
    pub kind: Tok<'s>,
    /// Bytes from the start of the source.
    pub at: usize,
}

#[derive(Debug, Clone, Copy, PartialEq)]
pub(crate) enum Tok<'s> {
    /// Text outside of tags.
    Data(&'s str),
    VariableBegin,
    VariableEnd,
    BlockBegin,
    BlockEnd,
    Name(&'s str),
    /// The body of a string literal, with its escapes.
    Str(&'s str),
    Integer(&'s str),
    Float(&'s str),
    Op(&'static str),
    Eof,
}

/// Jinja's white space between tokens (Python's `\s`).
fn is_space(c: char) -> bool {
    c.is_whitespace() || matches!(c, '\u{1c}'..='\u{1f}')
}

struct Lexer<'s> {
    source: &'s str,
    at: usize,
    tokens: Vec<Token<'s>>,
    /// The closing brackets that are awaited.
    open: Vec<&'static str>,
}

/// Splits a text into tokens. Its line breaks must be `\n`.
///
/// # Errors
/// The first character that cannot begin a token, a bracket without its partner, or a comment or raw block without an end.
pub(crate) fn tokens(source: &str) -> Result<Vec<Token<'_>>, SyntaxError> {
    let mut lexer =
        Lexer { source, at: 0, tokens: Vec::with_capacity(16 + source.len() / 8), open: Vec::new() };
    lexer.text()?;
    lexer.push(Tok::Eof, source.len());
    Ok(lexer.tokens)
}

impl<'s> Lexer<'s> {
    fn rest(&self) -> &'s str {
        self.source.get(self.at..).unwrap_or_default()
    }

    fn push(&mut self, kind: Tok<'s>, at: usize) {
        self.tokens.push(Token { kind, at });
    }

    /// Text and tags, up to the end.
    fn text(&mut self) -> Result<(), SyntaxError> {
        while !self.rest().is_empty() {
            let Some(tag) = find_tag(self.rest()) else {
                self.push(Tok::Data(self.rest()), self.at);
                self.at = self.source.len();
                return Ok(());
            };
            let (start, begin) = (self.at, self.at + tag);
            let mut sign = begin + 2;
            let strip = self.source.get(sign..).unwrap_or_default().starts_with('-');
            if strip || self.source.get(sign..).unwrap_or_default().starts_with('+') {
                sign += 1;
            }
            self.data(start, begin, strip);
            self.at = sign;
            match self.source.get(begin..begin + 2) {
                Some("{#") => self.comment(begin)?,
                Some("{%") => {
                    if !self.raw(begin)? {
                        self.push(Tok::BlockBegin, begin);
                        self.tag("%}", Tok::BlockEnd)?;
                    }
                }
                _ => {
                    self.push(Tok::VariableBegin, begin);
                    self.tag("}}", Tok::VariableEnd)?;
                }
            }
        }
        Ok(())
    }

    fn data(&mut self, start: usize, end: usize, strip: bool) {
        let mut text = self.source.get(start..end).unwrap_or_default();
        if strip {
            text = text.trim_end_matches(is_space);
        }
        if !text.is_empty() {
            self.push(Tok::Data(text), start);
        }
    }

    fn skip_spaces(&mut self) {
        let rest = self.rest();
        self.at += rest.len() - rest.trim_start_matches(is_space).len();
    }

    fn comment(&mut self, begin: usize) -> Result<(), SyntaxError> {
        // A comment or raw block that begins at the very end needs no end.
        if self.rest().is_empty() {
            return Ok(());
        }
        let Some(end) = self.rest().find("#}") else {
            return Err(SyntaxError::new("Missing end of comment tag", begin));
        };
        let strips = end > 0 && self.rest().as_bytes().get(end - 1) == Some(&b'-');
        self.at += end + 2;
        if strips {
            self.skip_spaces();
        }
        Ok(())
    }

    /// A raw block, if one begins here: after `{%` and its sign.
    fn raw(&mut self, begin: usize) -> Result<bool, SyntaxError> {
        let Some(open) = raw_tag(self.rest(), "raw", true) else { return Ok(false) };
        self.at += open;
        let start = self.at;
        if self.rest().is_empty() {
            return Ok(true);
        }
        let mut from = start;
        loop {
            let Some(found) = self.source.get(from..).and_then(|rest| rest.find("{%")) else {
                return Err(SyntaxError::new("Missing end of raw directive", begin));
            };
            let tag = from + found;
            let rest = self.source.get(tag + 2..).unwrap_or_default();
            let (strip, signed) = match rest.as_bytes().first() {
                Some(b'-') => (true, 1),
                Some(b'+') => (false, 1),
                _ => (false, 0),
            };
            if let Some(close) = raw_tag(rest.get(signed..).unwrap_or_default(), "endraw", false) {
                self.data(start, tag, strip);
                self.at = tag + 2 + signed + close;
                return Ok(true);
            }
            from = tag + 2;
        }
    }

    /// The tokens of a tag, up to its end.
    fn tag(&mut self, end: &'static str, closed: Tok<'s>) -> Result<(), SyntaxError> {
        self.open.clear();
        while let Some(byte) = self.source.as_bytes().get(self.at) {
            match byte {
                b' ' | b'\n' => self.at += 1,
                b'-' | b'+' | b'%' | b'}' if self.open.is_empty() && self.tag_end(end, closed) => {
                    return Ok(());
                }
                b'_' | b'a'..=b'z' | b'A'..=b'Z' => self.name()?,
                b'0'..=b'9' => self.number(),
                b'"' | b'\'' => self.string()?,
                byte if byte.is_ascii_punctuation() => self.operator()?,
                _ => self.other()?,
            }
        }
        Ok(())
    }

    /// White space and names of characters beyond the usual ones.
    fn other(&mut self) -> Result<(), SyntaxError> {
        match self.rest().chars().next() {
            Some(first) if is_space(first) => {
                self.skip_spaces();
                Ok(())
            }
            Some(first) if first.is_alphanumeric() => self.name(),
            Some(first) => Err(SyntaxError::new(format!("unexpected char {first:?}"), self.at)),
            None => Ok(()),
        }
    }

    fn number(&mut self) {
        let before = self.source.as_bytes().get(self.at.wrapping_sub(1)).copied();
        let (tok, len) = number(self.rest(), before);
        self.push(tok, self.at);
        self.at += len;
    }

    fn string(&mut self) -> Result<(), SyntaxError> {
        let (rest, at) = (self.rest(), self.at);
        let Some(len) = string_length(rest) else {
            let quote = rest.chars().next().unwrap_or('"');
            return Err(SyntaxError::new(format!("unexpected char {quote:?}"), at));
        };
        self.at += len;
        self.push(Tok::Str(rest.get(1..len - 1).unwrap_or_default()), at);
        Ok(())
    }

    fn tag_end(&mut self, end: &'static str, closed: Tok<'s>) -> bool {
        let rest = self.rest();
        let at = self.at;
        let stripped = rest.strip_prefix('-').is_some_and(|rest| rest.starts_with(end));
        // Only blocks know `+%}`.
        let kept = end == "%}" && rest.strip_prefix('+').is_some_and(|rest| rest.starts_with(end));
        if !stripped && !kept && !rest.starts_with(end) {
            return false;
        }
        self.at += end.len() + usize::from(stripped || kept);
        if stripped {
            self.skip_spaces();
        }
        self.push(closed, at);
        true
    }

    fn name(&mut self) -> Result<(), SyntaxError> {
        let (rest, at) = (self.rest(), self.at);
        let name = rest.get(..word_length(rest)).unwrap_or_default();
        self.at += name.len();
        match name.is_ascii() || is_identifier(name) {
            true => {
                self.push(Tok::Name(name), at);
                Ok(())
            }
            false => Err(SyntaxError::new("Invalid character in identifier", at)),
        }
    }

    fn operator(&mut self) -> Result<(), SyntaxError> {
        let (rest, at) = (self.rest(), self.at);
        let Some(op) = operator_at(rest.as_bytes()) else {
            let first = rest.chars().next().unwrap_or_default();
            return Err(SyntaxError::new(format!("unexpected char {first:?}"), at));
        };
        match op {
            "(" => self.open.push(")"),
            "[" => self.open.push("]"),
            "{" => self.open.push("}"),
            ")" | "]" | "}" => match self.open.pop() {
                None => return Err(SyntaxError::new(format!("unexpected '{op}'"), at)),
                Some(expected) if expected != op => {
                    return Err(SyntaxError::new(format!("unexpected '{op}', expected '{expected}'"), at));
                }
                Some(_) => {}
            },
            _ => {}
        }
        self.at += op.len();
        self.push(Tok::Op(op), at);
        Ok(())
    }
}

/// The operator that a text begins with.
fn operator_at(text: &[u8]) -> Option<&'static str> {
    Some(match (text.first()?, text.get(1)) {
        (b'/', Some(b'/')) => "//",
        (b'*', Some(b'*')) => "**",
        (b'=', Some(b'=')) => "==",
        (b'!', Some(b'=')) => "!=",
        (b'>', Some(b'=')) => ">=",
        (b'<', Some(b'=')) => "<=",
        (b'+', _) => "+",
        (b'-', _) => "-",
        (b'/', _) => "/",
        (b'*', _) => "*",
        (b'%', _) => "%",
        (b'~', _) => "~",
        (b'[', _) => "[",
        (b']', _) => "]",
        (b'(', _) => "(",
        (b')', _) => ")",
        (b'{', _) => "{",
        (b'}', _) => "}",
        (b'>', _) => ">",
        (b'<', _) => "<",
        (b'=', _) => "=",
        (b'.', _) => ".",
        (b':', _) => ":",
        (b'|', _) => "|",
        (b',', _) => ",",
        (b';', _) => ";",
        _ => return None,
    })
}

/// The first `{{`, `{%` or `{#` of a text.
fn find_tag(text: &str) -> Option<usize> {
    let bytes = text.as_bytes();
    memchr::memchr_iter(b'{', bytes).find(|at| matches!(bytes.get(at + 1), Some(b'{' | b'%' | b'#')))
}

/// The length of the rest of a tag `{% raw %}`, after `{%` and its sign; `opens`: white space after `-%}` belongs to it.
fn raw_tag(rest: &str, name: &str, opens: bool) -> Option<usize> {
    let inner = rest.trim_start_matches(is_space).strip_prefix(name)?.trim_start_matches(is_space);
    let after = match inner.strip_prefix("-%}") {
        Some(after) => after.trim_start_matches(is_space),
        None if !opens && inner.starts_with("+%}") => inner.get(3..)?,
        None => inner.strip_prefix("%}")?,
    };
    Some(rest.len() - after.len())
}

/// The length of the word at the start of a text.
fn word_length(text: &str) -> usize {
    let plain = text.bytes().position(|byte| byte != b'_' && !byte.is_ascii_alphanumeric());
    match plain {
        Some(at) if text.as_bytes().get(at).is_some_and(u8::is_ascii) => at,
        None => text.len(),
        Some(_) => text.find(|c: char| c != '_' && !is_word(c)).unwrap_or(text.len()),
    }
}

fn is_word(c: char) -> bool {
    c.is_alphanumeric() || !(c.is_ascii() || is_space(c) || c.is_control()) && unicode_continues(c)
}

/// Marks and other characters inside of identifiers that are no letters or digits.
fn unicode_continues(c: char) -> bool {
    unicode_ident::is_xid_continue(c)
}

fn is_identifier(name: &str) -> bool {
    let mut chars = name.chars();
    let starts = chars.next().is_some_and(|c| c == '_' || unicode_ident::is_xid_start(c));
    starts && chars.all(unicode_ident::is_xid_continue)
}

/// The length of a string literal with its quotes.
fn string_length(text: &str) -> Option<usize> {
    let quote = *text.as_bytes().first()?;
    let mut at = 1;
    loop {
        let next = memchr::memchr2(quote, b'\\', text.as_bytes().get(at..)?)?;
        at += next;
        if text.as_bytes().get(at) == Some(&quote) {
            return Some(at + 1);
        }
        // The character after a backslash belongs to the escape, whatever it is.
        at += 1 + text.get(at + 1..)?.chars().next()?.len_utf8();
    }
}

/// The number literal that `text` begins with; its first character is a digit.
fn number(text: &str, before: Option<u8>) -> (Tok<'_>, usize) {
    let float = if before == Some(b'.') { None } else { float_length(text) };
    match float {
        Some(len) => (Tok::Float(text.get(..len).unwrap_or_default()), len),
        None => {
            let len = integer_length(text);
            (Tok::Integer(text.get(..len).unwrap_or_default()), len)
        }
    }
}

/// The length of `(_?DIGIT)*` at `at`.
fn digits(text: &[u8], mut at: usize, is_digit: fn(&u8) -> bool) -> usize {
    loop {
        let next = at + usize::from(text.get(at) == Some(&b'_'));
        match text.get(next) {
            Some(byte) if is_digit(byte) => at = next + 1,
            _ => return at,
        }
    }
}

fn float_length(text: &str) -> Option<usize> {
    let bytes = text.as_bytes();
    let whole = digits(bytes, 1, u8::is_ascii_digit);
    let mut end = whole;
    if bytes.get(whole) == Some(&b'.') && bytes.get(whole + 1).is_some_and(u8::is_ascii_digit) {
        end = digits(bytes, whole + 2, u8::is_ascii_digit);
    }
    if matches!(bytes.get(end), Some(b'e' | b'E')) {
        let signed = end + 1 + usize::from(matches!(bytes.get(end + 1), Some(b'+' | b'-')));
        if bytes.get(signed).is_some_and(u8::is_ascii_digit) {
            return Some(digits(bytes, signed + 1, u8::is_ascii_digit));
        }
    }
    (end > whole).then_some(end)
}

fn integer_length(text: &str) -> usize {
    let bytes = text.as_bytes();
    if bytes.first() != Some(&b'0') {
        return digits(bytes, 1, u8::is_ascii_digit);
    }
    let based: Option<fn(&u8) -> bool> = match bytes.get(1).map(u8::to_ascii_lowercase) {
        Some(b'b') => Some(|byte| matches!(byte, b'0' | b'1')),
        Some(b'o') => Some(|byte| matches!(byte, b'0'..=b'7')),
        Some(b'x') => Some(u8::is_ascii_hexdigit),
        _ => None,
    };
    if let Some(is_digit) = based {
        let end = digits(bytes, 2, is_digit);
        if end > 2 {
            return end;
        }
    }
    digits(bytes, 1, |byte| *byte == b'0')
}
