//! What the user says: lines that are edited in a terminal, or the lines of a file.

use std::io::{BufRead, Read};
use std::sync::{Arc, Mutex, PoisonError};

use serde_json::{Map, Value as Json};

use crate::cli::error::CliError;
use crate::cli::terminal::{self, Editor, Typed};

/// The longest line, in bytes.
const LINE_BYTES: u64 = 1 << 20;

/// Where lines come from.
pub enum Input {
    /// A person types them.
    Terminal(Editor),
    /// They are read as they are.
    Lines(Arc<Mutex<std::io::BufReader<std::io::Stdin>>>),
}

/// What was said.
#[derive(Debug)]
pub enum Said {
    /// A line, without its end.
    Line(String),
    /// The input has ended.
    End,
}

impl Input {
    /// The input of this process.
    ///
    /// # Errors
    /// When the terminal cannot be used.
    pub fn new() -> Result<Input, CliError> {
        match terminal::is_attended() {
            true => Ok(Input::Terminal(Editor::new()?)),
            false => Ok(Input::Lines(Arc::new(Mutex::new(std::io::BufReader::new(std::io::stdin()))))),
        }
    }

    /// The next line. A person sees `prompt`, and edits `initial`.
    ///
    /// # Errors
    /// [`CliError::Cancelled`] at Ctrl-C; when a line is too long, or cannot be read.
    pub async fn line(&self, prompt: &str, initial: &str) -> Result<Said, CliError> {
        match self {
            Input::Terminal(editor) => match editor.read_line(prompt, initial).await? {
                Typed::Line(line) => Ok(Said::Line(line)),
                Typed::End => Ok(Said::End),
                Typed::Leave => Err(CliError::Cancelled),
            },
            Input::Lines(lines) => {
                let lines = lines.clone();
                let reading = tokio::task::spawn_blocking(move || read_line(&lines));
                tokio::select! {
                    read = reading => read.map_err(|error| CliError::Usage(error.to_string()))?,
                    () = terminal::interrupted() => Err(CliError::Cancelled),
                }
            }
        }
    }
}

fn read_line<R: Read>(lines: &Mutex<std::io::BufReader<R>>) -> Result<Said, CliError> {
    let mut lines = lines.lock().unwrap_or_else(PoisonError::into_inner);
    let mut line = Vec::new();
    let unreadable = |source| CliError::File { path: "standard input".to_owned(), source };
    let read = (&mut *lines).take(LINE_BYTES + 1).read_until(b'\n', &mut line).map_err(unreadable)?;
    if read as u64 > LINE_BYTES {
        return Err(CliError::Usage(format!("a line of the input is longer than {LINE_BYTES} bytes")));
    }
    if read == 0 {
        return Ok(Said::End);
    }
    let line = String::from_utf8_lossy(&line);
    let line = line.strip_suffix('\n').unwrap_or(&line);
    Ok(Said::Line(line.strip_suffix('\r').unwrap_or(line).to_owned()))
}

/// What a user makes of a call.
#[derive(Debug, PartialEq)]
pub enum Decision {
    /// It is made.
    Approve,
    /// It is not made.
    Reject,
    /// Its arguments are to be edited.
    Edit,
    /// It is made with these arguments.
    Arguments(Map<String, Json>),
}

impl Decision {
    /// Reads a line.
    pub fn read(line: &str) -> Option<Decision> {
        match line.trim().to_lowercase().as_str() {
            "a" | "approve" | "y" | "yes" => Some(Decision::Approve),
            "r" | "reject" | "n" | "no" => Some(Decision::Reject),
            "e" | "edit" => Some(Decision::Edit),
            _ => serde_json::from_str(line.trim()).ok().map(Decision::Arguments),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lines_are_read_without_their_ends_and_only_up_to_a_limit() {
        let input = |bytes: &[u8]| Mutex::new(std::io::BufReader::new(std::io::Cursor::new(bytes.to_vec())));
        let lines = input(b"a\r\n\n\xffb\nlast");
        let mut read = Vec::new();
        while let Said::Line(line) = read_line(&lines).unwrap() {
            read.push(line);
        }
        assert_eq!(read, ["a", "", "\u{fffd}b", "last"]);
        let long = vec![b'x'; usize::try_from(LINE_BYTES).unwrap() + 1];
        assert!(read_line(&input(&long)).is_err());
    }

    #[test]
    fn a_decision_is_a_word_or_arguments() {
        for (line, expected) in [
            (" Approve ", Some(Decision::Approve)),
            ("n", Some(Decision::Reject)),
            ("e", Some(Decision::Edit)),
            (r#" {"a": 1}"#, serde_json::from_str(r#"{"a": 1}"#).ok().map(Decision::Arguments)),
            ("[1]", None),
            ("maybe", None),
        ] {
            assert_eq!(Decision::read(line), expected, "{line}");
        }
    }
}
