//! Finds matches within the limits of the run, and replaces them.

use std::ops::Range;

use regex::bytes::{Captures, Regex, RegexBuilder};

use super::super::call::Call;
use super::syntax::translated;
use crate::go;

/// The sizes that a compiled expression may have, in bytes. The smallest that suffices says how much work a search may be.
const SIZES: [usize; 6] = [1 << 10, 1 << 12, 1 << 14, 1 << 16, 1 << 18, 1 << 20];

/// About how many bytes of a compiled expression one state takes.
const BYTES_PER_STATE: usize = 32;

/// The most states times bytes of text that a search may have to look at.
const MOST_WORK: usize = 500_000_000;

/// A compiled expression with the text in which it searches.
pub struct Matcher<'m, 'c, 'a> {
    call: &'m Call<'c, 'a>,
    regex: Regex,
    /// The names of groups, with their numbers.
    names: Vec<(String, usize)>,
    text: &'a [u8],
}

impl<'m, 'c, 'a> Matcher<'m, 'c, 'a> {
    /// Compiles an expression.
    ///
    /// # Errors
    /// Go's message for an invalid expression, or why it would be too much work.
    pub fn new(call: &'m Call<'c, 'a>, pattern: &[u8], text: &'a [u8]) -> Result<Self, String> {
        let translated = translated(pattern)?;
        for size in SIZES {
            call.context.work(size);
            let mut builder = RegexBuilder::new(&translated.text);
            match builder.size_limit(size).dfa_size_limit(1 << 20).nest_limit(250).build() {
                Ok(_) if (size / BYTES_PER_STATE).saturating_mul(text.len()) > MOST_WORK => {
                    return Err("the expression is too complex for a text of this length".to_owned());
                }
                Ok(regex) => return Ok(Matcher { call, regex, names: translated.names, text }),
                Err(regex::Error::CompiledTooBig(_)) => {}
                Err(error) => return Err(format!("error parsing regexp: {}", last_line(&error.to_string()))),
            }
        }
        Err("error parsing regexp: expression too large".to_owned())
    }

    /// Ends a search that takes too long.
    fn look(&self) -> Result<(), String> {
        self.call.context.work(64);
        match self.call.context.is_late() {
            true => Err("the time is over".to_owned()),
            false => Ok(()),
        }
    }

    /// Whether a place is not inside of a character.
    fn is_boundary(&self, at: usize) -> bool {
        self.text.get(at).is_none_or(|byte| byte & 0xc0 != 0x80)
    }

    /// The length of the character at a place; at least 1.
    fn width(&self, at: usize) -> usize {
        go::Runes(self.text.get(at..).unwrap_or_default()).next().map_or(1, |(_, bytes)| bytes.len())
    }

    /// The first match from a place on.
    pub fn find_at(&self, mut at: usize) -> Result<Option<Range<usize>>, String> {
        loop {
            self.look()?;
            let found = self.regex.find_at(self.text, at).map(|found| found.range());
            match found {
                // An empty match inside of a character is none in Go.
                Some(found) if found.is_empty() && !self.is_boundary(found.start) => at = found.start + 1,
                found => return Ok(found),
            }
        }
    }

    /// The matches, at most so many unless the number is negative: none that is empty right after another one.
    pub fn find_all(&self, most: i64) -> Result<Vec<Range<usize>>, String> {
        let (mut found, mut at, mut last_end) = (Vec::new(), 0, None);
        while at <= self.text.len() && (most < 0 || (found.len() as i64) < most) {
            let Some(next) = self.find_at(at)? else { break };
            let is_new = !next.is_empty() || last_end != Some(next.start);
            at = if next.is_empty() { next.end + self.width(next.end) } else { next.end };
            last_end = Some(next.end);
            if is_new {
                found.push(next);
                self.call.room(found.len() * 64)?;
            }
        }
        Ok(found)
    }

    /// The text with all matches replaced: by a template in which `$1` and `${name}` stand for groups, or else by a literal.
    pub fn replace_all(&self, template: Option<&[u8]>, literal: &[u8]) -> Result<Vec<u8>, String> {
        let (mut out, mut copied) = (Vec::new(), 0);
        for found in self.find_all(-1)? {
            out.extend_from_slice(self.text.get(copied..found.start).unwrap_or_default());
            match template {
                None => out.extend_from_slice(literal),
                Some(template) => {
                    self.look()?;
                    match self.regex.captures_at(self.text, found.start) {
                        Some(groups) => self.expand(&mut out, template, &groups),
                        None => out.extend_from_slice(literal),
                    }
                }
            }
            copied = found.end;
            self.call.room(out.len())?;
        }
        out.extend_from_slice(self.text.get(copied..).unwrap_or_default());
        self.call.room(out.len())?;
        Ok(out)
    }

    /// Writes a template; a `$` that begins no group's name stands for itself.
    fn expand(&self, out: &mut Vec<u8>, mut template: &[u8], groups: &Captures<'_>) {
        while let Some(at) = memchr::memchr(b'$', template) {
            let (before, after) = template.split_at(at);
            out.extend_from_slice(before);
            let after = after.get(1..).unwrap_or_default();
            if let Some(rest) = after.strip_prefix(b"$") {
                out.push(b'$');
                template = rest;
            } else if let Some((name, rest)) = group_name(after) {
                out.extend_from_slice(self.group(groups, name));
                template = rest;
            } else {
                out.push(b'$');
                template = after;
            }
        }
        out.extend_from_slice(template);
    }

    fn group<'t>(&self, groups: &Captures<'t>, name: &str) -> &'t [u8] {
        let is_number =
            name.bytes().all(|byte| byte.is_ascii_digit()) && (name == "0" || !name.starts_with('0'));
        let group = match is_number {
            true => name.parse().ok().and_then(|number: usize| groups.get(number)),
            false => {
                let mut numbers =
                    self.names.iter().filter(|(known, _)| known == name).map(|(_, number)| *number);
                numbers.find_map(|number| groups.get(number))
            }
        };
        group.map_or(b"", |group| group.as_bytes())
    }
}

fn last_line(message: &str) -> &str {
    message.lines().last().unwrap_or_default().trim_start_matches("error: ")
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
