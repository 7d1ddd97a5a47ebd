//! `%` and `str.format` over the values of a run.

use std::cell::Cell;
use std::rc::Rc;

use super::error::Stop;
use super::iter::Arguments;
use super::machine::Machine;
use super::val::Val;
use crate::python::PyError;
use crate::python::arg::{Arg, Object};
use crate::python::format::{FieldName, FieldStep, FormatArgs, format};
use crate::python::percent::{PercentArgs, percent};

/// The missing values that a format was given, each with whether it was needed.
#[derive(Default)]
struct MissingArgs<'a>(Vec<(Val<'a>, Rc<Cell<bool>>)>);

impl<'a> MissingArgs<'a> {
    fn arg(&mut self, value: Val<'a>) -> Arg<'a> {
        let needed = Rc::new(Cell::new(false));
        self.0.push((value, needed.clone()));
        Arg::Other(Box::new(MissingArg(needed)))
    }
}

/// A missing value, of which `%r` needs no more than its type.
struct MissingArg(Rc<Cell<bool>>);

impl Object for MissingArg {
    fn type_name(&self) -> &str {
        "Undefined"
    }

    fn str(&self, _: usize) -> Result<String, PyError> {
        self.0.set(true);
        Ok(String::new())
    }

    fn repr(&self, _: usize) -> Result<String, PyError> {
        Ok("Undefined".to_owned())
    }
}

/// The right side of `%`.
struct Percent<'m, 'a> {
    machine: &'m mut Machine<'a>,
    /// The values in order: those of a tuple, or the only one.
    items: Vec<Val<'a>>,
    at: usize,
    whole: Val<'a>,
    markup: bool,
    missing: MissingArgs<'a>,
    /// The error that ended the run, which Python's error only stands for.
    stop: Option<Stop>,
}

impl<'a> Percent<'_, 'a> {
    fn arg(&mut self, value: Val<'a>) -> Result<Arg<'a>, PyError> {
        if let Val::Undefined(_) | Val::Gap = value {
            return Ok(self.missing.arg(value));
        }
        self.machine.format_arg(value, self.markup).map_err(|stop| {
            self.stop = Some(stop);
            PyError::Value(String::new())
        })
    }
}

impl<'a> PercentArgs<'a> for Percent<'_, 'a> {
    fn next(&mut self) -> Option<Arg<'a>> {
        let value = *self.items.get(self.at)?;
        self.at += 1;
        self.arg(value).ok()
    }

    fn key(&mut self, key: &str) -> Result<Arg<'a>, PyError> {
        if let (Val::Undefined(_), true) = (self.whole, self.machine.lenient) {
            return self.machine.demand(self.whole).map(|_| Arg::Int(0)).map_err(|stop| {
                self.stop = Some(stop);
                PyError::Value(String::new())
            });
        }
        if let Val::Undefined(_) = self.whole {
            self.at = self.items.len();
            return Ok(self.missing.arg(self.whole));
        }
        if !matches!(self.whole, Val::DataMap(_) | Val::Dict(_)) {
            return Err(PyError::Type("format requires a mapping".to_owned()));
        }
        // A mapping counts as used, whatever is taken from it.
        self.at = self.items.len();
        let text = self.machine.alloc_str(key);
        let value = text.and_then(|key| self.machine.find_item(self.whole, Val::Str(key)));
        match value {
            Ok(Some(value)) => self.arg(value),
            Ok(None) => Err(PyError::Key(format!("'{key}'"))),
            Err(stop) => {
                self.stop = Some(stop);
                Err(PyError::Value(String::new()))
            }
        }
    }

    fn is_left(&self) -> bool {
        // Whatever has items counts as a mapping, of which nothing needs to be used.
        let is_mapping = matches!(
            self.whole,
            Val::DataMap(_)
                | Val::Dict(_)
                | Val::DataList(_)
                | Val::List(_)
                | Val::Range(_)
                | Val::Undefined(_)
        );
        self.at < self.items.len() && !(is_mapping && self.at == 0)
    }
}

/// The arguments of `str.format`.
struct Fields<'m, 'a> {
    machine: &'m mut Machine<'a>,
    args: &'m Arguments<'a>,
    /// The mapping of `format_map`.
    map: Option<Val<'a>>,
    missing: MissingArgs<'a>,
    stop: Option<Stop>,
}

impl<'a> Fields<'_, 'a> {
    fn value(
        &mut self,
        name: FieldName<'_>,
        steps: &[FieldStep<'_>],
    ) -> Result<Result<Arg<'a>, PyError>, Stop> {
        let found = match (name, self.map) {
            (FieldName::Index(_), Some(_)) => {
                return Ok(Err(PyError::Value("Format string contains positional fields".to_owned())));
            }
            (FieldName::Key(key), Some(map)) => {
                let key = self.machine.alloc_str(key)?;
                self.machine.find_item(map, Val::Str(key))?
            }
            (FieldName::Index(at), None) => self.args.positional.get(at).copied(),
            (FieldName::Key(key), None) => {
                self.args.named.iter().find(|(name, _)| *name == key).map(|(_, value)| *value)
            }
        };
        let Some(mut value) = found else {
            return Ok(Err(match name {
                FieldName::Index(at) => {
                    PyError::Index(format!("Replacement index {at} out of range for positional args tuple"))
                }
                FieldName::Key(key) => PyError::Key(format!("'{key}'")),
            }));
        };
        for step in steps {
            value = self.machine.demand(value)?;
            let part = match step {
                FieldStep::Attribute(name) => {
                    let name = self.machine.alloc_str(name)?;
                    let of = self.machine.live(value);
                    self.machine.own_attr(of, name)?
                }
                FieldStep::Index(at) => self.machine.find_item(value, Val::Int(*at as i64))?,
                FieldStep::Key(key) => {
                    let key = self.machine.alloc_str(key)?;
                    self.machine.find_item(value, Val::Str(key))?
                }
            };
            let Some(part) = part else {
                let name = value.type_name();
                return Ok(Err(PyError::Key(format!("'{name}' object has no part {step:?}"))));
            };
            value = part;
        }
        if let Val::Undefined(_) | Val::Gap = value {
            return Ok(Ok(self.missing.arg(value)));
        }
        self.machine.format_arg(value, false).map(Ok)
    }
}

impl<'a> FormatArgs<'a> for Fields<'_, 'a> {
    fn field(&mut self, name: FieldName<'_>, steps: &[FieldStep<'_>]) -> Result<Arg<'a>, PyError> {
        self.value(name, steps).unwrap_or_else(|stop| {
            self.stop = Some(stop);
            Err(PyError::Value(String::new()))
        })
    }
}

impl<'a> Machine<'a> {
    /// `format % values`.
    pub fn percent_format(&mut self, text: &str, values: Val<'a>, markup: bool) -> Result<String, Stop> {
        let items = match values {
            Val::Tuple(tuple) => tuple.items.to_vec(),
            value => vec![value],
        };
        let room = self.text_room();
        let missing = MissingArgs::default();
        let mut args = Percent { machine: self, items, at: 0, whole: values, markup, missing, stop: None };
        let result = percent(text, &mut args, room);
        match (args.stop, args.missing) {
            (Some(stop), _) => Err(stop),
            (None, missing) => self.formatted(result, missing),
        }
    }

    /// `text.format(…)`.
    pub fn format(&mut self, text: &str, args: &Arguments<'a>) -> Result<Val<'a>, Stop> {
        self.format_fields(text, args, None)
    }

    /// `text.format_map(map)`.
    pub fn format_map(&mut self, text: &str, map: Val<'a>) -> Result<Val<'a>, Stop> {
        self.format_fields(text, &Arguments::default(), Some(map))
    }

    fn format_fields(
        &mut self,
        text: &str,
        args: &Arguments<'a>,
        map: Option<Val<'a>>,
    ) -> Result<Val<'a>, Stop> {
        let room = self.text_room();
        let missing = MissingArgs::default();
        let mut fields = Fields { machine: self, args, map, missing, stop: None };
        let result = format(text, &mut fields, room);
        match (fields.stop, fields.missing) {
            (Some(stop), _) => Err(stop),
            (None, missing) => {
                let text = self.formatted(result, missing)?;
                self.str(text)
            }
        }
    }

    /// The result of a format: missing values that it showed are recorded, and those that it could not show.
    fn formatted(
        &mut self,
        result: Result<String, PyError>,
        missing: MissingArgs<'a>,
    ) -> Result<String, Stop> {
        let mut is_short = false;
        for (value, needed) in missing.0 {
            if needed.get() || result.is_err() {
                is_short |= matches!(self.settle(value, self.at)?, Val::Gap);
            }
        }
        match result {
            Err(_) if is_short => Ok(String::new()),
            result => self.check(result),
        }
    }
}
