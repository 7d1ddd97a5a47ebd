//! The judge: from a command to every reason for its level.
//!
//! - here: the walk from command to command within a command (wrappers, code of shells), its bounds, and the user's rules
//! - `program`: the program's name
//! - `table`, `options`, `operands`, `wrapper`: a program by its table
//! - `grammar`: arguments that are not written as getopt reads them (`find`, `tar`, `dd`, `ps`, `sed`)
//! - `sed`, `awk`: what scripts and programs of theirs do beside printing
//! - `git`: what only git has
//! - `path`: paths in and out of the workspace
//! - `interpreter`, `script`, `language`: programs that run code, code of shells, code of other languages
//! - `guess`: commands that may stand among arguments, or in code
//! - `line`: lines that a shell runs
//! - `literals`: texts in code of other languages
//! - `letters`: characters that are not what they seem

mod awk;
mod git;
mod grammar;
mod guess;
mod interpreter;
mod language;
mod letters;
mod line;
mod literals;
mod operands;
mod options;
mod path;
mod program;
mod script;
mod sed;
mod table;
mod wrapper;

pub use letters::is_unseen;

use std::path::PathBuf;

use crate::command::Command;
use crate::decision::{Decision, Level, Reason, Rule};
use crate::place;
use crate::policy::Policy;
use crate::rules::UserDecision;
use crate::tables::Class;

/// Commands within commands.
const MOST_DEPTH: usize = 32;

/// Words of a command.
const MOST_WORDS: usize = 2_000;

/// Bytes of all words together.
const MOST_BYTES: usize = 128 << 10;

/// Words that are looked at in all, in whatever role: a bound on the time for one decision.
const MOST_WORK: usize = 100_000;

impl Policy {
    /// The level of a command, with every reason for it. Nothing is started.
    pub fn classify(&self, command: &Command) -> Decision {
        let words = 1 + command.args.len();
        let bytes = command.program.len() + command.args.iter().map(String::len).sum::<usize>();
        if words > MOST_WORDS || bytes > MOST_BYTES {
            let message = format!("{words} words of {bytes} bytes are more than can be judged");
            return Decision::of(vec![Rule::TooLong.at(Level::L2, message)]);
        }
        let cwd = place::resolve(&self.cwd, command.cwd.as_deref().unwrap_or_default().as_ref());
        let mut judge = Judge::new(self, cwd);
        judge.whole(command);
        Decision::of(judge.found)
    }
}

/// One decision in the making.
struct Judge<'p> {
    policy: &'p Policy,
    /// The folder at which paths begin.
    cwd: PathBuf,
    found: Vec<Reason>,
    depth: usize,
    /// Words that may still be looked at.
    work: usize,
    /// The name by which the program is called that is judged.
    called: String,
    /// Whether what is judged is a guess: its words are guessed already by whoever guesses it.
    is_guessing: bool,
}

/// Where a command stands.
#[derive(Debug, Clone, Copy, Default)]
struct Place<'m> {
    /// It may be no command at all: it is a part of another one, or of code. Only what is certainly refused counts.
    is_guess: bool,
    /// Another program starts it.
    is_wrapped: bool,
    /// It gets arguments that are not known.
    has_unseen_args: bool,
    /// What stands in it for something that is not known: `{}`. Nothing, if it is empty.
    marker: &'m str,
    /// It stands in code.
    is_code: bool,
}

impl Place<'_> {
    /// Whether something that is not known stands in a word.
    fn hides(&self, word: &str) -> bool {
        !self.marker.is_empty() && word.contains(self.marker)
    }
}

impl<'p> Judge<'p> {
    fn new(policy: &'p Policy, cwd: PathBuf) -> Judge<'p> {
        Judge {
            policy,
            cwd,
            found: Vec::new(),
            depth: 0,
            work: MOST_WORK,
            called: String::new(),
            is_guessing: false,
        }
    }
}

impl Judge<'_> {
    fn add(&mut self, rule: Rule, level: Level, message: impl Into<String>) {
        self.found.push(rule.at(level, message));
    }

    /// A command as it was proposed.
    fn whole(&mut self, command: &Command) {
        let args: Vec<&str> = command.args.iter().map(String::as_str).collect();
        let words = std::iter::once(&command.program).chain(&command.args).chain(&command.cwd);
        if words.into_iter().any(|word| word.contains('\0')) {
            return self.add(Rule::InvalidProgram, Level::L2, "there is a NUL byte in the command");
        }
        self.command(&command.program, &args, Place::default());
        // What comes now holds whatever the user's rules allow: they are about words, not about where and how.
        self.letters(command);
        self.folder(command.cwd.as_deref());
        self.required(command);
        self.broken();
    }

    /// What cannot be read of rules and settings.
    fn broken(&mut self) {
        for problem in &self.policy.broken {
            self.found.push(Rule::PolicyBroken.at(Level::L1, format!("nothing runs by itself: {problem}")));
        }
    }

    /// What the command is said to need.
    fn required(&mut self, command: &Command) {
        let requires = command.requires;
        let said = [
            (requires.confirm, Class::Safe, "a confirmation"),
            (requires.elevated, Class::Privilege, "more rights"),
            (requires.network, Class::Network, "the network"),
            (requires.write, Class::Write, "to write"),
        ];
        for (_, class, what) in said.into_iter().filter(|(is_said, ..)| *is_said) {
            let message = format!("the command is said to need {what}");
            self.add(Rule::Requires, Level::L1, message.clone());
            self.keeping(|reason| reason.level == Level::L2, |judge| judge.class(class, message));
        }
    }

    /// A command, wherever it stands.
    fn command(&mut self, program: &str, args: &[&str], place: Place<'_>) {
        if place.hides(program) {
            return self.unknown_code("which program runs is not known yet");
        }
        if !self.enter(1 + args.len()) {
            return;
        }
        let first = self.found.len();
        let around = (self.cwd.clone(), self.called.clone());
        self.program(program, args, place);
        (self.cwd, self.called) = around;
        self.depth -= 1;
        self.user_rules(program, args, place, first);
        if place.is_wrapped {
            self.mark_within(first);
        }
    }

    /// Says of all reasons from `first` on that they are about something within the command.
    fn mark_within(&mut self, first: usize) {
        self.found.iter_mut().skip(first).for_each(|reason| reason.is_within = true);
    }

    /// Goes one command deeper, if the bounds allow it.
    fn enter(&mut self, work: usize) -> bool {
        if self.depth >= MOST_DEPTH || self.work < work {
            self.add(Rule::TooLong, Level::L2, "there are more commands within commands than can be judged");
            // It is refused: nothing else has to be looked at.
            self.work = 0;
            return false;
        }
        self.depth += 1;
        self.work -= work;
        true
    }

    /// Keeps, of what is found meanwhile, what `keep` says.
    fn keeping(&mut self, keep: impl Fn(&Reason) -> bool, look: impl FnOnce(&mut Self)) {
        let first = self.found.len();
        look(self);
        let new = self.found.split_off(first);
        self.found.extend(new.into_iter().filter(keep));
    }

    /// Applies the strictest of the user's rules that match.
    fn user_rules(&mut self, program: &str, args: &[&str], place: Place, first: usize) {
        let Some(rule) = self.policy.rules.strictest(program, args) else { return };
        let told = format!("your rule {rule}");
        match rule.decision {
            UserDecision::Deny => self.add(Rule::RuleDeny, Level::L2, format!("{told} forbids it")),
            UserDecision::Ask => self.add(Rule::RuleAsk, Level::L1, format!("{told} wants your agreement")),
            UserDecision::Allow if !place.is_guess && !place.is_code && self.is_own_program(program) => {
                let is_exact = rule.is_exact();
                let new = self.found.split_off(first);
                self.found.extend(new.into_iter().filter(|reason| !is_lifted(reason, is_exact)));
                self.add(Rule::RuleAllow, Level::L0, format!("{told} allows it"));
            }
            UserDecision::Allow => {}
        }
    }
}

/// Whether a rule that allows a command answers a reason. A prefix does not answer for files that the words after it name, nor for what
/// they start; and no rule for what a repository brings with it.
fn is_lifted(reason: &Reason, is_exact: bool) -> bool {
    match reason.rule {
        Rule::GitHelper | Rule::UntrustedProgram => false,
        Rule::OutsideWorkspace | Rule::Secret => is_exact,
        _ => reason.level < Level::L2 && (is_exact || !reason.is_within),
    }
}
