//! Options: what they do, and what their values are.

use super::{Judge, Place, operands};
use crate::decision::{Level, Rule};
use crate::options::{Given, Parsed};
use crate::place;
use crate::shell::{has_expansion, is_input};
use crate::tables::{Class, Kind, Program};

impl Judge<'_> {
    /// The options of a program, in their order.
    pub(super) fn options(
        &mut self,
        table: &'static Program,
        parsed: &Parsed,
        args: &[&str],
        place: Place<'_>,
    ) {
        for given in &parsed.options {
            self.option(table, given, place);
        }
        for unknown in &parsed.unknown {
            let message = format!("`{}`: nothing is known about the option {unknown:?}", self.said(table));
            self.add(Rule::UnknownOption, Level::L1, message);
        }
        let starts = table.effects.iter().any(|effect| matches!(effect, Class::Run | Class::Wait));
        let has_operator = !table.effects.is_empty() && args.iter().any(|arg| operands::is_operator(arg));
        if !parsed.unknown.is_empty() || starts || has_operator {
            self.arguments_of_unknown(args);
        }
    }

    /// An option, with its value.
    pub(super) fn option(&mut self, table: &Program, given: &Given, place: Place<'_>) {
        let Given { option, value, .. } = given;
        if option.class != Class::Safe && !(option.class == Class::Code && table.interpreter.is_some()) {
            let first = self.found.len();
            self.class(
                option.class,
                format!("`{} {}` {}", self.said(table), option.name, option.class.sentence()),
            );
            if matches!(option.class, Class::Run | Class::Shell | Class::Code | Class::Unseen) {
                self.mark_within(first);
            }
        }
        let names_code = matches!(option.class, Class::Run | Class::Code | Class::Unseen);
        let is_hidden = |value: &str| has_expansion(value) || place.hides(value);
        let comes_later = value.is_none() && option.takes_value() && place.has_unseen_args;
        if names_code && (comes_later || value.is_some_and(is_hidden)) {
            self.unknown_code(&format!("what `{} {}` runs is not known yet", self.said(table), option.name));
        }
        let (Some(value), Some(kind)) = (value, option.kind()) else { return };
        self.started(table, given, value);
        match kind {
            Kind::Path if option.class == Class::Write => self.target(value),
            Kind::Path => self.read(value),
            Kind::File => self.file(table, value),
            Kind::Date if value.contains('=') => {
                self.class(Class::Variables, format!("`{} {}`: {value:?}", self.said(table), option.name));
            }
            Kind::Glob => self.glob(value),
            Kind::Lines => self.read(value.rsplit(':').next().unwrap_or_default()),
            Kind::Pretty if checks_signatures(value) => {
                let message = format!("the format {value:?} has signatures checked by another program");
                self.class(Class::Run, message);
            }
            // Some versions know no options behind operands: for them, the value is another operand.
            Kind::Text if given.is_behind_operands => self.perhaps_path(value),
            Kind::Pretty | Kind::Text | Kind::Date | Kind::Command => {}
        }
        if table.chdir.contains(&option.name) {
            self.cwd = place::resolve(&self.cwd, value.as_ref());
        }
    }

    /// What the value of an option starts, or has run.
    fn started(&mut self, table: &Program, given: &Given, value: &str) {
        match given.option.class {
            Class::Run if given.option.kind() == Some(Kind::Text) => {
                // `core.pager=program`, `exec=program`
                let after = value.split_once('=').map_or("", |(_, after)| after.trim_start_matches('!'));
                self.perhaps_code(value);
                self.perhaps_code(after);
                if table.interpreter.is_some() {
                    self.other_code(value);
                }
            }
            Class::Run if is_input(value) => {
                self.unknown_code(&format!("`{} {}` reads its input", self.said(table), given.option.name));
            }
            Class::Shell => {
                // `env -S` writes a space as `\_`, and has options of its own in the text.
                let text = value.replace("\\_", " ");
                self.guesses(&text.split_whitespace().collect::<Vec<_>>());
                self.shell_code(&text);
            }
            Class::Code if table.interpreter.is_none() => self.other_code(value),
            _ => {}
        }
    }
}

/// Whether a format of git's has signatures checked: `%G?`, also with a sign between, or `%(signature)`.
fn checks_signatures(format: &str) -> bool {
    let mut parts = format.split('%').skip(1);
    parts.any(|part| part.trim_start_matches(['+', '-', ' ']).starts_with('G'))
        || format.contains("signature")
}
