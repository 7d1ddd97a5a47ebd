//! `tojson` and `fromjson` for prompts: Jinja's layout, nothing escaped for HTML, bounded.

use minijinja::value::{Kwargs, ObjectRepr, ValueKind};
use minijinja::{Environment, Error, ErrorKind, Value as Engine};

use super::data::to_engine;
use super::missing;
use super::print::check;
use super::run::{self, STRING_LIMIT};
use crate::value::from_json;

/// The widest indentation of a level.
const WIDEST_INDENT: usize = 32;
/// What `indent=true` means.
const USUAL_INDENT: usize = 2;

/// Adds the filters to an environment.
pub(super) fn register(env: &mut Environment<'_>) {
    env.add_filter("tojson", tojson);
    env.add_filter("fromjson", fromjson);
}

fn fromjson(text: &str) -> Result<Engine, Error> {
    run::work(text.len())?;
    match from_json(text.as_bytes()) {
        Ok(value) => Ok(to_engine(&value)),
        Err(error) => Err(Error::new(ErrorKind::InvalidOperation, format!("not JSON: {error}"))),
    }
}

fn tojson(value: &Engine, indent: Option<Engine>, named: Kwargs) -> Result<Engine, Error> {
    let indent = match indent {
        Some(indent) => Some(indent),
        None => named.get("indent")?,
    };
    named.assert_all_used()?;
    let indent = indent.filter(|indent| !indent.is_none()).map(|indent| width(&indent)).transpose()?;
    check(value)?;
    let mut writer = Writer { text: String::new(), indent: indent.flatten(), depth: 0 };
    writer.value(value)?;
    Ok(Engine::from(writer.text))
}

fn width(indent: &Engine) -> Result<Option<usize>, Error> {
    if indent.kind() == ValueKind::Bool {
        return Ok(indent.is_true().then_some(USUAL_INDENT));
    }
    let text = "indent must be a number";
    let width = indent.as_usize().ok_or_else(|| Error::new(ErrorKind::InvalidOperation, text))?;
    Ok(Some(width.min(WIDEST_INDENT)))
}

struct Writer {
    text: String,
    indent: Option<usize>,
    depth: usize,
}

impl Writer {
    fn value(&mut self, value: &Engine) -> Result<(), Error> {
        run::work(0)?;
        if self.text.len() > STRING_LIMIT {
            return Err(run::too_long());
        }
        match value.kind() {
            ValueKind::Undefined | ValueKind::None => self.text.push_str("null"),
            ValueKind::Bool => self.text.push_str(if value.is_true() { "true" } else { "false" }),
            ValueKind::Number => self.number(value),
            ValueKind::String => self.string(value.as_str().unwrap_or_default())?,
            _ => self.object(value)?,
        }
        Ok(())
    }

    fn number(&mut self, value: &Engine) {
        if value.is_integer() {
            self.text.push_str(&value.to_string());
            return;
        }
        let float = f64::try_from(value.clone()).ok().and_then(serde_json::Number::from_f64);
        self.text.push_str(&float.map_or_else(|| "null".to_owned(), |number| number.to_string()));
    }

    fn string(&mut self, text: &str) -> Result<(), Error> {
        run::work(text.len())?;
        if self.text.len() + text.len() > STRING_LIMIT {
            return Err(run::too_long());
        }
        let json = serde_json::to_string(text);
        self.text
            .push_str(&json.map_err(|error| Error::new(ErrorKind::BadSerialization, error.to_string()))?);
        Ok(())
    }

    fn object(&mut self, value: &Engine) -> Result<(), Error> {
        if let Some(miss) = missing::as_missing(value) {
            run::record(&miss);
        }
        let Some(object) = value.as_object().filter(|_| missing::is_there(value)) else {
            self.text.push_str("null");
            return Ok(());
        };
        match object.repr() {
            ObjectRepr::Map => {
                let pairs = object.try_iter_pairs().into_iter().flatten();
                self.members(
                    '{',
                    pairs,
                    |writer, (key, value)| {
                        writer.key(&key)?;
                        writer.text.push_str(": ");
                        writer.value(&value)
                    },
                    '}',
                )
            }
            ObjectRepr::Seq | ObjectRepr::Iterable => {
                let items = value.try_iter()?.checked();
                self.members('[', items, |writer, item| writer.value(&item?), ']')
            }
            _ => self.string(&value.to_string()),
        }
    }

    fn members<T>(
        &mut self,
        open: char,
        members: impl Iterator<Item = T>,
        mut write: impl FnMut(&mut Writer, T) -> Result<(), Error>,
        close: char,
    ) -> Result<(), Error> {
        self.text.push(open);
        self.depth += 1;
        let mut empty = true;
        for member in members {
            if !empty {
                self.text.push_str(if self.indent.is_some() { "," } else { ", " });
            }
            empty = false;
            self.line();
            write(self, member)?;
        }
        self.depth -= 1;
        if !empty {
            self.line();
        }
        self.text.push(close);
        Ok(())
    }

    fn line(&mut self) {
        if let Some(width) = self.indent {
            self.text.push('\n');
            self.text.extend(std::iter::repeat_n(' ', width * self.depth));
        }
    }

    fn key(&mut self, key: &Engine) -> Result<(), Error> {
        match key.kind() {
            ValueKind::String | ValueKind::Plain => self.string(&key.to_string()),
            ValueKind::Bool => self.string(if key.is_true() { "true" } else { "false" }),
            ValueKind::Number => {
                self.text.push('"');
                self.number(key);
                self.text.push('"');
                Ok(())
            }
            kind => {
                let text = format!("cannot use value of type {kind} as JSON key");
                Err(Error::new(ErrorKind::BadSerialization, text))
            }
        }
    }
}
