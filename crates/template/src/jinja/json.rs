//! `tojson`: Python's `json.dumps`.

use std::fmt::Write;

use super::error::Stop;
use super::machine::Machine;
use super::make::NESTING_MAX;
use super::val::Val;
use crate::python::arg::big_text;
use crate::python::float::write_float;

/// The arguments of `json.dumps`.
pub(super) struct JsonStyle<'s> {
    pub ensure_ascii: bool,
    /// What each level is indented with, if lines are broken.
    pub indent: Option<String>,
    pub item_separator: &'s str,
    pub key_separator: &'s str,
    pub sort_keys: bool,
}

impl<'a> Machine<'a> {
    /// Appends a value as JSON.
    pub fn write_json(
        &mut self,
        out: &mut String,
        value: Val<'a>,
        style: &JsonStyle<'_>,
        depth: usize,
    ) -> Result<(), Stop> {
        if depth > NESTING_MAX {
            return Err(self.too_deep());
        }
        self.step()?;
        let before = out.len();
        let value = self.demand(value)?;
        match self.live(value) {
            Val::Str(text) | Val::Markup(text) => {
                self.check_room(out.len() + text.len())?;
                write_string(out, text, style.ensure_ascii);
            }
            Val::None | Val::Gap => out.push_str("null"),
            Val::Bool(true) => out.push_str("true"),
            Val::Bool(false) => out.push_str("false"),
            Val::Int(value) => out.push_str(itoa::Buffer::new().format(value)),
            Val::Big(value) => {
                let text = self.check(big_text(value))?;
                out.push_str(&text);
            }
            Val::Float(value) => write_json_float(out, value),
            value @ (Val::DataList(_) | Val::List(_) | Val::Tuple(_)) => {
                self.write_json_items(out, value, style, depth)?;
            }
            value @ (Val::DataMap(_) | Val::Dict(_)) => self.write_json_entries(out, value, style, depth)?,
            other => {
                let name = other.type_name();
                return Err(self.fail(format!("Object of type {name} is not JSON serializable")));
            }
        }
        self.check_room(out.len())?;
        self.work(out.len() - before)
    }

    fn write_json_items(
        &mut self,
        out: &mut String,
        value: Val<'a>,
        style: &JsonStyle<'_>,
        depth: usize,
    ) -> Result<(), Stop> {
        out.push('[');
        let mut at = 0;
        while let Some(item) = self.part(value, at)? {
            if at > 0 {
                out.push_str(style.item_separator);
            }
            self.break_line(out, style, depth + 1)?;
            self.with_stack(|machine| machine.write_json(out, item, style, depth + 1))?;
            at += 1;
        }
        if at > 0 {
            self.break_line(out, style, depth)?;
        }
        out.push(']');
        Ok(())
    }

    fn write_json_entries(
        &mut self,
        out: &mut String,
        value: Val<'a>,
        style: &JsonStyle<'_>,
        depth: usize,
    ) -> Result<(), Stop> {
        let mut entries = Vec::new();
        while let Some(entry) = self.map_entry(value, entries.len())? {
            self.step()?;
            entries.push(entry);
        }
        if style.sort_keys {
            entries = self.sorted_by(entries, |machine, (a, _), (b, _)| machine.order(*a, *b, "<"))?;
        }
        out.push('{');
        for (at, (name, member)) in entries.iter().enumerate() {
            if at > 0 {
                out.push_str(style.item_separator);
            }
            self.break_line(out, style, depth + 1)?;
            let key = self.json_key(*name)?;
            write_string(out, &key, style.ensure_ascii);
            out.push_str(style.key_separator);
            self.with_stack(|machine| machine.write_json(out, *member, style, depth + 1))?;
        }
        if !entries.is_empty() {
            self.break_line(out, style, depth)?;
        }
        out.push('}');
        Ok(())
    }

    fn break_line(&mut self, out: &mut String, style: &JsonStyle<'_>, depth: usize) -> Result<(), Stop> {
        let Some(indent) = &style.indent else { return Ok(()) };
        self.check_text(out.len() + indent.len().saturating_mul(depth) + 1)?;
        out.push('\n');
        (0..depth).for_each(|_| out.push_str(indent));
        self.work(indent.len() * depth)
    }

    fn json_key(&mut self, name: Val<'a>) -> Result<String, Stop> {
        let mut key = String::new();
        match name {
            Val::Str(text) | Val::Markup(text) => key.push_str(text),
            Val::None => key.push_str("null"),
            Val::Bool(value) => key.push_str(if value { "true" } else { "false" }),
            Val::Int(_) | Val::Big(_) => self.write_str(&mut key, name)?,
            Val::Float(value) => write_json_float(&mut key, value),
            other => {
                let name = other.type_name();
                return Err(self.fail(format!("keys must be str, int, float, bool or None, not {name}")));
            }
        }
        Ok(key)
    }
}

fn write_json_float(out: &mut String, value: f64) {
    match value {
        value if value.is_nan() => out.push_str("NaN"),
        value if value.is_infinite() => out.push_str(if value > 0.0 { "Infinity" } else { "-Infinity" }),
        value => write_float(out, value),
    }
}

/// Appends a text as a JSON string.
fn write_string(out: &mut String, text: &str, ensure_ascii: bool) {
    out.push('"');
    let mut plain = 0;
    for (at, c) in text.char_indices() {
        let short = match c {
            '"' => "\\\"",
            '\\' => "\\\\",
            '\n' => "\\n",
            '\r' => "\\r",
            '\t' => "\\t",
            '\u{8}' => "\\b",
            '\u{c}' => "\\f",
            c if c < ' ' || (ensure_ascii && c > '~') => "",
            _ => continue,
        };
        out.push_str(text.get(plain..at).unwrap_or_default());
        plain = at + c.len_utf8();
        match short {
            "" => c.encode_utf16(&mut [0; 2]).iter().for_each(|unit| {
                let _ = write!(out, "\\u{unit:04x}");
            }),
            short => out.push_str(short),
        }
    }
    out.push_str(text.get(plain..).unwrap_or_default());
    out.push('"');
}
