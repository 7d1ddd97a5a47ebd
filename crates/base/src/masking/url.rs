//! Passwords beside users: in URLs, `scheme://user:password@host`, and in curl's option `-u user:password`.

use super::extent::{Extent, ends_authority, is_quote};
use super::values::is_placeholder;
use super::window::{More, Window};
use super::{Found, MASK};

/// The longest user, in bytes.
const USER: usize = 128;
/// How far a password is looked at, in bytes.
const PASSWORD: usize = 512;
/// The same after a slash, which more often begins a path.
const AFTER_SLASH: usize = 32;

/// The password of the URL whose user begins at `at`, if it has one.
pub(super) fn judge(window: &Window<'_>, at: usize) -> Result<Option<Found>, More> {
    let colon =
        window.run(at, USER, |byte| !ends_authority(byte) && !matches!(byte, b':' | b'/' | b'@' | b'['))?;
    if window.get(colon)? != Some(b':') {
        return Ok(None);
    }
    let start = colon + 1;
    let Some(extent) = extent(window, start)? else { return Ok(None) };
    let known = match &extent {
        Extent::Bytes(length) => window.slice(start, start + length),
        _ => b"",
    };
    let nothing = matches!(extent, Extent::Bytes(0)) || is_placeholder(known);
    Ok((!nothing).then_some(Found { start, kind: None, extent }))
}

/// The password in curl's option for a user, whose value begins at `at`.
pub(super) fn judge_option(window: &Window<'_>, start: usize, at: usize) -> Result<Option<Found>, More> {
    if window.before(start) != Some(b' ') || !follows_curl(window, start) {
        return Ok(None);
    }
    let quote = usize::from(window.get(at)?.is_some_and(is_quote));
    let colon = window.run(at + quote, USER, |byte| !ends_authority(byte) && byte != b':')?;
    let password = window.run(colon + 1, PASSWORD, |byte| !ends_authority(byte))?;
    let text = window.slice(colon + 1, password);
    let secret = window.get(colon)? == Some(b':') && !text.is_empty() && !is_placeholder(text);
    Ok(secret.then_some(Found { start: colon + 1, kind: None, extent: Extent::ShellWord }))
}

/// Whether `curl` stands before a place, in the same command.
fn follows_curl(window: &Window<'_>, at: usize) -> bool {
    let line = window.run_back(at, USER, |byte| !matches!(byte, b'\n' | b';' | b'|'));
    window.slice(line, at).windows(5).any(|word| word == b"curl ")
}

/// How far the password reaches: to the last `@` before the host. `host:8080/path@2` has none.
fn extent(window: &Window<'_>, start: usize) -> Result<Option<Extent>, More> {
    let port = window.run(start, 6, |byte| byte.is_ascii_digit())?;
    if window.get(port)?.is_none_or(|byte| ends_authority(byte) || matches!(byte, b'/' | b'?' | b'#')) {
        return Ok(None);
    }
    let (mut last, mut slash, mut at, mut limit) = (None, false, start, start + PASSWORD);
    while at < limit {
        match window.get(at)? {
            Some(b'@') => last = Some(at),
            Some(b'[') if window.starts_with(at, MASK.as_bytes())? => return Ok(None),
            Some(b'/' | b'?' | b'#' | b',' | b';') if last.is_some() => break,
            Some(b'/') if !slash => (slash, limit) = (true, limit.min(at + AFTER_SLASH)),
            Some(byte) if !ends_authority(byte) => {}
            _ => break,
        }
        at += 1;
    }
    let long = at == limit && !slash;
    Ok(last.map(|last| Extent::Bytes(last - start)).or(long.then_some(Extent::Password)))
}
