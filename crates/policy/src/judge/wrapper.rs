//! Wrappers: programs that start the command that they are given, perhaps with other variables.

use super::{Judge, Place};
use crate::decision::{Level, Rule};
use crate::options::Parsed;
use crate::shell::is_assignment;
use crate::tables::{Class, Program, Role};

/// Variables that change how something is printed, and nothing else.
const HARMLESS_VARIABLES: &[&str] =
    &["CLICOLOR", "COLUMNS", "FORCE_COLOR", "LANG", "LANGUAGE", "LINES", "NO_COLOR", "RUST_BACKTRACE", "TZ"];

/// Options of `xargs` that say what stands for its input.
const REPLACERS: &[&str] = &["-I", "-i", "--replace", "-J"];

impl Judge<'_> {
    /// A wrapper: what comes after its own operands is another command.
    pub(super) fn wrapped(&mut self, table: &Program, roles: &[Role], parsed: &Parsed, place: Place<'_>) {
        let mut operands = parsed.operands.as_slice();
        for role in roles {
            match (role, operands) {
                (Role::Assignments, _) => operands = self.assignments(operands),
                (Role::Command | Role::ShellWords, []) => {}
                (Role::Command, [program, args @ ..]) => {
                    return self.command(program, args, place.within(table, parsed));
                }
                (Role::ShellWords, words) => return self.shell_code(&words.join(" ")),
                (role, [operand, rest @ ..]) => {
                    self.operand(table, Some(*role), operand);
                    operands = rest;
                }
                (_, []) => {}
            }
        }
        if place.has_unseen_args || table.alone == Some(Class::Code) {
            self.unknown_code(&format!("which command `{}` starts is not known yet", self.said(table)));
        } else if let Some(alone) = table.alone {
            self.class(alone, format!("`{}` alone {}", self.said(table), alone.sentence()));
        }
    }

    /// Assignments in front of a command; what comes after them.
    fn assignments<'a, 'b>(&mut self, operands: &'b [&'a str]) -> &'b [&'a str] {
        let count = operands.iter().take_while(|word| **word == "-" || word.contains('=')).count();
        let (assignments, rest) = operands.split_at(count);
        for assignment in assignments.iter().filter(|word| !is_harmless(word)) {
            let (name, value) = assignment.split_once('=').unwrap_or((assignment, ""));
            let message = format!("the variable {name:?} may change what is loaded or run");
            self.add(Rule::Assignment, Level::L1, message);
            self.perhaps_code(value);
        }
        rest
    }
}

impl<'m> Place<'m> {
    /// The place of a command that this wrapper starts.
    fn within(self, table: &Program, parsed: &Parsed<'m>) -> Place<'m> {
        let is_unseen = table.effects.contains(&Class::Unseen);
        let marker = parsed.values(REPLACERS).next_back().filter(|marker| !marker.is_empty());
        let marker = if is_unseen { marker.unwrap_or("{}") } else { self.marker };
        Place { is_wrapped: true, has_unseen_args: self.has_unseen_args || is_unseen, marker, ..self }
    }
}

/// Whether an assignment changes only how something is printed. A value that may be a path does more.
fn is_harmless(assignment: &str) -> bool {
    let Some((name, value)) = assignment.split_once('=') else { return false };
    let is_known = HARMLESS_VARIABLES.contains(&name) || name.starts_with("LC_");
    let may_be_path = value.contains("..") || value.starts_with('/') || (name != "TZ" && value.contains('/'));
    let is_plain = value.chars().all(|letter| letter.is_ascii_alphanumeric() || "_.@+-/".contains(letter));
    is_known && is_plain && !may_be_path && is_assignment(assignment)
}
