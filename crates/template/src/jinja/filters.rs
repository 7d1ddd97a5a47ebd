//! Filters: how they are called, and those of numbers and values in general.

use num_bigint::BigInt;
use num_traits::{FromPrimitive, Signed, ToPrimitive};

use super::ast::{BinaryOp, Filter, Spot};
use super::builtin::FilterName;
use super::error::Stop;
use super::iter::{Arguments, Deferred, Source};
use super::machine::Machine;
use super::val::{Undefined, Val};
use crate::python::{arg, float, number, number_text};

impl<'a> Machine<'a> {
    /// Evaluates a filter.
    pub fn filter(&mut self, filter: &'a Filter, spot: Spot) -> Result<Val<'a>, Stop> {
        let mut base = self.eval(&filter.base)?;
        if !filter.filter.is_some_and(takes_undefined) {
            base = self.settle(base, filter.base.spot)?;
        }
        let args = self.arguments(&filter.args)?;
        self.at = spot;
        let Some(name) = filter.filter else {
            return Err(self.fail(format!("No filter named '{}' found.", filter.name)));
        };
        self.apply_filter(name, base, &args)
    }

    /// Applies a filter to a value.
    pub fn apply_filter(
        &mut self,
        name: FilterName,
        base: Val<'a>,
        args: &Arguments<'a>,
    ) -> Result<Val<'a>, Stop> {
        if name == FilterName::Default {
            return self.filter_default(base, args);
        }
        let base = if takes_undefined(name) { base } else { self.settle(base, self.at)? };
        if matches!(base, Val::Gap) {
            // Missing values among the arguments are to be told, too.
            for value in args.positional.iter().chain(args.named.iter().map(|(_, value)| value)) {
                self.settle(*value, self.at)?;
            }
            return Ok(Val::Gap);
        }
        if is_generator(name) {
            return self.defer(name, base, args);
        }
        match name {
            FilterName::Abs => self.filter_abs(base, args),
            FilterName::Round => self.filter_round(base, args),
            FilterName::Int => self.filter_int(base, args),
            FilterName::Float => self.filter_float(base, args),
            FilterName::Attr => self.filter_attr(base, args),
            FilterName::Tojson => self.filter_tojson(base, args),
            FilterName::Fromjson => self.filter_fromjson(base, args),
            FilterName::Batch
            | FilterName::Dictsort
            | FilterName::First
            | FilterName::Groupby
            | FilterName::Items
            | FilterName::Join
            | FilterName::Last
            | FilterName::Length
            | FilterName::List
            | FilterName::Map
            | FilterName::Max
            | FilterName::Min
            | FilterName::Random
            | FilterName::Reject
            | FilterName::Rejectattr
            | FilterName::Reverse
            | FilterName::Select
            | FilterName::Selectattr
            | FilterName::Slice
            | FilterName::Sort
            | FilterName::Sum
            | FilterName::Unique => self.filter_list(name, base, args),
            _ => self.filter_text(name, base, args),
        }
    }

    /// The generator of a filter. Only its arguments are checked now.
    fn defer(&mut self, name: FilterName, base: Val<'a>, args: &Arguments<'a>) -> Result<Val<'a>, Stop> {
        match name {
            FilterName::Batch | FilterName::Slice => {
                let names = if name == FilterName::Batch {
                    ["linecount", "fill_with"]
                } else {
                    ["slices", "fill_with"]
                };
                if let [None, _] = self.bind("the filter", names, args)? {
                    return Err(self.fail("the filter is missing a required argument"));
                }
            }
            FilterName::Items => {
                self.bind("items", [], args)?;
            }
            FilterName::Unique => {
                self.bind("unique", ["case_sensitive", "attribute"], args)?;
            }
            _ => {}
        }
        let (at, text, args) = (self.at, self.text, args.clone());
        self.deferred(Deferred { filter: name, base, args, at, text })
    }

    /// Begins a filter whose first item is asked for.
    pub fn begin(&mut self, deferred: &'a Deferred<'a>) -> Result<Source<'a>, Stop> {
        let outer = (self.at, self.text);
        (self.at, self.text) = (deferred.at, deferred.text);
        let base = match deferred.filter {
            FilterName::Items => deferred.base,
            _ => self.settle(deferred.base, deferred.at)?,
        };
        let items = match base {
            Val::Gap => Val::Gap,
            base => self.filter_list(deferred.filter, base, &deferred.args)?,
        };
        (self.at, self.text) = outer;
        Ok(if let Val::Iter(iter) = items { Source::Other(iter) } else { Source::Empty })
    }

    fn filter_default(&mut self, base: Val<'a>, args: &Arguments<'a>) -> Result<Val<'a>, Stop> {
        let [default, boolean] = self.bind("default", ["default_value", "boolean"], args)?;
        let boolean = match boolean {
            Some(boolean) => self.truth(boolean)?,
            None => false,
        };
        let replaces = match base {
            Val::Pending(call) => return Err(super::machine::needed(call)),
            Val::Undefined(_) | Val::Gap => true,
            base => boolean && !self.truth(base)?,
        };
        Ok(if replaces { default.unwrap_or(Val::Str("")) } else { base })
    }

    fn filter_abs(&mut self, base: Val<'a>, args: &Arguments<'a>) -> Result<Val<'a>, Stop> {
        self.bind("abs", [], args)?;
        match self.demand(base)? {
            Val::Int(value) => match value.checked_abs() {
                Some(value) => Ok(Val::Int(value)),
                None => self.big(BigInt::from(value).abs()),
            },
            Val::Bool(value) => Ok(Val::Int(i64::from(value))),
            Val::Float(value) => Ok(Val::Float(value.abs())),
            Val::Big(value) => self.big(value.abs()),
            Val::Gap => Ok(Val::Gap),
            other => Err(self.fail(format!("bad operand type for abs(): '{}'", other.type_name()))),
        }
    }

    fn filter_round(&mut self, base: Val<'a>, args: &Arguments<'a>) -> Result<Val<'a>, Stop> {
        let [precision, method] = self.bind("round", ["precision", "method"], args)?;
        let method = self.demand(method.unwrap_or(Val::Str("common")))?;
        let method = method.as_text().unwrap_or_default();
        if !matches!(method, "common" | "ceil" | "floor") {
            return Err(self.fail("method must be common, ceil or floor"));
        }
        let precision = precision.unwrap_or(Val::Int(0));
        let base = self.demand(base)?;
        if matches!(base, Val::Gap) {
            return Ok(Val::Gap);
        }
        if !base.is_number() {
            let name = base.type_name();
            return Err(self.fail(format!("type {name} doesn't define __round__ method")));
        }
        if method == "common" {
            let digits = match precision {
                Val::None => None,
                precision => Some(self.int_arg(precision)?.clamp(-400, 400) as i32),
            };
            return self.round_common(base, digits);
        }
        let power = self.binary(BinaryOp::Pow, Val::Int(10), precision)?;
        let scaled = self.binary(BinaryOp::Mul, base, power)?;
        let whole = match scaled {
            Val::Float(value) => {
                let whole = if method == "ceil" { value.ceil() } else { value.floor() };
                match BigInt::from_f64(whole) {
                    Some(whole) => self.big(whole)?,
                    None => return Err(self.fail("cannot convert float infinity or NaN to integer")),
                }
            }
            value => value,
        };
        self.binary(BinaryOp::Div, whole, power)
    }

    fn round_common(&mut self, base: Val<'a>, digits: Option<i32>) -> Result<Val<'a>, Stop> {
        match (base, digits) {
            (Val::Float(value), Some(digits)) => Ok(Val::Float(float::round(value, digits))),
            (Val::Float(value), None) => match BigInt::from_f64(float::round(value, 0)) {
                Some(value) => self.big(value),
                None => Err(self.fail("cannot convert float infinity or NaN to integer")),
            },
            (Val::Int(_) | Val::Big(_) | Val::Bool(_), Some(digits)) if digits < 0 => {
                let value = match base {
                    Val::Big(value) => value.clone(),
                    value => BigInt::from(value.as_int().unwrap_or(0)),
                };
                self.int(number::round_int(&value, digits))
            }
            (Val::Bool(value), _) => Ok(Val::Int(i64::from(value))),
            (base, _) => Ok(base),
        }
    }

    /// `int(value)` of a number; nothing where Python raises `ValueError`.
    fn truncated(&mut self, value: f64) -> Result<Option<Val<'a>>, Stop> {
        if value.is_infinite() {
            return Err(self.fail("cannot convert float infinity to integer"));
        }
        match BigInt::from_f64(value.trunc()) {
            Some(value) => self.big(value).map(Some),
            None => Ok(None),
        }
    }

    fn filter_int(&mut self, base: Val<'a>, args: &Arguments<'a>) -> Result<Val<'a>, Stop> {
        let [default, base_arg] = self.bind("int", ["default", "base"], args)?;
        let default = default.unwrap_or(Val::Int(0));
        match self.demand(base)? {
            Val::Gap => Ok(Val::Gap),
            value @ (Val::Int(_) | Val::Big(_)) => Ok(value),
            Val::Bool(value) => Ok(Val::Int(i64::from(value))),
            Val::Float(value) => Ok(self.truncated(value)?.unwrap_or(default)),
            value => {
                let (text, base_arg) = match (value.as_text(), value) {
                    (Some(text), _) => (text, base_arg),
                    (None, Val::Bytes(bytes)) => (std::str::from_utf8(bytes).unwrap_or_default(), None),
                    _ => return Ok(default),
                };
                self.work(text.len())?;
                let radix = match base_arg {
                    None => Some(10),
                    Some(Val::Big(_)) => Some(-1),
                    Some(base) => base.as_int(),
                };
                // A base that is no number counts like a text that is none.
                if let Some(Ok(value)) = radix.map(|radix| number_text::parse_int(text, radix)) {
                    return self.int(value);
                }
                match number_text::parse_float(text) {
                    Ok(value) if value.is_finite() => Ok(self.truncated(value)?.unwrap_or(default)),
                    _ => Ok(default),
                }
            }
        }
    }

    fn filter_float(&mut self, base: Val<'a>, args: &Arguments<'a>) -> Result<Val<'a>, Stop> {
        let [default] = self.bind("float", ["default"], args)?;
        let default = default.unwrap_or(Val::Float(0.0));
        match self.demand(base)? {
            Val::Gap => Ok(Val::Gap),
            Val::Float(value) => Ok(Val::Float(value)),
            Val::Big(value) => match value.to_f64() {
                Some(value) if value.is_finite() => Ok(Val::Float(value)),
                _ => Err(self.fail("int too large to convert to float")),
            },
            value => match (value.as_int(), value.as_text()) {
                (Some(value), _) => Ok(Val::Float(value as f64)),
                (None, Some(text)) => {
                    self.work(text.len())?;
                    Ok(number_text::parse_float(text).map_or(default, Val::Float))
                }
                (None, None) => Ok(default),
            },
        }
    }

    fn filter_attr(&mut self, base: Val<'a>, args: &Arguments<'a>) -> Result<Val<'a>, Stop> {
        let [name] = self.bind("attr", ["name"], args)?;
        let name = self.required("attr", name)?;
        let name = match (name.as_text(), name) {
            (Some(name), _) => name,
            (None, Val::Gap) => return Ok(Val::Gap),
            (None, other) => {
                let name = other.type_name();
                return Err(self.fail(format!("attribute name must be string, not '{name}'")));
            }
        };
        let base = self.live(base);
        match self.own_attr(base, name)? {
            Some(value) => Ok(value),
            None => self.no_part(base, name, self.at),
        }
    }

    fn filter_fromjson(&mut self, base: Val<'a>, args: &Arguments<'a>) -> Result<Val<'a>, Stop> {
        self.bind("fromjson", [], args)?;
        let text = self.str_arg("fromjson", base)?;
        self.work(text.len())?;
        self.charge(crate::value::weight(text.as_bytes(), crate::value::Tree::Value))?;
        match crate::value::from_json(text.as_bytes()) {
            Ok(value) => {
                let value = self.store.values.alloc(value);
                self.data(value)
            }
            Err(error) => Err(self.fail(format!("not valid JSON: {error}"))),
        }
    }

    fn filter_tojson(&mut self, base: Val<'a>, args: &Arguments<'a>) -> Result<Val<'a>, Stop> {
        let names = ["ensure_ascii", "indent", "separators", "sort_keys"];
        let [ensure_ascii, indent, separators, sort_keys] = self.bind("tojson", names, args)?;
        let ensure_ascii = self.truth(ensure_ascii.unwrap_or(Val::Bool(false)))?;
        let sort_keys = self.truth(sort_keys.unwrap_or(Val::Bool(false)))?;
        let indent = match indent {
            None | Some(Val::None) => None,
            Some(value) => match value.as_text() {
                Some(text) => Some(text.to_owned()),
                None => {
                    let count = self.int_arg(value)?;
                    Some(self.check(crate::python::filters::spaces(count, self.text_room()))?)
                }
            },
        };
        let (item_separator, key_separator) = match separators {
            None | Some(Val::None) => (if indent.is_some() { "," } else { ", " }, ": "),
            Some(pair) => match self.collect(pair)?.as_slice() {
                [item, key] => (self.str_arg("separators", *item)?, self.str_arg("separators", *key)?),
                _ => return Err(self.fail("separators must be a pair of texts")),
            },
        };
        let style = super::json::JsonStyle { ensure_ascii, indent, item_separator, key_separator, sort_keys };
        let mut out = String::new();
        self.write_json(&mut out, base, &style, 0)?;
        self.str(out)
    }

    /// `text % values`.
    pub fn percent(&mut self, format: Val<'a>, values: Val<'a>) -> Result<Val<'a>, Stop> {
        let Some(text) = format.as_text() else { return Ok(Val::Gap) };
        if let Val::Gap = values {
            return Ok(format);
        }
        let values = self.live(values);
        let markup = matches!(format, Val::Markup(_));
        let formatted = self.percent_format(text, values, markup)?;
        let text = self.alloc_str(&formatted)?;
        Ok(if markup { Val::Markup(text) } else { Val::Str(text) })
    }

    /// What a formatting function sees of a value.
    pub fn format_arg(&mut self, value: Val<'a>, markup: bool) -> Result<arg::Arg<'a>, Stop> {
        Ok(match value {
            Val::Str(text) if markup => arg::Arg::Str(crate::python::html::escape(text)),
            Val::Str(text) | Val::Markup(text) => arg::Arg::Str(text.into()),
            Val::Int(value) => arg::Arg::Int(value),
            Val::Bool(value) => arg::Arg::Bool(value),
            Val::Float(value) => arg::Arg::Float(value),
            Val::Big(value) => arg::Arg::Big(std::borrow::Cow::Borrowed(value)),
            Val::Pending(call) => return Err(super::machine::needed(call)),
            other => {
                let mut text = String::new();
                self.write_str(&mut text, other)?;
                let mut repr = String::new();
                self.write_repr(&mut repr, other, &mut Vec::new())?;
                if markup {
                    text = crate::python::html::escape(&text).into_owned();
                    repr = crate::python::html::escape(&repr).into_owned();
                }
                arg::Arg::Other(Box::new(Shown { type_name: other.type_name(), text, repr }))
            }
        })
    }

    /// An undefined value of a filter that found nothing.
    pub fn nothing(&mut self, message: &str) -> Result<Val<'a>, Stop> {
        self.undefined(Undefined::Own(message.to_owned()))
    }
}

/// Whether Jinja2 writes the filter as a generator.
fn is_generator(name: FilterName) -> bool {
    matches!(
        name,
        FilterName::Batch
            | FilterName::Items
            | FilterName::Map
            | FilterName::Reject
            | FilterName::Rejectattr
            | FilterName::Select
            | FilterName::Selectattr
            | FilterName::Slice
            | FilterName::Unique
    )
}

/// Whether the filter itself decides whether it needs its value.
fn takes_undefined(name: FilterName) -> bool {
    is_generator(name) || matches!(name, FilterName::Default | FilterName::Pprint)
}

/// The texts of a value that is neither a number nor a text.
pub(super) struct Shown {
    pub type_name: &'static str,
    pub text: String,
    pub repr: String,
}

impl arg::Object for Shown {
    fn type_name(&self) -> &str {
        self.type_name
    }

    fn str(&self, _: usize) -> Result<String, crate::python::PyError> {
        Ok(self.text.clone())
    }

    fn repr(&self, _: usize) -> Result<String, crate::python::PyError> {
        Ok(self.repr.clone())
    }
}
