//! The value of a JSON text of which only the beginning is known, while it streams in.

use std::ops::Range;

use template::value::{Value, parse_json};

use super::preface::Preface;
use super::scan::{Container, Event, Scanner};

/// The length of an escaped UTF-16 unit.
const UNIT_BYTES: usize = 6;

/// How often a bracket may turn out to belong to a sentence.
const ASIDES_MAX: usize = 16;

/// Reads a value from a text that comes in pieces. What is not JSON ends the reading: the value stays what it was. A bracket with no
/// value in it, though, belongs to a sentence, behind which the value may come.
#[derive(Debug)]
pub struct PartialReader {
    /// The name of the member of the root that holds the value, if there may be such a wrapper.
    wrapper: Option<String>,
    preface: Preface,
    scanner: Scanner,
    /// The text from the root on; what comes after the value is left out.
    text: String,
    /// What of the text is known to be part of the value, once everything open is closed after it.
    known: usize,
    /// Whether that ends inside of a string.
    in_string: bool,
    /// Where the name began that was read last.
    name: usize,
    /// Where the number or literal began that was read last.
    scalar: usize,
    value: Place,
    items: Items,
    /// Whether the root is more than a bracket in a sentence.
    is_json: bool,
    /// How many brackets were in sentences.
    asides: usize,
    /// Whether nothing can change any more.
    is_over: bool,
}

/// Where the value is in the text.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Place {
    /// It is the root, or its member: the first name tells.
    Undecided,
    /// It is the wrapper's value, which has not begun.
    Awaited,
    /// It began here, in so many open objects.
    At { start: usize, depth: usize },
}

/// The elements of the value, if it is a list.
#[derive(Debug, Default)]
struct Items {
    /// How much is open around each of them, while the list is.
    depth: Option<usize>,
    /// Where the last one began.
    start: usize,
    /// Those that are complete and were not taken.
    complete: Vec<Range<usize>>,
}

impl PartialReader {
    /// A reader of the object or list that is the root of the text; with `wrapper`, if the root is an object whose first
    /// member has this name, of that member's value.
    pub fn new(wrapper: Option<&str>) -> PartialReader {
        PartialReader {
            wrapper: wrapper.map(str::to_owned),
            preface: Preface::Begin,
            scanner: Scanner::new(),
            text: String::new(),
            known: 0,
            in_string: false,
            name: 0,
            scalar: 0,
            value: Place::Undecided,
            items: Items::default(),
            is_json: false,
            asides: 0,
            is_over: false,
        }
    }

    /// Takes the next piece of the text.
    pub fn push(&mut self, piece: &str) {
        let mut rest = piece;
        while !rest.is_empty() && !self.is_over {
            if self.text.is_empty() {
                rest = self.after_preface(rest);
            }
            rest = self.read(rest);
        }
    }

    /// How many bytes of the value are known; `None` before its first character.
    pub fn known(&self) -> Option<usize> {
        let Place::At { start, .. } = self.value else { return None };
        self.known.checked_sub(start).filter(|known| *known > 0)
    }

    /// The value as JSON, as far as it is known; `None` before its first character. A number is known when something follows it.
    pub fn json(&self) -> Option<String> {
        let Place::At { start, depth } = self.value else { return None };
        let mut json = self.text.get(start..self.known).filter(|text| !text.is_empty())?.to_owned();
        if self.in_string {
            json.push('"');
        }
        json.extend(self.scanner.open().iter().skip(depth).rev().map(|open| match open {
            Container::Object => '}',
            Container::List => ']',
        }));
        Some(json)
    }

    /// The elements of the value, a list, that became complete since the last call: each is given once.
    pub fn take_items(&mut self) -> Vec<Value> {
        let complete = std::mem::take(&mut self.items.complete).into_iter();
        complete.filter_map(|place| parse_json(self.text.get(place)?.as_bytes()).ok()).collect()
    }

    /// The rest of a piece from the root on; empty if it has not begun.
    fn after_preface<'p>(&mut self, piece: &'p str) -> &'p str {
        for (at, byte) in piece.bytes().enumerate() {
            match self.preface.with(byte) {
                Some(preface) => self.preface = preface,
                None => return piece.get(at..).unwrap_or_default(),
            }
        }
        ""
    }

    /// Reads on from the root; gives what comes from where that turns out to be a sentence.
    fn read<'p>(&mut self, piece: &'p str) -> &'p str {
        let before = self.text.len();
        self.text.push_str(piece);
        for (at, byte) in piece.bytes().enumerate() {
            self.take(before + at, byte);
            match self.preface {
                _ if self.is_over => break,
                Preface::Aside(_) => return piece.get(at..).unwrap_or_default(),
                _ => {}
            }
        }
        ""
    }

    fn take(&mut self, at: usize, byte: u8) {
        if self.scanner.ends_number(byte) && !self.end_number(at) {
            self.is_over = true;
        }
        if self.is_over {
            return;
        }
        match self.scanner.take(byte) {
            Event::Nothing => {}
            Event::Opened(container) => self.opened(at, container),
            Event::Closed => self.ended(at + 1),
            Event::NameBegan => self.name = at,
            Event::NameEnded => self.name_ended(at + 1),
            Event::StringBegan => {
                self.began(at, self.scanner.open().len());
                self.in_string = true;
                self.known = at + 1;
            }
            Event::ScalarBegan => {
                self.began(at, self.scanner.open().len());
                self.scalar = at;
            }
            Event::Text => self.known = at + 1,
            Event::Unit(unit) => self.known = self.known_after(unit, at + 1),
            Event::Ended => self.ended(at + 1),
            Event::Refused => self.refused(),
        }
    }

    /// The text from the root on is no JSON.
    fn refused(&mut self) {
        if self.is_json || self.asides >= ASIDES_MAX {
            self.is_over = true;
            return;
        }
        let (wrapper, asides) = (self.wrapper.take(), self.asides + 1);
        let preface = Preface::Aside(self.scanner.open().len());
        *self = PartialReader { wrapper, preface, asides, ..PartialReader::new(None) };
    }

    /// Ends a number, if it is one that the parser can hold.
    fn end_number(&mut self, end: usize) -> bool {
        let digits = self.text.get(self.scalar..end).unwrap_or_default();
        let is_number = parse_json::<f64>(digits.as_bytes()).is_ok();
        if is_number {
            self.ended(end);
        }
        is_number
    }

    /// Of a string, what is known after an escaped unit: the first half of a pair says nothing before the second one.
    fn known_after(&self, unit: u16, end: usize) -> usize {
        if (0xd800..0xdc00).contains(&unit) { end - UNIT_BYTES } else { end }
    }

    fn opened(&mut self, at: usize, container: Container) {
        let around = self.scanner.open().len() - 1;
        self.is_json |= around > 0;
        let is_wrapper = around == 0 && container == Container::Object && self.wrapper.is_some();
        if !is_wrapper {
            self.began(at, around);
        }
        let is_value = matches!(self.value, Place::At { start, .. } if start == at);
        if is_value && container == Container::List {
            self.items.depth = Some(around + 1);
        }
        self.known = at + 1;
    }

    /// A value begins, in so many open objects and lists.
    fn began(&mut self, at: usize, around: usize) {
        self.is_json |= self.scanner.open().last() == Some(&Container::Object) && around > 0;
        if matches!(self.value, Place::Undecided | Place::Awaited) {
            self.value = Place::At { start: at, depth: around };
        }
        if self.items.depth == Some(around) {
            self.items.start = at;
        }
    }

    /// A value ends.
    fn ended(&mut self, end: usize) {
        self.known = end;
        self.in_string = false;
        self.is_json = true;
        let around = self.scanner.open().len();
        if self.items.depth == Some(around) {
            self.items.complete.push(self.items.start..end);
        }
        if self.value == Place::Undecided {
            // An empty object, where there could have been a wrapper.
            self.value = Place::At { start: 0, depth: 0 };
        }
        self.is_over = matches!(self.value, Place::At { depth, .. } if depth == around);
    }

    fn name_ended(&mut self, end: usize) {
        if self.value != Place::Undecided {
            return;
        }
        let name = self.text.get(self.name..end).unwrap_or_default();
        let name: Option<String> = parse_json(name.as_bytes()).ok();
        self.value = if name == self.wrapper { Place::Awaited } else { Place::At { start: 0, depth: 0 } };
    }
}

#[cfg(test)]
mod tests;
