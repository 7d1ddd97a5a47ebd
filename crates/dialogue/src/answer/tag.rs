//! The tag at the start of a line, whatever Markdown stands around it.

use super::super::space;

/// What a tag says.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Tag {
    Command,
    Ask { required: bool },
    Message,
    Done,
}

/// A tag at the start of a line.
pub(super) struct Tagged<'a> {
    pub(super) tag: Tag,
    /// How many quotations (`>`) it stands in.
    pub(super) quotes: usize,
    /// What its line says after it.
    rest: &'a str,
    /// The emphasis that has not ended after the tag, as it was written, outermost first.
    open: Vec<&'a str>,
}

impl Tag {
    /// The tag in the form that models are taught.
    pub(super) fn name(self) -> &'static str {
        match self {
            Self::Command => "[CMD]",
            Self::Ask { required: true } => "[ASK]",
            Self::Ask { required: false } => "[ASK:optional]",
            Self::Message => "[MESSAGE]",
            Self::Done => "[DONE]",
        }
    }

    /// The tag with this name and this word after the colon, in any case.
    fn find(name: &str, word: Option<&str>) -> Option<Self> {
        let is = |text: &str, other: &str| space::trim(text).eq_ignore_ascii_case(other);
        match word {
            None if is(name, "CMD") => Some(Self::Command),
            None if is(name, "ASK") => Some(Self::Ask { required: true }),
            None if is(name, "MESSAGE") => Some(Self::Message),
            None if is(name, "DONE") => Some(Self::Done),
            Some(word) if is(name, "ASK") && is(word, "optional") => Some(Self::Ask { required: false }),
            Some(word) if is(name, "ASK") && is(word, "required") => Some(Self::Ask { required: true }),
            _ => None,
        }
    }
}

impl<'a> Tagged<'a> {
    /// The rest of the line, without the end of emphasis that wraps the whole line.
    pub(super) fn first_line(&self) -> &'a str {
        self.unwrapped(self.rest).unwrap_or(self.rest)
    }

    /// A text that begins with the rest of the line, without the end of emphasis that wraps all of it.
    pub(super) fn text<'t>(&self, text: &'t str) -> &'t str {
        let is_unwrapped = self.unwrapped(self.rest).is_some();
        space::trim(if is_unwrapped { text } else { self.unwrapped(text).unwrap_or(text) })
    }

    fn unwrapped<'t>(&self, text: &'t str) -> Option<&'t str> {
        let inner = self
            .open
            .iter()
            .try_fold(text.trim_end_matches(space::is_space), |text, mark| text.strip_suffix(mark));
        inner.filter(|inner| !self.open.is_empty() && !inner.ends_with(space::is_space))
    }
}

/// The tag that a line begins with.
pub(super) fn of_line(line: &str) -> Option<Tagged<'_>> {
    let (mut rest, mut quotes, mut open) = (line, 0, Vec::new());
    loop {
        rest = rest.trim_start_matches(space::is_space);
        if rest.starts_with('[') {
            break;
        } else if let Some(after) = rest.strip_prefix('>') {
            (quotes, rest) = (quotes + 1, after);
        } else if let Some(after) = after_list_mark(rest) {
            rest = after;
        } else {
            let (mark, after) = emphasis(rest)?;
            open.push(mark);
            rest = after;
        }
    }
    let (inside, rest) = rest.strip_prefix('[')?.split_once(']')?;
    let (name, word) = inside.split_once(':').map_or((inside, None), |(name, word)| (name, Some(word)));
    let tag = Tag::find(name, word)?;
    let rest = after_tag(rest, &mut open);
    Some(Tagged { tag, quotes, rest: rest.trim_start_matches(space::is_space), open })
}

/// A line outside of as many quotations as it is in, up to a number.
pub(super) fn unquoted(line: &str, quotes: usize) -> &str {
    (0..quotes)
        .try_fold(line, |line, _| {
            let inner = line.trim_start_matches(space::is_space).strip_prefix('>').ok_or(line)?;
            Ok(inner.strip_prefix(' ').unwrap_or(inner))
        })
        .unwrap_or_else(|line| line)
}

/// What follows a bullet, a number or the mark of a heading, which white space follows.
fn after_list_mark(text: &str) -> Option<&str> {
    let digits = text.trim_start_matches(|c: char| c.is_ascii_digit());
    let after = if digits.len() < text.len() {
        digits.strip_prefix(['.', ')'])?
    } else if text.starts_with('#') {
        text.trim_start_matches('#')
    } else {
        text.strip_prefix(['-', '*', '+', '•'])?
    };
    after.starts_with(space::is_space).then_some(after)
}

/// The mark of emphasis or code that a text begins with, and what follows.
fn emphasis(text: &str) -> Option<(&str, &str)> {
    let first = text.chars().next().filter(|c| matches!(c, '*' | '_' | '`'))?;
    let after = text.trim_start_matches(first);
    text.split_at_checked(text.len() - after.len())
}

/// What follows a tag after the end of emphasis and a colon, which may stand in either order.
fn after_tag<'a>(rest: &'a str, open: &mut Vec<&'a str>) -> &'a str {
    let rest = after_closings(rest, open);
    after_closings(rest.strip_prefix([':', '：']).unwrap_or(rest), open)
}

fn after_closings<'a>(mut rest: &'a str, open: &mut Vec<&'a str>) -> &'a str {
    while let Some((_, after)) = emphasis(rest).filter(|(mark, _)| open.last() == Some(mark)) {
        open.pop();
        rest = after;
    }
    rest
}
