//! Letter case and names: `title`, `snakecase`, `initials`, …

use std::borrow::Cow;

use super::call::{Call, Made};
use super::unicode::{chars, is_lower, is_punctuation, is_title, is_upper, to_title};
use crate::go;

fn of_chars<'a>(call: &Call<'_, 'a>, text: impl Iterator<Item = char>) -> Made<'a> {
    call.string(text.collect::<String>().into_bytes())
}

pub fn upper<'a>(call: &Call<'_, 'a>) -> Made<'a> {
    call.string(go::to_upper(call.text(0)))
}

pub fn lower<'a>(call: &Call<'_, 'a>) -> Made<'a> {
    call.string(go::to_lower(call.text(0)))
}

/// Go's `strings.Title`: the first letter of each word in title case.
pub fn title<'a>(call: &Call<'_, 'a>) -> Made<'a> {
    let separates = |c: char| match c {
        _ if c.is_ascii() => !(c.is_ascii_alphanumeric() || c == '_'),
        _ => !go::is_word(c) && c.is_whitespace(),
    };
    let mut before = ' ';
    of_chars(
        call,
        chars(call.text(0)).map(|c| to_title_after(std::mem::replace(&mut before, c), c, separates)),
    )
}

fn to_title_after(before: char, c: char, separates: impl Fn(char) -> bool) -> char {
    if separates(before) { to_title(c) } else { c }
}

/// The first letter of each word in lower case.
pub fn untitle<'a>(call: &Call<'_, 'a>) -> Made<'a> {
    let mut first = true;
    of_chars(
        call,
        chars(call.text(0)).map(|c| {
            let begins = std::mem::replace(&mut first, c.is_whitespace());
            if begins && !c.is_whitespace() { go::to_lower_char(c) } else { c }
        }),
    )
}

pub fn swapcase<'a>(call: &Call<'_, 'a>) -> Made<'a> {
    let mut after_space = true;
    of_chars(
        call,
        chars(call.text(0)).map(|c| match c {
            _ if is_upper(c) || is_title(c) => {
                after_space = false;
                go::to_lower_char(c)
            }
            _ if is_lower(c) && after_space => {
                after_space = false;
                to_title(c)
            }
            _ if is_lower(c) => go::to_upper_char(c),
            _ => {
                after_space = c.is_whitespace();
                c
            }
        }),
    )
}

/// The bytes as characters, as sprig reads texts here: beyond ASCII, a byte is a character of its own.
fn latin(text: &[u8]) -> impl Iterator<Item = char> + '_ {
    text.iter().map(|byte| char::from(*byte))
}

pub fn initials<'a>(call: &Call<'_, 'a>) -> Made<'a> {
    let mut after_gap = true;
    of_chars(
        call,
        latin(call.text(0)).filter(|c| {
            let begins = std::mem::replace(&mut after_gap, c.is_whitespace());
            begins && !c.is_whitespace()
        }),
    )
}

pub fn nospace<'a>(call: &Call<'_, 'a>) -> Made<'a> {
    let text = call.text(0);
    match latin(text).any(char::is_whitespace) {
        true => of_chars(call, latin(text).filter(|c| !c.is_whitespace())),
        false => Ok(call.arg(0)),
    }
}

fn is_connector(c: char) -> bool {
    c == '-' || c == '_' || c.is_whitespace()
}

/// `xstrings.ToPascalCase`: `http_server` becomes `HttpServer`.
pub fn camelcase<'a>(call: &Call<'_, 'a>) -> Made<'a> {
    let mut out = String::new();
    let mut rest = chars(call.text(0));
    let Some(mut current) = rest.find(|c| {
        let connects = is_connector(*c);
        if connects {
            out.push(*c);
        }
        !connects
    }) else {
        // Of connectors alone, the last one is there twice.
        out.extend(out.chars().last());
        return call.string(out.into_bytes());
    };
    let mut was_upper = is_upper(current);
    current = go::to_upper_char(current);
    for c in rest {
        let (before, mut c) = (current, c);
        current = c;
        match (is_connector(before), is_connector(c)) {
            (true, true) => {
                out.push(before);
                continue;
            }
            (true, false) => {
                was_upper = is_upper(c);
                c = go::to_upper_char(c);
            }
            (false, _) => {
                if was_upper && is_upper(c) {
                    c = go::to_lower_char(c);
                } else {
                    was_upper = false;
                }
                out.push(before);
            }
        }
        current = c;
    }
    out.push(current);
    call.string(out.into_bytes())
}

pub fn snakecase<'a>(call: &Call<'_, 'a>) -> Made<'a> {
    call.string(separated(call.text(0), '_').into_bytes())
}

pub fn kebabcase<'a>(call: &Call<'_, 'a>) -> Made<'a> {
    call.string(separated(call.text(0), '-').into_bytes())
}

/// The kinds of words that a name is made of.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Kind {
    Number,
    Upper,
    Letters,
    Connector,
    Punctuation,
    Other,
}

/// A letter, but none of Chinese, Japanese or Korean ideographs.
fn is_alphabetic(c: char) -> bool {
    let ideograph =
        matches!(c, '\u{4e00}'..='\u{9fcc}' | '\u{3400}'..='\u{4d85}' | '\u{20000}'..='\u{2b81d}');
    go::is_letter(c) && !ideograph
}

/// A name read word by word.
struct Words<'t> {
    text: &'t str,
    /// The place of the next character, in bytes.
    at: usize,
}

/// A word with its kind; `None` at the end.
type Word<'t> = Option<(Kind, &'t str)>;

impl<'t> Words<'t> {
    /// Goes on while `goes_on` holds.
    fn run(&mut self, goes_on: impl Fn(char) -> bool) {
        while let Some(c) = self.peek().filter(|c| goes_on(*c)) {
            self.at += c.len_utf8();
        }
    }

    fn peek(&self) -> Option<char> {
        self.text.get(self.at..)?.chars().next()
    }

    fn is_done(&self) -> bool {
        self.at >= self.text.len()
    }

    /// Goes back by a character.
    fn back(&mut self) {
        let before = self.text.get(..self.at).and_then(|before| before.chars().next_back());
        self.at -= before.map_or(0, char::len_utf8);
    }

    fn next(&mut self) -> Word<'t> {
        let start = self.at;
        let first = self.peek()?;
        self.at += first.len_utf8();
        let kind = if is_connector(first) {
            self.run(is_connector);
            Kind::Connector
        } else if is_punctuation(first) {
            self.run(is_punctuation);
            Kind::Punctuation
        } else if is_upper(first) {
            self.upper_word();
            Kind::Upper
        } else if is_alphabetic(first) {
            self.run(|c| is_alphabetic(c) && !is_upper(c));
            Kind::Letters
        } else if first.is_numeric() {
            self.run(char::is_numeric);
            Kind::Number
        } else {
            let ends = |c| is_connector(c) || is_alphabetic(c) || c.is_numeric() || is_punctuation(c);
            self.run(|c| !ends(c));
            Kind::Other
        };
        Some((kind, self.text.get(start..self.at).unwrap_or_default()))
    }

    /// `HTTPServer` is `HTTP` and `Server`.
    fn upper_word(&mut self) {
        match self.peek() {
            Some(second) if is_upper(second) => {
                self.run(is_upper);
                if self.peek().is_some_and(is_alphabetic) {
                    self.back();
                }
            }
            Some(second) if is_alphabetic(second) => self.run(|c| is_alphabetic(c) && !is_upper(c)),
            _ => {}
        }
    }
}

/// Writes a word in lower case, and connectors as `connector`.
fn push(out: &mut String, word: &Word<'_>, connector: char) {
    match word {
        Some((Kind::Upper | Kind::Connector, text)) => {
            out.extend(text.chars().map(|c| match c {
                _ if is_connector(c) => connector,
                _ if is_upper(c) => go::to_lower_char(c),
                _ => c,
            }));
        }
        Some((_, text)) => out.push_str(text),
        None => {}
    }
}

/// `xstrings.ToSnakeCase`: the words of a name in lower case, with a connector between them.
fn separated(text: &[u8], connector: char) -> String {
    let text = match std::str::from_utf8(text) {
        Ok(text) => Cow::Borrowed(text),
        Err(_) => Cow::Owned(go::Runes(text).filter_map(|(c, _)| c).collect()),
    };
    let mut words = Words { text: &text, at: 0 };
    let mut out = String::new();
    let kind = |word: &Word<'_>| word.as_ref().map(|(kind, _)| *kind);
    let is_text = |word: &Word<'_>| matches!(kind(word), Some(Kind::Letters | Kind::Number));
    let parts = |word: &Word<'_>| !matches!(kind(word), Some(Kind::Connector | Kind::Punctuation));
    let mut word = words.next();
    while !words.is_done() {
        if kind(&word) != Some(Kind::Connector) {
            push(&mut out, &word, connector);
        }
        let last = std::mem::replace(&mut word, words.next());
        match kind(&last) {
            Some(Kind::Number) => {
                while is_text(&word) {
                    push(&mut out, &word, connector);
                    word = words.next();
                }
                if word.is_some() && parts(&word) {
                    out.push(connector);
                }
            }
            Some(Kind::Connector) => push(&mut out, &last, connector),
            Some(Kind::Punctuation) => {}
            _ if kind(&word) != Some(Kind::Number) => {
                if parts(&word) {
                    out.push(connector);
                }
            }
            _ if words.is_done() => {}
            _ => {
                // A number after a word belongs to it, unless letters in lower case follow: `Bld4Floor`, `http_2xx`.
                let number = std::mem::replace(&mut word, words.next());
                if kind(&word) != Some(Kind::Letters) {
                    push(&mut out, &number, connector);
                    if parts(&word) {
                        out.push(connector);
                    }
                    continue;
                }
                out.push(connector);
                push(&mut out, &number, connector);
                while is_text(&word) {
                    push(&mut out, &word, connector);
                    word = words.next();
                }
                if word.is_some() && parts(&word) {
                    out.push(connector);
                }
            }
        }
    }
    push(&mut out, &word, connector);
    out
}
