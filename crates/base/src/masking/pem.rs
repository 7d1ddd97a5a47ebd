//! PEM blocks of private keys, also those whose end is missing, and those within JSON.

use super::Found;
use super::extent::{Extent, Step, is_blank, is_quote};
use super::shapes::base64;
use super::window::{More, Window};

/// How far a line is looked at to see whether it is part of a block, in bytes.
const LINE: usize = 256;
/// As many characters of base64 in a row are taken for a part of a key.
const KEY_CHARACTERS: usize = 16;
const END: &[u8] = b"-----END";
const DASHES: &[u8] = b"-----";
/// The lines of a block that are not base64.
const HEADERS: [&[u8]; 4] = [b"Proc-Type:", b"DEK-Info:", b"Comment:", b"Version:"];

/// The part of a block that is still to come.
#[derive(Debug, Clone, Default)]
pub(super) struct Block {
    /// How many bytes are known to belong to it: its first line, or its last.
    known: usize,
    /// Whether they are the last.
    last: bool,
    /// Whether a line begins here.
    fresh: bool,
    /// How many characters of base64 stand before this place.
    run: usize,
}

/// The private key that begins at `start`, if one does.
pub(super) fn judge(window: &Window<'_>, start: usize, end: usize) -> Result<Option<Found>, More> {
    let label = |byte: u8| byte.is_ascii_uppercase() || byte.is_ascii_digit() || byte == b' ';
    let dashes = window.run(end, 48, label)?;
    let name = window.slice(end, dashes);
    let private = name.ends_with(b"PRIVATE KEY") || name.ends_with(b"PRIVATE KEY BLOCK");
    if !private || !window.starts_with(dashes, DASHES)? {
        return Ok(None);
    }
    let known = dashes + DASHES.len() - start;
    Ok(Some(Found {
        start,
        kind: Some("private key"),
        extent: Extent::Pem(Block { known, ..Block::default() }),
    }))
}

impl Block {
    /// What [`Extent`] asks.
    pub(super) fn step(&mut self, window: &Window<'_>, at: usize, byte: u8) -> Result<Step, More> {
        if self.known > 0 {
            self.known -= 1;
            return Ok(Step::Take(1));
        }
        if self.last {
            return Ok(Step::End);
        }
        if byte == b'-' && window.starts_with(at, END)? {
            self.known = last_line(window, at)? - 1 - at;
            self.last = true;
            return Ok(Step::Take(1));
        }
        let judged = self.fresh || !base64(byte) && self.run >= KEY_CHARACTERS;
        if judged && !self.goes_on(window, at)? || self.run > 0 && ends_text(window, at, byte)? {
            return Ok(Step::End);
        }
        self.fresh = byte == b'\n' || byte == b'n' && window.before(at) == Some(b'\\');
        self.run = if base64(byte) { self.run + 1 } else { 0 };
        Ok(Step::Take(1))
    }

    /// Whether the text up to the end of the line can be a part of the block.
    fn goes_on(&self, window: &Window<'_>, at: usize) -> Result<bool, More> {
        if !is_prose(window, at)? {
            return Ok(true);
        }
        let key = window.run(at, KEY_CHARACTERS, base64)?;
        let quoted = key > at && window.get(key)?.is_some_and(is_quote);
        Ok(self.fresh && (key == at + KEY_CHARACTERS || quoted || is_header(window, at)?))
    }
}

/// Whether a quote ends the text that the block is in, and no text with another line of the block follows.
fn ends_text(window: &Window<'_>, at: usize, byte: u8) -> Result<bool, More> {
    let quote = at + usize::from(byte == b'\\');
    if !window.get(quote)?.is_some_and(is_quote) {
        return Ok(false);
    }
    let sign = window.run(quote + 1, LINE, is_blank)?;
    if !matches!(window.get(sign)?, Some(b',' | b'}' | b']' | b':' | b';' | b')')) {
        return Ok(false);
    }
    let next = window.run(sign + 1, LINE, |byte| byte.is_ascii_whitespace())? + 1;
    let key = window.run(next, KEY_CHARACTERS, base64)? == next + KEY_CHARACTERS;
    Ok(!key && !window.starts_with(next, END)?)
}

fn is_header(window: &Window<'_>, at: usize) -> Result<bool, More> {
    for header in HEADERS {
        if window.starts_with(at, header)? {
            return Ok(true);
        }
    }
    Ok(false)
}

/// Where the line `-----END … KEY-----` ends.
fn last_line(window: &Window<'_>, at: usize) -> Result<usize, More> {
    let label = |byte: u8| byte.is_ascii_uppercase() || byte.is_ascii_digit() || byte == b' ';
    let dashes = window.run(at + END.len(), 48, label)?;
    window.run(dashes, DASHES.len(), |byte| byte == b'-')
}

/// Whether a line has two words with letters. Numbers of lines and other marks may stand before those of a block.
fn is_prose(window: &Window<'_>, from: usize) -> Result<bool, More> {
    let (mut words, mut lettered, mut at) = (0, false, from);
    while at < from + LINE {
        let byte = match window.get(at)? {
            None | Some(b'\n' | b'\r') => break,
            Some(b'\\') if window.get(at + 1)? == Some(b'n') => break,
            Some(b'-') if window.starts_with(at, END)? => break,
            Some(byte) => byte,
        };
        let starts = byte.is_ascii_alphabetic() && !lettered;
        words += usize::from(starts);
        lettered = (lettered || starts) && byte != b' ';
        if words > 1 {
            return Ok(true);
        }
        at += 1;
    }
    Ok(false)
}
