//! Commands that may stand among the arguments of a program of which too little is known, or in code that cannot be read.

use super::{Judge, Place};
use crate::command::base_name;
use crate::decision::{Level, Reason, Rule};
use crate::tables::Program;

/// Options of many programs that name a file or a folder that is written.
const OUTPUTS: &[&str] = &[
    "--dest",
    "--out",
    "--out-dir",
    "--outDir",
    "--output",
    "--output-dir",
    "--prefix",
    "--root",
    "--target-dir",
    "-B",
    "-MF",
    "-O",
    "-o",
    "-out",
];

/// Options of many programs with which they change the files that they are given.
const IN_PLACE: &[&str] = &["--fix", "--in-place", "--inplace", "--write", "-i", "-w"];

impl Judge<'_> {
    /// Arguments of a program of which too little is known: each may begin a command, be a line for a shell, or a path.
    pub(super) fn arguments_of_unknown(&mut self, args: &[&str]) {
        if self.is_guessing {
            return;
        }
        self.guesses(args);
        self.outputs(args);
        for arg in args {
            self.perhaps_path(arg);
            let value = arg
                .split_once('=')
                .map_or(*arg, |(_, value)| value)
                .trim_start_matches(['+', '!', ':', '|', '$']);
            if value.contains(['(', ',']) {
                self.guesses_in(value);
            }
            if value.contains(|letter: char| letter.is_whitespace() || ";|&`$<>".contains(letter)) {
                self.perhaps_code(value);
            }
        }
        self.no_shell(args);
    }

    /// Files that a program may write: those of options for outputs, and all files if they are changed in place. Only those of the system
    /// count.
    fn outputs(&mut self, args: &[&str]) {
        let behind = args
            .iter()
            .zip(args.iter().skip(1))
            .filter(|(arg, _)| OUTPUTS.contains(arg))
            .map(|(_, file)| *file);
        let attached = args.iter().filter_map(|arg| {
            let value =
                arg.split_once('=').filter(|(name, _)| OUTPUTS.contains(name)).map(|(_, value)| value);
            value.or_else(|| arg.strip_prefix("-o"))
        });
        let in_place = args.iter().any(|arg| IN_PLACE.contains(arg));
        let changed = args.iter().copied().filter(|_| in_place);
        let files: Vec<&str> = behind.chain(attached).chain(changed).collect();
        let is_of_system = |reason: &Reason| reason.rule == Rule::SystemPath;
        self.keeping(is_of_system, |judge| files.iter().for_each(|file| judge.target(file)));
    }

    /// A text that may be a line for a shell.
    pub(super) fn perhaps_code(&mut self, text: &str) {
        self.keeping(is_certain, |judge| judge.shell_code(text));
    }

    /// Judges each word with those after it as a command. Only what would certainly be refused counts.
    pub(super) fn guesses(&mut self, words: &[&str]) {
        for (at, word) in words.iter().enumerate() {
            if self.work == 0 {
                return;
            }
            let rest = words.get(at + 1..).unwrap_or_default();
            self.guess(word, rest);
            if let Some((_, value)) = word.split_once('=') {
                self.guess(value, rest);
            }
        }
    }

    /// Looks for commands in a piece of code, wherever they stand in it: a second look, which does not depend on how the code is read.
    pub(super) fn guesses_in(&mut self, text: &str) {
        let counts = |reason: &Reason| is_certain(reason) && reason.rule != Rule::ShellReached;
        for piece in text.split([';', '|', '&', '\n', '(', ')', '`', '{', '}']) {
            self.keeping(counts, |judge| judge.guesses(&words(piece)));
        }
    }

    /// Judges words as a command, which they may not be.
    pub(super) fn guess(&mut self, program: &str, args: &[&str]) {
        let table = self.table_of(base_name(program));
        if table.is_none() && !self.policy.rules.names(program) {
            return;
        }
        let place = Place { is_guess: true, is_wrapped: true, ..Place::default() };
        let of_shell = table.is_some_and(Program::is_shell);
        let counts = |reason: &Reason| is_certain(reason) || (of_shell && reason.level == Level::L2);
        let was_guessing = std::mem::replace(&mut self.is_guessing, true);
        self.keeping(counts, |judge| judge.command(program, args, place));
        if args.contains(&"--") {
            let args: Vec<&str> = args.iter().copied().filter(|arg| *arg != "--").collect();
            self.keeping(counts, |judge| judge.command(program, &args, place));
        }
        self.is_guessing = was_guessing;
    }
}

/// Whether a reason refuses what may be no command at all: names that are not allowed are everywhere, and so are those of interpreters.
fn is_certain(reason: &Reason) -> bool {
    let may_be_a_word = matches!(reason.rule, Rule::NotAllowed | Rule::InvalidProgram | Rule::UnknownCode);
    reason.level == Level::L2 && !may_be_a_word
}

/// The words in code: names, paths, options.
pub fn words(code: &str) -> Vec<&str> {
    let is_of_word = |letter: char| letter.is_alphanumeric() || "_-./~:=+@%".contains(letter);
    code.split(|letter| !is_of_word(letter)).filter(|word| !word.is_empty()).collect()
}
