//! Options and operands of a program, by its table.

use super::{Judge, Place};
use crate::decision::{Level, Rule};
use crate::options::{Given, Parsed};
use crate::place;
use crate::shell::{has_expansion, is_assignment, is_bare_expansion, is_input};
use crate::tables::{Class, Grammar, Kind, Program, Role, Takes};

/// Variables that change how something is printed, and nothing else.
const HARMLESS_VARIABLES: &[&str] =
    &["CLICOLOR", "COLUMNS", "FORCE_COLOR", "LANG", "LANGUAGE", "LINES", "NO_COLOR", "RUST_BACKTRACE", "TZ"];

/// Options of `xargs` that say what stands for its input.
const REPLACERS: &[&str] = &["-I", "-i", "--replace", "-J"];

/// Words that mean something to a shell only.
const OPERATORS: &[&str] = &[
    "&", "&&", "&>", "&>>", "1>", "2>", "2>&1", "2>>", ";", "<", "<<", "<<<", ">", ">&2", ">>", ">|", "|",
    "|&", "||",
];

impl Judge<'_> {
    /// Arguments of a program that has a table.
    pub(super) fn table(&mut self, table: &'static Program, args: &[&str], place: Place<'_>) {
        match table.grammar {
            Grammar::Find => self.find(table, args, place),
            Grammar::Dd => self.dd(table, args),
            Grammar::Ps => self.ps(table, args),
            Grammar::Tar => self.tar(table, args, place),
            Grammar::Sed => self.sed(table, args),
            Grammar::Words => self.add(Rule::Harmless, Level::L0, format!("`{}` {}", table.name, table.does)),
            Grammar::Getopt if table.has_subcommands => self.with_subcommand(table, args, place),
            Grammar::Getopt => self.form(table, args, table.options_end, place),
        }
    }

    /// A program whose first operand is a subcommand.
    fn with_subcommand(&mut self, table: &'static Program, args: &[&str], place: Place<'_>) {
        let parsed = Parsed::read(table, args, true);
        let word = parsed.rest.and_then(|rest| Some((args.get(rest).copied()?, args.get(rest + 1..)?)));
        if word.is_some_and(|(word, _)| has_expansion(word)) {
            self.unknown_code(&format!("which subcommand of `{}` runs is not known yet", table.name));
        }
        match word.map(|(word, rest)| (self.policy.tables.subcommand(table, word), word, rest)) {
            Some((Some(subcommand), _, rest)) => {
                let first = self.found.len();
                self.options(table, &parsed, args);
                self.table(subcommand, rest, place);
                if table.name == "git" {
                    self.repository(&parsed, first);
                }
            }
            Some((None, word, _)) if !table.has_own_form() => {
                self.options(table, &parsed, args);
                self.effects(table);
                let message = format!("nothing is known about `{} {word}`", table.name);
                self.add(Rule::UnknownSubcommand, Level::L1, message);
                self.arguments_of_unknown(args);
            }
            _ => self.form(table, args, table.options_end, place),
        }
    }

    /// A program, or a subcommand, that has a form of its own.
    pub(super) fn form(
        &mut self,
        table: &'static Program,
        args: &[&str],
        options_end: bool,
        place: Place<'_>,
    ) {
        let parsed = Parsed::read(table, args, options_end);
        self.parsed(table, &parsed, args, place);
    }

    /// Arguments that are read.
    pub(super) fn parsed(
        &mut self,
        table: &'static Program,
        parsed: &Parsed<'_>,
        args: &[&str],
        place: Place<'_>,
    ) {
        let first = self.found.len();
        self.options(table, parsed, args);
        self.effects(table);
        self.together(table, parsed);
        match table.interpreter {
            Some(interpreter) => self.interpreter(table, interpreter, parsed, args, place),
            None => self.operands(table, parsed, place),
        }
        for words in &parsed.commands {
            if let [program, args @ ..] = words.as_slice() {
                self.command(program, args, Place { is_wrapped: true, marker: "{", ..place });
            }
        }
        self.needs(table, parsed);
        if self.found.len() == first && table.can_be_harmless() {
            self.add(Rule::Harmless, Level::L0, format!("`{}` {}", table.name, table.does));
        }
    }

    /// What holds for a program, or an option, of a class.
    pub(super) fn class(&mut self, class: Class, message: String) {
        let permissions = &self.policy.permissions;
        let asked_if = |is_allowed: bool| if is_allowed { Level::L1 } else { Level::L2 };
        let (rule, level) = match class {
            Class::Safe => return,
            Class::Write => (Rule::Write, asked_if(permissions.allow_write)),
            Class::Network => (Rule::Network, asked_if(permissions.allow_network)),
            Class::Privilege => (Rule::Privilege, asked_if(permissions.allow_sudo)),
            Class::Destroy => (Rule::Destructive, Level::L2),
            Class::Foreign => (Rule::ForeignShell, Level::L2),
            Class::Run | Class::Shell => (Rule::Run, Level::L1),
            Class::Code => (Rule::Interpreter, Level::L1),
            Class::Wait => (Rule::Wait, Level::L1),
            Class::Environment => (Rule::Environment, Level::L1),
            Class::Links => (Rule::Links, Level::L1),
            Class::Unseen => (Rule::Unseen, Level::L1),
            Class::System => (Rule::System, Level::L1),
        };
        let because = match (rule, level) {
            (Rule::Write, Level::L2) => ", and `allow_write` is false",
            (Rule::Network, Level::L2) => ", and `allow_network` is false",
            (Rule::Privilege, Level::L2) => ", and `allow_sudo` is false",
            _ => "",
        };
        self.add(rule, level, format!("{message}{because}"));
    }

    fn effects(&mut self, table: &Program) {
        for effect in &table.effects {
            self.class(*effect, format!("`{}` {}", table.name, effect.sentence()));
        }
    }

    fn together(&mut self, table: &Program, parsed: &Parsed) {
        let groups = &table.refuse_together;
        let may_destroy =
            !groups.is_empty() || table.options.iter().any(|option| option.class == Class::Destroy);
        let is_open = |word: &&str| is_bare_expansion(word) || (word.starts_with('-') && has_expansion(word));
        if may_destroy && parsed.operands.iter().chain(&parsed.unknown).any(is_open) {
            let message = format!(
                "`{}` gets a variable that is not quoted: it may be an option that destroys",
                table.name
            );
            self.unknown_code(&message);
        }
        if !groups.is_empty() && groups.iter().all(|group| parsed.has_any(group)) {
            let names =
                groups.iter().filter_map(|group| group.first()).cloned().collect::<Vec<_>>().join(" ");
            let message = format!("`{} {names}` destroys what cannot be brought back", table.name);
            self.add(Rule::Destructive, Level::L2, message);
        }
    }

    fn needs(&mut self, table: &Program, parsed: &Parsed) {
        if !table.needs.is_empty() && !parsed.has_any(&table.needs) {
            let message = format!("`{}` runs by itself only with {}", table.name, table.needs.join(" or "));
            self.add(Rule::Form, Level::L1, message);
            self.otherwise(table, parsed);
        }
    }

    /// What a program does in a form that does not only read.
    fn otherwise(&mut self, table: &Program, parsed: &Parsed) {
        let Some(class) = table.otherwise else { return };
        self.class(class, format!("`{}` in this form {}", table.name, class.sentence()));
        let paths = parsed.options.iter().filter(|given| given.option.takes == Takes::Value(Kind::Path));
        paths.filter_map(|given| given.value).for_each(|path| self.target(path));
        if table.name == "git config" && parsed.has("--system") {
            self.target("/etc/gitconfig");
        }
    }

    pub(super) fn options(&mut self, table: &'static Program, parsed: &Parsed, args: &[&str]) {
        for given in &parsed.options {
            self.option(table, given);
        }
        for unknown in &parsed.unknown {
            let message = format!("`{}`: nothing is known about the option {unknown:?}", table.name);
            self.add(Rule::UnknownOption, Level::L1, message);
        }
        let starts = table.effects.iter().any(|effect| matches!(effect, Class::Run | Class::Wait));
        let has_operator = !table.effects.is_empty() && args.iter().any(|arg| OPERATORS.contains(arg));
        if !parsed.unknown.is_empty() || starts || has_operator {
            self.arguments_of_unknown(args);
        }
    }

    pub(super) fn option(&mut self, table: &Program, given: &Given) {
        let Given { option, value } = given;
        let is_text = matches!(option.takes, Takes::Value(Kind::Text) | Takes::Attached(Kind::Text));
        let is_pretty =
            option.takes == Takes::Value(Kind::Pretty) || option.takes == Takes::Attached(Kind::Pretty);
        if option.class != Class::Safe && !(option.class == Class::Code && table.interpreter.is_some()) {
            self.class(option.class, format!("`{} {}` {}", table.name, option.name, option.class.sentence()));
        }
        let Some(value) = value else { return };
        match option.class {
            Class::Run if is_text => {
                // `core.pager=program`, `exec=program`
                let after = value.split_once('=').map_or("", |(_, after)| after.trim_start_matches('!'));
                self.perhaps_code(value);
                self.perhaps_code(after);
                if table.interpreter.is_some() {
                    self.other_code(value);
                }
            }
            Class::Run if is_input(value) => {
                self.unknown_code(&format!("`{} {}` reads its input", table.name, option.name))
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
        match option.takes {
            Takes::Nothing => {}
            Takes::Value(Kind::Path) | Takes::Attached(Kind::Path) => match option.class {
                Class::Write => self.target(value),
                _ => self.read(value),
            },
            Takes::Value(Kind::Glob) | Takes::Attached(Kind::Glob) => self.glob(value),
            Takes::Value(Kind::Lines) | Takes::Attached(Kind::Lines) => {
                self.read(value.rsplit(':').next().unwrap_or_default());
            }
            Takes::Value(Kind::Text | Kind::Pretty | Kind::Command) | Takes::Attached(_) => {
                if is_pretty && (value.contains("%G") || value.contains("signature")) {
                    self.class(
                        Class::Run,
                        format!("the format {value:?} has signatures checked by another program"),
                    );
                }
            }
        }
        if table.chdir.contains(&option.name) {
            self.cwd = place::resolve(&self.cwd, value.as_ref());
        }
    }

    /// The operands, by their roles.
    fn operands(&mut self, table: &'static Program, parsed: &Parsed<'_>, place: Place<'_>) {
        let roles = table.roles(|name| parsed.has(name));
        if roles.contains(&Role::Command) || roles.contains(&Role::ShellWords) {
            return self.wrapped(table, roles, parsed, place);
        }
        for (at, operand) in parsed.operands.iter().enumerate() {
            self.operand(table, role_at(roles, at, parsed.operands.len()), operand);
        }
        let is_expected = |at: usize| role_at(roles, at, parsed.operands.len()).is_some();
        if !(0..parsed.operands.len()).all(is_expected) {
            self.otherwise(table, parsed);
        }
        let is_no_text = |at: usize| !matches!(role_at(roles, at, parsed.operands.len()), Some(Role::Text));
        let operators = parsed
            .operands
            .iter()
            .enumerate()
            .filter(|(at, word)| is_no_text(*at) && OPERATORS.contains(word));
        if operators.count() > 0 {
            self.no_shell(&parsed.operands);
        }
    }

    pub(super) fn operand(&mut self, table: &Program, role: Option<Role>, operand: &str) {
        match role {
            None => {
                let message = format!("`{}`: nothing is known about the operand {operand:?}", table.name);
                self.add(Rule::UnknownOperand, Level::L1, message);
                self.perhaps_path(operand);
            }
            Some(Role::Path) => self.read(operand),
            Some(Role::File) => {
                self.read(operand);
                if place::resolve(&self.cwd, operand.as_ref()).is_dir() {
                    self.class(
                        Class::Links,
                        format!("`{}` {}, of the folder {operand:?}", table.name, Class::Links.sentence()),
                    );
                }
            }
            Some(Role::Target) => {
                if table.can_be_harmless() {
                    self.class(Class::Write, format!("`{}` writes {operand:?}", table.name));
                }
                self.target(operand);
            }
            Some(Role::Plus) if !operand.starts_with('+') => {
                self.class(Class::System, format!("`{} {operand}` changes the system", table.name));
            }
            Some(Role::Rev) => self.revision(operand),
            Some(_) if operand.starts_with("ext::") => {
                self.class(Class::Run, format!("{operand:?} has git start a program"));
                self.perhaps_code(operand.trim_start_matches("ext::"));
            }
            Some(_) => {}
        }
    }

    /// A wrapper: what comes after its own operands is another command.
    fn wrapped(&mut self, table: &'static Program, roles: &[Role], parsed: &Parsed, place: Place<'_>) {
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
            self.unknown_code(&format!("which command `{}` starts is not known yet", table.name));
        } else if let Some(alone) = table.alone {
            self.class(alone, format!("`{}` alone {}", table.name, alone.sentence()));
        }
    }

    /// Assignments in front of a command; what comes after them.
    fn assignments<'a, 'b>(&mut self, operands: &'b [&'a str]) -> &'b [&'a str] {
        let count = operands.iter().take_while(|word| **word == "-" || word.contains('=')).count();
        let (assignments, rest) = operands.split_at(count);
        for assignment in assignments.iter().filter(|word| **word != "-") {
            let (name, value) = assignment.split_once('=').unwrap_or((assignment, ""));
            let is_harmless = HARMLESS_VARIABLES.contains(&name) || name.starts_with("LC_");
            let may_be_path =
                value.contains("..") || value.starts_with('/') || (name != "TZ" && value.contains('/'));
            let is_plain = !may_be_path
                && value.chars().all(|letter| letter.is_ascii_alphanumeric() || "_.@+-/".contains(letter));
            if !(is_harmless && is_plain && is_assignment(assignment)) {
                let message = format!("the variable {name:?} may change what is loaded or run");
                self.add(Rule::Assignment, Level::L1, message);
            }
        }
        rest
    }

    /// Words that look as if a shell were to read them.
    pub(super) fn no_shell(&mut self, words: &[&str]) {
        let Some(at) = words.iter().position(|word| OPERATORS.contains(word)) else { return };
        let operator = words.get(at).copied().unwrap_or_default();
        let message = format!("there is no shell: {operator:?} would be given to the program as it stands");
        self.add(Rule::ShellSyntax, Level::L1, message);
    }
}

impl<'m> Place<'m> {
    /// The place of a command that this wrapper starts.
    fn within(self, table: &Program, parsed: &Parsed<'m>) -> Place<'m> {
        let is_unseen = table.effects.contains(&Class::Unseen);
        let mut replaced =
            parsed.options.iter().filter(|given| REPLACERS.contains(&given.option.name.as_str()));
        let marker = replaced
            .rfind(|given| given.value.is_some())
            .and_then(|given| given.value)
            .filter(|marker| !marker.is_empty());
        let marker = if is_unseen { marker.unwrap_or("{}") } else { self.marker };
        Place { is_wrapped: true, has_unseen_args: self.has_unseen_args || is_unseen, marker, ..self }
    }
}

/// The role of an operand among `count`.
pub fn role_at(roles: &[Role], at: usize, count: usize) -> Option<Role> {
    let Some(repeated) = roles.iter().position(|role| role.repeats()) else { return roles.get(at).copied() };
    let after = roles.len() - repeated - 1;
    if at + after >= count {
        return roles.get(repeated + 1 + (at + after - count)).copied();
    }
    if at < repeated {
        return roles.get(at).copied();
    }
    roles.get(repeated).map(|role| match role {
        Role::Texts => Role::Text,
        Role::Paths => Role::Path,
        Role::Targets => Role::Target,
        Role::Revs => Role::Rev,
        other => *other,
    })
}
