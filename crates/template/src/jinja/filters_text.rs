//! The filters of texts.

use super::builtin::FilterName;
use super::error::Stop;
use super::iter::Arguments;
use super::machine::Machine;
use super::val::Val;
use crate::python::filters::{self, TruncateOptions};
use crate::python::split::Ends;
use crate::python::urlize::UrlizeOptions;
use crate::python::wrap::WrapOptions;
use crate::python::{case, html, pad, search, split, urlize, wrap};

impl<'a> Machine<'a> {
    /// Applies a filter that takes the text of its value.
    pub fn filter_text(
        &mut self,
        name: FilterName,
        base: Val<'a>,
        args: &Arguments<'a>,
    ) -> Result<Val<'a>, Stop> {
        if let FilterName::Filesizeformat | FilterName::Pprint | FilterName::Urlencode | FilterName::Xmlattr =
            name
        {
            return self.filter_other(name, base, args);
        }
        if let FilterName::Indent | FilterName::Wordwrap = name
            && base.as_text().is_none()
        {
            return Err(self.fail(format!("'{}' object has no attribute 'splitlines'", base.type_name())));
        }
        if name == FilterName::Truncate {
            return self.filter_truncate(base, args);
        }
        let markup = matches!(base, Val::Markup(_));
        let text = self.text_of(base)?;
        self.work(text.len())?;
        self.check_room(text.len().saturating_mul(3))?;
        let room = self.text_room();
        let result: String = match name {
            FilterName::Upper => {
                self.bind("upper", [], args)?;
                case::upper(text)
            }
            FilterName::Lower => {
                self.bind("lower", [], args)?;
                case::lower(text)
            }
            FilterName::Capitalize => {
                self.bind("capitalize", [], args)?;
                case::capitalize(text)
            }
            FilterName::Title => {
                self.bind("title", [], args)?;
                return self.str(filters::title(text));
            }
            FilterName::Trim => {
                let [chars] = self.bind("trim", ["chars"], args)?;
                let chars = self.str_option("trim", chars)?;
                let trimmed = split::strip(text, chars, Ends::Both);
                return Ok(if markup { Val::Markup(trimmed) } else { Val::Str(trimmed) });
            }
            FilterName::String => {
                self.bind("string", [], args)?;
                return Ok(if markup { base } else { Val::Str(text) });
            }
            FilterName::Safe => {
                self.bind("safe", [], args)?;
                return Ok(Val::Markup(text));
            }
            FilterName::Escape | FilterName::Forceescape => {
                self.bind("escape", [], args)?;
                if markup && name == FilterName::Escape {
                    return Ok(base);
                }
                return Ok(match html::escape(text) {
                    std::borrow::Cow::Borrowed(text) => Val::Markup(text),
                    std::borrow::Cow::Owned(text) => Val::Markup(self.alloc_str(&text)?),
                });
            }
            FilterName::Striptags => {
                self.bind("striptags", [], args)?;
                return self.str(html::strip_tags(text));
            }
            FilterName::Wordcount => {
                self.bind("wordcount", [], args)?;
                return Ok(Val::Int(filters::word_count(text) as i64));
            }
            FilterName::Center => {
                let [width] = self.bind("center", ["width"], args)?;
                let width = width.map_or(Ok(80), |width| self.int_arg(width))?;
                self.check(pad::center(text, width, ' ', room))?
            }
            FilterName::Replace => return self.filter_replace(base, text, args),
            FilterName::Format => return self.filter_format(base, args),
            FilterName::Indent => self.filter_indent(text, args)?,
            FilterName::Wordwrap => {
                let wrapped = self.filter_wordwrap(text, args)?;
                return self.str(wrapped);
            }
            _ => return self.filter_urlize(text, markup, args),
        };
        let text = self.alloc_str(&result)?;
        Ok(if markup { Val::Markup(text) } else { Val::Str(text) })
    }

    fn filter_replace(
        &mut self,
        base: Val<'a>,
        text: &'a str,
        args: &Arguments<'a>,
    ) -> Result<Val<'a>, Stop> {
        let [old, new, count] = self.bind("replace", ["old", "new", "count"], args)?;
        let (Some(old), Some(new)) = (old, new) else {
            return Err(self.fail("replace() is missing a required argument"));
        };
        let (old, new) = (self.settle(old, self.at)?, self.settle(new, self.at)?);
        let count = self.int_option(count)?.unwrap_or(-1);
        let (old, new) = match self.escapes {
            false => (self.text_of(old)?, self.text_of(new)?),
            true => (self.escaped(old)?, self.escaped(new)?),
        };
        let text = if self.escapes { self.escaped(base)? } else { text };
        let replaced = self.check(search::replace(text, old, new, count, self.text_room()))?;
        let value = self.cow(replaced)?;
        Ok(match value {
            Val::Str(text) if self.escapes => Val::Markup(text),
            value => value,
        })
    }

    /// The escaped text of a value.
    pub fn escaped(&mut self, value: Val<'a>) -> Result<&'a str, Stop> {
        if let Val::Markup(text) = value {
            return Ok(text);
        }
        let text = self.text_of(value)?;
        match html::escape(text) {
            std::borrow::Cow::Borrowed(text) => Ok(text),
            std::borrow::Cow::Owned(text) => self.alloc_str(&text),
        }
    }

    fn filter_format(&mut self, base: Val<'a>, args: &Arguments<'a>) -> Result<Val<'a>, Stop> {
        let base = match base {
            Val::Str(_) | Val::Markup(_) => base,
            other => Val::Str(self.text_of(other)?),
        };
        match (args.positional.is_empty(), args.named.is_empty()) {
            (false, false) => {
                Err(self.fail("can't handle positional and keyword arguments at the same time"))
            }
            (_, true) => {
                let values = self.tuple(&args.positional)?;
                self.percent(base, values)
            }
            (true, false) => {
                let dict = self.new_dict()?;
                for (name, value) in &args.named {
                    self.dict_insert(dict, Val::Str(name), *value)?;
                }
                self.percent(base, Val::Dict(dict))
            }
        }
    }

    fn filter_indent(&mut self, text: &str, args: &Arguments<'a>) -> Result<String, Stop> {
        let [width, first, blank] = self.bind("indent", ["width", "first", "blank"], args)?;
        let first = self.truth(first.unwrap_or(Val::Bool(false)))?;
        let blank = self.truth(blank.unwrap_or(Val::Bool(false)))?;
        let width = match width {
            None => "    ".to_owned(),
            Some(width) => match width.as_text() {
                Some(text) => text.to_owned(),
                None => {
                    let width = self.int_arg(width)?;
                    self.check(filters::spaces(width, self.text_room()))?
                }
            },
        };
        self.check(filters::indent(text, &width, first, blank, self.text_room()))
    }

    /// `truncate`: whatever is short enough stays as it is, and only texts can be cut.
    fn filter_truncate(&mut self, base: Val<'a>, args: &Arguments<'a>) -> Result<Val<'a>, Stop> {
        let [length, killwords, end, leeway] =
            self.bind("truncate", ["length", "killwords", "end", "leeway"], args)?;
        let usual = TruncateOptions::default();
        let length = length.map_or(Ok(usual.length), |length| self.int_arg(length))?;
        let killwords = self.truth(killwords.unwrap_or(Val::Bool(false)))?;
        let leeway = self.int_option(leeway)?.unwrap_or(usual.leeway);
        let end = self.settle(end.unwrap_or(Val::Str(usual.end)), self.at)?;
        let (Some(text), Some(end)) = (base.as_text(), end.as_text()) else {
            return self.untruncated(base, [length, leeway], end);
        };
        self.work(text.len())?;
        let cut = filters::truncate(text, &TruncateOptions { length, killwords, end, leeway });
        match (self.check(cut)?, base) {
            (std::borrow::Cow::Borrowed(_), base) => Ok(base),
            (std::borrow::Cow::Owned(text), Val::Markup(_)) => Ok(Val::Markup(self.alloc_str(&text)?)),
            (std::borrow::Cow::Owned(text), _) => self.str(text),
        }
    }

    /// A value that is not cut, since it is short enough.
    fn untruncated(
        &mut self,
        base: Val<'a>,
        [length, leeway]: [i64; 2],
        end: Val<'a>,
    ) -> Result<Val<'a>, Stop> {
        if let Val::Gap = end {
            return Ok(base);
        }
        let (len, end_len) = (self.len(base)? as i64, self.len(end)? as i64);
        match length >= end_len && leeway >= 0 && len <= length.saturating_add(leeway) {
            true => Ok(base),
            false => Err(self.fail(format!("'{}' cannot be truncated", base.type_name()))),
        }
    }

    fn filter_wordwrap(&mut self, text: &str, args: &Arguments<'a>) -> Result<String, Stop> {
        let names = ["width", "break_long_words", "wrapstring", "break_on_hyphens"];
        let [width, break_long_words, wrapstring, break_on_hyphens] = self.bind("wordwrap", names, args)?;
        let usual = WrapOptions::default();
        let options = WrapOptions {
            width: width.map_or(Ok(usual.width), |width| self.int_arg(width))?,
            break_long_words: self.truth(break_long_words.unwrap_or(Val::Bool(true)))?,
            wrapstring: self.str_option("wordwrap", wrapstring)?.unwrap_or(usual.wrapstring),
            break_on_hyphens: self.truth(break_on_hyphens.unwrap_or(Val::Bool(true)))?,
        };
        self.work(text.len().saturating_mul(8))?;
        self.check(wrap::wordwrap(text, &options, self.text_room()))
    }

    fn filter_urlize(&mut self, text: &'a str, markup: bool, args: &Arguments<'a>) -> Result<Val<'a>, Stop> {
        let names = ["trim_url_limit", "nofollow", "target", "rel", "extra_schemes"];
        let [limit, nofollow, target, rel, schemes] = self.bind("urlize", names, args)?;
        let nofollow = self.truth(nofollow.unwrap_or(Val::Bool(false)))?;
        let rel = urlize::link_rel(self.str_option("urlize", rel)?, nofollow);
        let target = match target {
            Some(target) if self.truth(target)? => Some(self.text_of(target)?),
            _ => None,
        };
        let mut extra = Vec::new();
        if let Some(schemes) = schemes.filter(|schemes| !matches!(schemes, Val::None)) {
            for scheme in self.collect(schemes)? {
                let scheme = self.str_arg("urlize", scheme)?;
                self.check(urlize::check_scheme(scheme))?;
                extra.push(scheme);
            }
        }
        // The limit is not looked at unless there is a link.
        let is_limit = limit.is_none_or(|limit| matches!(limit, Val::None) || limit.as_int().is_some());
        let options = UrlizeOptions {
            trim_url_limit: if is_limit { self.int_option(limit)? } else { None },
            rel: Some(&rel),
            target,
            extra_schemes: &extra,
        };
        self.work(text.len().saturating_mul(8))?;
        let linked = match markup {
            true => urlize::urlize_markup(text, &options, self.text_room()),
            false => urlize::urlize(text, &options, self.text_room()),
        };
        let linked = self.check(linked)?;
        if let (false, Some(limit), true) = (is_limit, limit, linked.contains("<a ")) {
            self.int_arg(limit)?;
        }
        let text = self.alloc_str(&linked)?;
        Ok(if self.escapes { Val::Markup(text) } else { Val::Str(text) })
    }

    fn filter_other(
        &mut self,
        name: FilterName,
        base: Val<'a>,
        args: &Arguments<'a>,
    ) -> Result<Val<'a>, Stop> {
        match name {
            FilterName::Filesizeformat => {
                let [binary] = self.bind("filesizeformat", ["binary"], args)?;
                let binary = self.truth(binary.unwrap_or(Val::Bool(false)))?;
                let bytes = match self.demand(base)? {
                    Val::Float(value) => value,
                    Val::Gap => return Ok(Val::Gap),
                    value => match (value.as_int(), value.as_text()) {
                        (Some(value), _) => value as f64,
                        (None, _) if matches!(value, Val::Big(_)) => self.float_of(value)?,
                        (None, Some(text)) => self.check(crate::python::number_text::parse_float(text))?,
                        (None, None) => {
                            let name = value.type_name();
                            return Err(self.fail(format!(
                                "float() argument must be a string or a real number, not '{name}'"
                            )));
                        }
                    },
                };
                let text = self.check(filters::file_size(bytes, binary))?;
                self.str(text)
            }
            FilterName::Pprint => {
                self.bind("pprint", [], args)?;
                self.pprint(base)
            }
            FilterName::Urlencode => {
                self.bind("urlencode", [], args)?;
                self.filter_urlencode(base)
            }
            _ => self.filter_xmlattr(base, args),
        }
    }

    fn filter_urlencode(&mut self, base: Val<'a>) -> Result<Val<'a>, Stop> {
        let base = self.live(base);
        if base.as_text().is_some() || !self.is_iterable(base) {
            let text = self.text_of(base)?;
            self.check_room(text.len().saturating_mul(3))?;
            return self.str(html::url_quote(text, false));
        }
        let mut out = String::new();
        let pairs = match base {
            Val::DataMap(_) | Val::Dict(_) => self.view(base, super::val::ViewKind::Items)?,
            pairs => pairs,
        };
        for pair in self.collect(pairs)? {
            let pair = self.settle(pair, self.at)?;
            let parts = self.collect(pair)?;
            let [name, value] = parts.as_slice() else {
                return Err(self.fail("urlencode needs pairs of a key and a value"));
            };
            let (name, value) = (self.text_of(*name)?, self.text_of(*value)?);
            if !out.is_empty() {
                out.push('&');
            }
            self.check_room(out.len() + (name.len() + value.len()).saturating_mul(3))?;
            out.push_str(&html::url_quote(name, true));
            out.push('=');
            out.push_str(&html::url_quote(value, true));
        }
        self.str(out)
    }

    fn filter_xmlattr(&mut self, base: Val<'a>, args: &Arguments<'a>) -> Result<Val<'a>, Stop> {
        let [autospace] = self.bind("xmlattr", ["autospace"], args)?;
        let autospace = self.truth(autospace.unwrap_or(Val::Bool(true)))?;
        let base = self.live(base);
        if !matches!(base, Val::DataMap(_) | Val::Dict(_)) {
            let name = base.type_name();
            return Err(self.fail(format!("'{name}' object has no attribute 'items'")));
        }
        let mut out = String::new();
        let mut at = 0;
        while let Some((name, value)) = self.map_entry(base, at)? {
            at += 1;
            if matches!(value, Val::None | Val::Undefined(_) | Val::Gap) {
                continue;
            }
            let Some(name) = name.as_text() else {
                let name = name.type_name();
                return Err(self.fail(format!("expected string or bytes-like object, got '{name}'")));
            };
            self.check(html::check_attribute_name(name))?;
            let value = self.escaped(value)?;
            self.check_room(out.len() + name.len() * 6 + value.len())?;
            if !out.is_empty() || autospace {
                out.push(' ');
            }
            out.push_str(&html::escape(name));
            out.push_str("=\"");
            out.push_str(value);
            out.push('"');
        }
        let text = self.alloc_str(&out)?;
        Ok(if self.escapes { Val::Markup(text) } else { Val::Str(text) })
    }
}
