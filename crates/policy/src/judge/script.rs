//! Code of shells: which commands are in it, and where its output goes.

use super::{Judge, Place};
use crate::command::base_name;
use crate::decision::{Level, Reason, Rule};
use crate::place;
use crate::shell::{self, Head, Script, Simple};
use crate::tables::{Class, Program};

/// What is read in more than one way by different shells, or again when the code runs. Where it stands, commands are looked for in the
/// plain text, too, quoted or not.
const TRICKY: &[&str] = &[
    "$[",
    "${",
    "((",
    "()",
    "<(",
    "<<",
    ">(",
    "PS4",
    "[ -v",
    "[[",
    "\\\n",
    "\r",
    "`",
    "alias",
    "case",
    "compgen",
    "complete",
    "coproc",
    "declare",
    "enable",
    "export",
    "function",
    "hash",
    "let ",
    "local",
    "mapfile",
    "read ",
    "readarray",
    "readonly",
    "shopt",
    "test -v",
    "trap",
    "typeset",
    "unset",
];

/// Where options may be put into variables, so that a quoted variable may be one.
const OPTIONS_IN_VARIABLES: &[&str] = &["=-", "='-", "=\"-", "(-", "('-", "(\"-", "set -"];

impl Judge<'_> {
    /// Code of a shell. Only what is refused counts: that there is code is a reason of its own.
    pub(super) fn shell_code(&mut self, text: &str) {
        let cwd = self.cwd.clone();
        self.shell_code_here(text);
        self.cwd = cwd;
    }

    /// The same, for code that changes the folder of what comes after it.
    fn shell_code_here(&mut self, text: &str) {
        if !self.enter(1 + text.len() / 16) {
            return;
        }
        let is_refusal = |reason: &Reason| reason.level == Level::L2;
        self.keeping(is_refusal, |judge| judge.shell_script(text));
        self.depth -= 1;
    }

    fn shell_script(&mut self, text: &str) {
        if is_fork_bomb(text) {
            self.add(Rule::Destructive, Level::L2, "the code starts itself without end");
        }
        if TRICKY.iter().any(|words| text.contains(words)) {
            self.guesses_in(text);
        }
        let script = shell::read(text);
        for nested in &script.nested {
            self.shell_code(nested);
        }
        if script.is_unclear {
            self.unknown_code(
                "the code cannot be read with certainty: quotes, parentheses or a here-document do not end",
            );
        }
        let hides_options = OPTIONS_IN_VARIABLES.iter().any(|words| text.contains(words));
        self.commands(&script, hides_options);
    }

    fn commands(&mut self, script: &Script, hides_options: bool) {
        let mut downloads = false;
        // Words of commands that download, and files that they write: one of them may be run later.
        let mut downloaded: Vec<&str> = Vec::new();
        for simple in &script.commands {
            downloads &= simple.is_piped;
            let is_run = |word: &String| downloaded.iter().any(|other| base_name(other) == base_name(word));
            if self.runs_code(simple) && simple.words.iter().skip(1).any(is_run) {
                self.add(Rule::DownloadRun, Level::L2, "what is downloaded is run");
            }
            for path in simple.writes.iter().filter(|path| *path != "/dev/null") {
                self.class(Class::Write, format!("the code writes {path:?}"));
                self.target(path);
            }
            let first = self.found.len();
            self.simple_command(simple, script, hides_options);
            let runs_input = self.found.iter().skip(first).any(|reason| reason.rule == Rule::UnknownCode);
            if downloads && (runs_input || self.runs_code(simple)) {
                self.add(Rule::DownloadRun, Level::L2, "what is downloaded is run");
            }
            downloads |= self.downloads(simple);
            if downloads {
                let words = simple.words.iter().skip(1).filter(|word| !word.starts_with('-'));
                downloaded.extend(words.chain(&simple.writes).map(String::as_str));
            }
        }
    }

    fn simple_command(&mut self, simple: &Simple, script: &Script, hides_options: bool) {
        if let Some(folder) = shell::changes_folder(&simple.words) {
            self.cwd = place::resolve(&self.cwd, folder.as_ref());
        }
        for value in shell::values(&simple.words) {
            self.perhaps_code(value);
        }
        match shell::head(&simple.words) {
            Head::Nothing => {}
            Head::Unknown if simple.is_pattern => {}
            Head::Unknown => self.unknown_code("which command runs is not known before the code runs"),
            Head::Code(code) => self.shell_code_here(&code),
            Head::Program([program, args @ ..]) => {
                let args: Vec<String> = args
                    .iter()
                    .map(|arg| if hides_options { shell::unquoted(arg) } else { arg.clone() })
                    .collect();
                let args: Vec<&str> = args.iter().map(String::as_str).collect();
                // What a function of this name does is judged where it is defined; it may be gone when the name is used.
                match simple.is_pattern || script.functions.contains(program) {
                    true => self.guess(program, &args),
                    false => self.command(
                        program,
                        &args,
                        Place { is_code: true, is_wrapped: true, ..Place::default() },
                    ),
                }
            }
            Head::Program([]) => {}
        }
    }

    fn downloads(&self, simple: &Simple) -> bool {
        self.effects_of(simple).is_some_and(|(table, _)| table.effects.contains(&Class::Network))
    }

    /// Whether a command runs what it is given: an interpreter, or a program that starts others and is no pager.
    fn runs_code(&self, simple: &Simple) -> bool {
        let has = |table: &Program, class: Class| table.effects.contains(&class);
        let runs = |table: &Program| {
            has(table, Class::Run) && (!has(table, Class::Wait) || has(table, Class::Write))
        };
        self.effects_of(simple)
            .is_some_and(|(table, is_wrapper)| table.interpreter.is_some() || (runs(table) && !is_wrapper))
    }

    /// The table of the program that a command runs, and whether it is a wrapper.
    fn effects_of(&self, simple: &Simple) -> Option<(&'static Program, bool)> {
        let Head::Program([program, ..]) = shell::head(&simple.words) else { return None };
        let table = self.table_of(base_name(program))?;
        Some((table, table.operands.iter().any(|role| role.starts_a_command())))
    }
}

/// Whether a function starts itself twice: `:(){ :|:& };:`
fn is_fork_bomb(text: &str) -> bool {
    let dense: String = text.chars().filter(|letter| !letter.is_whitespace()).collect();
    dense.split_once("(){").is_some_and(|(before, body)| {
        let name = before.rsplit([';', '&', '|']).next().unwrap_or_default();
        !name.is_empty() && body.starts_with(&format!("{name}|{name}&"))
    })
}
