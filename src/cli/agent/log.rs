//! The log file of an agent: `time LEVEL [prefix] text`; further lines of a text are indented.

use std::fs::{File, OpenOptions};
use std::io::Write;
use std::os::unix::fs::OpenOptionsExt;
use std::path::{Path, PathBuf};

use jiff::Timestamp;

use crate::agents::LogLine;
use crate::cli::error::CliError;
use crate::cli::output::visible;

/// The log file, if there is one.
pub struct LogFile(Option<(PathBuf, File)>);

impl LogFile {
    /// Opens the file; lines are added to it. A new one may be read by its owner alone.
    ///
    /// # Errors
    /// When it cannot be opened.
    pub fn open(path: Option<&Path>) -> Result<LogFile, CliError> {
        let open = |path: &Path| {
            let file = OpenOptions::new().append(true).create(true).mode(0o600).open(path);
            file.map(|file| (path.to_path_buf(), file)).map_err(|source| CliError::file(path, source))
        };
        Ok(LogFile(path.map(open).transpose()?))
    }

    /// Adds lines.
    ///
    /// # Errors
    /// When they cannot be written.
    pub fn add(&mut self, lines: &[LogLine]) -> Result<(), CliError> {
        let Some((path, file)) = &mut self.0 else { return Ok(()) };
        let text: String = lines.iter().map(written).collect();
        file.write_all(text.as_bytes()).map_err(|source| CliError::file(path, source))
    }
}

fn written(line: &LogLine) -> String {
    let LogLine { time, level, prefix, text } = line;
    let time = i64::try_from(*time).ok().and_then(|time| Timestamp::from_millisecond(time).ok());
    let time = time.unwrap_or_default();
    // A text of a model or a service must not look like an entry of its own.
    let text = visible(text).replace('\n', "\n    ");
    format!("{time:.3} {level} [{prefix}] {text}\n")
}

#[cfg(test)]
mod tests {
    use super::*;
    use agent::Level;

    #[test]
    fn an_entry_has_its_time_its_level_and_its_prefix_and_further_lines_are_indented() {
        let line = |text: &str| LogLine {
            time: 1_795_627_406_010,
            level: Level::Critical,
            prefix: "cls".to_owned(),
            text: text.to_owned(),
        };
        assert_eq!(written(&line("a")), "2026-11-25T17:23:26.010Z CRITICAL [cls] a\n");
        let expected = "2026-11-25T17:23:26.010Z CRITICAL [cls] a\n    b\\u{1b}[2J\n    c\n";
        assert_eq!(written(&line("a\nb\u{1b}[2J\nc")), expected);
    }
}
