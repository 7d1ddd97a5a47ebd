//! What ties a value to its name: an equals sign, a colon, and what else stands between the two.

use super::assignment::Name;
use super::extent::{is_blank, is_quote};
use super::values::Link;
use super::window::{More, Window};

/// The most backslashes before a quote.
const DEPTH: usize = 8;
/// The longest space between a name and its value, in bytes.
const SPACE: usize = 64;
/// How far back a login is looked for, in bytes.
const LOGIN: usize = 128;

/// The link after a name, and where the value begins.
pub(super) fn link(window: &Window<'_>, name: &Name<'_>) -> Result<Option<(Link, usize)>, More> {
    let closed = closing(window, name.end)?;
    let quoted = closed > name.end;
    // `config["password"] = …`
    let closed = closed + usize::from(quoted && window.get(closed)? == Some(b']'));
    let sign = window.run(closed, SPACE, is_blank)?;
    let spaced = sign > closed;
    if let Some((link, end)) = sign_at(window, sign)? {
        let value = window.run(end, SPACE, is_blank)?;
        let link = if link == Link::Equals && spaced && value > end { Link::SpacedEquals } else { link };
        return Ok(Some((link, value)));
    }
    if window.before(name.start) == Some(b'<') && window.get(sign)? == Some(b'>') {
        return Ok(Some((Link::Plain, sign + 1)));
    }
    if spaced && !quoted {
        return without_sign(window, name, sign);
    }
    if quoted && name.is_option() {
        return argument(window, sign);
    }
    pair(window, name.end)
}

/// The place after a quote that closes a name, with its backslashes.
fn closing(window: &Window<'_>, at: usize) -> Result<usize, More> {
    let quote = window.run(at, DEPTH, |byte| byte == b'\\')?;
    Ok(if window.get(quote)?.is_some_and(is_quote) { quote + 1 } else { at })
}

fn sign_at(window: &Window<'_>, at: usize) -> Result<Option<(Link, usize)>, More> {
    let Some(first) = window.get(at)? else { return Ok(None) };
    if !matches!(first, b'=' | b':' | b'?' | b'!') {
        return Ok(None);
    }
    // The scheme of a URL is no name.
    if window.starts_with(at, b"://")? {
        return Ok(None);
    }
    Ok(match (first, window.get(at + 1)?) {
        (b'=', Some(b'=')) => Some((Link::Compare, window.run(at, 3, |byte| byte == b'=')?)),
        (b'!', Some(b'=')) => Some((Link::Compare, window.run(at + 1, 2, |byte| byte == b'=')?)),
        (b'=', Some(b'>')) | (b':' | b'?', Some(b'=')) => Some((Link::Equals, at + 2)),
        (b'?', Some(b':')) => Some((Link::Colon, at + 2)),
        (b'=', _) => Some((Link::Equals, at + 1)),
        (b':', next) if next != Some(b':') => Some((Link::Colon, at + 1)),
        _ => None,
    })
}

/// `--password x`, `PASSWORD 'x'`, and `password x` after a login in a netrc.
fn without_sign(window: &Window<'_>, name: &Name<'_>, value: usize) -> Result<Option<(Link, usize)>, More> {
    let first = window.get(value)?;
    let option = name.is_option() && first != Some(b'-');
    let is = |word: &[u8]| name.text.eq_ignore_ascii_case(word);
    let plain = is(b"password")
        && (first == Some(b'\'') || name.text == b"password" && after_login(window, name.start));
    Ok(if option { Some((Link::Option, value)) } else { plain.then_some((Link::Plain, value)) })
}

/// Whether `login NAME` stands before a place.
fn after_login(window: &Window<'_>, at: usize) -> bool {
    let from = at.saturating_sub(LOGIN).max(window.floor);
    let mut words =
        window.slice(from, at).split(u8::is_ascii_whitespace).rev().filter(|word| !word.is_empty());
    words.nth(1) == Some(b"login")
}

/// `"--password", "x"`: arguments in JSON.
fn argument(window: &Window<'_>, comma: usize) -> Result<Option<(Link, usize)>, More> {
    if window.get(comma)? != Some(b',') {
        return Ok(None);
    }
    let value = window.run(comma + 1, SPACE, |byte| byte.is_ascii_whitespace())?;
    Ok(window.get(value)?.is_some_and(is_quote).then_some((Link::Plain, value)))
}

/// `name: TOKEN` with `value: …` after it, in YAML or JSON.
fn pair(window: &Window<'_>, end: usize) -> Result<Option<(Link, usize)>, More> {
    let space = |at: usize| window.run(at, SPACE, |byte| byte.is_ascii_whitespace());
    let comma = space(closing(window, end)?)?;
    let next = comma + usize::from(window.get(comma)? == Some(b','));
    let opened = closing(window, space(next)?)?;
    if opened == end || !window.starts_with(opened, b"value")? && !window.starts_with(opened, b"Value")? {
        return Ok(None);
    }
    let colon = window.run(closing(window, opened + b"value".len())?, SPACE, is_blank)?;
    if !matches!(window.get(colon)?, Some(b':' | b'=')) {
        return Ok(None);
    }
    Ok(Some((Link::Colon, window.run(colon + 1, SPACE, is_blank)?)))
}
