//! Secrets that are known by the name before them: `NAME=value`, `name: value`, JSON, options, and others.

use super::extent::{Extent, is_blank, is_quote};
use super::names::{Strength, is_authorization, is_one_of, strength};
use super::shapes::base64;
use super::value_forms::{Form, read};
use super::values::{Link, RANDOM, Value};
use super::window::{More, Window};
use super::{Found, MASK};

/// The longest part of a name before and after the word that names the secret, in bytes.
const NAME: usize = 64;
/// The longest space between a name and its value, in bytes.
const SPACE: usize = 64;
/// How far a value is looked at, in bytes.
const VALUE: usize = 256;

/// The longest scheme, in bytes.
const SCHEME: usize = 20;

/// The schemes of an `Authorization` header.
const SCHEMES: &[&str] = &[
    "bearer",
    "basic",
    "token",
    "digest",
    "apikey",
    "api-key",
    "negotiate",
    "aws4-hmac-sha256",
    "key",
    "bot",
    "dpop",
];

/// A name that stands in a text.
#[derive(Debug, Clone, Copy)]
pub(super) struct Name<'a> {
    pub(super) text: &'a [u8],
    pub(super) start: usize,
    pub(super) end: usize,
}

impl Name<'_> {
    /// Whether the name is that of a command's option.
    pub(super) fn is_option(&self) -> bool {
        self.text.starts_with(b"-")
    }
}

/// The secret after the name around `start..end`, if one is there; and where the name ends.
pub(super) fn judge(window: &Window<'_>, start: usize, end: usize) -> Result<(Option<Found>, usize), More> {
    let end = window.run(end, NAME, is_name_byte)?;
    let punctuation = window.run_back(end, NAME, |byte| matches!(byte, b'.' | b'-'));
    let begin = window.run_back(start, NAME, is_name_byte);
    // The `n` of `\n` is no letter of the name.
    let begin = begin + usize::from(begin < start && window.after_escape(begin + 1));
    let end_of_name = punctuation.max(start);
    let name = Name { text: window.slice(begin, end_of_name), start: begin, end: end_of_name };
    let Some((link, at)) = super::links::link(window, &name)? else { return Ok((None, end)) };
    let assigned = matches!(link, Link::Equals | Link::SpacedEquals | Link::Option);
    let Some(strength) = strength(name.text, assigned) else { return Ok((None, end)) };
    let named = Named { name, link, strength };
    Ok((named.value(window, at)?, end))
}

/// A name and its link to a value.
struct Named<'a> {
    name: Name<'a>,
    link: Link,
    strength: Strength,
}

impl Named<'_> {
    fn value(&self, window: &Window<'_>, at: usize) -> Result<Option<Found>, More> {
        let mut form = read(window, at)?;
        self.pass_scheme(window, &mut form)?;
        if self.judged(window, &form)? {
            let extent = self.extent(window, at, &form);
            return Ok(Some(Found { start: form.start, kind: None, extent }));
        }
        if self.link == Link::Colon && !form.quoted && self.strength >= Strength::Medium {
            return self.after_type(window, at);
        }
        Ok(None)
    }

    fn judged(&self, window: &Window<'_>, form: &Form) -> Result<bool, More> {
        let end = self.looked_at(window, form)?;
        if self.strength < Strength::Medium && end - form.start < RANDOM {
            return Ok(false);
        }
        let text = window.slice(form.start, end);
        let next = window.get(end)?;
        let line_ends = next.is_some() && matches!(window.get(end + 1)?, None | Some(b'\n' | b'\r'));
        let in_prose = self.in_prose(window);
        let value = Value { text, next, line_ends, quoted: form.quoted, link: self.link, in_prose };
        Ok(value.is_secret(self.strength))
    }

    /// How much of a value says whether it is a secret: all of it, or what may be random.
    fn looked_at(&self, window: &Window<'_>, form: &Form) -> Result<usize, More> {
        if self.strength < Strength::Medium {
            return window.run(form.start, VALUE, |byte| base64(byte) && byte != b'=');
        }
        let mut end = form.start;
        form.extent.clone().advance(window, &mut end, form.start + VALUE)?;
        Ok(end)
    }

    /// Takes the scheme of an `Authorization` header from the value; what follows one is no code.
    fn pass_scheme(&self, window: &Window<'_>, form: &mut Form) -> Result<(), More> {
        if self.strength < Strength::Medium || !is_authorization(self.name.text) {
            return Ok(());
        }
        let scheme = window.run(form.start, SCHEME, |byte| byte.is_ascii_alphanumeric() || byte == b'-')?;
        if is_one_of(window.slice(form.start, scheme), SCHEMES) && window.get(scheme)? == Some(b' ') {
            (form.start, form.quoted) = (scheme + 1, true);
        }
        Ok(())
    }

    /// The value in `name: Type = "value"`.
    fn after_type(&self, window: &Window<'_>, at: usize) -> Result<Option<Found>, More> {
        let equals = window.run(at, NAME, is_type_byte)?;
        if window.get(equals)? != Some(b'=') || window.starts_with(at, MASK.as_bytes())? {
            return Ok(None);
        }
        let form = read(window, window.run(equals + 1, SPACE, is_blank)?)?;
        let secret = form.quoted && self.judged(window, &form)?;
        Ok(secret.then_some(Found { start: form.start, kind: None, extent: form.extent }))
    }

    /// How far a value reaches that is a secret. Passwords without quotes may have spaces, where they end a line.
    fn extent(&self, window: &Window<'_>, at: usize, form: &Form) -> Extent {
        if !matches!(form.extent, Extent::Word)
            || self.strength < Strength::Strong
            || !self.begins_line(window)
        {
            return form.extent.clone();
        }
        let spaced = window.before(at).is_some_and(is_blank);
        match self.link {
            Link::Colon if spaced => Extent::Line,
            Link::SpacedEquals => Extent::Line,
            Link::Equals if self.name.text.contains(&b'.') => Extent::Line,
            Link::Equals => Extent::ShellWord,
            _ => Extent::Word,
        }
    }

    /// Whether only indentation and the like stand before the name in its line.
    fn begins_line(&self, window: &Window<'_>) -> bool {
        let mark = |byte: u8| is_blank(byte) || matches!(byte, b'-' | b'#' | b'+' | b'>');
        let mut at = window.run_back(self.name.start, NAME, mark);
        if window.slice(at.saturating_sub(6), at) == b"export" && at >= window.floor + 6 {
            at = window.run_back(at - 6, NAME, mark);
        }
        matches!(window.before(at), None | Some(b'\n' | b'\r'))
    }

    fn in_prose(&self, window: &Window<'_>) -> bool {
        let blanks = window.run_back(self.name.start, 1, is_blank);
        let word = |byte: u8| byte.is_ascii_alphabetic() || is_quote(byte);
        self.link == Link::Colon && blanks < self.name.start && window.before(blanks).is_some_and(word)
    }
}

/// Letters, digits, and what joins the words of a name.
fn is_name_byte(byte: u8) -> bool {
    byte.is_ascii_alphanumeric() || matches!(byte, b'_' | b'-' | b'.') || !byte.is_ascii()
}

fn is_type_byte(byte: u8) -> bool {
    byte.is_ascii_alphanumeric()
        || matches!(byte, b'_' | b'&' | b'<' | b'>' | b'[' | b']' | b':' | b'|' | b'?' | b' ' | b'\'')
}
