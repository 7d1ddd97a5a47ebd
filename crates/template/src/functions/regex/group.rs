//! Reads groups of regular expressions, and the flags that hold in them.

use super::program::Refusal;
use super::syntax::{Before, Frame, Reader, between, invalid};

/// How deep groups may nest.
const DEEPEST: usize = 200;

impl<'p> Reader<'p> {
    /// The start of a group, or a change of flags.
    pub fn group(&mut self) -> Result<Before<'p>, Refusal> {
        let start = self.left;
        self.take();
        if self.open.len() >= DEEPEST {
            return invalid("expression nests too deeply", self.whole);
        }
        if !self.left.starts_with('?') {
            return Ok(self.enter_capture());
        }
        self.take();
        let named = self.left.strip_prefix("P<").or_else(|| self.left.strip_prefix('<'));
        if let Some(named) = named {
            let Some((name, rest)) = named.split_once('>') else {
                return invalid("invalid named capture", start);
            };
            let is_word = |c: char| c.is_ascii_alphanumeric() || c == '_';
            if name.is_empty() || !name.chars().all(is_word) {
                return invalid("invalid named capture", between(start, rest));
            }
            self.left = rest;
            self.names.push((name.to_owned(), self.captures + 1));
            return Ok(self.enter_capture());
        }
        self.flags(start)
    }

    /// Begins to read a group.
    fn enter(&mut self, capture: Option<usize>) {
        let frame = Frame { capture, outer: self.flags, ..Frame::default() };
        self.open.push(std::mem::replace(&mut self.frame, frame));
    }

    fn enter_capture(&mut self) -> Before<'p> {
        self.captures += 1;
        self.enter(Some(self.captures));
        Before::Nothing
    }

    pub fn end_of_group(&mut self) -> Result<Before<'p>, Refusal> {
        let Some(outer) = self.open.pop() else { return invalid("unexpected )", self.whole) };
        self.take();
        let inner = std::mem::replace(&mut self.frame, outer);
        self.frame.repeats.add(inner.repeats.most.max(1));
        self.flags = inner.outer;
        Ok(self.push(inner.node()))
    }

    /// The flags after `(?`, up to `:` or `)`.
    fn flags(&mut self, start: &'p str) -> Result<Before<'p>, Refusal> {
        let (mut flags, mut negated, mut any) = (self.flags, false, false);
        while let Some(c) = self.take() {
            let flag = match c {
                'i' => &mut flags.folds,
                'm' => &mut flags.lines,
                's' => &mut flags.dot_all,
                'U' => &mut flags.lazy,
                '-' if !negated => {
                    (negated, any) = (true, false);
                    continue;
                }
                ':' | ')' if !negated || any => {
                    if c == ':' {
                        self.enter(None);
                    }
                    self.flags = flags;
                    return Ok(Before::Nothing);
                }
                _ => break,
            };
            *flag = !negated;
            any = true;
        }
        invalid("invalid or unsupported Perl syntax", between(start, self.left))
    }
}
