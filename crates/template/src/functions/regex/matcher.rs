//! Finds matches within the limits of the run, and replaces them.

use std::ops::Range;
use std::rc::Rc;

use regex_automata::util::captures::Captures;
use regex_automata::{Input, Span};

use super::super::call::Call;
use super::alphabet::Encoded;
use super::program::{Program, Refusal};
use crate::go;

/// The most parts of an expression times bytes of text that a search may have to look at, since it cannot be interrupted.
const MOST_WORK: usize = 250_000_000;

/// A compiled expression with the text in which it searches.
pub struct Matcher<'m, 'c, 'a> {
    call: &'m Call<'c, 'a>,
    program: Rc<Program>,
    source: &'a [u8],
    /// The text in symbols, in which all places are counted here.
    text: Encoded<'a>,
}

impl<'m, 'c, 'a> Matcher<'m, 'c, 'a> {
    /// Compiles an expression; `groups` says whether its groups are asked for.
    ///
    /// # Errors
    /// [`Refusal`]: Go's message for an invalid expression, or that it would be too much work.
    pub fn new(
        call: &'m Call<'c, 'a>,
        pattern: &[u8],
        source: &'a [u8],
        groups: bool,
    ) -> Result<Self, Refusal> {
        let (program, is_new) = call.programs.find(pattern, groups)?;
        if is_new {
            call.context.work(program.size.saturating_mul(64));
        }
        call.room(if source.is_ascii() { 0 } else { source.len() })?;
        let text = program.alphabet.encode(source);
        if program.size.saturating_mul(text.bytes.len()) > MOST_WORK {
            return Err(Refusal::Work(format!(
                "the expression is too complex for a text of {} bytes: shorten the text, or repeat less in the expression",
                source.len()
            )));
        }
        Ok(Matcher { call, program, source, text })
    }

    /// Ends a search that takes too long.
    fn look(&self) -> Result<(), String> {
        self.call.context.work(64);
        match self.call.context.is_late() {
            true => Err("the time is over".to_owned()),
            false => Ok(()),
        }
    }

    /// The first match from a place on, whose groups go to `groups`.
    fn find_at(&self, mut at: usize, mut groups: Option<&mut Captures>) -> Result<Option<Span>, String> {
        loop {
            self.look()?;
            let input = Input::new(self.text.bytes.as_ref()).range(at..);
            let found = match &mut groups {
                Some(groups) => {
                    self.program.regex.search_captures(&input, groups);
                    groups.get_match()
                }
                None => self.program.regex.search(&input),
            };
            match found.map(|found| found.span()) {
                // An empty match inside of a character is none.
                Some(found) if found.is_empty() && !self.text.is_boundary(found.start) => {
                    at = found.start + 1;
                }
                found => return Ok(found),
            }
        }
    }

    fn range(&self, span: Span) -> Range<usize> {
        self.text.place(span.start)..self.text.place(span.end)
    }

    fn part(&self, range: Range<usize>) -> &'a [u8] {
        self.source.get(range).unwrap_or_default()
    }

    /// The first match.
    pub fn first(&self) -> Result<Option<&'a [u8]>, String> {
        Ok(self.find_at(0, None)?.map(|found| self.part(self.range(found))))
    }

    /// Shows all matches to `see`, with their groups if they are asked for, until it returns false: none that is empty right
    /// after another one.
    fn each(
        &self,
        mut groups: Option<Captures>,
        mut see: impl FnMut(Range<usize>, Option<&Captures>) -> Result<bool, String>,
    ) -> Result<(), String> {
        let (mut at, mut last_end) = (0, None);
        while at <= self.text.bytes.len() {
            let Some(next) = self.find_at(at, groups.as_mut())? else { break };
            let is_new = !next.is_empty() || last_end != Some(next.start);
            at = if next.is_empty() { next.end + self.text.width(next.end) } else { next.end };
            last_end = Some(next.end);
            if is_new && !see(self.range(next), groups.as_ref())? {
                break;
            }
        }
        Ok(())
    }

    /// Shows the matches to `see`, at most so many unless the number is negative.
    pub fn find_all(
        &self,
        most: i64,
        mut see: impl FnMut(Range<usize>) -> Result<(), String>,
    ) -> Result<(), String> {
        let mut left = most;
        if left == 0 {
            return Ok(());
        }
        self.each(None, |found, _| {
            see(found)?;
            left = left.saturating_sub(1);
            Ok(left != 0)
        })
    }

    /// The text with all matches replaced: by a template in which `$1` and `${name}` stand for groups, or else by a literal.
    pub fn replace_all(&self, with: &[u8], is_template: bool) -> Result<Vec<u8>, String> {
        let (mut out, mut copied) = (Vec::new(), 0);
        let groups = is_template.then(|| self.program.regex.create_captures());
        self.each(groups, |found, groups| {
            out.extend_from_slice(self.part(copied..found.start));
            match groups {
                Some(groups) => self.expand(&mut out, with, groups)?,
                None => out.extend_from_slice(with),
            }
            copied = found.end;
            self.call.room(out.len()).map(|()| true)
        })?;
        let rest = self.part(copied..self.source.len());
        self.call.room(out.len() + rest.len())?;
        out.extend_from_slice(rest);
        Ok(out)
    }

    /// Writes a template; a `$` that begins no group's name stands for itself.
    fn expand(&self, out: &mut Vec<u8>, mut template: &[u8], groups: &Captures) -> Result<(), String> {
        while let Some(at) = memchr::memchr(b'$', template) {
            let (before, after) = template.split_at(at);
            out.extend_from_slice(before);
            let after = after.get(1..).unwrap_or_default();
            if let Some(rest) = after.strip_prefix(b"$") {
                out.push(b'$');
                template = rest;
            } else if let Some((name, rest)) = group_name(after) {
                out.extend_from_slice(self.group(groups, name));
                // A template may name a group many times.
                self.call.room(out.len())?;
                template = rest;
            } else {
                out.push(b'$');
                template = after;
            }
        }
        out.extend_from_slice(template);
        Ok(())
    }

    fn group(&self, groups: &Captures, name: &str) -> &'a [u8] {
        let is_number =
            name.bytes().all(|byte| byte.is_ascii_digit()) && (name == "0" || !name.starts_with('0'));
        let group = match is_number {
            true => name.parse().ok().and_then(|number: usize| groups.get_group(number)),
            false => {
                let known = self.program.names.iter().filter(|(known, _)| known == name);
                known.map(|(_, number)| *number).find_map(|number| groups.get_group(number))
            }
        };
        group.map_or(b"", |group| self.part(self.range(group)))
    }
}

/// The longest name at the start of a template, and what follows it.
fn group_name(template: &[u8]) -> Option<(&str, &[u8])> {
    let inner = template.strip_prefix(b"{");
    let start = inner.unwrap_or(template);
    let length =
        go::Runes(start).take_while(|(c, _)| c.is_some_and(go::is_word)).map(|(_, bytes)| bytes.len()).sum();
    let (name, rest) = start.split_at_checked(length)?;
    let rest = if inner.is_some() { rest.strip_prefix(b"}")? } else { rest };
    let name = std::str::from_utf8(name).ok().filter(|name| !name.is_empty())?;
    Some((name, rest))
}
