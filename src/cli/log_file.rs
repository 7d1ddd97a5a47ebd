//! The log that a command keeps in a file of the user's.

use std::fs::{File, OpenOptions};
use std::io::Write;
use std::os::unix::fs::OpenOptionsExt;
use std::path::{Path, PathBuf};

use super::error::CliError;

/// A log file, if one is wanted. What is written is added to it.
#[derive(Debug)]
pub struct LogFile(Option<(PathBuf, File)>);

impl LogFile {
    /// Opens the file; a new one may be read by its owner alone.
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

    /// Adds a text, if there is a log.
    ///
    /// # Errors
    /// When it cannot be written.
    pub fn add(&mut self, text: impl FnOnce() -> String) -> Result<(), CliError> {
        let Some((path, file)) = &mut self.0 else { return Ok(()) };
        file.write_all(text().as_bytes()).map_err(|source| CliError::file(path, source))
    }
}
