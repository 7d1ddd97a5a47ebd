//! Reads escapes and classes of characters in regular expressions.
//!
//! In Go, `\d`, `\s`, `\w` and `\b` are about ASCII alone.

use regex_syntax::hir::Look;

use super::program::Refusal;
use super::sets::Item;
use super::syntax::{Before, Reader, between, invalid};
use super::tree::Node;

impl<'p> Reader<'p> {
    /// An escape outside of a class.
    pub fn escape(&mut self, before: Before<'p>) -> Result<Before<'p>, Refusal> {
        let start = self.left;
        for (text, look) in [
            ("\\A", Look::Start),
            ("\\z", Look::End),
            ("\\b", Look::WordAscii),
            ("\\B", Look::WordAsciiNegate),
        ] {
            if self.eat(text) {
                return Ok(self.push(Node::Look(look)));
            }
        }
        if self.eat("\\C") {
            return invalid("invalid escape sequence", between(start, self.left));
        }
        if self.eat("\\Q") {
            let (literal, rest) = self.left.split_once("\\E").unwrap_or((self.left, ""));
            self.left = rest;
            for c in literal.chars() {
                self.count()?;
                self.push_character(c);
            }
            return Ok(if literal.is_empty() { before } else { Before::Item });
        }
        let Some(item) = self.named_class()? else {
            let c = self.character_escape()?;
            return Ok(self.push_character(c));
        };
        let node = self.set(between(start, self.left), vec![item], false);
        Ok(self.push(node))
    }

    /// The set that is written so.
    fn set(&mut self, text: &'p str, items: Vec<Item>, negative: bool) -> Node {
        let folds = self.flags.folds;
        let known = self.sets.known(text, folds);
        known.unwrap_or_else(|| self.sets.class(text, folds, items, negative))
    }

    /// A class that has a name, in the syntax of the crate `regex_syntax`.
    fn named(&mut self, name: &str, negative: bool) -> Option<Item> {
        let class = self.sets.named(name, self.flags.folds)?;
        Some(Item::Class(class, negative))
    }

    /// Reads `\d`, `\pL` and their like, if one is next; inside and outside of a class.
    fn named_class(&mut self) -> Result<Option<Item>, Refusal> {
        const DIGITS: &str = "[0-9]";
        const SPACES: &str = "[\\t\\n\\x0c\\r\\x20]";
        const WORDS: &str = "[0-9A-Za-z_]";
        for (text, class, negative) in [
            ("\\d", DIGITS, false),
            ("\\D", DIGITS, true),
            ("\\s", SPACES, false),
            ("\\S", SPACES, true),
            ("\\w", WORDS, false),
            ("\\W", WORDS, true),
        ] {
            if self.eat(text) {
                return Ok(self.named(class, negative));
            }
        }
        let start = self.left;
        let negative = start.starts_with("\\P");
        if !self.eat("\\p") && !self.eat("\\P") {
            return Ok(None);
        }
        let name = match self.take() {
            None => return invalid("invalid character class range", start),
            Some('{') => {
                let Some((name, rest)) = self.left.split_once('}') else {
                    return invalid("invalid character class range", start);
                };
                self.left = rest;
                name
            }
            Some(_) => between(start.get(2..).unwrap_or_default(), self.left),
        };
        let (negative, plain) = match name.strip_prefix('^') {
            Some(plain) => (!negative, plain),
            None => (negative, name),
        };
        let is_name = !plain.is_empty() && plain.chars().all(|c| c.is_ascii_alphanumeric() || c == '_');
        match is_name.then(|| self.named(&format!("\\p{{{plain}}}"), negative)).flatten() {
            Some(class) => Ok(Some(class)),
            None => invalid("invalid character class range", between(start, self.left)),
        }
    }

    /// An escape that stands for one character.
    fn character_escape(&mut self) -> Result<char, Refusal> {
        let start = self.left;
        self.take();
        let Some(c) = self.take() else {
            return invalid("trailing backslash at end of expression", "");
        };
        let next_is_octal = matches!(self.peek(), Some('0'..='7'));
        let code = match c {
            'a' => Some(7),
            'f' => Some(12),
            'n' => Some(10),
            'r' => Some(13),
            't' => Some(9),
            'v' => Some(11),
            'x' => self.hex(),
            '0' => Some(self.octal(c)),
            '1'..='7' if next_is_octal => Some(self.octal(c)),
            c if c.is_ascii() && !c.is_ascii_alphanumeric() => Some(u32::from(c)),
            _ => None,
        };
        match code.and_then(char::from_u32) {
            Some(c) => Ok(c),
            None => invalid("invalid escape sequence", between(start, self.left)),
        }
    }

    fn octal(&mut self, first: char) -> u32 {
        let mut code = first.to_digit(8).unwrap_or(0);
        for _ in 0..2 {
            let Some(digit) = self.peek().and_then(|c| c.to_digit(8)) else { break };
            self.take();
            code = code * 8 + digit;
        }
        code
    }

    /// `x7F`, `x{10FFFF}`: after the `x`.
    fn hex(&mut self) -> Option<u32> {
        let first = self.take()?;
        if first != '{' {
            let second = self.take()?;
            return Some(first.to_digit(16)? * 16 + second.to_digit(16)?);
        }
        let (mut code, mut any) = (0_u32, false);
        loop {
            match self.take()? {
                '}' => return any.then_some(code),
                c => code = code.checked_mul(16)?.checked_add(c.to_digit(16)?)?,
            }
            any = true;
            if code > u32::from(char::MAX) {
                return None;
            }
        }
    }

    /// A class in brackets.
    pub fn class(&mut self) -> Result<Before<'p>, Refusal> {
        let start = self.left;
        self.take();
        let negative = self.eat("^");
        let (mut items, mut first) = (Vec::new(), true);
        while first || !self.left.starts_with(']') {
            first = false;
            self.count()?;
            let named = match self.posix_class()? {
                Some(class) => Some(class),
                None => self.named_class()?,
            };
            items.push(match named {
                Some(class) => class,
                None => self.class_range(start)?,
            });
        }
        self.take();
        let node = self.set(between(start, self.left), items, negative);
        Ok(self.push(node))
    }

    /// `[:alpha:]`, `[:^alpha:]`
    fn posix_class(&mut self) -> Result<Option<Item>, Refusal> {
        const NAMES: [&str; 14] = [
            "alnum", "alpha", "ascii", "blank", "cntrl", "digit", "graph", "lower", "print", "punct",
            "space", "upper", "word", "xdigit",
        ];
        let start = self.left;
        let Some((name, rest)) = start.strip_prefix("[:").and_then(|inner| inner.split_once(":]")) else {
            return Ok(None);
        };
        let (negative, plain) = match name.strip_prefix('^') {
            Some(plain) => (true, plain),
            None => (false, name),
        };
        if !NAMES.contains(&plain) {
            return invalid("invalid character class range", between(start, rest));
        }
        self.left = rest;
        Ok(self.named(&format!("[[:{plain}:]]"), negative))
    }

    fn class_range(&mut self, class: &'p str) -> Result<Item, Refusal> {
        let start = self.left;
        let low = self.class_character(class)?;
        let mut next = self.left.chars();
        if next.next() != Some('-') || next.next().is_none_or(|c| c == ']') {
            return Ok(Item::Range(low, low));
        }
        self.take();
        let high = self.class_character(class)?;
        match high < low {
            true => invalid("invalid character class range", between(start, self.left)),
            false => Ok(Item::Range(low, high)),
        }
    }

    fn class_character(&mut self, class: &str) -> Result<char, Refusal> {
        match self.peek() {
            Some('\\') => self.character_escape(),
            _ => match self.take() {
                Some(c) => Ok(c),
                None => invalid("missing closing ]", class),
            },
        }
    }
}
