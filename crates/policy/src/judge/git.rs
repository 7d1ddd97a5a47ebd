//! What only git has: revisions that name files, and repositories that bring a configuration with them.

use super::Judge;
use crate::decision::{Level, Rule};
use crate::options::Parsed;
use crate::repository;
use crate::secrets::{is_secret, matches_secret};

impl Judge<'_> {
    /// A revision, a file in a revision, a path or a pathspec.
    pub(super) fn revision(&mut self, text: &str) {
        // `HEAD:file`, `:0:file`, `:(glob)**/file`, `:!file`
        let ends = text.match_indices(':').filter_map(|(at, _)| text.get(at + 1..));
        let is_of_secret = |file: &str| {
            let file = file.split_once(')').filter(|_| file.starts_with('(')).map_or(file, |(_, file)| file);
            let file = file.trim_start_matches(['!', '^', '/']);
            is_secret(file) || matches_secret(file)
        };
        if ends.chain([text]).any(is_of_secret) {
            self.secret(text);
        }
        self.read(text);
    }

    /// Aliases that are given with the command: what they stand for, with the words behind them.
    pub(super) fn aliases(&mut self, parsed: &Parsed) {
        for setting in parsed.values(&["-c"]) {
            let Some((name, value)) = setting.split_once('=') else { continue };
            if name.to_lowercase().starts_with("alias.") {
                let words = value.split_whitespace().chain(parsed.operands.iter().skip(1).copied());
                self.guess("git", &words.collect::<Vec<_>>());
            }
        }
    }

    /// Words of a subcommand that may run git with the words behind it.
    pub(super) fn within_git(&mut self, words: &[&str]) {
        // A guess has its own words guessed by whoever makes it.
        let count = if self.is_guessing { 0 } else { words.len() };
        for at in 1..count {
            self.guess("git", words.get(at..).unwrap_or_default());
        }
    }

    /// The folder whose files git changes, if it changes any.
    fn work_tree(&mut self, parsed: &Parsed, first: usize) {
        if !self.found.iter().skip(first).any(|reason| reason.rule == Rule::Write) {
            return;
        }
        let trees: Vec<&str> = parsed.values(&["--work-tree", "--git-dir"]).chain(["."]).collect();
        self.keeping(
            |reason| reason.rule == Rule::SystemPath,
            |judge| trees.iter().for_each(|tree| judge.target(tree)),
        );
    }

    /// The repository that git works in: whether its configuration may start programs.
    ///
    /// `first` is where the reasons of this command begin.
    pub(super) fn repository(&mut self, parsed: &Parsed, first: usize) {
        self.work_tree(parsed, first);
        let named = parsed.values(&["--git-dir"]).next_back();
        let git_dir = named.map(|dir| crate::place::resolve(&self.cwd, dir.as_ref()));
        let git_dirs =
            git_dir.map_or_else(|| repository::find(&self.cwd), |dir| vec![repository::pointed_to(&dir)]);
        for helper in git_dirs.iter().flat_map(|git_dir| repository::helpers(git_dir)) {
            let message = format!("the repository's configuration sets {helper}, which may start a program");
            self.add(Rule::GitHelper, Level::L1, message);
        }
    }
}
