//! Values as text: Python's `str` and `repr`.

use std::fmt::Write;

use super::error::Stop;
use super::machine::{Machine, needed};
use super::make::NESTING_MAX;
use super::val::{Global, Object, Undefined, Val};
use crate::python::arg::big_text;
use crate::python::float::write_float;
use crate::python::repr::write_repr;

impl<'a> Machine<'a> {
    /// Appends Python's `str` of a value.
    pub fn write_str(&mut self, out: &mut String, value: Val<'a>) -> Result<(), Stop> {
        match value {
            Val::Str(text) | Val::Markup(text) => {
                self.check_room(out.len() + text.len())?;
                self.work(text.len())?;
                out.push_str(text);
                Ok(())
            }
            Val::Undefined(_) => {
                self.settle(value, self.at)?;
                Ok(())
            }
            Val::Gap => Ok(()),
            Val::Object(Object::Module(module)) => {
                let body = self.settle(module.body, self.at)?;
                self.write_str(out, body)
            }
            value => self.write_repr(out, value, &mut Vec::new()),
        }
    }

    /// The text of a value: itself, if it is one.
    pub fn text_of(&mut self, value: Val<'a>) -> Result<&'a str, Stop> {
        if let Some(text) = value.as_text() {
            return Ok(text);
        }
        let mut text = String::new();
        self.write_str(&mut text, value)?;
        self.alloc_str(&text)
    }

    /// Appends Python's `repr` of a value; `outer` are the lists and the like around it.
    pub fn write_repr(
        &mut self,
        out: &mut String,
        value: Val<'a>,
        outer: &mut Vec<Val<'a>>,
    ) -> Result<(), Stop> {
        let before = out.len();
        match self.live(value) {
            Val::Str(text) => {
                self.check_room(out.len() + text.len())?;
                write_repr(out, text);
            }
            Val::Markup(text) => {
                self.check_room(out.len() + text.len())?;
                out.push_str("Markup(");
                write_repr(out, text);
                out.push(')');
            }
            Val::Bytes(bytes) => write_bytes(out, bytes),
            Val::None => out.push_str("None"),
            Val::Bool(true) => out.push_str("True"),
            Val::Bool(false) => out.push_str("False"),
            Val::Int(value) => out.push_str(itoa::Buffer::new().format(value)),
            Val::Big(value) => {
                let text = self.check(big_text(value))?;
                out.push_str(&text);
            }
            Val::Float(value) => write_float(out, value),
            Val::Undefined(_) | Val::Unset | Val::Gap => {
                // Only a missing member of the data is an error here, as Python's `repr` is none of its uses.
                if let Val::Undefined(Undefined::Absent(_)) = value {
                    self.settle(value, self.at)?;
                }
                out.push_str("Undefined");
            }
            Val::Pending(call) => return Err(needed(call)),
            value @ (Val::DataList(_) | Val::List(_)) => self.write_items(out, value, ("[", "]"), outer)?,
            value @ Val::Tuple(tuple) => {
                let close = if tuple.items.len() == 1 { ",)" } else { ")" };
                self.write_items(out, value, ("(", close), outer)?;
            }
            value @ (Val::DataMap(_) | Val::Dict(_)) => self.write_entries(out, value, outer)?,
            value @ Val::View(_) => {
                out.push_str(value.type_name());
                self.write_items(out, value, ("([", "])"), outer)?;
            }
            Val::Range(range) => {
                let _ = write!(out, "range({}, {}", range.start, range.stop);
                if range.step != 1 {
                    let _ = write!(out, ", {}", range.step);
                }
                out.push(')');
            }
            value @ Val::Namespace(members) => {
                out.push_str("<Namespace ");
                let at = outer.iter().any(|known| known.is_same(&value));
                match at {
                    true => out.push_str("{...}"),
                    false => {
                        outer.push(value);
                        self.write_entries(out, Val::Dict(members), outer)?;
                        outer.pop();
                    }
                }
                out.push('>');
            }
            Val::Loop(state) => {
                let length = self.loop_length(state)?;
                let _ = write!(out, "<LoopContext {}/{length}>", state.index0.get().wrapping_add(1));
            }
            Val::Iter(iter) => {
                let _ = write!(out, "<{} object>", iter.type_name);
            }
            Val::Object(object) => self.write_object(out, object)?,
        }
        self.check_room(out.len())?;
        self.work(out.len() - before)
    }

    fn write_object(&mut self, out: &mut String, object: &'a Object<'a>) -> Result<(), Stop> {
        match object {
            Object::Macro(value) => {
                out.push_str("<Macro ");
                match value.anonymous {
                    true => out.push_str("anonymous"),
                    false => write_repr(out, &value.definition.name),
                }
                out.push('>');
            }
            Object::Module(module) => {
                out.push_str("<TemplateModule ");
                write_repr(out, module.name);
                out.push('>');
            }
            Object::Cycler { .. } => out.push_str("<Cycler>"),
            Object::Joiner { .. } => out.push_str("<Joiner>"),
            Object::Block { name, .. } => {
                let _ = write!(out, "<BlockReference {name}>");
            }
            Object::Blocks(context) => {
                out.push_str("<TemplateReference ");
                write_repr(out, context.name.get());
                out.push('>');
            }
            Object::Global(global) => out.push_str(global_repr(*global)),
            Object::Tool(name) => {
                let _ = write!(out, "<function {name}>");
            }
            Object::Method { of, name } => {
                let _ = write!(out, "<built-in method {name} of {} object>", of.type_name());
            }
        }
        Ok(())
    }

    /// Whether a value stands inside of itself, or too deep.
    fn is_inside(&mut self, value: Val<'a>, outer: &[Val<'a>]) -> Result<bool, Stop> {
        if outer.len() > NESTING_MAX {
            return Err(self.too_deep());
        }
        self.step()?;
        let changes = matches!(value, Val::List(_) | Val::Dict(_) | Val::View(_) | Val::Tuple(_));
        Ok(changes && outer.iter().any(|known| known.is_same(&value)))
    }

    fn write_items(
        &mut self,
        out: &mut String,
        value: Val<'a>,
        brackets: (&str, &str),
        outer: &mut Vec<Val<'a>>,
    ) -> Result<(), Stop> {
        let (open, close) = brackets;
        out.push_str(open);
        if self.is_inside(value, outer)? {
            out.push_str("...");
            out.push_str(close.trim_start_matches(','));
            return Ok(());
        }
        outer.push(value);
        let mut at = 0;
        while let Some(item) = self.part(value, at)? {
            if at > 0 {
                out.push_str(", ");
            }
            self.with_stack(|machine| machine.write_repr(out, item, outer))?;
            at += 1;
        }
        outer.pop();
        out.push_str(close);
        Ok(())
    }

    fn write_entries(
        &mut self,
        out: &mut String,
        value: Val<'a>,
        outer: &mut Vec<Val<'a>>,
    ) -> Result<(), Stop> {
        out.push('{');
        if self.is_inside(value, outer)? {
            out.push_str("...}");
            return Ok(());
        }
        outer.push(value);
        let mut at = 0;
        while let Some((name, member)) = self.map_entry(value, at)? {
            if at > 0 {
                out.push_str(", ");
            }
            self.with_stack(|machine| machine.write_repr(out, name, outer))?;
            out.push_str(": ");
            self.with_stack(|machine| machine.write_repr(out, member, outer))?;
            at += 1;
        }
        outer.pop();
        out.push('}');
        Ok(())
    }
}

fn global_repr(global: Global) -> &'static str {
    match global {
        Global::Range => "<class 'range'>",
        Global::Dict => "<class 'dict'>",
        Global::Cycler => "<class 'jinja2.utils.Cycler'>",
        Global::Joiner => "<class 'jinja2.utils.Joiner'>",
        Global::Namespace => "<class 'jinja2.utils.Namespace'>",
        Global::Lipsum => "<function generate_lorem_ipsum>",
        Global::RaiseException => "<function raise_exception>",
        Global::StrftimeNow => "<function strftime_now>",
    }
}

fn write_bytes(out: &mut String, bytes: &[u8]) {
    let quote = if bytes.contains(&b'\'') && !bytes.contains(&b'"') { '"' } else { '\'' };
    out.push('b');
    out.push(quote);
    for byte in bytes {
        match byte {
            b'\\' => out.push_str("\\\\"),
            b'\n' => out.push_str("\\n"),
            b'\r' => out.push_str("\\r"),
            b'\t' => out.push_str("\\t"),
            byte if char::from(*byte) == quote => {
                out.push('\\');
                out.push(quote);
            }
            0x20..=0x7e => out.push(char::from(*byte)),
            byte => {
                let _ = write!(out, "\\x{byte:02x}");
            }
        }
    }
    out.push(quote);
}
