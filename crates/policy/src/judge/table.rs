//! A program by its table: subcommands, effects, and forms that only read.

use super::{Judge, Place};
use crate::decision::{Level, Rule};
use crate::options::Parsed;
use crate::rules::UserDecision;
use crate::shell::{has_expansion, is_bare_expansion};
use crate::tables::{Class, Grammar, Kind, Program};

impl Judge<'_> {
    /// Arguments of a program that has a table.
    pub(super) fn table(&mut self, table: &'static Program, args: &[&str], place: Place<'_>) {
        if place.has_unseen_args && matches!(table.grammar, Grammar::Find | Grammar::Dd) {
            self.unknown_code(&format!("what `{}` does is not known yet", self.said(table)));
        }
        match table.grammar {
            Grammar::Find => self.find(table, args, place),
            Grammar::Dd => self.dd(table, args),
            Grammar::Ps => self.ps(table, args, place),
            Grammar::Tar => self.tar(table, args, place),
            Grammar::Sed => self.sed(table, args, place),
            Grammar::Words => {
                self.add(Rule::Harmless, Level::L0, format!("`{}` {}", self.said(table), table.does))
            }
            Grammar::Getopt if table.has_subcommands => self.with_subcommand(table, args, place),
            Grammar::Getopt => self.form(table, args, table.options_end, place),
        }
    }

    /// A program whose first operand is a subcommand.
    fn with_subcommand(&mut self, table: &'static Program, args: &[&str], place: Place<'_>) {
        let parsed = Parsed::read(table, args, true);
        // What stands behind `--` is an operand.
        let is_word = parsed.rest.is_some_and(|rest| rest == 0 || args.get(rest - 1) != Some(&"--"));
        let word = parsed
            .rest
            .filter(|_| is_word)
            .and_then(|rest| Some((args.get(rest).copied()?, args.get(rest + 1..)?)));
        if word.is_some_and(|(word, _)| has_expansion(word) || place.hides(word)) {
            self.unknown_code(&format!("which subcommand of `{}` runs is not known yet", self.said(table)));
        }
        match word.map(|(word, rest)| (self.policy.tables.subcommand(table, word), word, rest)) {
            Some((Some(subcommand), _, rest)) => {
                let first = self.found.len();
                self.options(table, &parsed, args, place);
                self.table(subcommand, rest, place);
                self.forbidden_behind_options(&table.name, args, parsed.rest);
                if table.name == "git" {
                    self.repository(&parsed, first);
                    self.aliases(&parsed);
                }
            }
            Some((None, word, _)) if !table.has_own_form() => {
                self.options(table, &parsed, args, place);
                self.effects(table);
                let message = format!("nothing is known about `{} {word}`", self.said(table));
                self.add(Rule::UnknownSubcommand, Level::L1, message);
                self.arguments_of_unknown(args);
                if table.name == "git" {
                    self.aliases(&parsed);
                    self.within_git(&parsed.operands);
                }
            }
            word => {
                if word.is_none() && place.has_unseen_args {
                    self.unknown_code(&format!("what `{}` does is not known yet", self.said(table)));
                }
                self.form(table, args, table.options_end, place);
            }
        }
    }

    /// Rules of the user that ask or deny, and name a subcommand: options in front of it do not hide it.
    fn forbidden_behind_options(&mut self, program: &str, args: &[&str], rest: Option<usize>) {
        let words = rest.filter(|rest| *rest > 0).and_then(|rest| args.get(rest..));
        let rule = words.and_then(|words| self.policy.rules.strictest(program, words));
        match rule.map(|rule| (rule.decision, format!("your rule {rule}"))) {
            Some((UserDecision::Deny, told)) => {
                self.add(Rule::RuleDeny, Level::L2, format!("{told} forbids it"))
            }
            Some((UserDecision::Ask, told)) => {
                self.add(Rule::RuleAsk, Level::L1, format!("{told} wants your agreement"))
            }
            _ => {}
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
        self.options(table, parsed, args, place);
        self.effects(table);
        self.together(table, parsed);
        match table.interpreter {
            Some(interpreter) => self.interpreter(table, interpreter, parsed, args, place),
            None => self.operands_or_command(table, parsed, place),
        }
        for words in &parsed.commands {
            let Some((program, args)) = words.split_first() else { continue };
            let place = Place { is_wrapped: true, marker: "{", ..place };
            self.command(program, args, place);
            // What is found may be below each of the operands.
            for path in &parsed.operands {
                let args: Vec<&str> = args.iter().chain([path]).copied().collect();
                self.keeping(
                    |reason| reason.rule == Rule::SystemPath,
                    |judge| judge.command(program, &args, place),
                );
            }
        }
        self.needs(table, parsed);
        self.harmless_since(first, table);
    }

    /// Says that a program only reads, if nothing else was found.
    pub(super) fn harmless_since(&mut self, first: usize, table: &Program) {
        if self.found.len() == first && table.can_be_harmless() {
            self.add(Rule::Harmless, Level::L0, format!("`{}` {}", self.said(table), table.does));
        }
    }

    fn operands_or_command(&mut self, table: &Program, parsed: &Parsed<'_>, place: Place<'_>) {
        let roles = table.roles(|name| parsed.has(name));
        match roles.iter().any(|role| role.starts_a_command()) {
            true => self.wrapped(table, roles, parsed, place),
            false => self.operands(table, roles, parsed, place),
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
            Class::Variables => (Rule::Assignment, Level::L1),
        };
        let because = match (rule, level) {
            (Rule::Write, Level::L2) => ", and `allow_write` is false",
            (Rule::Network, Level::L2) => ", and `allow_network` is false",
            (Rule::Privilege, Level::L2) => ", and `allow_sudo` is false",
            _ => "",
        };
        self.add(rule, level, format!("{message}{because}"));
        if class == Class::Write && self.is_of_system(&self.cwd) {
            let message =
                format!("it may write into its folder, {:?}, which belongs to the system", self.cwd);
            self.add(Rule::SystemPath, Level::L2, message);
        }
    }

    pub(super) fn effects(&mut self, table: &Program) {
        for effect in &table.effects {
            self.class(*effect, format!("`{}` {}", self.said(table), effect.sentence()));
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
                self.said(table)
            );
            self.unknown_code(&message);
        }
        if !groups.is_empty() && groups.iter().all(|group| parsed.has_any(group)) {
            let names =
                groups.iter().filter_map(|group| group.first()).cloned().collect::<Vec<_>>().join(" ");
            let message = format!("`{} {names}` destroys what cannot be brought back", self.said(table));
            self.add(Rule::Destructive, Level::L2, message);
        }
    }

    pub(super) fn needs(&mut self, table: &Program, parsed: &Parsed) {
        if !table.needs.is_empty() && !parsed.has_any(&table.needs) {
            let message =
                format!("`{}` runs by itself only with {}", self.said(table), table.needs.join(" or "));
            self.add(Rule::Form, Level::L1, message);
            self.otherwise(table, parsed);
        }
    }

    /// What a program does in a form that does not only read.
    pub(super) fn otherwise(&mut self, table: &Program, parsed: &Parsed) {
        let Some(class) = table.otherwise else { return };
        self.class(class, format!("`{}` in this form {}", self.said(table), class.sentence()));
        let paths = parsed.options.iter().filter(|given| given.option.kind() == Some(Kind::Path));
        paths.filter_map(|given| given.value).for_each(|path| self.target(path));
        // A setting may be a command that is run later.
        parsed.operands.iter().for_each(|operand| self.perhaps_code(operand.trim_start_matches('!')));
        if table.name == "git config" && parsed.has("--system") {
            self.target("/etc/gitconfig");
        }
    }
}
