//! The alphabet of an expression: characters beyond ASCII which no set tells apart are one symbol of one or two bytes.
//!
//! A search in symbols needs few states, however many characters a class has, and its places are between characters.

use std::borrow::Cow;
use std::cell::Cell;
use std::collections::HashMap;
use std::hash::{BuildHasher, RandomState};

use regex_syntax::hir::{Class, ClassBytes, ClassBytesRange, ClassUnicode, Hir};

use crate::go;

/// The first byte of a symbol, if all symbols are one byte.
const NARROW: u8 = 0x80;

/// How many symbols of one byte there are.
const NARROW_COUNT: usize = 128;

/// The least first and second byte of a symbol of two bytes: those of UTF-8.
const LEAD: u8 = 0xc0;
const TRAIL: u8 = 0x80;

/// How many first bytes, and how many second bytes, there are.
const WIDE: usize = 64;

/// The most parts of the sets, cut into ranges of symbols.
const MOST_PIECES: usize = 1_000_000;

/// After how many characters their place in the text is kept.
const STRIDE: usize = 64;

pub struct Alphabet {
    /// Where ranges of characters begin, and the symbol of each.
    ranges: Vec<(u32, u16)>,
    /// How many symbols there are.
    count: usize,
}

/// A text in symbols.
pub struct Encoded<'t> {
    text: &'t [u8],
    pub bytes: Cow<'t, [u8]>,
    /// Some places in the symbols, with the places in the text.
    marks: Vec<(usize, usize)>,
    /// The last place that was asked for: the next one is mostly near.
    last: Cell<(usize, usize)>,
    wide: bool,
}

impl Alphabet {
    /// The alphabet of these sets; `None` if there are too many symbols.
    pub fn new(sets: &[ClassUnicode]) -> Option<Alphabet> {
        // Two characters are one symbol if the same sets have them: if the random keys of those sets give the same.
        let random = [RandomState::new(), RandomState::new()];
        let mut changes: Vec<(u32, u128)> = Vec::new();
        for (number, set) in sets.iter().enumerate() {
            let [low, high] = random.each_ref().map(|random| u128::from(random.hash_one(number)));
            let key = high << 64 | low;
            for range in set.ranges().iter().filter(|range| !range.end().is_ascii()) {
                changes.push((u32::from(range.start()).max(0x80), key));
                changes.push((u32::from(range.end()) + 1, key));
            }
        }
        changes.sort_unstable_by_key(|(at, _)| *at);
        let (mut known, mut ranges, mut key) = (HashMap::from([(0_u128, 0_u16)]), vec![(0x80, 0)], 0);
        for here in changes.chunk_by(|a, b| a.0 == b.0) {
            let Some((at, _)) = here.first() else { continue };
            key = here.iter().fold(key, |key, (_, change)| key ^ change);
            let next = u16::try_from(known.len()).ok()?;
            let symbol = *known.entry(key).or_insert(next);
            match ranges.last_mut() {
                Some(last) if last.0 == *at => last.1 = symbol,
                _ => ranges.push((*at, symbol)),
            }
        }
        let count = known.len();
        (count <= WIDE * WIDE).then_some(Alphabet { ranges, count })
    }

    fn is_wide(&self) -> bool {
        self.count > NARROW_COUNT
    }

    /// The number of the range in which a character beyond ASCII is.
    fn range_of(&self, c: u32) -> usize {
        self.ranges.partition_point(|(start, _)| *start <= c).saturating_sub(1)
    }

    fn push(&self, out: &mut Vec<u8>, symbol: u16) {
        let symbol = usize::from(symbol);
        match self.is_wide() {
            true => out.extend([LEAD + (symbol / WIDE) as u8, TRAIL + (symbol % WIDE) as u8]),
            false => out.push(NARROW + symbol as u8),
        }
    }

    /// The text in symbols. A byte that is not UTF-8 is a U+FFFD, as in Go.
    pub fn encode<'t>(&self, text: &'t [u8]) -> Encoded<'t> {
        let wide = self.is_wide();
        if text.is_ascii() {
            return Encoded {
                text,
                bytes: Cow::Borrowed(text),
                marks: Vec::new(),
                last: Cell::default(),
                wide,
            };
        }
        let (mut out, mut marks) = (Vec::with_capacity(text.len()), Vec::with_capacity(text.len() / STRIDE));
        // Most characters are near the one before.
        let (mut at, mut near) = (0, 0..0);
        let mut symbol = 0;
        for (number, (c, bytes)) in go::Runes(text).enumerate() {
            if number % STRIDE == 0 {
                marks.push((out.len(), at));
            }
            at += bytes.len();
            let c = u32::from(c.unwrap_or(char::REPLACEMENT_CHARACTER));
            if let Some(byte) = u8::try_from(c).ok().filter(u8::is_ascii) {
                out.push(byte);
                continue;
            }
            if !near.contains(&c) {
                let found = self.range_of(c);
                let start = |at: usize| self.ranges.get(at).copied().unwrap_or((u32::MAX, 0));
                symbol = start(found).1;
                near = start(found).0..start(found + 1).0;
            }
            self.push(&mut out, symbol);
        }
        Encoded { text, bytes: Cow::Owned(out), marks, last: Cell::default(), wide }
    }

    /// The sets as expressions of bytes, each with its size; `None` if that is too much work.
    pub fn expressions(&self, sets: &[ClassUnicode]) -> Option<Vec<(Hir, usize)>> {
        let mut pieces = 0;
        let mut written = Vec::with_capacity(sets.len());
        for set in sets {
            let symbols = self.symbols(set);
            pieces += symbols.len();
            if pieces > MOST_PIECES {
                return None;
            }
            written.push(self.expression(set, symbols));
        }
        Some(written)
    }

    /// The symbols of a set, sorted.
    fn symbols(&self, set: &ClassUnicode) -> Vec<u16> {
        let mut symbols = Vec::new();
        for range in set.ranges().iter().filter(|range| !range.end().is_ascii()) {
            let from = self.range_of(u32::from(range.start()).max(0x80));
            let to = self.range_of(u32::from(range.end()));
            symbols.extend(self.ranges.get(from..=to).unwrap_or_default().iter().map(|(_, symbol)| *symbol));
        }
        symbols.sort_unstable();
        symbols.dedup();
        symbols
    }

    fn expression(&self, set: &ClassUnicode, symbols: Vec<u16>) -> (Hir, usize) {
        let ascii = set.ranges().iter().filter(|range| range.start().is_ascii());
        let mut single = ClassBytes::new(ascii.map(|range| {
            let end = u8::try_from(range.end()).unwrap_or(0x7f).min(0x7f);
            ClassBytesRange::new(u8::try_from(range.start()).unwrap_or(end), end)
        }));
        if !self.is_wide() {
            single.union(&bytes(symbols.iter().map(|symbol| NARROW + *symbol as u8)));
            return (Hir::class(Class::Bytes(single)), 1);
        }
        // First bytes with the same second ones stand together.
        let mut leads: Vec<Vec<u8>> = vec![Vec::new(); WIDE];
        for symbol in symbols.iter().map(|symbol| usize::from(*symbol)) {
            if let Some(trails) = leads.get_mut(symbol / WIDE) {
                trails.push(TRAIL + (symbol % WIDE) as u8);
            }
        }
        let mut groups: Vec<(Vec<u8>, Vec<u8>)> = Vec::new();
        for (trails, lead) in leads.into_iter().zip(LEAD..=u8::MAX).filter(|(trails, _)| !trails.is_empty()) {
            match groups.iter_mut().find(|(known, _)| *known == trails) {
                Some((_, leads)) => leads.push(lead),
                None => groups.push((trails, vec![lead])),
            }
        }
        let size = 2 + 2 * groups.len();
        let class = |members: Vec<u8>| Hir::class(Class::Bytes(bytes(members.into_iter())));
        let pairs = groups.into_iter().map(|(trails, leads)| Hir::concat(vec![class(leads), class(trails)]));
        let ascii = (!single.ranges().is_empty()).then(|| Hir::class(Class::Bytes(single)));
        (Hir::alternation(ascii.into_iter().chain(pairs).collect()), size)
    }
}

/// The class of these bytes.
fn bytes(members: impl Iterator<Item = u8>) -> ClassBytes {
    ClassBytes::new(members.map(|byte| ClassBytesRange::new(byte, byte)))
}

impl Encoded<'_> {
    /// Whether a place is not inside of a character.
    pub fn is_boundary(&self, at: usize) -> bool {
        !self.wide || self.bytes.get(at).is_none_or(|byte| byte & 0xc0 != TRAIL)
    }

    /// The length of the character at a place; at least 1.
    pub fn width(&self, at: usize) -> usize {
        if self.is_boundary(at + 1) { 1 } else { 2 }
    }

    /// The place in the text of a place in the symbols.
    pub fn place(&self, at: usize) -> usize {
        if self.marks.is_empty() {
            return at;
        }
        let last = self.last.get();
        let (from, mut place) = match last.0 <= at && at - last.0 < STRIDE {
            true => last,
            false => {
                let after = self.marks.partition_point(|(mark, _)| *mark <= at);
                after.checked_sub(1).and_then(|before| self.marks.get(before)).copied().unwrap_or_default()
            }
        };
        let symbols = self.bytes.get(from..at).unwrap_or_default();
        let characters = symbols.iter().filter(|byte| !self.wide || **byte & 0xc0 != TRAIL).count();
        for (_, bytes) in go::Runes(self.text.get(place..).unwrap_or_default()).take(characters) {
            place += bytes.len();
        }
        self.last.set((at, place));
        place
    }
}
