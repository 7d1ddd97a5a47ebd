//! What is known about programs, as data: a table for each program or subcommand, from `rules/*.toml`.
//!
//! - `spec`: an option, its class and the kind of its value; the roles of operands
//! - `load`: from TOML to tables
//! - `page`: the tables as a page for readers

mod load;
pub mod page;
mod spec;

use std::collections::HashMap;
use std::sync::LazyLock;

pub use load::TableError;
pub use spec::{Class, Kind, OptionSpec, Role, Takes, role_at};

/// The tables of all programs.
#[derive(Debug, Default)]
pub struct Tables {
    programs: Vec<Program>,
    /// From a name, or a name with its subcommands, to the place in `programs`.
    names: HashMap<String, usize>,
}

/// What is known about a program, or about a subcommand of one.
#[derive(Debug, Default)]
pub struct Program {
    /// Its name, with those of its subcommands: `git stash list`.
    pub name: String,
    /// Other names of the same.
    pub aliases: Vec<String>,
    /// What it does, to go on "`sort` …".
    pub does: String,
    /// Why not more of it runs by itself.
    pub why: String,
    /// Its options.
    pub options: Vec<OptionSpec>,
    /// What its operands are.
    pub operands: Vec<Role>,
    /// Other operands, where one of these options is given.
    pub operands_with: Vec<(Vec<String>, Vec<Role>)>,
    /// It only reads where one of these options is given.
    pub needs: Vec<String>,
    /// What it does with operands that are not expected, or without an option that it needs.
    pub otherwise: Option<Class>,
    /// What it does in whatever form.
    pub effects: Vec<Class>,
    /// Groups of options, one of each of which together are refused.
    pub refuse_together: Vec<Vec<String>>,
    /// Whether options end at the first operand.
    pub options_end: bool,
    /// What is put behind the subcommand when it is run.
    pub hardened: Vec<String>,
    /// How its arguments are written.
    pub grammar: Grammar,
    /// Whether it runs code.
    pub interpreter: Option<Interpreter>,
    /// What it does without a command to run, for wrappers.
    pub alone: Option<Class>,
    /// The options that have an interpreter tell something and end.
    pub tells: Vec<String>,
    /// The options of an interpreter that say where its code is.
    pub code_from: Vec<String>,
    /// The options that change the folder in which all else is found.
    pub chdir: Vec<String>,
    /// Whether it has subcommands with tables of their own.
    pub has_subcommands: bool,
}

/// How a program's arguments are written.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, serde::Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Grammar {
    /// As getopt reads them.
    #[default]
    Getopt,
    /// `find`: paths, then an expression.
    Find,
    /// `tar`: the first argument may be a bundle without a dash.
    Tar,
    /// `dd`: `name=value`.
    Dd,
    /// `ps`: bundles with and without a dash, which mean different things.
    Ps,
    /// `sed`: a script among the operands.
    Sed,
    /// Every argument is a text: `echo`.
    Words,
}

/// What kind of code a program runs.
#[derive(Debug, Clone, Copy, PartialEq, Eq, serde::Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Interpreter {
    /// A shell's.
    Shell,
    /// That of a shell with a syntax of its own.
    OtherShell,
    /// That of any other language.
    Code,
    /// Code that is an operand.
    Operand,
    /// A program of awk, which is an operand.
    Awk,
}

/// The rules that ship with the program.
const FILES: &[(&str, &str)] = &[
    ("files.toml", include_str!("../../rules/files.toml")),
    ("git.toml", include_str!("../../rules/git.toml")),
    ("interpreters.toml", include_str!("../../rules/interpreters.toml")),
    ("network.toml", include_str!("../../rules/network.toml")),
    ("packages.toml", include_str!("../../rules/packages.toml")),
    ("search.toml", include_str!("../../rules/search.toml")),
    ("system.toml", include_str!("../../rules/system.toml")),
    ("text.toml", include_str!("../../rules/text.toml")),
    ("wrappers.toml", include_str!("../../rules/wrappers.toml")),
];

// A test holds that the files can be read. If they could not be, no program would have a table, and nothing would run by itself.
static BUILT_IN: LazyLock<Tables> = LazyLock::new(|| Tables::parse(FILES).unwrap_or_default());

impl Tables {
    /// The tables that ship with the program.
    pub fn built_in() -> &'static Tables {
        &BUILT_IN
    }

    /// The table of a program, or of a subcommand (`git stash list`).
    pub fn get(&self, name: &str) -> Option<&Program> {
        self.programs.get(*self.names.get(name)?)
    }

    /// The table of a subcommand of a program.
    pub fn subcommand(&self, program: &Program, word: &str) -> Option<&Program> {
        if word.contains(' ') { None } else { self.get(&format!("{} {word}", program.name)) }
    }

    /// All tables, by name.
    pub fn all(&self) -> impl Iterator<Item = &Program> {
        self.programs.iter()
    }

    /// Whether some form of a program runs by itself.
    pub fn is_harmless(&self, program: &Program) -> bool {
        let begin = format!("{} ", program.name);
        let subcommands = || self.programs.iter().filter(|other| other.name.starts_with(&begin));
        match program.has_subcommands && !program.has_own_form() {
            true => subcommands().any(Program::can_be_harmless),
            false => program.can_be_harmless(),
        }
    }

    /// The names of programs some form of which runs by itself.
    pub fn harmless_names(&self) -> impl Iterator<Item = &str> {
        let programs =
            self.programs.iter().filter(|program| !program.name.contains(' ') && self.is_harmless(program));
        programs
            .flat_map(|program| std::iter::once(&program.name).chain(&program.aliases))
            .map(String::as_str)
    }
}

impl Program {
    /// Whether it runs code of a shell.
    pub fn is_shell(&self) -> bool {
        matches!(self.interpreter, Some(Interpreter::Shell | Interpreter::OtherShell))
    }

    /// Whether nothing but what is listed as harmless is known about it, so that some of it runs by itself.
    pub fn can_be_harmless(&self) -> bool {
        self.effects.is_empty() && self.interpreter.is_none()
    }

    /// Whether it does something without a subcommand.
    pub fn has_own_form(&self) -> bool {
        let has_roles = !self.operands.is_empty() || !self.operands_with.is_empty();
        has_roles || !self.needs.is_empty() || self.otherwise.is_some()
    }

    /// The option with exactly this name (`-x`, `--long`).
    pub fn option(&self, name: &str) -> Option<&OptionSpec> {
        let place = self.options.binary_search_by(|option| option.name.as_str().cmp(name)).ok()?;
        self.options.get(place)
    }

    /// The long options of which this is the beginning.
    pub fn abbreviated(&self, start: &str) -> Vec<&OptionSpec> {
        self.options
            .iter()
            .filter(|option| option.name.starts_with("--") && option.name.starts_with(start))
            .collect()
    }

    /// What the operands are, if these options are given.
    pub fn roles(&self, is_given: impl Fn(&str) -> bool) -> &[Role] {
        let other = self.operands_with.iter().find(|(names, _)| names.iter().any(|name| is_given(name)));
        other.map_or(&self.operands, |(_, roles)| roles)
    }
}
