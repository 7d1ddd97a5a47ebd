//! The command that a terminal repeats before it is run.
//!
//! A line that is the whole command is its echo wherever it stands. A command of one word is one only at the head or after a prompt, as
//! the list of a folder may hold a file of its name; so are several lines.

use super::super::space;

/// What the shell shows before the further lines of a command.
const CONTINUATION: &str = ">";

/// How much of the command has been repeated.
pub(super) struct Echo<'a> {
    lines: Vec<&'a str>,
    /// The number of lines that have just been repeated.
    repeated: usize,
    is_head: bool,
}

impl<'a> Echo<'a> {
    /// The echo of a command, line by line.
    pub(super) fn of(command: &'a str) -> Self {
        let lines = command.split('\n').map(space::trim).filter(|line| !line.is_empty()).collect();
        Self { lines, repeated: 0, is_head: true }
    }

    /// Whether a line of output, which is not blank, repeats a line of the command.
    pub(super) fn repeats(&mut self, line: &str, has_prompt: bool) -> bool {
        let begins = self.is_head || has_prompt || self.is_line_of_words();
        self.is_head = false;
        let line = space::trim(line);
        if self.repeated > 0 && self.is_line(self.repeated, without_continuation(line)) {
            self.repeated += 1;
            return true;
        }
        let is_first = begins && self.is_line(0, line);
        self.repeated = usize::from(is_first);
        is_first
    }

    fn is_line_of_words(&self) -> bool {
        matches!(self.lines.as_slice(), [line] if line.contains(space::is_space))
    }

    fn is_line(&self, at: usize, line: &str) -> bool {
        self.lines.get(at).is_some_and(|expected| *expected == line)
    }
}

fn without_continuation(line: &str) -> &str {
    line.strip_prefix(CONTINUATION).map_or(line, space::trim)
}
