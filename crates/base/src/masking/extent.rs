//! How far a secret extends: what it may contain, and before what it ends.

use super::MASK;
use super::pem::Block;
use super::window::{More, Window};

/// The part of a secret that is still to come. It advances with the text and keeps what it must know, so that a secret may be
/// of any length.
#[derive(Debug, Clone)]
pub(super) enum Extent {
    /// Characters of a class, after as many bytes of a prefix.
    Run { prefix: usize, class: fn(u8) -> bool },
    /// A quoted text: up to the quote, with as many backslashes before it, or the end of the line.
    Quote { quote: u8, depth: usize, backslashes: usize },
    /// A word of a text: up to a blank, a quote, or punctuation that separates.
    Word,
    /// A word of a shell: up to a blank or a quote.
    ShellWord,
    /// The rest of a line, without a comment.
    Line,
    /// Lines that are indented at least so far.
    Lines { indentation: usize },
    /// The password of a URL that is longer than is looked at.
    Password,
    /// So many bytes.
    Bytes(usize),
    /// A PEM block.
    Pem(Block),
}

/// What an extent says about the text at a place.
#[derive(Debug, PartialEq, Eq)]
pub(super) enum Step {
    /// So many bytes belong to the secret; at least one, and none of them beyond the window.
    Take(usize),
    /// The secret ends here.
    End,
}

impl Extent {
    /// Follows the secret from `at` to its end, or to `limit`. Says where it stands then, and whether that is the end.
    ///
    /// `at` is left where more text is needed.
    pub(super) fn advance(
        &mut self,
        window: &Window<'_>,
        at: &mut usize,
        limit: usize,
    ) -> Result<bool, More> {
        while *at < limit {
            match self.step(window, *at)? {
                Step::Take(bytes) => *at += bytes,
                Step::End => return Ok(true),
            }
        }
        Ok(false)
    }

    fn step(&mut self, window: &Window<'_>, at: usize) -> Result<Step, More> {
        let Some(byte) = window.get(at)? else { return Ok(Step::End) };
        let belongs = match self {
            Extent::Run { prefix: 0, class } => class(byte),
            Extent::Run { prefix: left, .. } | Extent::Bytes(left @ 1..) => {
                *left -= 1;
                true
            }
            Extent::Bytes(_) => false,
            Extent::Quote { quote, depth, backslashes } => {
                !matches!(byte, b'\n' | b'\r') && !closes(window, at, (*quote, *depth), backslashes, byte)?
            }
            Extent::Word => !ends_word(window, at, byte)?,
            Extent::ShellWord => !ends_shell_word(window, at, byte)?,
            Extent::Line => !(matches!(byte, b'\n' | b'\r') || is_blank(byte) && comment(window, at)?),
            Extent::Lines { indentation } => byte != b'\n' || continues(window, at + 1, *indentation)?,
            Extent::Password => !ends_authority(byte) && byte != b'@',
            Extent::Pem(block) => return block.step(window, at, byte),
        };
        Ok(if belongs { Step::Take(1) } else { Step::End })
    }
}

/// Whether a quoted text ends before `at`. `depth` backslashes stand before its quotes, because it is itself in a quoted text;
/// a quote inside of it has more.
fn closes(
    window: &Window<'_>,
    at: usize,
    (quote, depth): (u8, usize),
    backslashes: &mut usize,
    byte: u8,
) -> Result<bool, More> {
    let cycle = 2 * (depth + 1);
    if byte == quote {
        let inner = std::mem::take(backslashes) % cycle;
        return Ok(inner <= depth);
    }
    if byte != b'\\' {
        *backslashes = 0;
        return Ok(false);
    }
    let fresh = depth > 0 && backslashes.is_multiple_of(cycle);
    if fresh
        && window.run(at, depth, |byte| byte == b'\\')? == at + depth
        && window.get(at + depth)? == Some(quote)
    {
        return Ok(true);
    }
    *backslashes += 1;
    Ok(false)
}

pub(super) fn is_blank(byte: u8) -> bool {
    matches!(byte, b' ' | b'\t')
}

pub(super) fn is_quote(byte: u8) -> bool {
    matches!(byte, b'"' | b'\'' | b'`')
}

/// A backslash before a quote or as the beginning of `\n`: the word stands in a quoted text.
fn is_escape(window: &Window<'_>, at: usize, byte: u8) -> Result<bool, More> {
    let escaped = |byte: u8| is_quote(byte) || matches!(byte, b'n' | b'r' | b't');
    Ok(byte == b'\\' && window.get(at + 1)?.is_some_and(escaped))
}

fn ends_shell_word(window: &Window<'_>, at: usize, byte: u8) -> Result<bool, More> {
    Ok(byte.is_ascii_whitespace() || is_quote(byte) || is_escape(window, at, byte)?)
}

/// Where a word ends. Passwords have punctuation, too: it separates only if what comes next says so.
pub(super) fn ends_word(window: &Window<'_>, at: usize, byte: u8) -> Result<bool, More> {
    match byte {
        b',' | b';' | b'&' => separates(window, at + 1),
        b')' | b']' | b'}' => Ok(!window.get(at + 1)?.is_some_and(is_word_byte)),
        b'<' => Ok(true),
        _ => ends_shell_word(window, at, byte),
    }
}

fn is_word_byte(byte: u8) -> bool {
    byte.is_ascii_alphanumeric() || byte == b'_' || !byte.is_ascii()
}

/// Whether a blank, the end of something, or another name with its value comes next.
fn separates(window: &Window<'_>, at: usize) -> Result<bool, More> {
    let closing =
        |byte: u8| byte.is_ascii_whitespace() || is_quote(byte) || matches!(byte, b')' | b']' | b'}' | b'\\');
    if window.get(at)?.is_none_or(closing) {
        return Ok(true);
    }
    // A name of that shape is masked later.
    if window.starts_with(at, MASK.as_bytes())? {
        return Ok(true);
    }
    let name = |byte: u8| is_word_byte(byte) || matches!(byte, b'.' | b'-' | b' ');
    let end = window.run(at, 40, name)?;
    Ok(end > at && window.get(end)?.is_some_and(|byte| matches!(byte, b'=' | b':')))
}

fn comment(window: &Window<'_>, at: usize) -> Result<bool, More> {
    Ok(window.get(at + 1)? == Some(b'#'))
}

/// Whether the line at `at` is empty, or indented so far.
fn continues(window: &Window<'_>, at: usize, indentation: usize) -> Result<bool, More> {
    let end = window.run(at, indentation, is_blank)?;
    Ok(end == at + indentation || matches!(window.get(end)?, Some(b'\n' | b'\r')))
}

/// What neither user nor password of a URL contain.
pub(super) fn ends_authority(byte: u8) -> bool {
    byte.is_ascii_whitespace() || is_quote(byte) || matches!(byte, b'<' | b'>' | b'\\')
}
