//! The JSON value in a model's answer, which may stand in a code fence, after thoughts, or between sentences. The value itself is
//! never corrected.

use template::value::{Value, from_json_distinct};

use super::scan::{Container, Event, Scanner};

/// Why a text is no JSON value.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("{message}")]
pub struct Unreadable {
    /// A sentence for the model, which does not repeat its text.
    pub message: String,
}

impl Unreadable {
    fn new(message: impl Into<String>) -> Unreadable {
        Unreadable { message: message.into() }
    }
}

/// How often a text is searched to its end in vain for the closing bracket of one opening bracket.
const SEARCHES_MAX: usize = 16;

/// The value that a text says: the whole text, without thoughts in front and a code fence around it; else the only object or
/// list in it.
///
/// # Errors
/// [`Unreadable`] if there is none, or more than one.
pub fn value_of(text: &str) -> Result<Value, Unreadable> {
    let said = without_fence(without_thoughts(trimmed(text))?);
    if said.is_empty() {
        return Err(Unreadable::new("the answer is empty; answer with a JSON value"));
    }
    match from_json_distinct(said.as_bytes()) {
        Ok(value) => Ok(value),
        Err(error) => Search::new(text, said).run().unwrap_or_else(|| Err(located(text, said, &error))),
    }
}

fn trimmed(text: &str) -> &str {
    text.trim_matches(|c: char| c.is_whitespace() || c == '\u{feff}')
}

/// What comes after the thoughts, if the text begins with some.
fn without_thoughts(text: &str) -> Result<&str, Unreadable> {
    let Some(thoughts) = text.strip_prefix("<think>") else { return Ok(text) };
    match thoughts.split_once("</think>") {
        Some((_, rest)) => Ok(trimmed(rest)),
        None => Err(Unreadable::new("the answer ends before its thoughts do; answer with a JSON value")),
    }
}

/// What stands between the first and the last line, if they are a code fence; else the text.
fn without_fence(text: &str) -> &str {
    let fence = text.chars().next().filter(|c| ['`', '~'].contains(c)).unwrap_or('`');
    let length = text.len() - text.trim_start_matches(fence).len();
    let lines = text.split_once('\n').filter(|(opening, _)| !opening.contains(['{', '[']));
    let inner = lines.and_then(|(_, rest)| {
        let inner = rest.trim_end_matches(fence);
        let closes = rest.len() - inner.len() >= length;
        let own_line = trimmed_of_blanks(inner).is_empty() || trimmed_of_blanks(inner).ends_with('\n');
        (closes && own_line).then(|| trimmed(inner))
    });
    inner.filter(|_| length >= 3).unwrap_or(text)
}

fn trimmed_of_blanks(text: &str) -> &str {
    text.trim_end_matches([' ', '\t'])
}

/// The parser's reason, with the place in the whole text of what it was parsing there.
fn located(text: &str, part: &str, error: &serde_json::Error) -> Unreadable {
    let before = text.get(..part.as_ptr().addr() - text.as_ptr().addr()).unwrap_or_default();
    let line = error.line() + before.matches('\n').count();
    let column = match error.line() {
        0 | 1 => error.column() + before.rsplit('\n').next().map_or(0, str::len),
        _ => error.column(),
    };
    let reason = error.to_string();
    let reason = reason.split(" at line ").next().unwrap_or_default();
    Unreadable::new(format!("the answer is not valid JSON: {reason} at line {line} column {column}"))
}

/// What a text is from one of its opening brackets on.
enum Extent {
    /// A value of so many bytes, as far as the grammar goes.
    Closed(usize),
    /// The beginning of a value, which the end of the text cuts off.
    Cut,
    /// No value; `is_json`: but more than a bracket in a sentence, since there is another bracket or a member in it.
    Broken { is_json: bool },
}

/// The search for the only object or list in a text.
struct Search<'t> {
    /// The whole text, in which places are counted.
    whole: &'t str,
    text: &'t str,
    found: Option<Value>,
    /// The longest part that could be one, and why it is none.
    failure: Option<(&'t str, serde_json::Error)>,
    /// The brackets that the last search in vain found to be never closed, in their order.
    unclosed: Vec<usize>,
    searches: usize,
}

impl<'t> Search<'t> {
    fn new(whole: &'t str, text: &'t str) -> Search<'t> {
        Search { whole, text, found: None, failure: None, unclosed: Vec::new(), searches: 0 }
    }

    /// The value, or why there is none; `None` if there is nothing like a value.
    fn run(mut self) -> Option<Result<Value, Unreadable>> {
        let mut at = 0;
        while let Some(start) = self.rest(at).find(['{', '[']).map(|found| at + found) {
            match self.try_at(start) {
                Ok(Some(end)) => at = end,
                Ok(None) => break,
                Err(error) => return Some(Err(error)),
            }
        }
        let failure = self.failure.map(|(part, error)| Err(located(self.whole, part, &error)));
        self.found.map(Ok).or(failure)
    }

    fn rest(&self, at: usize) -> &'t str {
        self.text.get(at..).unwrap_or_default()
    }

    /// Looks at the text from an opening bracket on: where to go on, if there is sense in it.
    fn try_at(&mut self, start: usize) -> Result<Option<usize>, Unreadable> {
        let rest = self.rest(start);
        match extent(rest) {
            Extent::Closed(length) => self.candidate(start, length).map(Some),
            Extent::Broken { is_json } => match self.end_of_balanced(start) {
                Some(length) => self.candidate(start, length).map(Some),
                // A bracket that has no partner may stand in any sentence. A value that is cut off, or has too few brackets,
                // hides what is in it: that is not the answer.
                None if !is_json && self.searches <= SEARCHES_MAX => Ok(Some(start + 1)),
                None => Ok(self.fail(rest)),
            },
            Extent::Cut => Ok(self.fail(rest)),
        }
    }

    /// Takes a balanced part of the text as the value if it parses; gives its end.
    fn candidate(&mut self, start: usize, length: usize) -> Result<usize, Unreadable> {
        let part = self.rest(start).get(..length).unwrap_or_default();
        match from_json_distinct(part.as_bytes()) {
            Ok(_) if self.found.is_some() => {
                return Err(Unreadable::new("there are several JSON values in the answer; answer with one"));
            }
            Ok(value) => self.found = Some(value),
            Err(error) => self.note(part, error),
        }
        Ok(start + length)
    }

    fn fail(&mut self, part: &'t str) -> Option<usize> {
        if let Err(error) = from_json_distinct(part.as_bytes()) {
            self.note(part, error);
        }
        None
    }

    fn note(&mut self, part: &'t str, error: serde_json::Error) {
        if self.failure.as_ref().is_none_or(|(longest, _)| longest.len() < part.len()) {
            self.failure = Some((part, error));
        }
    }

    /// The length of the part in which as many brackets are closed as opened, strings apart; `None` if there is none, or
    /// too much was searched.
    fn end_of_balanced(&mut self, start: usize) -> Option<usize> {
        if self.unclosed.binary_search(&start).is_ok() || self.searches > SEARCHES_MAX {
            return None;
        }
        let (mut open, mut in_string, mut escaped) = (Vec::new(), false, false);
        for (at, byte) in self.rest(start).bytes().enumerate() {
            match byte {
                _ if escaped => escaped = false,
                b'\\' if in_string => escaped = true,
                b'"' => in_string = !in_string,
                b'{' | b'[' if !in_string => open.push(start + at),
                b'}' | b']' if !in_string => {
                    open.pop();
                    if open.is_empty() {
                        return Some(at + 1);
                    }
                }
                _ => {}
            }
        }
        self.searches += 1;
        self.unclosed = open;
        None
    }
}

/// Follows the grammar from an opening bracket on.
fn extent(text: &str) -> Extent {
    let mut scanner = Scanner::new();
    let mut is_json = false;
    for (at, byte) in text.bytes().enumerate() {
        match scanner.take(byte) {
            Event::Closed if scanner.open().is_empty() => return Extent::Closed(at + 1),
            Event::Refused => return Extent::Broken { is_json },
            Event::Opened(_) => is_json |= at > 0,
            Event::StringBegan | Event::ScalarBegan => {
                is_json |= scanner.open().last() == Some(&Container::Object);
            }
            _ => {}
        }
    }
    Extent::Cut
}

#[cfg(test)]
mod tests;
