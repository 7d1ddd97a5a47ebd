//! Reads the syntax of Go's regular expressions, and writes the same expression for the crate `regex`.
//!
//! In Go, `\d`, `\s`, `\w` and `\b` are about ASCII alone, a repetition cannot be repeated, and a brace that begins no
//! repetition stands for itself.

/// The most times that a repetition may repeat.
const MOST_REPEATS: u32 = 1_000;

/// How deep groups may nest.
const DEEPEST: usize = 200;

/// An expression as the crate `regex` reads it.
pub struct Translated {
    /// The expression; its groups have no names.
    pub text: String,
    /// The names of its groups, with their numbers.
    pub names: Vec<(String, usize)>,
}

/// Reads an expression.
///
/// # Errors
/// Go's message for an expression that is not valid.
pub fn translated(pattern: &[u8]) -> Result<Translated, String> {
    let Ok(text) = std::str::from_utf8(pattern) else {
        let shown = String::from_utf8_lossy(pattern);
        return Err(format!("error parsing regexp: invalid UTF-8: `{shown}`"));
    };
    let mut reader = Reader {
        whole: text,
        left: text,
        out: String::with_capacity(text.len() * 2),
        open: Vec::new(),
        repeats: Repeats::default(),
        captures: 0,
        names: Vec::new(),
    };
    reader.expression().map_err(|error| format!("error parsing regexp: {error}"))?;
    Ok(Translated { text: reader.out, names: reader.names })
}

/// How often the parts of the group that is being read are repeated.
#[derive(Clone, Copy, Default)]
struct Repeats {
    /// The most that any part is.
    most: u32,
    /// The part that was read last.
    last: u32,
}

impl Repeats {
    fn add(&mut self, times: u32) {
        self.last = times;
        self.most = self.most.max(times);
    }
}

struct Reader<'p> {
    whole: &'p str,
    /// What has not been read yet.
    left: &'p str,
    out: String,
    /// The repeats in the groups around.
    open: Vec<Repeats>,
    repeats: Repeats,
    /// How many groups capture.
    captures: usize,
    names: Vec<(String, usize)>,
}

/// What a repetition would repeat.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Before<'p> {
    /// Nothing that can be repeated.
    Nothing,
    Item,
    /// A repetition, which began here.
    Repetition(&'p str),
}

fn error<T>(what: &str, text: &str) -> Result<T, String> {
    Err(format!("{what}: `{text}`"))
}

/// The part of `from` before `to`, which is its end.
fn between<'p>(from: &'p str, to: &str) -> &'p str {
    from.get(..from.len() - to.len()).unwrap_or(from)
}

/// A character that stands for itself, inside and outside of a class.
fn push_literal(out: &mut String, code: u32) {
    out.push_str(&format!("\\x{{{code:x}}}"));
}

impl<'p> Reader<'p> {
    fn peek(&self) -> Option<char> {
        self.left.chars().next()
    }

    fn take(&mut self) -> Option<char> {
        let c = self.peek()?;
        self.left = self.left.get(c.len_utf8()..).unwrap_or_default();
        Some(c)
    }

    /// Goes past a text, if it is next.
    fn eat(&mut self, text: &str) -> bool {
        match self.left.strip_prefix(text) {
            Some(rest) => {
                self.left = rest;
                true
            }
            None => false,
        }
    }

    fn expression(&mut self) -> Result<(), String> {
        let mut before = Before::Nothing;
        while let Some(c) = self.peek() {
            let start = self.left;
            before = match c {
                '(' => self.group()?,
                ')' => {
                    let Some(outer) = self.open.pop() else { return error("unexpected )", self.whole) };
                    let inner = std::mem::replace(&mut self.repeats, outer);
                    self.repeats.add(inner.most.max(1));
                    self.out.extend(self.left.chars().next());
                    self.eat(")");
                    Before::Item
                }
                '|' => self.copy(Before::Nothing),
                '^' | '$' | '.' => self.copy(Before::Item),
                '[' => {
                    self.repeats.last = 1;
                    self.class()?
                }
                '*' | '+' | '?' => {
                    self.take();
                    self.out.push(c);
                    self.repetition(start, before)?
                }
                '{' => match self.counted()? {
                    true => self.repetition(start, before)?,
                    false => {
                        self.repeats.last = 1;
                        self.take();
                        push_literal(&mut self.out, u32::from('{'));
                        Before::Item
                    }
                },
                '\\' => {
                    self.repeats.last = 1;
                    self.escape(before)?
                }
                c => {
                    self.repeats.last = 1;
                    self.take();
                    push_literal(&mut self.out, u32::from(c));
                    Before::Item
                }
            };
        }
        if !self.open.is_empty() {
            return error("missing closing )", self.whole);
        }
        Ok(())
    }

    /// Copies one character that means the same here and there.
    fn copy(&mut self, after: Before<'p>) -> Before<'p> {
        self.repeats.last = 1;
        let c = self.take();
        self.out.extend(c);
        after
    }

    /// The end of a repetition that began at `start`, whose `?` makes it lazy.
    fn repetition(&mut self, start: &'p str, before: Before<'p>) -> Result<Before<'p>, String> {
        if self.eat("?") {
            self.out.push('?');
        }
        match before {
            Before::Repetition(first) => {
                error("invalid nested repetition operator", between(first, self.left))
            }
            Before::Nothing => error("missing argument to repetition operator", between(start, self.left)),
            Before::Item => Ok(Before::Repetition(start)),
        }
    }

    /// Reads `{n}`, `{n,}` or `{n,m}`; false if the brace begins none of them.
    fn counted(&mut self) -> Result<bool, String> {
        let start = self.left;
        let mut text = start.get(1..).unwrap_or_default();
        let Some(least) = number(&mut text) else { return Ok(false) };
        let mut most = Some(least);
        if let Some(rest) = text.strip_prefix(',') {
            text = rest;
            most = None;
            if !rest.starts_with('}') {
                let Some(number) = number(&mut text) else { return Ok(false) };
                most = Some(number);
            }
        }
        let Some(after) = text.strip_prefix('}') else { return Ok(false) };
        let read = between(start, after);
        if least > MOST_REPEATS || most.is_some_and(|most| most > MOST_REPEATS || most < least) {
            return error("invalid repeat count", read);
        }
        let times = most.unwrap_or(least);
        let repeats = self.repeats.last.max(1).saturating_mul(times.max(1));
        if repeats > MOST_REPEATS {
            return error("invalid repeat count", read);
        }
        self.repeats.add(repeats);
        self.out.push_str(read);
        self.left = after;
        Ok(true)
    }

    /// The start of a group, or a change of flags.
    fn group(&mut self) -> Result<Before<'p>, String> {
        let start = self.left;
        self.take();
        if self.open.len() >= DEEPEST {
            return error("expression nests too deeply", self.whole);
        }
        if !self.left.starts_with('?') {
            self.enter();
            self.captures += 1;
            self.out.push('(');
            return Ok(Before::Nothing);
        }
        self.take();
        let named = self.left.strip_prefix("P<").or_else(|| self.left.strip_prefix('<'));
        if let Some(named) = named {
            let Some((name, rest)) = named.split_once('>') else {
                return error("invalid named capture", start);
            };
            let is_word = |c: char| c.is_ascii_alphanumeric() || c == '_';
            if name.is_empty() || !name.chars().all(is_word) {
                return error("invalid named capture", between(start, rest));
            }
            self.left = rest;
            self.enter();
            self.captures += 1;
            self.names.push((name.to_owned(), self.captures));
            self.out.push('(');
            return Ok(Before::Nothing);
        }
        self.flags(start)
    }

    /// Begins to read a group.
    fn enter(&mut self) {
        self.open.push(std::mem::take(&mut self.repeats));
    }

    /// The flags after `(?`, up to `:` or `)`.
    fn flags(&mut self, start: &'p str) -> Result<Before<'p>, String> {
        let (mut flags, mut negated, mut any) = (String::new(), false, false);
        while let Some(c) = self.take() {
            match c {
                'i' | 'm' | 's' | 'U' => {
                    any = true;
                    if !flags.contains(c) {
                        flags.push(c);
                    }
                }
                '-' if !negated => {
                    (negated, any) = (true, false);
                    flags.push('-');
                }
                ':' | ')' if !negated || any => {
                    if c == ':' {
                        self.enter();
                    }
                    match flags.is_empty() && c == ')' {
                        true => self.out.push_str("(?:)"),
                        false => self.out.push_str(&format!("(?{flags}{c}")),
                    }
                    return Ok(Before::Nothing);
                }
                _ => break,
            }
        }
        error("invalid or unsupported Perl syntax", between(start, self.left))
    }

    /// An escape outside of a class.
    fn escape(&mut self, before: Before<'p>) -> Result<Before<'p>, String> {
        let start = self.left;
        for (text, meaning) in [("\\A", "\\A"), ("\\z", "\\z"), ("\\b", "(?-u:\\b)"), ("\\B", "(?-u:\\B)")] {
            if self.eat(text) {
                self.out.push_str(meaning);
                return Ok(Before::Item);
            }
        }
        if self.eat("\\C") {
            return error("invalid escape sequence", between(start, self.left));
        }
        if self.eat("\\Q") {
            let (literal, rest) = self.left.split_once("\\E").unwrap_or((self.left, ""));
            self.left = rest;
            literal.chars().for_each(|c| push_literal(&mut self.out, u32::from(c)));
            return Ok(if literal.is_empty() { before } else { Before::Item });
        }
        if !self.character_class()? {
            let code = self.character_escape()?;
            push_literal(&mut self.out, code);
        }
        Ok(Before::Item)
    }

    /// Writes `\d`, `\pL` and their like, if one is next; inside and outside of a class.
    fn character_class(&mut self) -> Result<bool, String> {
        const PERL: [(&str, &str); 6] = [
            ("\\d", "[0-9]"),
            ("\\D", "[^0-9]"),
            ("\\s", "[\\t\\n\\x0c\\r\\x20]"),
            ("\\S", "[^\\t\\n\\x0c\\r\\x20]"),
            ("\\w", "[0-9A-Za-z_]"),
            ("\\W", "[^0-9A-Za-z_]"),
        ];
        for (text, class) in PERL {
            if self.eat(text) {
                self.out.push_str(class);
                return Ok(true);
            }
        }
        let start = self.left;
        let negative = start.starts_with("\\P");
        if !self.eat("\\p") && !self.eat("\\P") {
            return Ok(false);
        }
        let name = match self.take() {
            None => return error("invalid character class range", start),
            Some('{') => {
                let Some((name, rest)) = self.left.split_once('}') else {
                    return error("invalid character class range", start);
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
        let class = format!("\\{}{{{plain}}}", if negative { 'P' } else { 'p' });
        let is_name = plain.chars().all(|c| c.is_ascii_alphanumeric() || c == '_');
        if plain.is_empty() || !is_name || regex_syntax::parse(&class).is_err() {
            return error("invalid character class range", between(start, self.left));
        }
        self.out.push_str(&class);
        Ok(true)
    }

    /// An escape that stands for one character.
    fn character_escape(&mut self) -> Result<u32, String> {
        let start = self.left;
        self.take();
        let Some(c) = self.take() else {
            return Err("trailing backslash at end of expression: ``".to_owned());
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
        match code.filter(|code| char::from_u32(*code).is_some()) {
            Some(code) => Ok(code),
            None => error("invalid escape sequence", between(start, self.left)),
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
    fn class(&mut self) -> Result<Before<'p>, String> {
        let start = self.left;
        self.take();
        self.out.push('[');
        if self.eat("^") {
            self.out.push('^');
        }
        let mut first = true;
        while first || !self.left.starts_with(']') {
            first = false;
            if !self.posix_class()? && !self.character_class()? {
                self.class_range(start)?;
            }
        }
        self.take();
        self.out.push(']');
        Ok(Before::Item)
    }

    /// `[:alpha:]`, `[:^alpha:]`
    fn posix_class(&mut self) -> Result<bool, String> {
        const NAMES: [&str; 14] = [
            "alnum", "alpha", "ascii", "blank", "cntrl", "digit", "graph", "lower", "print", "punct",
            "space", "upper", "word", "xdigit",
        ];
        let start = self.left;
        let Some((name, rest)) = start.strip_prefix("[:").and_then(|inner| inner.split_once(":]")) else {
            return Ok(false);
        };
        if !NAMES.contains(&name.strip_prefix('^').unwrap_or(name)) {
            return error("invalid character class range", between(start, rest));
        }
        self.left = rest;
        self.out.push_str(&format!("[:{name}:]"));
        Ok(true)
    }

    fn class_range(&mut self, class: &'p str) -> Result<(), String> {
        let start = self.left;
        let low = self.class_character(class)?;
        push_literal(&mut self.out, low);
        let mut next = self.left.chars();
        if next.next() == Some('-') && next.next().is_some_and(|c| c != ']') {
            self.take();
            let high = self.class_character(class)?;
            if high < low {
                return error("invalid character class range", between(start, self.left));
            }
            self.out.push('-');
            push_literal(&mut self.out, high);
        }
        Ok(())
    }

    fn class_character(&mut self, class: &str) -> Result<u32, String> {
        match self.peek() {
            None => error("missing closing ]", class),
            Some('\\') => self.character_escape(),
            Some(c) => {
                self.take();
                Ok(u32::from(c))
            }
        }
    }
}

/// Reads a number without zeros before it.
fn number(text: &mut &str) -> Option<u32> {
    let length = text.bytes().take_while(u8::is_ascii_digit).count();
    let (digits, rest) = text.split_at_checked(length)?;
    *text = rest;
    let fits = length == 1 || !digits.starts_with('0');
    (length > 0 && fits).then(|| digits.parse().unwrap_or(u32::MAX))
}
