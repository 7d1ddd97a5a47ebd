//! A line as a terminal shows it: what is written over is gone.

use std::borrow::Cow;

use super::escape::{Escapes, Signal};

/// The most spaces that one movement to the right adds after the end of a line, so that short sequences do not make long texts.
const WIDEST_GAP: usize = 80;
/// The column after which movements to the right add nothing: no terminal is that wide.
const WIDEST_LINE: usize = 1_000;

/// The line as it is shown in the end.
pub(super) fn shown(line: &str) -> Cow<'_, str> {
    let line = line.trim_end_matches('\r');
    if line.bytes().all(is_plain) || !line.chars().any(|c| c.is_control() && c != '\t') {
        return Cow::Borrowed(line);
    }
    let (mut escapes, mut cells) = (Escapes::default(), Cells::default());
    line.chars().filter_map(|c| escapes.read(c)).for_each(|signal| cells.obey(signal));
    Cow::Owned(cells.characters.into_iter().collect())
}

/// Whether a byte is certainly no part of a control character.
fn is_plain(byte: u8) -> bool {
    byte == b'\t' || (byte >= b' ' && byte != 0x7f && byte != 0xc2)
}

/// The characters of a line, and where the next one is written: at most after the last.
#[derive(Default)]
struct Cells {
    characters: Vec<char>,
    column: usize,
}

impl Cells {
    fn obey(&mut self, signal: Signal) {
        match signal {
            Signal::Character(c) => self.write(c),
            Signal::Right(count) => self.right(count),
            Signal::Left(count) => self.column = self.column.saturating_sub(count),
            Signal::Column(column) => self.column = column.min(self.characters.len()),
            Signal::EraseRest => self.characters.truncate(self.column),
            Signal::EraseLine => *self = Self::default(),
        }
    }

    fn write(&mut self, c: char) {
        match self.characters.get_mut(self.column) {
            Some(cell) => *cell = c,
            None => self.characters.push(c),
        }
        self.column += 1;
    }

    fn right(&mut self, count: usize) {
        let inside = self.characters.len() - self.column;
        let widest = if self.characters.len() < WIDEST_LINE { WIDEST_GAP } else { 0 };
        let gap = count.saturating_sub(inside).min(widest);
        self.characters.extend(std::iter::repeat_n(' ', gap));
        self.column += count.min(inside + gap);
    }
}
