//! git's arguments as they are run: hardened, so that a repository cannot have programs started.
//!
//! Hooks and the file system monitor are switched off for every subcommand; external diffs and text conversion for those that show
//! differences. Pagers are never started, since the output is no terminal; `--no-pager` says so.

use crate::command::base_name;
use crate::options::Parsed;
use crate::tables::{Grammar, Program, Role, Tables};

/// What stands in front of every subcommand.
const GLOBAL: &[&str] =
    &["--no-optional-locks", "--no-pager", "-c", "core.fsmonitor=false", "-c", "core.hooksPath=/dev/null"];

/// And what, in front of those that only read: a format can have signatures checked by a program that the repository names, and
/// differences of submodules are made with the settings of the submodules.
const READING: &[&str] = &[
    "-c",
    "log.showSignature=false",
    "-c",
    "gpg.program=false",
    "-c",
    "gpg.ssh.program=false",
    "-c",
    "gpg.x509.program=false",
    "-c",
    "diff.submodule=short",
    "-c",
    "log.diffMerges=separate",
];

/// The arguments with which a program is run: those of git are hardened, behind wrappers and in `find -exec`, too. A git that is started
/// by a text (`env -S`, `watch`, code of a shell) is not reached.
pub fn hardened(program: &str, args: &[String]) -> Vec<String> {
    let tables = Tables::built_in();
    let words: Vec<&str> = args.iter().map(String::as_str).collect();
    let mut hardened = args.to_vec();
    // From the end, so that places before it stay.
    for (at, words) in insertions(tables, program, &words, 0).into_iter().rev() {
        hardened.splice(at..at, words.into_iter().map(str::to_owned));
    }
    hardened
}

/// What is put in, and before which argument.
fn insertions<'t>(
    tables: &'t Tables,
    program: &str,
    args: &[&str],
    start: usize,
) -> Vec<(usize, Vec<&'t str>)> {
    let base = base_name(program);
    let Some(table) = tables.get(base) else { return Vec::new() };
    let parsed = Parsed::read(table, args, true);
    let rest = parsed.rest.unwrap_or(args.len());
    if base == "git" {
        return of_git(tables, table, args, rest, start);
    }
    if table.grammar == Grammar::Find {
        return of_find(tables, args, start);
    }
    let Some(at) = command_at(table, args, rest) else { return Vec::new() };
    match args.get(at..) {
        Some([program, args @ ..]) => insertions(tables, program, args, start + at + 1),
        _ => Vec::new(),
    }
}

/// The commands of `-exec` and its like.
fn of_find<'t>(tables: &'t Tables, args: &[&str], start: usize) -> Vec<(usize, Vec<&'t str>)> {
    let starts = |word: &str| matches!(word, "-exec" | "-execdir" | "-ok" | "-okdir");
    let places = (0..args.len()).filter(|at| args.get(*at).is_some_and(|word| starts(word)));
    let found = places.filter_map(|at| match args.get(at + 1..) {
        Some([program, args @ ..]) => Some(insertions(tables, program, args, start + at + 2)),
        _ => None,
    });
    found.flatten().collect()
}

fn of_git<'t>(
    tables: &'t Tables,
    git: &Program,
    args: &[&str],
    rest: usize,
    start: usize,
) -> Vec<(usize, Vec<&'t str>)> {
    let mut at = rest;
    let mut table = args.get(at).and_then(|word| tables.subcommand(git, word));
    while let Some(next) = table.and_then(|table| tables.subcommand(table, args.get(at + 1)?)) {
        table = Some(next);
        at += 1;
    }
    let reads = table.is_some_and(Program::can_be_harmless);
    let global = GLOBAL.iter().chain(if reads { READING } else { &[] }).copied().collect();
    let mut found = vec![(start, global)];
    if let Some(table) = table.filter(|table| !table.hardened.is_empty()) {
        found.push((start + at + 1, table.hardened.iter().map(String::as_str).collect()));
    }
    found
}

/// Where the command of a wrapper begins among its arguments.
fn command_at(table: &Program, args: &[&str], rest: usize) -> Option<usize> {
    let mut at = rest;
    for role in &table.operands {
        match role {
            Role::Command => return Some(at),
            Role::Assignments => {
                at += args.iter().skip(at).take_while(|word| **word == "-" || word.contains('=')).count()
            }
            _ => at += 1,
        }
    }
    None
}

#[cfg(test)]
mod tests {
    use super::*;

    fn hardened_words(words: &[&str]) -> String {
        let (program, args) = words.split_first().unwrap();
        let args: Vec<String> = args.iter().map(|word| (*word).to_owned()).collect();
        hardened(program, &args)
            .join(" ")
            .replace(&READING.join(" "), "READING")
            .replace(&GLOBAL.join(" "), "GLOBAL")
    }

    #[test]
    fn git_is_hardened_before_and_behind_its_subcommand_and_behind_wrappers() {
        for (words, result) in [
            (&["git", "status", "-s"][..], "GLOBAL READING status --ignore-submodules=dirty -s"),
            (
                &["/usr/bin/git", "-C", "sub", "log"],
                "GLOBAL READING -C sub log --no-ext-diff --no-textconv --no-show-signature",
            ),
            (&["git", "stash", "show", "-p"], "GLOBAL READING stash show --no-ext-diff --no-textconv -p"),
            (&["git", "commit", "-m", "x"], "GLOBAL commit -m x"),
            (&["git", "frob"], "GLOBAL frob"),
            (
                &["timeout", "-k", "3", "5", "env", "LANG=C", "git", "ls-files"],
                "-k 3 5 env LANG=C git GLOBAL READING ls-files",
            ),
            (&["ls", "git"], "git"),
            (
                &["find", ".", "-exec", "git", "diff", "{}", ";"],
                ". -exec git GLOBAL READING diff --no-ext-diff --no-textconv --ignore-submodules=dirty {} ;",
            ),
        ] {
            assert_eq!(hardened_words(words), result, "{words:?}");
        }
    }
}
