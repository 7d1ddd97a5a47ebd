//! The command after `[CMD]`: a line with all that belongs to it, or a fenced block.

use super::super::space;
use super::fence::{self, Fence};
use super::script::Script;
use super::tag;

/// The prompt that documentation shows before commands. No program has this name, so that it is never part of the command.
const PROMPT: &str = "$ ";

/// A command, and how many lines it was read from.
pub(super) struct Found {
    pub(super) text: String,
    pub(super) lines: usize,
}

/// Reads the command that these lines begin with; nothing if it is empty, or if a tag comes first.
pub(super) fn read(lines: &[&str]) -> Option<Found> {
    let start = lines.iter().position(|line| !space::is_blank(line))?;
    let lines = lines.get(start..)?;
    let first = *lines.first()?;
    if start > 0 && tag::of_line(first).is_some() {
        return None;
    }
    let found = match Fence::opened_by(first) {
        Some(fence) => block(fence, lines),
        None => plain(lines),
    };
    (!found.text.is_empty()).then(|| Found { lines: start + found.lines, ..found })
}

/// A command without a fence around it, or with one on its own line.
fn plain(lines: &[&str]) -> Found {
    let end = Script::new(lines).command_end(|line| tag::of_line(line).is_some());
    let all = lines.get(..end).unwrap_or(lines).join("\n");
    let text = space::trim(&all);
    let text = without_ticks(fence::on_one_line(text).unwrap_or(text));
    Found { text: without_prompt(text).to_owned(), lines: end }
}

/// The command of a fenced block, which the first line opens. A block that nothing closes ends at the next tag.
fn block(fence: Fence<'_>, lines: &[&str]) -> Found {
    let inner: Vec<&str> = lines.iter().skip(1).map(|line| fence.inner(line)).collect();
    let mut script = Script::new(&inner);
    let (mut at, mut starts, mut next_tag) = (0, Vec::new(), None);
    while let Some(line) = inner.get(at).filter(|line| !fence.is_closed_by(line)) {
        if tag::of_line(line).is_some() {
            next_tag = next_tag.or(Some(at));
        }
        starts.push(at);
        at = script.next_command(at, |line| fence.is_closed_by(line));
    }
    let is_closed = at < inner.len();
    let end = next_tag.filter(|_| !is_closed).unwrap_or(at);
    let text = script_of(inner.get(..end).unwrap_or(&inner), &starts);
    let text = if text.is_empty() { code_beside(fence).to_owned() } else { text };
    Found { text, lines: 1 + end + usize::from(is_closed) }
}

/// The lines of a block, without prompts if every command has one.
fn script_of(lines: &[&str], starts: &[usize]) -> String {
    let is_command = |at: usize| starts.binary_search(&at).is_ok();
    let commands = lines.iter().enumerate().filter(|(at, line)| is_command(*at) && !space::is_blank(line));
    let has_prompts = commands.into_iter().all(|(_, line)| space::trim(line).starts_with(PROMPT));
    let shown = lines.iter().enumerate().map(|(at, line)| {
        if has_prompts && is_command(at) {
            without_prompt(line.trim_start_matches(space::is_space))
        } else {
            line
        }
    });
    space::trim(&shown.collect::<Vec<_>>().join("\n")).to_owned()
}

/// The code on the line that opens an empty block: more words than a language.
fn code_beside(fence: Fence<'_>) -> &str {
    if fence.info.contains(space::is_space) { fence::without_language(fence.info) } else { "" }
}

/// A command without back-ticks around it, if it has no others: those substitute commands.
fn without_ticks(text: &str) -> &str {
    let inner = text.trim_matches('`');
    let is_code = text.starts_with('`') && text.ends_with('`') && !inner.contains('`');
    if is_code { space::trim(inner) } else { text }
}

fn without_prompt(text: &str) -> &str {
    text.strip_prefix(PROMPT).map_or(text, |text| text.trim_start_matches(space::is_space))
}
