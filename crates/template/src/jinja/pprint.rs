//! `pprint`: Python's `pprint.pformat` with a width of 80.

use std::cmp::Ordering;

use super::error::Stop;
use super::machine::Machine;
use super::make::NESTING_MAX;
use super::val::Val;
use crate::python::repr::write_repr;
use crate::python::split::split_lines;
use crate::python::text::len;

const WIDTH: usize = 80;

/// The work on a word of a long text besides its bytes, in bytes.
const WORD_WORK: usize = 256;

/// Where a value stands in the output.
#[derive(Clone, Copy)]
struct Place {
    indent: usize,
    /// The characters that follow in its line.
    allowance: usize,
    level: usize,
}

impl<'a> Machine<'a> {
    pub fn pprint(&mut self, value: Val<'a>) -> Result<Val<'a>, Stop> {
        let mut out = String::new();
        self.pprint_at(&mut out, value, Place { indent: 0, allowance: 0, level: 1 })?;
        self.str(out)
    }

    fn pprint_at(&mut self, out: &mut String, value: Val<'a>, place: Place) -> Result<(), Stop> {
        if place.level > NESTING_MAX {
            return Err(self.too_deep());
        }
        let value = self.live(value);
        let mut whole = String::new();
        self.sorted_repr(&mut whole, value, 0)?;
        self.check_room(out.len() + whole.len())?;
        let fits = len(&whole) + place.indent + place.allowance <= WIDTH;
        match value {
            Val::DataMap(_) | Val::Dict(_) if !fits => {
                out.push('{');
                self.pprint_entries(out, value, place)?;
                out.push('}');
            }
            Val::DataList(_) | Val::List(_) if !fits => {
                out.push('[');
                self.pprint_items(out, value, Place { allowance: place.allowance + 1, ..place })?;
                out.push(']');
            }
            Val::Tuple(tuple) if !fits => {
                let close = if tuple.items.len() == 1 { ",)" } else { ")" };
                out.push('(');
                self.pprint_items(out, value, Place { allowance: place.allowance + close.len(), ..place })?;
                out.push_str(close);
            }
            Val::Str(text) if !fits && !text.is_empty() => self.pprint_text(out, text, place)?,
            _ => out.push_str(&whole),
        }
        Ok(())
    }

    fn pprint_items(&mut self, out: &mut String, value: Val<'a>, place: Place) -> Result<(), Stop> {
        let indent = place.indent + 1;
        let count = self.known_len(value).unwrap_or(0);
        let mut at = 0;
        while let Some(item) = self.part(value, at)? {
            if at > 0 {
                break_line(out, indent);
            }
            at += 1;
            let allowance = if at == count { place.allowance } else { 1 };
            let inner = Place { indent, allowance, level: place.level + 1 };
            self.with_stack(|machine| machine.pprint_at(out, item, inner))?;
        }
        Ok(())
    }

    fn pprint_entries(&mut self, out: &mut String, value: Val<'a>, place: Place) -> Result<(), Stop> {
        let indent = place.indent + 1;
        let entries = self.sorted_entries(value)?;
        let count = entries.len();
        for (at, (name, member)) in entries.into_iter().enumerate() {
            if at > 0 {
                break_line(out, indent);
            }
            let start = out.len();
            self.sorted_repr(out, name, 0)?;
            let width = len(out.get(start..).unwrap_or_default());
            out.push_str(": ");
            let allowance = if at + 1 == count { place.allowance + 1 } else { 1 };
            let inner = Place { indent: indent + width + 2, allowance, level: place.level + 1 };
            self.with_stack(|machine| machine.pprint_at(out, member, inner))?;
        }
        Ok(())
    }

    /// The entries of a mapping, in the order of their keys.
    fn sorted_entries(&mut self, value: Val<'a>) -> Result<Vec<(Val<'a>, Val<'a>)>, Stop> {
        let mut entries = Vec::new();
        while let Some(entry) = self.map_entry(value, entries.len())? {
            self.step()?;
            entries.push(entry);
        }
        self.sorted_by(entries, |machine, (a, _), (b, _)| {
            let comparable =
                (a.as_text().is_some() && b.as_text().is_some()) || (a.is_number() && b.is_number());
            match comparable {
                true => machine.order(*a, *b, "<"),
                false => Ok(Some(a.type_name().cmp(b.type_name()))),
            }
        })
    }

    /// Python's `repr`, but with the keys of mappings in order.
    fn sorted_repr(&mut self, out: &mut String, value: Val<'a>, depth: usize) -> Result<(), Stop> {
        if depth > NESTING_MAX {
            return Err(self.too_deep());
        }
        let value = self.live(value);
        let (open, close) = match value {
            Val::DataMap(_) | Val::Dict(_) => {
                out.push('{');
                for (at, (name, member)) in self.sorted_entries(value)?.into_iter().enumerate() {
                    if at > 0 {
                        out.push_str(", ");
                    }
                    self.sorted_repr(out, name, depth + 1)?;
                    out.push_str(": ");
                    self.with_stack(|machine| machine.sorted_repr(out, member, depth + 1))?;
                }
                out.push('}');
                return self.check_room(out.len());
            }
            Val::DataList(_) | Val::List(_) => ("[", "]"),
            Val::Tuple(tuple) => ("(", if tuple.items.len() == 1 { ",)" } else { ")" }),
            value => return self.write_repr(out, value, &mut Vec::new()),
        };
        out.push_str(open);
        let mut at = 0;
        while let Some(item) = self.part(value, at)? {
            self.step()?;
            if at > 0 {
                out.push_str(", ");
            }
            self.with_stack(|machine| machine.sorted_repr(out, item, depth + 1))?;
            at += 1;
        }
        out.push_str(close);
        self.check_room(out.len())
    }
}

fn break_line(out: &mut String, indent: usize) {
    out.push_str(",\n");
    out.extend(std::iter::repeat_n(' ', indent));
}

fn repr(text: &str) -> String {
    let mut out = String::new();
    write_repr(&mut out, text);
    out
}

impl Machine<'_> {
    /// A long text, in pieces of a line each.
    fn pprint_text(&mut self, out: &mut String, text: &str, place: Place) -> Result<(), Stop> {
        let outermost = usize::from(place.level == 1);
        let (indent, allowance) = (place.indent + outermost, place.allowance + outermost);
        let width = WIDTH.saturating_sub(indent);
        let lines = split_lines(text, true);
        let mut chunks = Vec::new();
        for (at, line) in lines.iter().enumerate() {
            let last = at + 1 == lines.len();
            self.work(line.len())?;
            let whole = repr(line);
            let room = if last { width.saturating_sub(allowance) } else { width };
            match len(&whole).cmp(&room) {
                Ordering::Greater => self.words(line, width, if last { allowance } else { 0 }, &mut chunks)?,
                _ => chunks.push(whole),
            }
        }
        if outermost == 1 && chunks.len() > 1 {
            out.push('(');
        }
        for (at, chunk) in chunks.iter().enumerate() {
            if at > 0 {
                out.push('\n');
                out.extend(std::iter::repeat_n(' ', indent));
            }
            out.push_str(chunk);
        }
        if outermost == 1 && chunks.len() > 1 {
            out.push(')');
        }
        self.check_room(out.len())
    }

    /// The pieces of a line, broken after its spaces.
    fn words(
        &mut self,
        line: &str,
        width: usize,
        allowance: usize,
        chunks: &mut Vec<String>,
    ) -> Result<(), Stop> {
        let mut parts = Vec::new();
        let mut rest = line;
        while !rest.is_empty() {
            let word = rest.find(char::is_whitespace).unwrap_or(rest.len());
            let tail = rest.get(word..).unwrap_or_default();
            let spaces = tail.find(|c: char| !c.is_whitespace()).unwrap_or(tail.len());
            let (part, more) = rest.split_at(word + spaces);
            parts.push(part);
            rest = more;
        }
        let mut current = String::new();
        for (at, part) in parts.iter().enumerate() {
            let room = if at + 1 == parts.len() { width.saturating_sub(allowance) } else { width };
            self.work(WORD_WORK + current.len() + part.len())?;
            let candidate = format!("{current}{part}");
            if len(&repr(&candidate)) > room {
                if !current.is_empty() {
                    chunks.push(repr(&current));
                }
                current = (*part).to_owned();
            } else {
                current = candidate;
            }
        }
        if !current.is_empty() {
            chunks.push(repr(&current));
        }
        Ok(())
    }
}
