//! The methods of `str`.

use std::borrow::Cow;

use super::error::Stop;
use super::iter::Arguments;
use super::machine::Machine;
use super::val::Val;
use crate::python::search::Span;
use crate::python::split::Ends;
use crate::python::{case, html, pad, search, split, text as classes};

impl<'a> Machine<'a> {
    pub fn str_method(&mut self, text: &'a str, name: &str, args: &Arguments<'a>) -> Result<Val<'a>, Stop> {
        self.work(text.len())?;
        match name {
            "split" | "rsplit" => return self.split(text, name, args),
            "splitlines" => {
                let [keep] = self.bind(name, ["keepends"], args)?;
                let keep = self.flag(keep)?;
                return self.pieces(split::split_lines(text, keep));
            }
            "partition" | "rpartition" => {
                let separator = self.one(name, args)?;
                let separator = self.str_arg(name, separator)?;
                let parts = if name == "partition" {
                    split::partition(text, separator)
                } else {
                    split::rpartition(text, separator)
                };
                let parts = self.check(parts)?;
                return self.tuple(&parts.map(Val::Str));
            }
            "strip" | "lstrip" | "rstrip" => {
                let [set] = self.bind(name, [""], args)?;
                let set = self.str_option(name, set)?;
                let ends = match name {
                    "strip" => Ends::Both,
                    "lstrip" => Ends::Left,
                    _ => Ends::Right,
                };
                return Ok(Val::Str(split::strip(text, set, ends)));
            }
            "removeprefix" | "removesuffix" => {
                let part = self.one(name, args)?;
                let part = self.str_arg(name, part)?;
                return Ok(Val::Str(if name == "removeprefix" {
                    search::remove_prefix(text, part)
                } else {
                    search::remove_suffix(text, part)
                }));
            }
            "count" | "find" | "rfind" | "index" | "rindex" => return self.search(text, name, args),
            "startswith" | "endswith" => return self.starts(text, name, args),
            "replace" => return self.replace(text, args),
            "join" => return self.join_method(text, args),
            "center" | "ljust" | "rjust" | "zfill" | "expandtabs" => return self.pad(text, name, args),
            "format" => return self.format(text, args),
            "format_map" => {
                let map = self.one(name, args)?;
                return self.format_map(text, map);
            }
            "encode" => return self.encode(text, args),
            "maketrans" => return self.make_translation(args),
            "translate" => {
                let table = self.one(name, args)?;
                return self.translate(text, table);
            }
            _ => {}
        }
        self.none(name, args)?;
        if let Some(holds) = class(text, name) {
            return Ok(Val::Bool(holds));
        }
        // Case mappings give at most three characters for one.
        self.check_room(text.len().saturating_mul(3))?;
        self.str(match name {
            "upper" => case::upper(text),
            "lower" => case::lower(text),
            "casefold" => case::casefold(text),
            "capitalize" => case::capitalize(text),
            "title" => case::title(text),
            _ => case::swapcase(text),
        })
    }

    /// The methods of a text that is not escaped again: they escape their arguments, and their results are such texts.
    pub fn markup_method(
        &mut self,
        text: &'a str,
        name: &str,
        args: &Arguments<'a>,
    ) -> Result<Val<'a>, Stop> {
        match name {
            "striptags" => return self.str(html::strip_tags(text)),
            "unescape" => return self.cow(html::unescape(text)),
            _ => {}
        }
        let mut escaped = args.clone();
        let named = escaped.named.iter_mut().map(|(_, value)| value);
        for value in escaped.positional.iter_mut().chain(named) {
            if let Val::Str(part) = value {
                *value = match html::escape(part) {
                    Cow::Borrowed(_) => *value,
                    Cow::Owned(part) => self.str(part)?,
                };
            }
        }
        if name == "join"
            && let Some(items) = escaped.positional.first_mut()
        {
            let mut parts = Vec::new();
            for item in self.collect(*items)? {
                parts.push(match item {
                    Val::Str(part) => self.str(html::escape(part))?,
                    item => item,
                });
            }
            *items = self.list(parts)?;
        }
        let value = self.str_method(text, name, &escaped)?;
        match value {
            Val::Str(text) => Ok(Val::Markup(text)),
            Val::List(items) => {
                let marked = |item: &Val<'a>| item.as_text().map_or(*item, Val::Markup);
                let items = items.borrow().iter().map(marked).collect();
                self.list(items)
            }
            Val::Tuple(tuple) => {
                let items: Vec<_> =
                    tuple.items.iter().map(|item| item.as_text().map_or(*item, Val::Markup)).collect();
                self.tuple(&items)
            }
            value => Ok(value),
        }
    }

    /// A list of texts.
    pub fn pieces(&mut self, pieces: Vec<&'a str>) -> Result<Val<'a>, Stop> {
        self.work_items(pieces.len())?;
        self.list(pieces.into_iter().map(Val::Str).collect())
    }

    fn split(&mut self, text: &'a str, name: &str, args: &Arguments<'a>) -> Result<Val<'a>, Stop> {
        let [separator, most] = self.bind(name, ["sep", "maxsplit"], args)?;
        let separator = self.str_option(name, separator)?;
        let most = most.map_or(Ok(-1), |most| self.int_arg(most))?;
        let pieces = if name == "split" {
            split::split(text, separator, most)
        } else {
            split::rsplit(text, separator, most)
        };
        let pieces = self.check(pieces)?;
        self.pieces(pieces)
    }

    fn span(&mut self, start: Option<Val<'a>>, end: Option<Val<'a>>) -> Result<Span, Stop> {
        Ok(Span { start: self.int_option(start)?, end: self.int_option(end)? })
    }

    fn search(&mut self, text: &'a str, name: &str, args: &Arguments<'a>) -> Result<Val<'a>, Stop> {
        let [part, start, end] = self.bind(name, ["", "", ""], args)?;
        let part = self.required(name, part)?;
        let part = self.str_arg(name, part)?;
        let span = self.span(start, end)?;
        let found = |at: Option<usize>| Val::Int(at.map_or(-1, |at| at as i64));
        Ok(match name {
            "count" => Val::Int(search::count(text, part, span) as i64),
            "find" => found(search::find(text, part, span)),
            "rfind" => found(search::rfind(text, part, span)),
            "index" => found(Some(self.check(search::index(text, part, span))?)),
            _ => found(Some(self.check(search::rindex(text, part, span))?)),
        })
    }

    fn starts(&mut self, text: &'a str, name: &str, args: &Arguments<'a>) -> Result<Val<'a>, Stop> {
        let [parts, start, end] = self.bind(name, ["", "", ""], args)?;
        let parts = self.required(name, parts)?;
        let span = self.span(start, end)?;
        let parts = match parts {
            Val::Tuple(tuple) => tuple.items.to_vec(),
            Val::Str(_) | Val::Markup(_) | Val::Gap => vec![parts],
            other => {
                let found = other.type_name();
                return Err(self.fail(format!("{name} first arg must be str or a tuple of str, not {found}")));
            }
        };
        for part in parts {
            self.work(text.len() / 16)?;
            let part = self.str_arg(name, part)?;
            let holds = if name == "startswith" {
                search::starts_with(text, part, span)
            } else {
                search::ends_with(text, part, span)
            };
            if holds {
                return Ok(Val::Bool(true));
            }
        }
        Ok(Val::Bool(false))
    }

    fn replace(&mut self, text: &'a str, args: &Arguments<'a>) -> Result<Val<'a>, Stop> {
        let [old, new, count] = self.bind("replace", ["", "", ""], args)?;
        let (old, new) = (self.required("replace", old)?, self.required("replace", new)?);
        let (old, new) = (self.str_arg("replace", old)?, self.str_arg("replace", new)?);
        let count = count.map_or(Ok(-1), |count| self.int_arg(count))?;
        let replaced = self.check(search::replace(text, old, new, count, self.text_room()))?;
        self.cow(replaced)
    }

    fn join_method(&mut self, separator: &'a str, args: &Arguments<'a>) -> Result<Val<'a>, Stop> {
        let items = self.one("join", args)?;
        if !self.is_iterable(items) {
            return Err(self.fail("can only join an iterable"));
        }
        let mut text = String::new();
        for (at, item) in self.collect(items)?.into_iter().enumerate() {
            let item = self.demand(item)?;
            let part = match item.as_text() {
                Some(part) => part,
                None if matches!(item, Val::Gap) => "",
                None => {
                    let name = item.type_name();
                    return Err(self.fail(format!("sequence item {at}: expected str instance, {name} found")));
                }
            };
            self.check_text(text.len() + separator.len() + part.len())?;
            self.work(separator.len() + part.len())?;
            if at > 0 {
                text.push_str(separator);
            }
            text.push_str(part);
        }
        self.str(text)
    }

    fn pad(&mut self, text: &'a str, name: &str, args: &Arguments<'a>) -> Result<Val<'a>, Stop> {
        let room = self.text_room();
        if name == "expandtabs" {
            let [size] = self.bind(name, ["tabsize"], args)?;
            let size = size.map_or(Ok(8), |size| self.int_arg(size))?;
            let text = self.check(pad::expand_tabs(text, size, room))?;
            return self.str(text);
        }
        let [width, fill] = self.bind(name, ["", ""], args)?;
        let width = self.required(name, width)?;
        let width = self.int_arg(width)?;
        let fill = match fill {
            None => ' ',
            Some(_) if name == "zfill" => {
                return Err(self.fail("zfill() takes exactly one argument (2 given)"));
            }
            Some(fill) => {
                let fill = self.str_arg(name, fill)?;
                self.check(pad::fill_char(fill))?
            }
        };
        let padded = match name {
            "center" => pad::center(text, width, fill, room),
            "ljust" => pad::ljust(text, width, fill, room),
            "rjust" => pad::rjust(text, width, fill, room),
            _ => pad::zfill(text, width, room),
        };
        let padded = self.check(padded)?;
        self.str(padded)
    }

    /// `str.maketrans(…)`: the table for `translate`.
    fn make_translation(&mut self, args: &Arguments<'a>) -> Result<Val<'a>, Stop> {
        let [from, to, removed] = self.bind("maketrans", ["", "", ""], args)?;
        let from = self.required("maketrans", from)?;
        let Some(to) = to else {
            let from = self.live(from);
            return self.translation_of(from);
        };
        let table = self.new_dict()?;
        let (from, to) = (self.str_arg("maketrans", from)?, self.str_arg("maketrans", to)?);
        if classes::len(from) != classes::len(to) {
            return Err(self.fail("the first two maketrans arguments must have equal length"));
        }
        let removed = removed.map_or(Ok(""), |removed| self.str_arg("maketrans", removed))?;
        let code = |c: char| Val::Int(i64::from(u32::from(c)));
        let pairs = from.chars().zip(to.chars().map(code));
        for (c, value) in pairs.chain(removed.chars().map(|c| (c, Val::None))) {
            self.step()?;
            self.dict_insert(table, code(c), value)?;
        }
        Ok(Val::Dict(table))
    }

    /// The table of a `dict` from characters to what stands for them.
    fn translation_of(&mut self, from: Val<'a>) -> Result<Val<'a>, Stop> {
        if !matches!(from, Val::DataMap(_) | Val::Dict(_)) {
            return Err(self.fail("if you give only one argument to maketrans it must be a dict"));
        }
        let table = self.new_dict()?;
        let mut at = 0;
        while let Some((name, value)) = self.map_entry(from, at)? {
            self.step()?;
            let mut chars = name.as_text().unwrap_or_default().chars();
            let code = match (name, chars.next(), chars.next()) {
                (Val::Int(_) | Val::Bool(_) | Val::Big(_), ..) => name,
                (Val::Str(_) | Val::Markup(_), Some(c), None) => Val::Int(i64::from(u32::from(c))),
                _ => return Err(self.fail("keys in translate table must be strings of length 1 or integers")),
            };
            self.dict_insert(table, code, value)?;
            at += 1;
        }
        Ok(Val::Dict(table))
    }

    fn translate(&mut self, text: &'a str, table: Val<'a>) -> Result<Val<'a>, Stop> {
        let mut out = String::new();
        for c in text.chars() {
            self.step()?;
            match self.find_item(table, Val::Int(i64::from(u32::from(c))))? {
                None => out.push(c),
                Some(Val::None) => {}
                Some(Val::Int(code)) => match u32::try_from(code).ok().and_then(char::from_u32) {
                    Some(c) => out.push(c),
                    None => return Err(self.fail("character mapping must be in range(0x110000)")),
                },
                Some(part) => out.push_str(self.str_arg("translate", part)?),
            }
            self.check_room(out.len())?;
        }
        self.str(out)
    }
}

/// The answer of a method that asks for the class of a text's characters.
fn class(text: &str, name: &str) -> Option<bool> {
    Some(match name {
        "isalnum" => classes::is_alnum(text),
        "isalpha" => classes::is_alpha(text),
        "isascii" => text.is_ascii(),
        "isdecimal" => classes::is_decimal(text),
        "isdigit" => classes::is_digit(text),
        "isidentifier" => classes::is_identifier(text),
        "islower" => case::is_lower_text(text),
        "isnumeric" => classes::is_numeric(text),
        "isprintable" => classes::is_printable(text),
        "isspace" => classes::is_space(text),
        "istitle" => case::is_title_text(text),
        "isupper" => case::is_upper_text(text),
        _ => return None,
    })
}
