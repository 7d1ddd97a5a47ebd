//! Which values are secrets, and which are placeholders, constants, types, code, paths or numbers.

use super::code;
use super::names::{Strength, is_one_of};

/// What stands for no value, or says what kind of a value is there.
const CONSTANTS: &[&str] = &[
    "null",
    "nil",
    "none",
    "undefined",
    "true",
    "false",
    "yes",
    "no",
    "on",
    "off",
    "unset",
    "empty",
    "redacted",
    "masked",
    "hidden",
    "required",
    "optional",
    "basic",
    "bearer",
    "oauth",
    "oauth2",
    "digest",
    "inherit",
    "n/a",
    "-",
    "...",
    "string",
    "=",
];
/// How placeholders begin.
const PLACEHOLDERS: &[&[u8]] = &[
    super::MASK.as_bytes(),
    b"${",
    b"$(",
    b"{{",
    b"{%",
    b"%(",
    b"#{",
    b"your-",
    b"your_",
    b"YOUR-",
    b"YOUR_",
    b"your ",
];
/// How many characters in a row have to look random.
pub(super) const RANDOM: usize = 16;

/// How a value is tied to its name.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Link {
    /// `name=value`.
    Equals,
    /// `name = value`.
    SpacedEquals,
    /// `name: value`.
    Colon,
    /// `name == value`: of interest only if the value is quoted.
    Compare,
    /// `--name value`.
    Option,
    /// What can be nothing else: an element of XML, arguments in JSON, netrc, `PASSWORD 'value'`.
    Plain,
}

/// A value, as far as it is looked at.
#[derive(Debug, Clone, Copy)]
pub(super) struct Value<'a> {
    /// The value without its quotes; of one without quotes the first word.
    pub(super) text: &'a [u8],
    /// What follows the text.
    pub(super) next: Option<u8>,
    /// Whether the line ends after that.
    pub(super) line_ends: bool,
    pub(super) quoted: bool,
    pub(super) link: Link,
    /// Whether a word stands before the name, as in prose.
    pub(super) in_prose: bool,
}

impl Value<'_> {
    /// Whether this is a secret if a name of such strength stands before it.
    pub(super) fn is_secret(&self, strength: Strength) -> bool {
        let text = self.text;
        match strength {
            Strength::Weak if !has_random_run(text) || is_hash(text) => return false,
            Strength::Session if !has_random_run(text) || is_uuid(text) => return false,
            _ if text.is_empty() || is_placeholder(text) || is_one_of(text, CONSTANTS) || refers(text) => {
                return false;
            }
            _ => {}
        }
        match strength {
            Strength::Weak | Strength::Session => true,
            _ if is_number(text) => strength == Strength::Strong || text.len() >= 6 && !text.contains(&b'.'),
            _ if self.quoted || self.link == Link::Plain => true,
            _ if self.link == Link::Compare || code::is_code(self, strength) => false,
            Strength::Strong => true,
            _ => !self.in_prose || text.iter().any(u8::is_ascii_digit) || is_random(text),
        }
    }
}

/// Whether a text stands for a value that is elsewhere, or was removed.
pub(super) fn is_placeholder(text: &[u8]) -> bool {
    let Some((first, rest)) = text.split_first() else { return false };
    let one_of_all = |bytes: &[u8]| text.len() > 2 && text.iter().all(|byte| bytes.contains(byte));
    let removed = one_of_all(b"*") || one_of_all(b"xX") || one_of_all(b".") || one_of_all("•…".as_bytes());
    // The bracket that closes may be no part of the word.
    let within = |close: u8| is_name(rest.strip_suffix(&[close]).unwrap_or(rest));
    removed
        || PLACEHOLDERS.iter().any(|placeholder| text.starts_with(placeholder))
        || match first {
            b'<' => rest.ends_with(b">"),
            b'{' => within(b'}'),
            b'[' => within(b']'),
            b'%' => rest.ends_with(b"%") && within(b'%') || rest == b"s",
            b'$' => is_variable(rest),
            _ => false,
        }
}

fn is_name(text: &[u8]) -> bool {
    text.iter().all(|byte| byte.is_ascii_alphabetic() || *byte == b'_')
}

/// `$TOKEN`, `$this->token`.
fn is_variable(name: &[u8]) -> bool {
    let ident = name.iter().take_while(|byte| byte.is_ascii_alphabetic() || **byte == b'_').count();
    let rest = name.get(ident..).unwrap_or_default();
    ident > 0
        && (rest.is_empty() || [&b"->"[..], b"[", b":", b"/"].iter().any(|after| rest.starts_with(after)))
}

/// Whether a text says where the secret is, or is looked at elsewhere: a URL, a path, a PEM block.
fn refers(text: &[u8]) -> bool {
    let begins = |starts: &[&[u8]]| starts.iter().any(|start| text.starts_with(start));
    let scheme = text.iter().take_while(|byte| byte.is_ascii_alphanumeric() || **byte == b'+').count();
    let url = scheme > 1 && text.get(scheme..).is_some_and(|rest| rest.starts_with(b"://"));
    let path = begins(&[b"/", b"./", b"../", b"~/"]) && !is_random(text);
    url || path || begins(&[b"-----BEGIN", b"sha256:", b"sha256-", b"sha384-", b"sha512-"])
}

fn is_number(text: &[u8]) -> bool {
    text.iter().all(|byte| byte.is_ascii_digit() || matches!(byte, b'.' | b'_'))
}

/// Whether letters and digits change as often as in random texts, and not only as in names.
pub(super) fn is_random(text: &[u8]) -> bool {
    let class = |byte: &u8| match byte {
        b'a'..=b'z' => 1,
        b'A'..=b'Z' => 2,
        b'0'..=b'9' => 3,
        _ => 0,
    };
    let pairs = text.iter().zip(text.iter().skip(1)).map(|(one, other)| (class(one), class(other)));
    let changes = pairs.filter(|(one, other)| one != other && *one > 0 && *other > 0).count();
    let digits = text.iter().any(u8::is_ascii_digit) && text.iter().any(u8::is_ascii_alphabetic);
    text.len() >= 12 && (digits && changes * 6 >= text.len() || changes * 5 >= text.len() * 2)
}

fn has_random_run(text: &[u8]) -> bool {
    let runs = text.split(|byte| !byte.is_ascii_alphanumeric());
    runs.into_iter().any(|run| run.len() >= RANDOM && is_random(run))
}

/// Hashes and UUIDs, which name things.
fn is_hash(text: &[u8]) -> bool {
    text.iter().all(u8::is_ascii_hexdigit) || is_uuid(text)
}

fn is_uuid(text: &[u8]) -> bool {
    text.len() == 36 && text.iter().all(|byte| byte.is_ascii_hexdigit() || *byte == b'-')
}
