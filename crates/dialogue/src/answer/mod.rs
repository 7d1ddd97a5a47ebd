//! Reads the directive from a model's answer.
//!
//! - `thoughts`: leaves out what the model only thought
//! - `tag`: the tag at the start of a line, whatever Markdown stands around it
//! - `fence`: fenced blocks, and the fence around a whole answer
//! - `command`: the command after `[CMD]`; `script` and `here_document`: how far it reaches
//!
//! `content`, which the history keeps, is a part of the answer as it was written, with the Markdown around the tag: so it reads as
//! the same directive again.

mod command;
mod fence;
mod here_document;
mod script;
mod tag;
mod thoughts;

use serde::{Deserialize, Serialize};

use super::{Directive, space};
use tag::{Tag, Tagged};

/// What a model answered.
#[derive(Debug, Clone, Copy)]
pub struct Answer<'a> {
    /// Its text.
    pub text: &'a str,
    /// Whether it was cut at the limit of tokens.
    pub is_cut: bool,
}

/// What an answer without a tag means.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum UnknownFormat {
    /// Its first line is a command.
    #[default]
    Command,
    /// It cannot be used.
    Error,
}

/// Why an answer cannot be used.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
pub enum AnswerError {
    /// It has no text outside of thoughts.
    #[error("the answer is empty, apart from thoughts that it may hold")]
    Empty,
    /// Nothing follows its tag.
    #[error("nothing follows the tag {tag} of the answer")]
    NothingFollows {
        /// The tag.
        tag: &'static str,
    },
    /// No line of it begins with a tag.
    #[error("no line of the answer begins with [CMD], [ASK], [ASK:optional], [MESSAGE] or [DONE]")]
    NoTag,
    /// It was cut before its end, and what is there of it must not be used.
    #[error("the answer was cut at the limit of tokens (max_tokens) before its directive was complete")]
    Cut,
}

/// What a `[DONE]` says that says nothing.
const COMPLETED: &str = "Skill completed";

/// Reads the directive of an answer: that of its first tag.
///
/// # Errors
/// [`AnswerError`]. A cut answer whose directive is a command, or cannot be read, is [`AnswerError::Cut`].
pub fn read(answer: Answer<'_>, unknown: UnknownFormat) -> Result<Directive, AnswerError> {
    match directive(answer.text, unknown) {
        Ok(Directive::Command { .. }) | Err(_) if answer.is_cut => Err(AnswerError::Cut),
        other => other,
    }
}

fn directive(text: &str, unknown: UnknownFormat) -> Result<Directive, AnswerError> {
    let visible = thoughts::without(text);
    let visible = space::trim(fence::without(space::trim(&visible)));
    if visible.is_empty() {
        return Err(AnswerError::Empty);
    }
    let lines: Vec<&str> = visible.split('\n').map(|line| line.trim_end_matches('\r')).collect();
    let first = lines.iter().enumerate().find_map(|(at, line)| Some((at, tag::of_line(line)?)));
    match first {
        Some((at, tagged)) => tagged_directive(lines.get(at..).unwrap_or_default(), tagged),
        None if unknown == UnknownFormat::Error => Err(AnswerError::NoTag),
        None => untagged_command(&lines),
    }
}

/// The first line as a command, with everything that belongs to it.
fn untagged_command(lines: &[&str]) -> Result<Directive, AnswerError> {
    let found = command::read(lines).ok_or(AnswerError::Empty)?;
    let content = format!("[CMD] {}", joined(lines, found.lines));
    Ok(Directive::Command { content, command: found.text })
}

/// The directive of a tag, which stands on the first of these lines.
fn tagged_directive(lines: &[&str], tagged: Tagged<'_>) -> Result<Directive, AnswerError> {
    let body = body(lines, &tagged);
    let nothing = AnswerError::NothingFollows { tag: tagged.tag.name() };
    if tagged.tag == Tag::Command {
        let found = command::read(&body).ok_or(nothing)?;
        let content = joined(lines, next_tag(&body, found.lines));
        return Ok(Directive::Command { content, command: found.text });
    }
    let end = next_tag(&body, 1);
    let content = joined(lines, end);
    let whole = joined(&body, end);
    let text = fence::without_closing(tagged.text(&whole)).to_owned();
    match tagged.tag {
        Tag::Done if text.is_empty() => Ok(Directive::Done { content, message: COMPLETED.to_owned() }),
        _ if text.is_empty() => Err(nothing),
        Tag::Ask { required } => Ok(Directive::Ask { content, question: text, required }),
        Tag::Done => Ok(Directive::Done { content, message: text }),
        Tag::Message | Tag::Command => Ok(Directive::Message { content, message: text }),
    }
}

/// What follows a tag: the rest of its line, and the lines after it, outside of the quotation that the tag stands in.
fn body<'a>(lines: &[&'a str], tagged: &Tagged<'a>) -> Vec<&'a str> {
    let after = lines.iter().skip(1).map(|line| tag::unquoted(line, tagged.quotes));
    std::iter::once(tagged.first_line()).chain(after).collect()
}

/// Where the next tag stands, from a line on; the end if there is none.
fn next_tag(lines: &[&str], from: usize) -> usize {
    let tags = lines.iter().enumerate().skip(from);
    tags.map(|(at, line)| (at, tag::of_line(line)))
        .find(|(_, tag)| tag.is_some())
        .map_or(lines.len(), |(at, _)| at)
}

/// The first lines as one text.
fn joined(lines: &[&str], count: usize) -> String {
    space::trim(&lines.get(..count).unwrap_or(lines).join("\n")).to_owned()
}
