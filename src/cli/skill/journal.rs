//! The log of a run: what ran, why it was allowed to, and how it ended. One JSON object a line, with secrets masked.

use std::path::Path;
use std::time::{Duration, SystemTime, UNIX_EPOCH};

use policy::{Decision, Reason};
use serde::Serialize;

use super::verdict::Choice;
use crate::cli::error::CliError;
use crate::cli::log_file::LogFile;
use base::masking::mask;

/// A log, if one is wanted.
#[derive(Debug)]
pub struct Journal {
    file: LogFile,
    host: Option<String>,
}

/// A command, and what became of it.
#[derive(Debug)]
pub struct Entry<'a> {
    /// The session's id.
    pub session: &'a str,
    /// The command as it was judged.
    pub command: &'a str,
    /// What the policy said.
    pub decision: &'a Decision,
    /// Who or what has decided.
    pub choice: Choice,
    /// How it ended, if it ran.
    pub end: Option<End>,
}

/// How a command ended.
#[derive(Debug, Clone, Copy)]
pub struct End {
    /// Its exit code, if it has one.
    pub exit_code: Option<i32>,
    /// How long it ran.
    pub duration: Duration,
}

#[derive(Serialize)]
struct Written<'a> {
    /// Seconds since 1970.
    time: u64,
    session: &'a str,
    #[serde(skip_serializing_if = "Option::is_none")]
    host: Option<&'a str>,
    command: &'a str,
    level: policy::Level,
    reasons: &'a [Reason],
    decision: Choice,
    exit_code: Option<i32>,
    duration_ms: Option<u64>,
}

impl Journal {
    /// Opens the log; a new file may be read by its owner alone.
    ///
    /// # Errors
    /// When it cannot be opened.
    pub fn open(path: Option<&Path>, host: Option<&str>) -> Result<Journal, CliError> {
        Ok(Journal { file: LogFile::open(path)?, host: host.map(str::to_owned) })
    }

    /// Adds a line, if there is a log.
    ///
    /// # Errors
    /// When it cannot be written.
    pub fn add(&mut self, entry: &Entry<'_>) -> Result<(), CliError> {
        let milliseconds = |duration: Duration| u64::try_from(duration.as_millis()).unwrap_or(u64::MAX);
        let written = Written {
            time: SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default().as_secs(),
            session: entry.session,
            host: self.host.as_deref(),
            command: &mask(entry.command),
            level: entry.decision.level,
            reasons: &masked(&entry.decision.reasons),
            decision: entry.choice,
            exit_code: entry.end.and_then(|end| end.exit_code),
            duration_ms: entry.end.map(|end| milliseconds(end.duration)),
        };
        self.file.add(|| serde_json::to_string(&written).unwrap_or_default() + "\n")
    }
}

/// Messages quote what they are about.
fn masked(reasons: &[Reason]) -> Vec<Reason> {
    let mut reasons = reasons.to_vec();
    reasons.iter_mut().for_each(|reason| reason.message = mask(&reason.message).into_owned());
    reasons
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::os::unix::fs::PermissionsExt;

    #[test]
    fn lines_are_appended_to_a_file_of_its_owner_with_secrets_masked() {
        let dir = tempfile::tempdir().unwrap();
        let path = dir.path().join("log");
        let decision = Decision::invalid_input("the line API_KEY=abcdefgh12345678 is odd");
        let end = End { exit_code: Some(3), duration: Duration::from_millis(12) };
        for end in [None, Some(end)] {
            let mut journal = Journal::open(Some(&path), Some("me@there")).unwrap();
            let command = "echo API_KEY=abcdefgh12345678";
            let entry = Entry { session: "s1", command, decision: &decision, choice: Choice::Asked, end };
            journal.add(&entry).unwrap();
        }
        let text = std::fs::read_to_string(&path).unwrap();
        assert!(!text.contains("abcdefgh12345678"), "{text}");
        let lines: Vec<serde_json::Value> =
            text.lines().map(|line| serde_json::from_str(line).unwrap()).collect();
        assert_eq!(lines.len(), 2);
        assert_eq!((&lines[0]["exit_code"], &lines[1]["exit_code"]), (&serde_json::Value::Null, &3.into()));
        assert_eq!((&lines[1]["duration_ms"], &lines[1]["decision"]), (&12.into(), &"asked".into()));
        assert_eq!((&lines[1]["host"], &lines[1]["level"]), (&"me@there".into(), &"L2".into()));
        assert_eq!(lines[1]["reasons"][0]["rule"], "invalid_input");
        assert_eq!(std::fs::metadata(&path).unwrap().permissions().mode() & 0o777, 0o600);
    }
}
