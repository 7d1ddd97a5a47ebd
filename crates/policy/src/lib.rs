//! The risk policy: what a model's command may do by itself, what has to be asked, what never runs.
//!
//! A command is a program and its arguments; there is no shell, and no text that would have to be split. [`Policy::classify`] gives a
//! [`Level`] and every reason for it; [`Policy::classify_line`] does it for lines that a shell runs. Nothing is started, and nothing is read but links and the configuration of git repositories.
//!
//! - `command`, `decision`: what comes in and goes out; the rules by their names
//! - `line`: lines for a shell, taken apart where that can be done with certainty
//! - `policy`: what a decision depends on
//! - `tables`: what is known about programs, as data (`rules/*.toml`); the page that is made of it
//! - `options`: reads arguments as the program would
//! - `place`, `secrets`, `repository`: paths, files with secrets, configurations of git repositories
//! - `shell`: reads code of shells, as far as is needed to see which commands are in it
//! - `judge`: all of this together
//! - `harden`: git's arguments, so that a repository cannot have programs started
//! - `rules`: the user's own rules

mod command;
mod decision;
mod harden;
mod judge;
mod line;
mod options;
mod place;
mod policy;
mod repository;
mod rules;
mod secrets;
mod shell;
mod tables;

pub use command::{Command, Requires};
pub use decision::{Decision, Level, Reason, Rule};
pub use harden::hardened;
pub use judge::is_unseen;
pub use line::Line;
pub use policy::{Permissions, Policy, Surroundings, default_programs};
pub use rules::{Pattern, RuleSource, Rules, RulesError, UserDecision, UserRule};
pub use tables::page::page;
pub use tables::{TableError, Tables};
