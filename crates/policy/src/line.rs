//! A line for a shell, as models write commands: taken apart where every shell takes it apart in the same way.

use crate::shell;

/// A line for a shell.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Line {
    text: String,
    commands: Option<Vec<Vec<String>>>,
}

impl Line {
    /// Reads a line, or several.
    pub fn read(text: &str) -> Line {
        Line { text: text.to_owned(), commands: shell::plain(text) }
    }

    /// The line as it was written.
    pub fn text(&self) -> &str {
        &self.text
    }

    /// The words of its commands, if it is nothing but commands with plain words, joined by `&&`, `||`, `|`, `;` and ends of lines;
    /// their output may go to `/dev/null`. Of a line with anything else (variables, substitutions, patterns, files that are written,
    /// builtins that change the shell) it is not known with certainty what it runs.
    pub fn commands(&self) -> Option<&[Vec<String>]> {
        self.commands.as_deref()
    }

    /// The words of the only command, if the line is nothing but these.
    pub fn only_command(&self) -> Option<(&str, &[String])> {
        match self.commands()? {
            [words] if !self.text.contains('>') => {
                words.split_first().map(|(program, args)| (program.as_str(), args))
            }
            _ => None,
        }
    }
}
