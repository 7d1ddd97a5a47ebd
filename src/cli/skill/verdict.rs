//! Whether a command runs: by itself, after a question, or not at all.

use policy::{Decision, Level, Line, Policy};
use serde::Serialize;

use super::allowed::AllowedTools;

/// What happens to a command before anybody is asked.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Verdict {
    /// It runs by itself.
    Runs(Choice),
    /// A person has to agree.
    Asks,
    /// Nobody is there to agree.
    Skips,
    /// It never runs.
    Refuses,
}

/// Who or what has decided.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum Choice {
    /// A person has agreed.
    Asked,
    /// A person has changed it, and agreed.
    Edited,
    /// The policy calls it harmless.
    Safe,
    /// The skill's `allowed-tools` name it.
    Allowed,
    /// It was not to be run: a person said so, or nobody was there.
    Skipped,
    /// The policy refuses it.
    Refused,
}

/// What decides about commands.
pub struct Judge {
    /// The policy.
    pub policy: Policy,
    /// What the skill wants to run without a question.
    pub allowed: AllowedTools,
    /// Whether anything may run by itself.
    pub is_safe_run: bool,
    /// Whether there is somebody to ask.
    pub is_attended: bool,
}

impl Judge {
    /// What happens to a line, and why.
    pub fn verdict(&self, line: &Line) -> (Verdict, Decision) {
        let decision = self.policy.classify_line(line);
        let verdict = match decision.level {
            Level::L2 => Verdict::Refuses,
            Level::L0 if self.is_safe_run => Verdict::Runs(Choice::Safe),
            _ if self.is_safe_run && self.allowed.allows(line) => Verdict::Runs(Choice::Allowed),
            _ if self.is_attended => Verdict::Asks,
            _ => Verdict::Skips,
        };
        (verdict, decision)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use policy::{Permissions, Rules, Surroundings};

    fn verdict(is_safe_run: bool, is_attended: bool, line: &str) -> Verdict {
        let workspace = tempfile::tempdir().unwrap();
        let surroundings = Surroundings {
            workspace: workspace.path().to_path_buf(),
            cwd: workspace.path().to_path_buf(),
            home: None,
            path: "/usr/bin:/bin".to_owned(),
        };
        let policy = Policy::new(surroundings, Permissions::default(), Rules::default());
        let allowed = AllowedTools::read(&["Bash(git add:*)".to_owned(), "Bash(rm:*)".to_owned()]);
        Judge { policy, allowed, is_safe_run, is_attended }.verdict(&Line::read(line)).0
    }

    #[test]
    fn safe_runs_let_harmless_and_allowed_commands_run_and_never_what_is_refused() {
        assert_eq!(verdict(true, true, "ls"), Verdict::Runs(Choice::Safe));
        assert_eq!(verdict(true, true, "ls && git add ."), Verdict::Asks, "each command has to match");
        assert_eq!(verdict(true, false, "git add ."), Verdict::Runs(Choice::Allowed));
        assert_eq!(verdict(true, false, "git commit -m x"), Verdict::Skips);
        assert_eq!(verdict(true, true, "rm -rf x"), Verdict::Refuses);
    }

    #[test]
    fn without_safe_everything_is_asked_about_and_nothing_runs_unattended() {
        assert_eq!(verdict(false, true, "ls"), Verdict::Asks);
        assert_eq!(verdict(false, false, "ls"), Verdict::Skips);
        assert_eq!(verdict(false, true, "sudo ls"), Verdict::Refuses);
    }
}
