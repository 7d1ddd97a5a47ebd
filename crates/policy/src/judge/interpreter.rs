//! Programs that run code: where the code is, and whether anybody can see it.

use super::{Judge, Place, awk};
use crate::decision::{Level, Rule};
use crate::options::Parsed;
use crate::shell::{has_expansion, is_input};
use crate::tables::{Class, Interpreter, Program, Takes};

/// Modules of Python that read code.
const INTERACTIVE_MODULES: &[&str] = &["IPython", "asyncio", "bpython", "code", "idlelib", "ptpython"];

impl Judge<'_> {
    /// A program that runs code.
    pub(super) fn interpreter(
        &mut self,
        table: &'static Program,
        kind: Interpreter,
        parsed: &Parsed,
        args: &[&str],
        place: Place<'_>,
    ) {
        self.add(Rule::Interpreter, Level::L1, format!("`{}` runs code", self.said(table)));
        let (codes, operands) = codes(table, kind, parsed);
        let of_shell = table.is_shell();
        for code in &codes {
            self.code(code, of_shell, place);
            match kind {
                Interpreter::Awk => self.awk(code),
                Interpreter::OtherShell => self.other_code(code),
                Interpreter::Shell | Interpreter::Code | Interpreter::Operand => {}
            }
        }
        if of_shell && place.is_wrapped && !codes.is_empty() {
            let message = format!("code reaches `{}` through another program", self.said(table));
            self.add(Rule::ShellReached, Level::L2, message);
        }
        // `+x` is an option of shells.
        let mut files = operands.iter().filter(|operand| !of_shell || !operand.starts_with('+'));
        let script = files.next().filter(|_| codes.is_empty());
        self.script(table, script.copied(), &codes, parsed, place);
        if parsed.options.iter().any(|given| given.option.class == Class::Write) {
            operands.iter().for_each(|file| self.target(file));
        }
        if parsed.options.iter().any(|given| given.option.class == Class::Run) {
            operands.iter().for_each(|argument| self.other_code(argument));
        }
        let others: Vec<&str> = args.iter().copied().filter(|arg| !codes.contains(arg)).collect();
        self.arguments_of_unknown(&others);
    }

    fn code(&mut self, code: &str, of_shell: bool, place: Place<'_>) {
        if place.hides(code) || (!of_shell && has_expansion(code)) {
            self.unknown_code("there is something in the code that is not known yet");
        }
        if of_shell { self.shell_code(code) } else { self.other_code(code) }
    }

    /// What a program of awk runs and writes.
    fn awk(&mut self, program: &str) {
        for effect in awk::effects(program) {
            match effect {
                awk::Effect::Runs(line) => {
                    self.class(Class::Run, format!("the program of `awk` runs {line:?}"));
                    self.shell_code(&line);
                }
                awk::Effect::RunsUnknown => {
                    self.unknown_code("what the program of `awk` runs is not known yet")
                }
                awk::Effect::Writes(file) => {
                    self.class(Class::Write, format!("the program of `awk` writes {file:?}"));
                    self.target(&file);
                }
            }
        }
    }

    /// The file that holds the code; without one, it comes from the standard input.
    fn script(
        &mut self,
        table: &Program,
        script: Option<&str>,
        codes: &[&str],
        parsed: &Parsed,
        place: Place<'_>,
    ) {
        let given = |class: Class| parsed.options.iter().any(|given| given.option.class == class);
        let is_elsewhere = parsed.has_any(&table.code_from);
        let reads_input = parsed.values(&["-m"]).any(|module| INTERACTIVE_MODULES.contains(&module));
        // `--help` and the like, which read nothing.
        let mut names = parsed.options.iter().map(|given| given.option.name.as_str());
        let only_tells =
            !parsed.options.is_empty() && names.all(|name| table.tells.iter().any(|tells| tells == name));
        match script {
            _ if reads_input || given(Class::Unseen) && table.is_shell() => {
                self.unknown_code(&format!("`{}` reads its code from the standard input", self.said(table)));
            }
            Some(script) if is_input(script) || has_expansion(script) || place.hides(script) => {
                self.unknown_code(&format!("nobody knows yet which code `{}` runs", self.said(table)));
            }
            Some(script) => self.read(script),
            None if place.has_unseen_args
                && !matches!(table.interpreter, Some(Interpreter::Operand | Interpreter::Awk)) =>
            {
                self.unknown_code(&format!("what `{}` runs is not known yet", self.said(table)));
            }
            None if codes.is_empty() && !is_elsewhere && !only_tells => {
                self.unknown_code(&format!("`{}` reads its code from the standard input", self.said(table)));
            }
            None => {}
        }
    }

    pub(super) fn unknown_code(&mut self, message: &str) {
        self.add(Rule::UnknownCode, Level::L2, message);
    }
}

/// The code among the arguments of an interpreter, and the operands that are left.
fn codes<'a>(table: &Program, kind: Interpreter, parsed: &'a Parsed<'a>) -> (Vec<&'a str>, &'a [&'a str]) {
    let code_options = || parsed.options.iter().filter(|given| given.option.class == Class::Code);
    let mut codes: Vec<&str> = code_options().filter_map(|given| given.value).collect();
    let is_flag = code_options().any(|given| given.option.takes == Takes::Nothing);
    // `sh -oc NAME CODE`: the value of -o stands in front of the code.
    if table.is_shell() && parsed.values(&["-o", "-O"]).any(|value| value.contains('c')) {
        codes.extend(&parsed.operands);
        return (codes, &[]);
    }
    let is_operand = matches!(kind, Interpreter::Operand | Interpreter::Awk)
        && !table.operands_with.iter().any(|(names, _)| parsed.has_any(names));
    let operands = parsed.operands.as_slice();
    match operands {
        [first, rest @ ..] if is_flag || is_operand => {
            codes.push(first);
            (codes, rest)
        }
        _ => (codes, operands),
    }
}
