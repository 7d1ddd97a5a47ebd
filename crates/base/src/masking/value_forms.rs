//! The forms of values: quoted, a block of lines, a word.

use super::extent::{Extent, is_blank, is_quote};
use super::window::{More, Window};

/// The most backslashes before a quote.
const DEPTH: usize = 8;
/// The deepest indentation of a block.
const INDENTATION: usize = 64;

/// Where a value begins, and how far it reaches.
#[derive(Debug, Clone)]
pub(super) struct Form {
    pub(super) start: usize,
    pub(super) quoted: bool,
    pub(super) extent: Extent,
}

/// The form of the value at a place.
pub(super) fn read(window: &Window<'_>, at: usize) -> Result<Form, More> {
    if let Some(form) = quoted(window, at)? {
        return Ok(form);
    }
    if let Some(form) = block(window, at)? {
        return Ok(form);
    }
    Ok(Form { start: at, quoted: false, extent: Extent::Word })
}

/// A text in quotes, before which backslashes, or letters such as in `f"…"`, may stand.
fn quoted(window: &Window<'_>, at: usize) -> Result<Option<Form>, More> {
    let letters = window.run(at, 2, |byte| matches!(byte, b'f' | b'b' | b'r' | b'u'))?;
    let open = window.run(letters, DEPTH, |byte| byte == b'\\')?;
    let Some(quote) = window.get(open)?.filter(|byte| is_quote(*byte)) else { return Ok(None) };
    let depth = open - letters;
    let one = open + 1;
    let three = depth == 0 && window.starts_with(one, &[quote, quote])?;
    let start = if three { one + 2 } else { one };
    Ok(Some(Form { start, quoted: true, extent: Extent::Quote { quote, depth, backslashes: 0 } }))
}

/// The block that `|` or `>` opens in YAML.
fn block(window: &Window<'_>, at: usize) -> Result<Option<Form>, More> {
    if !matches!(window.get(at)?, Some(b'|' | b'>')) {
        return Ok(None);
    }
    let end = window.run(at + 1, 2, |byte| matches!(byte, b'+' | b'-' | b'0'..=b'9'))?;
    if window.get(end)? != Some(b'\n') {
        return Ok(None);
    }
    let start = window.run(end + 1, INDENTATION, is_blank)?;
    let extent = Extent::Lines { indentation: start - end - 1 };
    Ok((start > end + 1).then_some(Form { start, quoted: true, extent }))
}
