//! Passwords in URLs: `scheme://user:password@host`.

use super::Found;
use super::extent::{Extent, ends_authority};
use super::values::is_placeholder;
use super::window::{More, Window};

/// The longest user, in bytes.
const USER: usize = 128;
/// How far a password is looked at, in bytes.
const PASSWORD: usize = 512;

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

/// How far the password reaches: to the last `@` before the host. `host:8080/path@2` has none.
fn extent(window: &Window<'_>, start: usize) -> Result<Option<Extent>, More> {
    let port = window.run(start, 6, |byte| byte.is_ascii_digit())?;
    if window.get(port)?.is_none_or(|byte| ends_authority(byte) || matches!(byte, b'/' | b'?' | b'#')) {
        return Ok(None);
    }
    let (mut last, mut slash, mut at) = (None, false, start);
    while at < start + PASSWORD {
        match window.get(at)? {
            Some(b'@') => last = Some(at),
            Some(b'/' | b'?' | b'#' | b',' | b';') if last.is_some() => break,
            Some(b'/') => slash = true,
            Some(byte) if !ends_authority(byte) => {}
            _ => break,
        }
        at += 1;
    }
    let long = at == start + PASSWORD && !slash;
    Ok(last.map(|last| Extent::Bytes(last - start)).or(long.then_some(Extent::Password)))
}
