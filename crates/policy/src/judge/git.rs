//! What only git has: revisions that name files, and repositories that bring a configuration with them.

use super::Judge;
use crate::decision::{Level, Rule};
use crate::options::Parsed;
use crate::repository;
use crate::secrets::{is_secret, matches_secret};

impl Judge<'_> {
    /// A revision, a file in a revision, a path or a pathspec.
    pub(super) fn revision(&mut self, text: &str) {
        // `HEAD:file`, `:file`, `:(glob)**/file`, `:!file`
        let file = text.split_once(':').map_or(text, |(_, file)| file);
        let file = file.split_once(')').filter(|_| file.starts_with('(')).map_or(file, |(_, file)| file);
        let file = file.trim_start_matches(['!', '^', '/', ':']);
        if is_secret(file) || matches_secret(file) {
            self.secret(text);
        }
        self.read(text);
    }

    /// The folder whose files git changes, if it changes any.
    fn work_tree(&mut self, parsed: &Parsed, first: usize) {
        if !self.found.iter().skip(first).any(|reason| reason.rule == Rule::Write) {
            return;
        }
        let is_tree = |name: &str| name == "--work-tree" || name == "--git-dir";
        let trees =
            parsed.options.iter().filter(|given| is_tree(&given.option.name)).filter_map(|given| given.value);
        let trees: Vec<&str> = trees.chain(std::iter::once(".")).collect();
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
        let mut named = parsed
            .options
            .iter()
            .filter(|given| given.option.name == "--git-dir")
            .filter_map(|given| given.value);
        let git_dir = named.next_back().map(|dir| crate::place::resolve(&self.cwd, dir.as_ref()));
        let helpers = match git_dir.or_else(|| repository::find(&self.cwd)) {
            Some(git_dir) => repository::helpers(&git_dir),
            None => return,
        };
        for helper in helpers {
            let message = format!("the repository's configuration sets {helper}, which may start a program");
            self.add(Rule::GitHelper, Level::L1, message);
        }
    }
}
