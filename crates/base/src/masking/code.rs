//! Which values without quotes are source code: calls, paths, variables and types.

use super::names::{Strength, is_one_of};
use super::values::{Link, Value, is_random};

/// Words that begin an expression or a type.
const KEYWORDS: &[&str] = &[
    "new", "await", "async", "if", "match", "fn", "func", "function", "lambda", "move", "ref", "mut", "self",
    "this", "impl", "dyn", "not", "const", "static", "let", "return", "typeof", "case", "switch", "unsafe",
    "yield", "Some", "Ok", "Err",
];
/// Types that are written in lower case, or stand alone on a line.
const TYPES: &[&str] = &[
    "str",
    "string",
    "bytes",
    "bytearray",
    "byte",
    "int",
    "integer",
    "number",
    "bool",
    "boolean",
    "any",
    "object",
    "void",
    "buffer",
    "char",
    "float",
    "u8",
    "u16",
    "u32",
    "u64",
    "usize",
    "i32",
    "i64",
    "unknown",
    "never",
    "uuid",
    "token",
    "secretstr",
    "secretstring",
    "password",
    "array",
    "map",
];
/// What code gets secrets from.
const ROOTS: &[&str] = &[
    "os", "process", "env", "environ", "config", "conf", "settings", "self", "this", "args", "opts",
    "options", "request", "req", "user", "ctx", "context", "params", "props", "secrets", "vars", "var",
    "local", "data", "module", "std", "system",
];
/// Words that follow the name of an option in a text about it.
const PROSE: &[&str] = &[
    "to",
    "is",
    "or",
    "and",
    "option",
    "options",
    "flag",
    "for",
    "in",
    "with",
    "from",
    "if",
    "must",
    "can",
    "was",
    "not",
    "the",
    "a",
    "an",
    "file",
    "as",
    "on",
    "of",
    "when",
    "will",
    "should",
    "be",
    "are",
    "argument",
    "value",
    "instead",
    "parameter",
];

/// Whether a value without quotes is code, and not what the code works with.
pub(super) fn is_code(value: &Value<'_>, strength: Strength) -> bool {
    if value.link == Link::Option {
        return is_one_of(value.text, PROSE);
    }
    if value.link == Link::Colon && is_type(value)
        || is_one_of(value.text, KEYWORDS) && value.next == Some(b' ')
    {
        return true;
    }
    let (ident, rest) = value.text.split_at(ident(value.text));
    match rest.first() {
        _ if ident.is_empty() => is_bracket(value),
        None => value.next == Some(b'(') || is_variable(value, strength),
        Some(b'.' | b'?') => is_path(value, ident, rest),
        Some(b'(' | b'[') => is_call(value, rest),
        Some(b'!') => rest.starts_with(b"!("),
        Some(b':') => rest.starts_with(b"::") && rest.get(2).is_some_and(u8::is_ascii_alphabetic),
        Some(b'-') => rest.starts_with(b"->"),
        _ => false,
    }
}

/// How long the identifier is that a text begins with.
fn ident(text: &[u8]) -> usize {
    match text.first() {
        Some(byte) if byte.is_ascii_digit() => 0,
        _ => text.iter().take_while(|byte| byte.is_ascii_alphanumeric() || **byte == b'_').count(),
    }
}

/// A list, a tuple, a block, or a reference: `&key`, `*key`, `!Ref`.
fn is_bracket(value: &Value<'_>) -> bool {
    let reference = |rest: &[u8]| ident(rest) == rest.len() && !rest.iter().any(u8::is_ascii_digit);
    match value.text.split_first() {
        Some((b'{' | b'[' | b'(' | b'|', _)) => value.link != Link::Equals || value.text.len() == 1,
        Some((b'&' | b'*', rest)) => value.link != Link::Equals && (reference(rest) || is_dotted(rest)),
        Some((b'!', tag)) => {
            is_one_of(tag, &["ref", "sub", "vault", "secret", "env", "getatt", "importvalue"])
        }
        _ => false,
    }
}

fn is_dotted(text: &[u8]) -> bool {
    text.contains(&b'.') && text.split(|byte| *byte == b'.').all(|part| ident(part) > 0)
}

fn is_type(value: &Value<'_>) -> bool {
    let text = value.text.split(|byte| *byte == b'[').next().unwrap_or_default();
    let ended = matches!(value.next, Some(b',' | b')' | b';' | b'<' | b' ' | b'}' | b']'))
        || value.text.contains(&b'[');
    let camel = text.first().is_some_and(u8::is_ascii_uppercase) && text.iter().all(u8::is_ascii_alphabetic);
    is_one_of(text, TYPES) || text == b"&" || ended && camel && text.iter().any(u8::is_ascii_lowercase)
}

/// An identifier alone. In code something separates it from what follows; elsewhere it may be a secret.
fn is_variable(value: &Value<'_>, strength: Strength) -> bool {
    if value.text.iter().any(u8::is_ascii_digit) || is_random(value.text) {
        return false;
    }
    let spaced = matches!(value.link, Link::SpacedEquals | Link::Colon);
    let separated = matches!(value.next, Some(b',' | b')' | b';'));
    let named =
        ["password", "passwd", "token", "secret", "key", "pwd"].iter().any(|word| contains(value.text, word));
    match strength {
        // In `name: x, other: y` it may be a secret; code has lines of such.
        Strength::Strong if value.link == Link::Colon && value.next == Some(b',') => named || value.line_ends,
        Strength::Strong => separated && (spaced || named) || value.link == Link::SpacedEquals && named,
        _ => value.link == Link::SpacedEquals || separated && (spaced || named),
    }
}

fn contains(text: &[u8], word: &str) -> bool {
    text.windows(word.len()).any(|part| part.eq_ignore_ascii_case(word.as_bytes()))
}

/// `lexer.next()`, `process.env.TOKEN`, `user?.password`.
fn is_path(value: &Value<'_>, first: &[u8], rest: &[u8]) -> bool {
    let mut rest = rest;
    loop {
        let after = rest.strip_prefix(b"?").unwrap_or(rest);
        let Some(after) = after.strip_prefix(b".") else { break };
        let length = ident(after);
        if length == 0 {
            return false;
        }
        rest = after.get(length..).unwrap_or_default();
    }
    let known = matches!(value.link, Link::SpacedEquals | Link::Colon) || is_one_of(first, ROOTS);
    match rest.first() {
        None => known && !is_random(value.text) || value.next == Some(b'('),
        Some(b'(' | b'[') => is_call(value, rest),
        _ => false,
    }
}

/// `getpass()`, `environ["TOKEN"]`.
fn is_call(value: &Value<'_>, rest: &[u8]) -> bool {
    let closed = rest.contains(&b')') || rest.contains(&b']');
    closed || value.link != Link::Equals || matches!(value.next, Some(b')' | b']' | b',' | b'"' | b'\''))
}
