//! The program: its name, whether it may run at all, and where it is found.

use super::{Judge, Place};
use crate::command::base_name;
use crate::decision::{Level, Rule};
use crate::tables::{Class, Program};

/// What programs of Windows end with.
const WINDOWS_ENDS: &[&str] = &[".exe", ".com", ".bat", ".cmd", ".ps1"];

/// Whether a program is a plain name, or a path that ends with one.
fn is_plain(program: &str) -> bool {
    let base = base_name(program);
    let letters = base.chars().all(|letter| letter.is_ascii_alphanumeric() || "._+-@[".contains(letter));
    let named = base.contains(|letter: char| letter.is_ascii_alphanumeric() || letter == '[');
    letters && named && !base.starts_with('-') && !program.contains(char::is_control)
}

/// The name without a version at its end: `python` for `python3.12`, `gcc` for `gcc-12`.
fn without_version(name: &str) -> &str {
    let bare = name.trim_end_matches(|letter: char| letter.is_ascii_digit() || letter == '.');
    let bare = if bare.len() < name.len() { bare.strip_suffix('-').unwrap_or(bare) } else { bare };
    if bare.is_empty() { name } else { bare }
}

impl Judge<'_> {
    /// A program with its arguments.
    pub(super) fn program(&mut self, program: &str, args: &[&str], place: Place<'_>) {
        if !is_plain(program) {
            let message = format!("{program:?} is not the name of a program, nor a path to one");
            return self.add(Rule::InvalidProgram, Level::L2, message);
        }
        let base = base_name(program);
        base.clone_into(&mut self.called);
        // `cmd` is a usual name for other things.
        let is_name =
            place.is_guess && base == "cmd" && !args.first().is_some_and(|arg| arg.starts_with('/'));
        let table = self.table_of(base).filter(|_| !is_name);
        if !self.is_allowed(base, table) {
            let message = format!("{base:?} is not one of `allowed_programs`");
            self.add(Rule::NotAllowed, Level::L2, message);
        }
        if !self.is_own_program(program) {
            let message = format!("{program:?} is not in a folder of installed programs");
            self.add(Rule::UntrustedProgram, Level::L1, message);
        }
        if args == ["--version"] && !table.is_some_and(is_forbidden) {
            return self.add(Rule::Harmless, Level::L0, format!("`{base} --version` prints the version"));
        }
        match table {
            Some(table) => self.table(table, args, place),
            None if place.is_guess => {}
            None => self.unknown(base, args),
        }
    }

    /// A program as it is called, with its subcommands.
    pub(super) fn said(&self, table: &Program) -> String {
        match table.name.split_once(' ') {
            Some((_, subcommands)) => format!("{} {subcommands}", self.called),
            None => self.called.clone(),
        }
    }

    /// Whether a program is found where installed programs are: by its bare name, or in a trusted folder.
    pub(super) fn is_own_program(&self, program: &str) -> bool {
        program.rsplit_once('/').is_none_or(|(folder, _)| self.policy.is_trusted(folder))
    }

    fn is_allowed(&self, base: &str, table: Option<&Program>) -> bool {
        // Whether it gains privilege is a question of its own, with a setting of its own.
        let is_privileged = table.is_some_and(|table| table.effects.contains(&Class::Privilege));
        is_privileged
            || self.policy.is_allowed(base)
            || self.with_version(base).is_some_and(|bare| self.policy.is_allowed(bare))
    }

    /// The name of a compiler or an interpreter without its version. Programs that are harmless have none.
    fn with_version<'n>(&self, base: &'n str) -> Option<&'n str> {
        let bare = without_version(base);
        (bare != base && !self.policy.tables.get(bare).is_some_and(Program::can_be_harmless)).then_some(bare)
    }

    /// The table of a program. Those that are never to run are known in capitals, too, and with the ends that Windows gives them.
    pub(super) fn table_of(&self, base: &str) -> Option<&'static Program> {
        let tables = self.policy.tables;
        let forbidden = || {
            let lower = base.to_lowercase();
            let bare = WINDOWS_ENDS.iter().find_map(|end| lower.strip_suffix(end)).unwrap_or(&lower);
            tables
                .get(if bare.starts_with("mkfs.") { "mkfs" } else { bare })
                .filter(|table| is_forbidden(table))
        };
        tables.get(base).or_else(forbidden).or_else(|| tables.get(self.with_version(base)?))
    }

    /// A program of which nothing is known.
    fn unknown(&mut self, base: &str, args: &[&str]) {
        self.add(Rule::NoTable, Level::L1, format!("nothing is known about what `{base}` does"));
        self.arguments_of_unknown(args);
    }
}

/// Whether no form of a program runs.
fn is_forbidden(table: &Program) -> bool {
    table.effects.iter().any(|effect| matches!(effect, Class::Privilege | Class::Destroy | Class::Foreign))
}
