//! Leaves out what a model only thought: `<think>…</think>` and `<thinking>…</thinking>`.
//!
//! - A thought that does not end reaches to the end of the answer.
//! - The end of a thought that has no beginning ends one that began before the answer: some servers swallow the first mark.
//! - Thoughts do not nest. A model that names the mark while it thinks would otherwise never stop thinking.
//! - A mark in quotes is text: `grep '<think>' log` looks for it.

use std::borrow::Cow;

const NAMES: [&str; 2] = ["think", "thinking"];

/// A mark, and the texts around it.
struct Mark<'a> {
    before: &'a str,
    is_closing: bool,
    after: &'a str,
}

/// The text without thoughts. A space stands for each, so that what stood around it does not become one word.
pub(super) fn without(text: &str) -> Cow<'_, str> {
    let Some(first) = next_mark(text) else { return Cow::Borrowed(text) };
    let (mut visible, mut rest, mut next) = (String::new(), text, Some(first));
    while let Some(mark) = next {
        rest = mark.after;
        if mark.is_closing {
            visible.clear();
        } else {
            visible.push_str(mark.before);
            visible.push(' ');
            rest = after_closing(mark.after);
        }
        next = next_mark(rest);
    }
    visible.push_str(rest);
    Cow::Owned(visible)
}

/// The first mark that is not in quotes.
fn next_mark(text: &str) -> Option<Mark<'_>> {
    marks(text).find(|mark| !is_quoted(mark))
}

/// What follows the end of the thought in which the text begins.
fn after_closing(text: &str) -> &str {
    marks(text).find(|mark| mark.is_closing).map_or("", |mark| mark.after)
}

fn marks(text: &str) -> impl Iterator<Item = Mark<'_>> {
    text.match_indices('<').filter_map(move |(at, _)| {
        let (before, from) = text.split_at_checked(at)?;
        let (is_closing, after) = mark(from)?;
        Some(Mark { before, is_closing, after })
    })
}

/// Whether the mark at the start of a text ends a thought, and what follows it.
fn mark(text: &str) -> Option<(bool, &str)> {
    let inside = text.strip_prefix('<')?;
    let (is_closing, inside) = inside.strip_prefix('/').map_or((false, inside), |name| (true, name));
    let name = NAMES.iter().find(|name| {
        let end = name.len();
        inside.get(..end).is_some_and(|start| start.eq_ignore_ascii_case(name))
            && inside.as_bytes().get(end) == Some(&b'>')
    })?;
    Some((is_closing, inside.get(name.len() + 1..)?))
}

/// Back-ticks may begin the command right after a thought, so those after a mark do not quote it.
fn is_quoted(mark: &Mark<'_>) -> bool {
    mark.before.ends_with(['\'', '"', '`', '\\']) || mark.after.starts_with(['\'', '"'])
}
