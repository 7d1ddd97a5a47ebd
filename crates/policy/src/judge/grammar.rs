//! Arguments that are not written as getopt reads them: `find`, `tar`, `dd`, `ps`, and the scripts of `sed`.

use super::{Judge, Place, sed};
use crate::decision::{Level, Rule};
use crate::options::{Given, Parsed};
use crate::shell::{has_expansion, is_input};
use crate::tables::{Class, Program, Role, Takes};

/// Paths of `find` for which its commands are judged.
const MOST_STARTS: usize = 8;

impl Judge<'_> {
    /// `find`: options, paths, then an expression.
    pub(super) fn find(&mut self, table: &'static Program, args: &[&str], place: Place<'_>) {
        let first = self.found.len();
        let removes = args.contains(&"-delete");
        let (mut in_expression, mut paths) = (false, Vec::new());
        let mut at = 0;
        while let Some(arg) = args.get(at).copied() {
            at += 1;
            let rest = args.get(at..).unwrap_or_default();
            match arg {
                "(" | ")" | "!" | "," => in_expression = true,
                "--" if !in_expression => {}
                _ if is_level(arg) && !in_expression => {}
                _ if arg.starts_with('-') && arg.len() > 1 => {
                    in_expression |= !matches!(arg, "-H" | "-L" | "-P" | "-D");
                    at += self.primary(table, arg, rest, &paths, place);
                }
                _ if in_expression => self.operand(table, None, arg),
                _ => {
                    paths.push(arg);
                    if removes { self.target(arg) } else { self.read(arg) }
                }
            }
        }
        self.harmless_since(first, table);
    }

    /// A primary of `find`; how many arguments belong to it.
    fn primary(
        &mut self,
        table: &'static Program,
        name: &str,
        rest: &[&str],
        paths: &[&str],
        place: Place<'_>,
    ) -> usize {
        let newer = name.strip_prefix("-newer").filter(|letters| letters.len() == 2);
        if let Some(letters) = newer {
            let value = rest.first().copied().unwrap_or_default();
            if !letters.ends_with('t') {
                self.read(value);
            }
            return 1;
        }
        let Some(option) = table.option(name) else {
            let message = format!("`find`: nothing is known about {name:?}");
            self.add(Rule::UnknownOption, Level::L1, message);
            self.arguments_of_unknown(rest);
            return 0;
        };
        if option.class == Class::Run {
            return self.executed(&format!("find {name}"), rest, paths, place);
        }
        let count = match option.takes {
            Takes::Nothing | Takes::Attached(_) => 0,
            Takes::Value(_) if name == "-fprintf" => 2,
            Takes::Value(_) => 1,
        };
        let value = rest.first().copied().filter(|_| count > 0);
        self.option(table, &Given { option, value, is_behind_operands: false }, place);
        count
    }

    /// The command of `-exec` and its like, which ends with `;`, or with `{} +`.
    fn executed(&mut self, name: &str, rest: &[&str], paths: &[&str], place: Place<'_>) -> usize {
        let first = self.found.len();
        self.class(Class::Run, format!("`{name}` starts other programs"));
        self.mark_within(first);
        let ends = |at: usize| {
            let before = at.checked_sub(1).and_then(|before| rest.get(before));
            rest.get(at) == Some(&";") || (rest.get(at) == Some(&"+") && before == Some(&"{}"))
        };
        let end = (0..rest.len()).find(|at| ends(*at)).unwrap_or(rest.len());
        let Some([program, args @ ..]) = rest.get(..end) else { return end + 1 };
        let place = Place { is_wrapped: true, marker: "{}", ..place };
        self.command(program, args, place);
        // What is found begins with one of the paths.
        for path in paths.iter().take(MOST_STARTS) {
            let args: Vec<&str> = args.iter().map(|arg| if *arg == "{}" { path } else { *arg }).collect();
            self.keeping(
                |reason| reason.rule == Rule::SystemPath,
                |judge| judge.command(program, &args, place),
            );
        }
        end + 1
    }

    /// `tar`: the letters of the first argument may stand without a dash, and then take their values from the arguments after it.
    pub(super) fn tar(&mut self, table: &'static Program, args: &[&str], place: Place<'_>) {
        let Some((bundle, rest)) = args.split_first().filter(|(first, _)| !first.starts_with('-')) else {
            return self.tar_form(table, args, place);
        };
        let letters: Vec<String> = bundle.chars().map(|letter| format!("-{letter}")).collect();
        let mut spelled: Vec<&str> = Vec::new();
        let mut rest = rest.iter().copied();
        for letter in &letters {
            spelled.push(letter);
            if table.option(letter).is_some_and(|option| matches!(option.takes, Takes::Value(_))) {
                spelled.extend(rest.next());
            }
        }
        spelled.extend(rest);
        self.tar_form(table, &spelled, place);
    }

    fn tar_form(&mut self, table: &'static Program, args: &[&str], place: Place<'_>) {
        let parsed = Parsed::read(table, args, false);
        let extracts = ["-x", "--extract", "--get"].iter().any(|name| parsed.has(name));
        let writes = parsed.options.iter().any(|given| given.option.class == Class::Write);
        parsed.values(&["-C", "--directory"]).filter(|_| extracts).for_each(|folder| self.target(folder));
        parsed
            .values(&["-f", "--file"])
            .filter(|_| writes && !extracts)
            .for_each(|archive| self.target(archive));
        parsed.operands.iter().filter(|_| writes && !extracts).for_each(|file| self.read(file));
        for archive in parsed.values(&["-f", "--file"]) {
            if archive.split_once(':').is_some_and(|(host, _)| !host.contains('/')) {
                let message = format!("{archive:?} is an archive on another machine");
                self.class(Class::Network, message);
            }
        }
        self.parsed(table, &parsed, args, place);
    }

    /// `dd`: `name=value`.
    pub(super) fn dd(&mut self, table: &'static Program, args: &[&str]) {
        let first = self.found.len();
        for arg in args {
            match arg.split_once('=') {
                Some(("of", path)) => {
                    self.add(Rule::Destructive, Level::L2, format!("`dd` writes over {path:?}"));
                    self.target(path);
                }
                Some(("if", path)) => self.read(path),
                Some((name, _)) if has_expansion(name) => {
                    self.unknown_code("what `dd` writes is not known yet")
                }
                None if has_expansion(arg) => self.unknown_code("what `dd` writes is not known yet"),
                _ => {}
            }
        }
        self.effects(table);
        self.harmless_since(first, table);
    }

    /// `ps`: letters with a dash, and letters without one, among which `e` shows the environment.
    pub(super) fn ps(&mut self, table: &'static Program, args: &[&str], place: Place<'_>) {
        let first = self.found.len();
        let parsed = Parsed::read(table, args, false);
        self.options(table, &parsed, args, place);
        // Letters with a dash that are wrong together are read again as if they had none.
        let bundled: String = args.iter().filter_map(|arg| arg.strip_prefix('-')).collect();
        if parsed.values(&["-o", "-O", "--format"]).any(|columns| columns.contains("env")) {
            self.class(Class::Environment, "`ps` prints the environment of processes".to_owned());
        }
        let is_odd = bundled.contains('e') && bundled.contains(['x', 'g', 'u', 'U', 't', 'T', 'r', 'S', 'n']);
        let bundles = is_odd.then_some(bundled.as_str());
        for letters in parsed.operands.iter().copied().chain(bundles) {
            let is_number = letters.chars().all(|letter| letter.is_ascii_digit() || letter == ',');
            if letters.contains('e') {
                self.class(Class::Environment, format!("`ps {letters}` prints the environment of processes"));
            } else if !is_number && !letters.chars().all(|letter| "aAcfghjlmrSTuvwx".contains(letter)) {
                self.operand(table, None, letters);
            }
        }
        self.harmless_since(first, table);
    }

    /// `sed`: scripts from options, or the first operand; then files.
    pub(super) fn sed(&mut self, table: &'static Program, args: &[&str], place: Place<'_>) {
        let first = self.found.len();
        let parsed = Parsed::read(table, args, false);
        self.options(table, &parsed, args, place);
        self.needs(table, &parsed);
        let mut scripts: Vec<&str> = parsed.values(&["-e", "--expression"]).collect();
        let mut files = parsed.operands.as_slice();
        let from_file: Vec<&str> = parsed.values(&["-f", "--file"]).collect();
        if from_file.iter().any(|file| is_input(file)) {
            self.unknown_code("`sed` reads its script from the standard input");
        }
        if let ([script, rest @ ..], true) = (files, scripts.is_empty() && from_file.is_empty()) {
            scripts.push(script);
            files = rest;
        }
        if scripts.is_empty() && from_file.is_empty() && place.has_unseen_args {
            self.unknown_code("the script of `sed` is not known yet");
        }
        for script in scripts {
            self.sed_script(script);
        }
        let in_place = parsed.options.iter().any(|given| given.option.class == Class::Write);
        let role = if in_place { Role::Target } else { Role::Path };
        files.iter().for_each(|file| self.operand(table, Some(role), file));
        self.harmless_since(first, table);
    }

    fn sed_script(&mut self, script: &str) {
        let mut effects = sed::effects(script);
        effects.dedup();
        for effect in effects {
            match effect {
                sed::Effect::Writes(file) => {
                    self.class(Class::Write, format!("the script of `sed` writes {file:?}"));
                    self.target(file);
                }
                sed::Effect::Reads(file) => {
                    self.add(Rule::Form, Level::L1, format!("the script of `sed` reads {file:?}"));
                    self.read(file);
                }
                sed::Effect::Runs(line) => {
                    self.class(Class::Run, format!("the script of `sed` runs {line:?}"));
                    self.shell_code(line);
                }
                sed::Effect::RunsText => {
                    self.unknown_code("the script of `sed` runs what stands in the text")
                }
                sed::Effect::Unreadable => {
                    self.add(
                        Rule::Form,
                        Level::L1,
                        format!("`sed`: the script {script:?} cannot be read with certainty"),
                    );
                    self.other_code(script);
                }
                sed::Effect::Other => {
                    self.add(
                        Rule::Form,
                        Level::L1,
                        format!("`sed`: the script {script:?} does more than print lines"),
                    );
                }
            }
        }
    }
}

/// Whether an argument of `find` is a level of optimization, `-O3`.
fn is_level(arg: &str) -> bool {
    arg.strip_prefix("-O")
        .is_some_and(|level| !level.is_empty() && level.chars().all(|digit| digit.is_ascii_digit()))
}
