//! The methods of `str` that take a text apart.

use std::collections::HashSet;

use super::PyError;
use super::chars::{is_line_end, is_space};

/// `str.split`: at whitespace without a separator; a negative `most` splits everywhere.
pub fn split<'t>(text: &'t str, separator: Option<&str>, most: i64) -> Result<Vec<&'t str>, PyError> {
    let most = usize::try_from(most).unwrap_or(usize::MAX);
    match separator {
        None => Ok(split_words(text, most)),
        Some("") => PyError::value_error("empty separator"),
        Some(separator) => Ok(text.splitn(most.saturating_add(1), separator).collect()),
    }
}

/// `str.rsplit`: as `split`, but counts the splits from the end.
pub fn rsplit<'t>(text: &'t str, separator: Option<&str>, most: i64) -> Result<Vec<&'t str>, PyError> {
    let most = usize::try_from(most).unwrap_or(usize::MAX);
    let mut parts: Vec<_> = match separator {
        None => rsplit_words(text, most),
        Some("") => return PyError::value_error("empty separator"),
        Some(separator) => text.rsplitn(most.saturating_add(1), separator).collect(),
    };
    parts.reverse();
    Ok(parts)
}

fn split_words(text: &str, most: usize) -> Vec<&str> {
    let mut parts = Vec::new();
    let mut rest = text.trim_start_matches(is_space);
    while !rest.is_empty() {
        let end = if parts.len() < most { rest.find(is_space) } else { None };
        let (part, after) = rest.split_at(end.unwrap_or(rest.len()));
        parts.push(part);
        rest = after.trim_start_matches(is_space);
    }
    parts
}

/// The words from the last to the first.
fn rsplit_words(text: &str, most: usize) -> Vec<&str> {
    let mut parts = Vec::new();
    let mut rest = text.trim_end_matches(is_space);
    while !rest.is_empty() {
        let space = if parts.len() < most { rest.char_indices().rfind(|&(_, c)| is_space(c)) } else { None };
        let (before, part) = rest.split_at(space.map_or(0, |(at, c)| at + c.len_utf8()));
        parts.push(part);
        rest = before.trim_end_matches(is_space);
    }
    parts
}

/// `str.splitlines`
pub fn split_lines(text: &str, keep_ends: bool) -> Vec<&str> {
    let mut lines = Vec::new();
    let mut rest = text;
    while let Some(end) = rest.find(is_line_end) {
        let (line, from_end) = rest.split_at(end);
        let width = match from_end.strip_prefix("\r\n") {
            Some(_) => 2,
            None => from_end.chars().next().map_or(0, char::len_utf8),
        };
        let (with_end, after) = rest.split_at(end + width);
        lines.push(if keep_ends { with_end } else { line });
        rest = after;
    }
    if !rest.is_empty() {
        lines.push(rest);
    }
    lines
}

/// `str.partition`
pub fn partition<'t>(text: &'t str, separator: &'t str) -> Result<[&'t str; 3], PyError> {
    if separator.is_empty() {
        return PyError::value_error("empty separator");
    }
    Ok(text.split_once(separator).map_or([text, "", ""], |(before, after)| [before, separator, after]))
}

/// `str.rpartition`
pub fn rpartition<'t>(text: &'t str, separator: &'t str) -> Result<[&'t str; 3], PyError> {
    if separator.is_empty() {
        return PyError::value_error("empty separator");
    }
    Ok(text.rsplit_once(separator).map_or(["", "", text], |(before, after)| [before, separator, after]))
}

/// Which ends of a text are stripped.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Ends {
    /// `str.lstrip`
    Left,
    /// `str.rstrip`
    Right,
    /// `str.strip`
    Both,
}

/// `str.strip` and its kin: without the characters of `set` at its ends, or without whitespace.
pub fn strip<'t>(text: &'t str, set: Option<&str>, ends: Ends) -> &'t str {
    match set {
        None => strip_class(text, is_space, ends),
        Some(set) if set.len() <= 16 => strip_class(text, |c| set.contains(c), ends),
        Some(set) => {
            let set: HashSet<char> = set.chars().collect();
            strip_class(text, |c| set.contains(&c), ends)
        }
    }
}

fn strip_class(text: &str, class: impl Fn(char) -> bool, ends: Ends) -> &str {
    let text = if ends == Ends::Right { text } else { text.trim_start_matches(&class) };
    if ends == Ends::Left { text } else { text.trim_end_matches(&class) }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn texts_are_split_at_whitespace_or_at_a_separator() {
        assert_eq!(split(" a  b\u{a0}c ", None, -1), Ok(vec!["a", "b", "c"]));
        assert_eq!(split(" a  b c ", None, 1), Ok(vec!["a", "b c "]));
        assert_eq!(split("  ", None, 0), Ok(vec![]));
        assert_eq!(split("a,,b", Some(","), -1), Ok(vec!["a", "", "b"]));
        assert_eq!(rsplit(" a  b c ", None, 1), Ok(vec![" a  b", "c"]));
        assert_eq!(rsplit("a,b,c", Some(","), 1), Ok(vec!["a,b", "c"]));
        assert_eq!(split("a", Some(""), -1), PyError::value_error("empty separator"));
        assert_eq!(partition("a=b=c", "="), Ok(["a", "=", "b=c"]));
        assert_eq!(rpartition("abc", "="), Ok(["", "", "abc"]));
    }

    #[test]
    fn lines_end_where_python_ends_them() {
        assert_eq!(split_lines("a\r\nb\rc\x0bd\u{2028}\n", false), ["a", "b", "c", "d", ""]);
        assert_eq!(split_lines("a\r\n\nb", true), ["a\r\n", "\n", "b"]);
    }

    #[test]
    fn ends_are_stripped() {
        assert_eq!(strip(" \x1ca\u{3000}", None, Ends::Both), "a");
        assert_eq!(strip("xyaxy", Some("yx"), Ends::Left), "axy");
        assert_eq!(strip("xya", Some("abcdefghijklmnopqrstuvwxyz"), Ends::Right), "");
    }
}
