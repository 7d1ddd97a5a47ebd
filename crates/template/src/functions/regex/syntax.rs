//! Reads the syntax of Go's regular expressions (RE2): what an expression is made of, groups and repetitions.

use regex_syntax::hir::Look;

use super::program::{MOST_PARTS, Refusal};
use super::sets::{Item, Sets};
use super::tree::{Node, Repeat};
use crate::go;

/// The most times that a repetition may repeat.
const MOST_REPEATS: u32 = 1_000;

/// The longest expression, in bytes.
const LONGEST: usize = 8 * MOST_PARTS;

/// An expression that has been read.
pub struct Parsed<'p> {
    pub root: Node,
    /// The sets of characters that it names by number.
    pub sets: Sets<'p>,
    /// How many groups capture.
    pub captures: usize,
    /// The names of groups, with their numbers.
    pub names: Vec<(String, usize)>,
}

/// Reads an expression.
///
/// # Errors
/// [`Refusal`]: it is not valid, or has too many parts.
pub fn read(pattern: &[u8]) -> Result<Parsed<'_>, Refusal> {
    if pattern.len() > LONGEST {
        return Err(Refusal::TooLarge);
    }
    let text = match std::str::from_utf8(pattern) {
        Ok(text) => text,
        Err(error) => {
            // Go quotes what it has not read.
            let rest = pattern.get(error.valid_up_to()..).unwrap_or_default();
            return invalid("invalid UTF-8", &go::lossy(rest));
        }
    };
    let mut reader = Reader {
        whole: text,
        left: text,
        sets: Sets::default(),
        open: Vec::new(),
        frame: Frame::default(),
        flags: Flags::default(),
        captures: 0,
        names: Vec::new(),
        parts: 0,
    };
    reader.expression()?;
    let root = std::mem::take(&mut reader.frame).node();
    Ok(Parsed { root, sets: reader.sets, captures: reader.captures, names: reader.names })
}

/// What `(?…)` sets, up to the end of its group.
#[derive(Clone, Copy, Default)]
pub struct Flags {
    /// `i`: case does not count.
    pub folds: bool,
    /// `m`: `^` and `$` are about lines.
    pub lines: bool,
    /// `s`: a point is any character.
    pub dot_all: bool,
    /// `U`: repetitions take as little as they can.
    pub lazy: bool,
}

/// How often the parts of the group that is being read are repeated.
#[derive(Clone, Copy, Default)]
pub struct Repeats {
    /// The most that any part is.
    pub most: u32,
    /// The part that was read last.
    last: u32,
}

impl Repeats {
    pub fn add(&mut self, times: u32) {
        self.last = times;
        self.most = self.most.max(times);
    }
}

/// A group that is being read, or the expression itself.
#[derive(Default)]
pub struct Frame {
    /// What stands before the last `|`.
    pub choices: Vec<Node>,
    /// What stands after it.
    pub nodes: Vec<Node>,
    pub repeats: Repeats,
    /// The number of the group, if it captures.
    pub capture: Option<usize>,
    /// The flags around the group.
    pub outer: Flags,
}

impl Frame {
    pub fn node(mut self) -> Node {
        self.choices.push(Node::sequence(self.nodes));
        let node = Node::choice(self.choices);
        match self.capture {
            Some(number) => Node::Group(number, Box::new(node)),
            None => node,
        }
    }
}

pub struct Reader<'p> {
    pub whole: &'p str,
    /// What has not been read yet.
    pub left: &'p str,
    pub sets: Sets<'p>,
    /// The groups around.
    pub open: Vec<Frame>,
    pub frame: Frame,
    pub flags: Flags,
    /// How many groups capture.
    pub captures: usize,
    pub names: Vec<(String, usize)>,
    /// How many parts have been read.
    parts: usize,
}

/// What a repetition would repeat.
#[derive(Clone, Copy, PartialEq, Eq)]
pub enum Before<'p> {
    /// Nothing that can be repeated.
    Nothing,
    Item,
    /// A repetition, which began here.
    Repetition(&'p str),
}

pub fn invalid<T>(what: &str, text: &str) -> Result<T, Refusal> {
    Err(Refusal::Invalid(format!("{what}: `{text}`")))
}

/// The part of `from` before `to`, which is its end.
pub fn between<'p>(from: &'p str, to: &str) -> &'p str {
    from.get(..from.len() - to.len()).unwrap_or(from)
}

impl<'p> Reader<'p> {
    pub fn peek(&self) -> Option<char> {
        self.left.chars().next()
    }

    pub fn take(&mut self) -> Option<char> {
        let c = self.peek()?;
        self.left = self.left.get(c.len_utf8()..).unwrap_or_default();
        Some(c)
    }

    /// Goes past a text, if it is next.
    pub fn eat(&mut self, text: &str) -> bool {
        match self.left.strip_prefix(text) {
            Some(rest) => {
                self.left = rest;
                true
            }
            None => false,
        }
    }

    /// Adds a part.
    pub fn push(&mut self, node: Node) -> Before<'p> {
        self.frame.nodes.push(node);
        Before::Item
    }

    /// Adds a single character.
    pub fn push_character(&mut self, c: char) -> Before<'p> {
        let node = self.sets.character(c, self.flags.folds);
        self.push(node)
    }

    /// Counts a part.
    pub fn count(&mut self) -> Result<(), Refusal> {
        self.parts += 1;
        if self.parts + self.sets.work() > MOST_PARTS { Err(Refusal::TooLarge) } else { Ok(()) }
    }

    fn expression(&mut self) -> Result<(), Refusal> {
        let mut before = Before::Nothing;
        while let Some(c) = self.peek() {
            self.count()?;
            let start = self.left;
            if !matches!(c, '(' | ')' | '*' | '+' | '?' | '{') {
                self.frame.repeats.last = 1;
            }
            before = match c {
                '(' => self.group()?,
                ')' => self.end_of_group()?,
                '|' => {
                    self.take();
                    let choice = Node::sequence(std::mem::take(&mut self.frame.nodes));
                    self.frame.choices.push(choice);
                    Before::Nothing
                }
                '^' | '$' | '.' => self.symbol(c),
                '[' => self.class()?,
                '*' | '+' | '?' => {
                    self.take();
                    let (least, most) = if c == '?' { (0, Some(1)) } else { (u32::from(c == '+'), None) };
                    self.repetition(start, before, least, most)?
                }
                '{' => match self.counted()? {
                    Some((least, most)) => self.repetition(start, before, least, most)?,
                    None => {
                        self.frame.repeats.last = 1;
                        self.take();
                        self.push_character('{')
                    }
                },
                '\\' => self.escape(before)?,
                c => {
                    self.take();
                    self.push_character(c)
                }
            };
        }
        match self.open.is_empty() {
            true => Ok(()),
            false => invalid("missing closing )", self.whole),
        }
    }

    /// `^`, `$` or a point.
    fn symbol(&mut self, c: char) -> Before<'p> {
        self.take();
        let node = match (c, self.flags.lines) {
            ('^', false) => Node::Look(Look::Start),
            ('^', true) => Node::Look(Look::StartLF),
            ('$', false) => Node::Look(Look::End),
            ('$', true) => Node::Look(Look::EndLF),
            _ if self.flags.dot_all => self.sets.class(".s", false, Vec::new(), true),
            _ => self.sets.class(".", false, vec![Item::Range('\n', '\n')], true),
        };
        self.push(node)
    }

    /// The end of a repetition that began at `start`, whose `?` makes it lazy.
    fn repetition(
        &mut self,
        start: &'p str,
        before: Before<'p>,
        least: u32,
        most: Option<u32>,
    ) -> Result<Before<'p>, Refusal> {
        let greedy = self.eat("?") == self.flags.lazy;
        match before {
            Before::Repetition(first) => {
                invalid("invalid nested repetition operator", between(first, self.left))
            }
            Before::Nothing => invalid("missing argument to repetition operator", between(start, self.left)),
            Before::Item => {
                if let Some(node) = self.frame.nodes.pop() {
                    self.push(Node::Repeat(Box::new(Repeat { node, least, most, greedy })));
                }
                Ok(Before::Repetition(start))
            }
        }
    }

    /// Reads `{n}`, `{n,}` or `{n,m}`; `None` if the brace begins none of them.
    fn counted(&mut self) -> Result<Option<(u32, Option<u32>)>, Refusal> {
        let start = self.left;
        let mut text = start.get(1..).unwrap_or_default();
        let Some(least) = number(&mut text) else { return Ok(None) };
        let mut most = Some(least);
        if let Some(rest) = text.strip_prefix(',') {
            text = rest;
            most = None;
            if !rest.starts_with('}') {
                let Some(number) = number(&mut text) else { return Ok(None) };
                most = Some(number);
            }
        }
        let Some(after) = text.strip_prefix('}') else { return Ok(None) };
        let read = between(start, after);
        if least > MOST_REPEATS || most.is_some_and(|most| most > MOST_REPEATS || most < least) {
            return invalid("invalid repeat count", read);
        }
        let times = most.unwrap_or(least);
        let repeats = self.frame.repeats.last.max(1).saturating_mul(times.max(1));
        if repeats > MOST_REPEATS {
            return invalid("invalid repeat count", read);
        }
        self.frame.repeats.add(repeats);
        self.left = after;
        Ok(Some((least, most)))
    }
}

/// Reads a number without zeros before it.
fn number(text: &mut &str) -> Option<u32> {
    let length = text.bytes().take_while(u8::is_ascii_digit).count();
    let (digits, rest) = text.split_at_checked(length)?;
    *text = rest;
    let fits = length == 1 || !digits.starts_with('0');
    (length > 0 && fits).then(|| digits.parse().unwrap_or(u32::MAX))
}
