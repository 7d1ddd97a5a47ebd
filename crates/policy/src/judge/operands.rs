//! Operands, by their roles.

use super::{Judge, Place};
use crate::decision::{Level, Rule};
use crate::options::Parsed;
use crate::place;
use crate::shell::is_input;
use crate::tables::{Class, Program, Role, role_at};

/// Words that mean something to a shell only.
const OPERATORS: &[&str] = &[
    "&", "&&", "&>", "&>>", "1>", "2>", "2>&1", "2>>", ";", "<", "<<", "<<<", ">", ">&2", ">>", ">|", "|",
    "|&", "||",
];

/// Whether a word means something to a shell only.
pub fn is_operator(word: &str) -> bool {
    OPERATORS.contains(&word)
}

impl Judge<'_> {
    /// The operands of a program that starts no command.
    pub(super) fn operands(
        &mut self,
        table: &Program,
        roles: &[Role],
        parsed: &Parsed<'_>,
        place: Place<'_>,
    ) {
        let count = parsed.operands.len();
        let given =
            || parsed.operands.iter().enumerate().map(|(at, operand)| (role_at(roles, at, count), *operand));
        given().for_each(|(role, operand)| self.operand(table, role, operand));
        let runs = table.effects.contains(&Class::Run);
        if runs
            && (parsed.operands.iter().any(|operand| is_input(operand))
                || (count == 0 && place.has_unseen_args))
        {
            self.unknown_code(&format!("what `{}` runs is not known yet", self.said(table)));
        }
        if given().any(|(role, _)| role.is_none()) {
            self.otherwise(table, parsed);
        }
        if given().any(|(role, operand)| role != Some(Role::Text) && is_operator(operand)) {
            self.no_shell(&parsed.operands);
        }
    }

    /// An operand.
    pub(super) fn operand(&mut self, table: &Program, role: Option<Role>, operand: &str) {
        match role {
            None => {
                let message =
                    format!("`{}`: nothing is known about the operand {operand:?}", self.said(table));
                self.add(Rule::UnknownOperand, Level::L1, message);
                self.perhaps_path(operand);
            }
            // An option of old versions: `tail +1f`.
            Some(Role::Path) if operand.starts_with('+') => self.operand(table, None, operand),
            Some(Role::Path) => self.read(operand),
            Some(Role::Number) if !is_small(operand) => {
                self.class(Class::Wait, format!("`{} {operand}` may not end", self.said(table)));
            }
            Some(Role::File) => self.file(table, operand),
            Some(Role::Target) => {
                if table.can_be_harmless() {
                    self.class(Class::Write, format!("`{}` writes {operand:?}", self.said(table)));
                }
                self.target(operand);
            }
            Some(Role::Plus) if !operand.starts_with('+') => {
                self.class(Class::System, format!("`{} {operand}` changes the system", self.said(table)));
            }
            Some(Role::Rev) => self.revision(operand),
            Some(_) if operand.starts_with("ext::") => {
                self.class(Class::Run, format!("{operand:?} has git start a program"));
                self.perhaps_code(operand.trim_start_matches("ext::"));
            }
            Some(_) => {}
        }
    }

    /// A file that is read; if it is a folder, the files in it are, and what its links lead to.
    pub(super) fn file(&mut self, table: &Program, file: &str) {
        self.read(file);
        if place::has_links(&place::resolve(&self.cwd, file.as_ref())) {
            let message = format!(
                "`{}` {}, of which there are some in {file:?}",
                self.said(table),
                Class::Links.sentence()
            );
            self.class(Class::Links, message);
        }
    }

    /// Words that look as if a shell were to read them.
    pub(super) fn no_shell(&mut self, words: &[&str]) {
        let Some(operator) = words.iter().find(|word| is_operator(word)) else { return };
        let message = format!("there is no shell: {operator:?} would be given to the program as it stands");
        self.add(Rule::ShellSyntax, Level::L1, message);
    }
}

/// Whether a number is small enough to be counted up to.
fn is_small(number: &str) -> bool {
    let digits = number.trim_start_matches('-').split('.').next().unwrap_or_default();
    digits.len() <= 6 && number.chars().all(|letter| letter.is_ascii_digit() || "-.s".contains(letter))
}
