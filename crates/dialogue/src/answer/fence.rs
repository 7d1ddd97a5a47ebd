//! Fences of Markdown: around a whole answer, around a command, and on one line.

use super::super::space;
use super::tag;

/// Words after a fence that say that a shell's commands follow.
const SHELLS: [&str; 20] = [
    "sh",
    "bash",
    "zsh",
    "fish",
    "ksh",
    "dash",
    "shell",
    "shellscript",
    "shell-session",
    "shellsession",
    "sh-session",
    "console",
    "terminal",
    "powershell",
    "pwsh",
    "ps1",
    "cmd",
    "bat",
    "batch",
    "dos",
];

/// The line that opens a block.
#[derive(Clone, Copy)]
pub(super) struct Fence<'a> {
    /// Three or more back-ticks, or tildes.
    mark: &'a str,
    /// What follows them: a language, as a rule.
    pub(super) info: &'a str,
    /// How many characters of white space stand before them.
    indent: usize,
}

impl<'a> Fence<'a> {
    /// The fence that a line opens.
    pub(super) fn opened_by(line: &'a str) -> Option<Self> {
        let text = line.trim_start_matches(space::is_space);
        let (mark, info) = mark(text)?;
        let is_code_in_a_line = mark.starts_with('`') && info.contains('`');
        let indent = line.chars().take_while(|c| space::is_space(*c)).count();
        (!is_code_in_a_line).then(|| Self { mark, info: space::trim(info), indent })
    }

    /// Whether a line closes the block.
    pub(super) fn is_closed_by(&self, line: &str) -> bool {
        mark(space::trim(line)).is_some_and(|(mark, after)| after.is_empty() && mark.starts_with(self.mark))
    }

    /// A line of the block without the white space that the block is indented by.
    pub(super) fn inner<'l>(&self, line: &'l str) -> &'l str {
        let outer = line.char_indices().take(self.indent).take_while(|(_, c)| space::is_space(*c));
        let end = outer.last().map_or(0, |(at, c)| at + c.len_utf8());
        line.get(end..).unwrap_or_default()
    }
}

fn mark(text: &str) -> Option<(&str, &str)> {
    let first = text.chars().next().filter(|c| matches!(c, '`' | '~'))?;
    let after = text.trim_start_matches(first);
    text.split_at_checked(text.len() - after.len()).filter(|(mark, _)| mark.len() >= 3)
}

/// An answer without the fence around it, if there is one. Blocks inside of it may have fences that are no longer than its own.
pub(super) fn without(answer: &str) -> &str {
    inside(answer).unwrap_or(answer)
}

fn inside(answer: &str) -> Option<&str> {
    let (first, rest) = answer.split_once('\n')?;
    let fence = Fence::opened_by(first).filter(|fence| !fence.info.contains(space::is_space))?;
    let (inner, last) = rest.rsplit_once('\n').unwrap_or(("", rest));
    let is_fence = fence.is_closed_by(last) && tag::of_line(first).is_none();
    (is_fence && is_balanced(&fence, inner)).then_some(inner)
}

/// Whether no line closes the fence: what looks like it closes a block that was opened inside.
fn is_balanced(fence: &Fence<'_>, inner: &str) -> bool {
    let mut is_open = false;
    for line in inner.split('\n') {
        if fence.is_closed_by(line) {
            if !is_open {
                return false;
            }
            is_open = false;
        } else if Fence::opened_by(line)
            .is_some_and(|opened| !opened.info.is_empty() && opened.mark.starts_with(fence.mark))
        {
            is_open = true;
        }
    }
    !is_open
}

/// A text without the fence in its last line, if that closes a block which the text does not open.
pub(super) fn without_closing(text: &str) -> &str {
    let Some((before, last)) = text.rsplit_once('\n') else { return text };
    let is_fence = |line: &str| mark(space::trim(line)).is_some();
    let closes = mark(space::trim(last)).is_some_and(|(_, after)| after.is_empty());
    let is_opened = before.split('\n').filter(|line| is_fence(line)).count() % 2 == 1;
    if closes && !is_opened { space::trim(before) } else { text }
}

/// What stands between fences on one line.
pub(super) fn on_one_line(line: &str) -> Option<&str> {
    let (mark, rest) = mark(line).filter(|(mark, _)| mark.starts_with('`'))?;
    let inner = rest.strip_suffix(mark)?;
    (!inner.contains('`')).then(|| without_language(inner))
}

/// The code after a fence on its own line. Its first word is a language only if it names a shell and more follows; with an option
/// after it, it is the program.
pub(super) fn without_language(code: &str) -> &str {
    let code = space::trim(code);
    let Some((word, rest)) = code.split_once(space::is_space) else { return code };
    let rest = space::trim(rest);
    let is_language = SHELLS.iter().any(|shell| shell.eq_ignore_ascii_case(word)) && !rest.starts_with('-');
    if is_language { rest } else { code }
}
