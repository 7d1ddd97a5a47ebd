//! Code: interpreters, the text of shells and of other languages, and commands that may stand among arguments.

use super::{Judge, Place, awk, literals};
use crate::decision::{Level, Reason, Rule};
use crate::options::Parsed;
use crate::shell::{self, Head, Simple, has_expansion, is_input};
use crate::tables::{Class, Interpreter, Program, Takes};

/// Names in code that remove whole folders.
const REMOVERS: &[&str] = &["remove_tree", "rimraf", "rm_r", "rm_rf", "rmtree"];

/// Modules of Python that read code.
const INTERACTIVE_MODULES: &[&str] = &["IPython", "asyncio", "bpython", "code", "idlelib", "ptpython"];

/// Calls in code that take a line for a shell, or code.
const TAKES_CODE: &[&str] = &[
    "Function",
    "eval",
    "exec",
    "execSync",
    "getoutput",
    "getstatusoutput",
    "instance_eval",
    "passthru",
    "popen",
    "shell_exec",
    "system",
];

/// What downloads, in code.
const DOWNLOADS: &[&str] = &[
    "LWP",
    "Net::HTTP",
    "curl",
    "fetch(",
    "file_get_contents",
    "http.get",
    "https.get",
    "open-uri",
    "requests.get",
    "urlopen",
    "urlretrieve",
    "wget",
];

/// What makes code out of other text.
const DECODERS: &[&str] = &[
    "Buffer.from",
    "atob(",
    "b64decode",
    "base64_decode",
    "codecs.decode",
    "decode64",
    "decompress",
    "fromCharCode",
    "fromhex",
    "gzinflate",
    "marshal",
    "pack(",
    "str_rot13",
    "unhexlify",
];

/// What runs text.
const RUNS: &[&str] = &[
    "Function(",
    "child_process",
    "eval",
    "exec",
    "instance_eval",
    "popen",
    "spawn",
    "subprocess",
    "system",
    "vm.run",
];

/// What writes files, in code.
const WRITES: &[&str] = &[
    "\">",
    "'>",
    "\"a\"",
    "\"w\"",
    "\"wb\"",
    "'a'",
    "'w'",
    "'wb'",
    "File.write",
    "appendFile",
    "file_put_contents",
    "writeFile",
    "write_text",
];

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
        self.add(Rule::Interpreter, Level::L1, format!("`{}` runs code", table.name));
        let (codes, operands) = codes(table, kind, parsed);
        let of_shell = table.is_shell();
        for code in &codes {
            self.code(code, of_shell, place);
            match kind {
                Interpreter::Operand if table.name == "awk" => self.awk(code),
                Interpreter::OtherShell => self.other_code(code),
                Interpreter::Shell | Interpreter::Code | Interpreter::Operand => {}
            }
        }
        if of_shell && place.is_wrapped && !codes.is_empty() {
            let message = format!("code reaches `{}` through another program", table.name);
            self.add(Rule::ShellReached, Level::L2, message);
        }
        // `+x` is an option of shells.
        let script = operands
            .iter()
            .find(|operand| !of_shell || !operand.starts_with('+'))
            .filter(|_| codes.is_empty());
        self.script(table, script.copied(), &codes, parsed, place);
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
        let is_module = given(Class::Run) && !table.is_shell();
        let reads_input = parsed.options.iter().any(|given| {
            given.option.name == "-m"
                && given.value.is_some_and(|module| INTERACTIVE_MODULES.contains(&module))
        });
        // `--help` and the like, which read nothing.
        let only_tells = !parsed.options.is_empty()
            && parsed.options.iter().all(|given| {
                given.option.class == Class::Safe && TELLS.contains(&given.option.name.as_str())
            });
        match script {
            _ if reads_input || given(Class::Unseen) && table.is_shell() => {
                self.unknown_code(&format!("`{}` reads its code from the standard input", table.name));
            }
            Some(script) if is_input(script) || has_expansion(script) || place.hides(script) => {
                self.unknown_code(&format!("nobody knows yet which code `{}` runs", table.name));
            }
            Some(script) => self.read(script),
            None if place.has_unseen_args && table.interpreter != Some(Interpreter::Operand) => {
                self.unknown_code(&format!("what `{}` runs is not known yet", table.name));
            }
            None if codes.is_empty() && !is_module && !only_tells => {
                self.unknown_code(&format!("`{}` reads its code from the standard input", table.name));
            }
            None => {}
        }
    }

    pub(super) fn unknown_code(&mut self, message: &str) {
        self.add(Rule::UnknownCode, Level::L2, message);
    }

    /// Code of a shell. Only what is refused counts: that there is code is a reason of its own.
    pub(super) fn shell_code(&mut self, text: &str) {
        if !self.enter(1 + text.len() / 16) {
            return;
        }
        let cwd = self.cwd.clone();
        self.keeping(is_refusal, |judge| judge.shell_script(text));
        self.cwd = cwd;
        self.depth -= 1;
    }

    fn shell_script(&mut self, text: &str) {
        if is_fork_bomb(text) {
            self.add(Rule::Destructive, Level::L2, "the code starts itself without end");
        }
        let script = shell::read(text);
        for nested in &script.nested {
            self.shell_code(nested);
        }
        if script.is_unfinished {
            self.unknown_code(
                "the code ends within quotes or parentheses, and cannot be read with certainty",
            );
        }
        let mut downloads = false;
        for simple in &script.commands {
            downloads &= simple.is_piped;
            for path in simple.writes.iter().filter(|path| *path != "/dev/null") {
                self.class(Class::Write, format!("the code writes {path:?}"));
                self.target(path);
            }
            let first = self.found.len();
            self.simple_command(simple, &script.functions);
            let runs_input = self.found.iter().skip(first).any(|reason| reason.rule == Rule::UnknownCode);
            if downloads && runs_input {
                self.add(Rule::DownloadRun, Level::L2, "what is downloaded is run");
            }
            downloads |= self.downloads(simple);
        }
    }

    fn simple_command(&mut self, simple: &Simple, functions: &[String]) {
        if let [cd, folder, ..] = simple.words.as_slice()
            && matches!(cd.as_str(), "cd" | "pushd")
        {
            self.cwd = crate::place::resolve(&self.cwd, folder.as_ref());
        }
        match shell::head(&simple.words) {
            Head::Nothing => {}
            Head::Unknown if simple.is_pattern => {}
            Head::Unknown => self.unknown_code("which command runs is not known before the code runs"),
            Head::Code(code) => self.shell_code(&code),
            Head::Program([program, args @ ..]) if !functions.contains(program) => {
                let args: Vec<&str> = args.iter().map(String::as_str).collect();
                let place = Place {
                    is_code: true,
                    is_wrapped: true,
                    is_guess: simple.is_pattern,
                    ..Place::default()
                };
                match simple.is_pattern {
                    true => self.guess(program, &args),
                    false => self.command(program, &args, place),
                }
            }
            Head::Program(_) => {}
        }
    }

    fn downloads(&self, simple: &Simple) -> bool {
        let Head::Program([program, ..]) = shell::head(&simple.words) else { return false };
        let table = self.policy.tables.get(super::program::base_name(program));
        table.is_some_and(|table| table.effects.contains(&Class::Network))
    }

    /// Code of another language: only names of commands and calls that are known to destroy are looked for.
    pub(super) fn other_code(&mut self, text: &str) {
        if !self.enter(1 + text.len() / 16) {
            return;
        }
        let spelled = literals::spelled(text);
        let text = spelled.as_str();
        let words: Vec<&str> =
            text.split(|letter: char| !is_of_word(letter)).filter(|word| !word.is_empty()).collect();
        let has = |names: &[&str]| names.iter().any(|name| text.contains(name));
        let is_system = |word: &&str| word.starts_with('/') && crate::place::is_system(word.as_ref());
        let removes_all =
            text.contains("recursive") && text.contains("force") && has(&["rmSync", "fs.rm", ".rm("]);
        if removes_all || words.iter().any(|word| REMOVERS.iter().any(|name| word.ends_with(name))) {
            self.add(Rule::Destructive, Level::L2, "the code removes whole folders");
        }
        if has(RUNS) && has(DOWNLOADS) {
            self.add(Rule::DownloadRun, Level::L2, "the code runs what it downloads");
        }
        if has(RUNS) && has(DECODERS) {
            self.unknown_code("the code runs what it decodes");
        }
        if TAKES_CODE.iter().any(|name| literals::has_made_argument(text, name)) {
            self.unknown_code("the code runs a text that is made while it runs");
        }
        if has(WRITES) && words.iter().any(is_system) {
            self.add(Rule::SystemPath, Level::L2, "the code writes to a path of the system");
        }
        self.guesses(&words);
        self.depth -= 1;
    }

    /// Arguments of a program of which too little is known: each may begin a command, be a line for a shell, or a path.
    pub(super) fn arguments_of_unknown(&mut self, args: &[&str]) {
        self.guesses(args);
        for arg in args {
            self.perhaps_path(arg);
            let value =
                arg.split_once('=').map_or(*arg, |(_, value)| value).trim_start_matches(['+', '!', ':']);
            if value.contains(|letter: char| letter.is_whitespace() || ";|&`$<>".contains(letter)) {
                self.perhaps_code(value);
            }
        }
        self.no_shell(args);
    }

    /// A text that may be a line for a shell.
    pub(super) fn perhaps_code(&mut self, text: &str) {
        self.keeping(is_certain, |judge| judge.shell_code(text));
    }

    /// Judges each word with those after it as a command. Only what would certainly be refused counts.
    pub(super) fn guesses(&mut self, words: &[&str]) {
        for (at, word) in words.iter().enumerate() {
            let rest = words.get(at + 1..).unwrap_or_default();
            self.guess(word, rest);
            if let Some((_, value)) = word.split_once('=') {
                self.guess(value, rest);
            }
        }
    }

    fn guess(&mut self, program: &str, args: &[&str]) {
        let place = Place { is_guess: true, is_wrapped: true, ..Place::default() };
        if self.policy.tables.is_worth_a_guess(super::program::base_name(program))
            || self.policy.rules.names(program)
        {
            let of_shell =
                self.policy.tables.get(super::program::base_name(program)).is_some_and(Program::is_shell);
            let counts = |reason: &Reason| is_certain(reason) || (of_shell && is_refusal(reason));
            self.keeping(counts, |judge| judge.command(program, args, place));
            if args.contains(&"--") {
                let args: Vec<&str> = args.iter().copied().filter(|arg| *arg != "--").collect();
                self.keeping(counts, |judge| judge.command(program, &args, place));
            }
        }
    }
}

/// Options that have an interpreter tell something and end.
const TELLS: &[&str] = &["--help", "--version", "-V", "-h", "-v"];

fn is_refusal(reason: &Reason) -> bool {
    reason.level == Level::L2
}

/// Whether a reason refuses what may be no command at all: names that are not allowed are everywhere, and so are those of interpreters.
fn is_certain(reason: &Reason) -> bool {
    is_refusal(reason) && !matches!(reason.rule, Rule::NotAllowed | Rule::InvalidProgram | Rule::UnknownCode)
}

/// The code among the arguments of an interpreter, and the operands that are left.
fn codes<'a>(table: &Program, kind: Interpreter, parsed: &'a Parsed<'a>) -> (Vec<&'a str>, &'a [&'a str]) {
    let code_options = || parsed.options.iter().filter(|given| given.option.class == Class::Code);
    let mut codes: Vec<&str> = code_options().filter_map(|given| given.value).collect();
    let is_flag = code_options().any(|given| given.option.takes == Takes::Nothing);
    let is_operand =
        kind == Interpreter::Operand && !table.operands_with.iter().any(|(names, _)| parsed.has_any(names));
    let operands = parsed.operands.as_slice();
    match operands {
        [first, rest @ ..] if is_flag || is_operand => {
            codes.push(first);
            (codes, rest)
        }
        _ => (codes, operands),
    }
}

/// The letters of words in code: those of names, paths, options.
fn is_of_word(letter: char) -> bool {
    letter.is_alphanumeric() || "_-./~:=+@%".contains(letter)
}

fn is_fork_bomb(text: &str) -> bool {
    let dense: String = text.chars().filter(|letter| !letter.is_whitespace()).collect();
    dense.contains("(){:|:&};:")
        || dense.split("(){").skip(1).any(|body| {
            let name = dense.split("(){").next().unwrap_or_default();
            let name = name.rsplit([';', '&', '|']).next().unwrap_or_default();
            !name.is_empty() && body.starts_with(&format!("{name}|{name}&"))
        })
}
