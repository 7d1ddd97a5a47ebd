//! Paths: in the workspace or out of it, files with secrets, files of the system.

use std::path::{Path, PathBuf};

use super::Judge;
use crate::decision::{Level, Rule};
use crate::place;
use crate::secrets::{is_secret, matches_secret};
use crate::shell::{has_expansion, is_input};

/// Words that name no file that could be outside.
const NOTHING: &[&str] = &["", "-", "/dev/null"];

/// Open files that may be written. Whoever reads them may wait without end.
const STREAMS: &[&str] = &["/dev/stderr", "/dev/stdout"];

/// A path that is longer is refused by the kernel, and not resolved here.
const MOST_BYTES: usize = 4_096;

impl Judge<'_> {
    /// The folder that a command runs in.
    pub(super) fn folder(&mut self, named: Option<&str>) {
        let cwd = place::resolve(&self.policy.cwd, named.unwrap_or_default().as_ref());
        if !self.is_inside(&cwd) {
            self.outside(&cwd.display().to_string());
        }
        let below = cwd.strip_prefix(&self.policy.workspace).unwrap_or(&cwd);
        if is_secret(&below.to_string_lossy()) {
            self.secret(&cwd.display().to_string());
        }
        if named.is_some_and(|named| named.starts_with('~')) {
            self.outside(named.unwrap_or_default());
        }
    }

    /// A file or folder that is read.
    pub(super) fn read(&mut self, text: &str) {
        // The open files of the judge are not those of the command.
        if text.len() > MOST_BYTES || (is_input(text) && !NOTHING.contains(&text)) {
            self.outside(text);
            if is_secret(text) {
                self.secret(text);
            }
            return;
        }
        for path in self.meanings(text) {
            self.read_resolved(text, &place::resolve(&self.cwd, &path));
        }
    }

    fn read_resolved(&mut self, text: &str, path: &Path) {
        if !self.is_inside(path) {
            self.outside(text);
        }
        // The folders above the workspace say nothing about its files.
        let below = path.strip_prefix(&self.policy.workspace).unwrap_or(path);
        if is_secret(text) || is_secret(&below.to_string_lossy()) {
            self.secret(text);
        }
    }

    /// A file or folder that is written, changed or removed.
    pub(super) fn target(&mut self, text: &str) {
        if STREAMS.contains(&text) {
            return;
        }
        if text.len() > MOST_BYTES {
            return self.outside(text);
        }
        for path in self.meanings(text) {
            let path = place::resolve(&self.cwd, &path);
            self.read_resolved(text, &path);
            if self.is_of_system(&path) {
                self.add(Rule::SystemPath, Level::L2, format!("{text:?} belongs to the system"));
            }
            if path.components().any(|part| part.as_os_str() == ".git") {
                let message = format!("{text:?} belongs to git, which may start what is written there");
                self.add(Rule::GitHelper, Level::L1, message);
            }
        }
    }

    /// A pattern of file names that are read.
    pub(super) fn glob(&mut self, text: &str) {
        // `TYPE:PATTERN` of ripgrep
        let pattern = text.rsplit(':').next().unwrap_or(text);
        if !text.starts_with('!') && (is_secret(pattern) || matches_secret(pattern)) {
            self.secret(text);
        }
    }

    /// A word of a program of which nothing is known: a path, if it looks like one.
    pub(super) fn perhaps_path(&mut self, word: &str) {
        let word = match word.split_once('=') {
            Some((_, value)) if word.starts_with('-') || !value.is_empty() => value,
            _ => word,
        };
        let looks_like_one = word.contains('/') || word.starts_with(['~', '.']) || is_secret(word);
        if looks_like_one && !word.contains("://") && !word.starts_with('-') {
            self.read(word);
        }
    }

    /// What a word may mean as a path: itself, and what it would be for a shell, which models are used to.
    fn meanings(&self, text: &str) -> Vec<PathBuf> {
        if NOTHING.contains(&text) || has_expansion(text) {
            return Vec::new();
        }
        let mut meanings = vec![PathBuf::from(text)];
        let in_home = ["~", "$HOME", "${HOME}"].iter().find_map(|home| text.strip_prefix(home));
        match (in_home, &self.policy.home) {
            (Some(rest), Some(home)) if rest.is_empty() || rest.starts_with('/') => {
                meanings.push(home.join(rest.trim_start_matches('/')));
            }
            (Some(_), _) => meanings.push(PathBuf::from("/home").join(text)),
            (None, _) => {}
        }
        meanings
    }

    fn is_inside(&self, path: &Path) -> bool {
        path.starts_with(&self.policy.workspace)
    }

    pub(super) fn is_of_system(&self, path: &Path) -> bool {
        let is_own = |folder: &Path| path.starts_with(folder) && folder.parent().is_some();
        let at_home = self.policy.home.as_deref().is_some_and(is_own);
        place::is_system(path) && !is_own(&self.policy.workspace) && !at_home
    }

    fn outside(&mut self, text: &str) {
        self.add(Rule::OutsideWorkspace, Level::L1, format!("{text:?} is outside of the workspace"));
    }

    pub(super) fn secret(&mut self, text: &str) {
        self.add(Rule::Secret, Level::L1, format!("{text:?} may hold secrets"));
    }
}
