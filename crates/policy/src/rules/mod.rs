//! The user's own rules: what always may run, what is always asked about, what never runs.
//!
//! ```toml
//! [[rule]]
//! decision = "allow"                  # allow | ask | deny
//! prefix = ["cargo", "test"]          # or `exact`
//! match = [["cargo", "test", "--lib"]]
//! not_match = [["cargo", "run"]]
//! ```
//!
//! The strictest rule that matches wins. No rule lifts an L2. The examples are checked when the file is read.

mod file;

use std::collections::HashSet;
use std::fmt;

use serde::Deserialize;

use crate::command::base_name;

pub use file::{RuleSource, RulesError};

/// The user's rules.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Rules {
    rules: Vec<UserRule>,
    /// The programs that rules name.
    programs: HashSet<String>,
}

/// What a rule says.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum UserDecision {
    /// The command runs by itself.
    Allow,
    /// The command is asked about.
    Ask,
    /// The command never runs.
    Deny,
}

/// A rule.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct UserRule {
    /// What it says.
    pub decision: UserDecision,
    /// Which commands it is about.
    pub pattern: Pattern,
}

/// Which commands a rule is about.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Pattern {
    /// Those that begin with these words.
    Prefix(Vec<String>),
    /// That of exactly these words.
    Exact(Vec<String>),
}

impl Rules {
    /// Rules in their order.
    pub fn new(rules: Vec<UserRule>) -> Rules {
        let programs = rules.iter().filter_map(|rule| rule.pattern.words().first());
        let programs = programs.map(|program| base_name(program).to_owned()).collect();
        Rules { rules, programs }
    }

    /// All rules, in order.
    pub fn all(&self) -> &[UserRule] {
        &self.rules
    }

    /// Whether a rule is about a program (its name, or a path to it).
    pub(crate) fn names(&self, program: &str) -> bool {
        self.programs.contains(base_name(program))
    }

    /// The strictest rule about a command, by whatever path its program is named.
    pub(crate) fn strictest(&self, program: &str, args: &[&str]) -> Option<&UserRule> {
        self.rules.iter().filter(|rule| rule.matches(program, args)).max_by_key(|rule| rule.decision)
    }
}

impl UserRule {
    /// Whether the rule is about exactly one command.
    pub fn is_exact(&self) -> bool {
        matches!(self.pattern, Pattern::Exact(_))
    }

    /// Whether the rule is about a command. Programs are compared by their names, without folders.
    pub fn matches(&self, program: &str, args: &[&str]) -> bool {
        let Some((named, words)) = self.pattern.words().split_first() else { return false };
        let mut args = args.iter();
        let begins = base_name(named) == base_name(program)
            && words.iter().all(|word| args.next() == Some(&word.as_str()));
        begins && (!self.is_exact() || args.next().is_none())
    }
}

impl Pattern {
    /// The words.
    pub fn words(&self) -> &[String] {
        match self {
            Pattern::Prefix(words) | Pattern::Exact(words) => words,
        }
    }
}

impl fmt::Display for UserDecision {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            UserDecision::Allow => "allow",
            UserDecision::Ask => "ask",
            UserDecision::Deny => "deny",
        })
    }
}

impl fmt::Display for UserRule {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let kind = if self.is_exact() { "exact" } else { "prefix" };
        write!(f, "{} {kind} {:?}", self.decision, self.pattern.words())
    }
}
