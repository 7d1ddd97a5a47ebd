//! Takes keywords, assignments and builtins off a simple command, so that what it runs is seen.

use super::has_expansion;

/// What a simple command runs.
#[derive(Debug, PartialEq, Eq)]
pub enum Head<'a> {
    /// Nothing but the shell itself.
    Nothing,
    /// A program, or a function, with its arguments.
    Program(&'a [String]),
    /// Code.
    Code(String),
    /// Something that is not known before it runs.
    Unknown,
}

/// Keywords after which a command begins.
const BEFORE_COMMANDS: &[&str] =
    &["!", "coproc", "do", "done", "elif", "else", "esac", "fi", "if", "then", "until", "while", "{", "}"];

/// Keywords whose words are no command.
const WITHOUT_COMMAND: &[&str] = &["[[", "case"];

/// Builtins that run what comes after them.
const RUNNERS: &[&str] = &["builtin", "command", "exec"];

/// Builtins that start nothing.
const BUILTINS: &[&str] = &[
    ":",
    "[",
    "alias",
    "bg",
    "bind",
    "break",
    "caller",
    "cd",
    "compgen",
    "complete",
    "continue",
    "declare",
    "dirs",
    "disown",
    "enable",
    "exit",
    "export",
    "fc",
    "fg",
    "getopts",
    "hash",
    "help",
    "history",
    "jobs",
    "let",
    "local",
    "logout",
    "mapfile",
    "popd",
    "pushd",
    "read",
    "readarray",
    "readonly",
    "return",
    "set",
    "shift",
    "shopt",
    "suspend",
    "test",
    "times",
    "trap",
    "type",
    "typeset",
    "ulimit",
    "umask",
    "unalias",
    "unset",
    "wait",
];

/// Builtins among whose arguments there may be code.
const WITH_CODE: &[&str] = &["alias", "bind", "complete", "mapfile", "readarray", "trap"];

/// What a simple command runs.
pub fn head(words: &[String]) -> Head<'_> {
    let mut words = words;
    while let [first, rest @ ..] = words {
        match first.as_str() {
            "time" => {
                words = if rest.first().is_some_and(|word| word == "-p") {
                    rest.get(1..).unwrap_or_default()
                } else {
                    rest
                }
            }
            keyword if BEFORE_COMMANDS.contains(&keyword) => words = rest,
            "for" | "select" => words = body(rest),
            "enable" if has_flag(rest, 'f') => return Head::Unknown,
            "hash" if has_flag(rest, 'p') => return Head::Unknown,
            // From then on, words of that name mean something else.
            "alias" if rest.iter().any(|word| word.contains('=')) => return Head::Unknown,
            keyword if WITHOUT_COMMAND.contains(&keyword) => return Head::Nothing,
            "function" => words = rest.get(1..).unwrap_or_default(),
            runner if RUNNERS.contains(&runner) => match after_options(rest) {
                Some(rest) => words = rest,
                None => return Head::Nothing,
            },
            "eval" => return code(rest, " "),
            "." | "source" => return sourced(rest),
            builtin if WITH_CODE.contains(&builtin) => return code(rest, "\n"),
            builtin if BUILTINS.contains(&builtin) => return Head::Nothing,
            _ if is_assignment(first) => words = rest,
            _ if has_expansion(first) => return Head::Unknown,
            _ => return Head::Program(words),
        }
    }
    Head::Nothing
}

/// What comes after the words of a loop that has its body on the same line.
fn body(words: &[String]) -> &[String] {
    let begin = words.iter().position(|word| word == "do" || word == "{");
    begin.and_then(|begin| words.get(begin + 1..)).unwrap_or_default()
}

/// Whether a letter stands among the options.
fn has_flag(words: &[String], flag: char) -> bool {
    words.iter().any(|word| word.starts_with('-') && word.contains(flag))
}

/// The folder that a command changes to, behind keywords, assignments and options.
pub fn changes_folder(words: &[String]) -> Option<&str> {
    let is_before =
        |word: &&String| is_keyword(word) || is_assignment(word) || RUNNERS.contains(&word.as_str());
    let at = words.iter().take_while(is_before).count();
    let (cd, rest) = words.get(at..)?.split_first()?;
    let folder = rest.iter().find(|word| !word.starts_with('-'));
    folder.filter(|_| matches!(cd.as_str(), "cd" | "pushd")).map(String::as_str)
}

/// The values that words give to variables, if they are more than one word: they may be lines for a shell.
pub fn values(words: &[String]) -> impl Iterator<Item = &str> {
    let assignments = words.iter().filter(|word| is_assignment(word));
    assignments
        .filter_map(|word| word.split_once('='))
        .map(|(_, value)| value)
        .filter(|value| value.contains(' '))
}

/// Whether a word is one after which a command begins.
pub fn is_keyword(word: &str) -> bool {
    word == "time" || BEFORE_COMMANDS.contains(&word)
}

/// What comes after the options of `exec`, `command` and `builtin`; nothing, if they only ask what a name means.
fn after_options(words: &[String]) -> Option<&[String]> {
    let mut words = words;
    while let [first, rest @ ..] = words {
        match first.as_str() {
            "-v" | "-V" | "-pv" | "-pV" => return None,
            bundle if bundle.starts_with('-') && bundle.ends_with('a') => {
                words = rest.get(1..).unwrap_or_default()
            }
            option if option.starts_with('-') => words = rest,
            _ => break,
        }
    }
    Some(words)
}

/// Arguments that are code, or hold code after `=`.
fn code(words: &[String], between: &str) -> Head<'static> {
    let code = |word: &String| match word.split_once('=') {
        Some((name, value)) if between == "\n" && is_name(name) => value.to_owned(),
        _ => word.clone(),
    };
    let text = words.iter().filter(|word| between == " " || !word.starts_with('-')).map(code);
    let text = text.collect::<Vec<_>>().join(between);
    let text = text.trim_start_matches("-- ").to_owned();
    // `eval` without words may get them in a way that is not read here.
    if has_expansion(&text) || (text.is_empty() && between == " ") { Head::Unknown } else { Head::Code(text) }
}

/// A file that is read as code: a question, unless nobody knows which one it is.
fn sourced(words: &[String]) -> Head<'static> {
    match words.iter().find(|word| *word != "--") {
        Some(file) if !has_expansion(file) && !is_input(file) => Head::Nothing,
        _ => Head::Unknown,
    }
}

/// Whether a path is the standard input, another open file or a device, in whatever spelling.
pub fn is_input(path: &str) -> bool {
    let mut parts: Vec<&str> = Vec::new();
    for part in path.split('/').filter(|part| !part.is_empty() && *part != ".") {
        match part {
            ".." => drop(parts.pop()),
            part => parts.push(part),
        }
    }
    path == "-" || (path.starts_with('/') && matches!(parts.first(), Some(&("dev" | "proc"))))
}

/// Whether a word sets a variable: `NAME=…`, `NAME+=…`, `NAME[…]=…`.
pub fn is_assignment(word: &str) -> bool {
    word.split_once('=').is_some_and(|(name, _)| {
        let name = name.strip_suffix('+').unwrap_or(name);
        is_name(name.split_once('[').map_or(name, |(name, _)| name))
    })
}

fn is_name(name: &str) -> bool {
    let begins = name.chars().next().is_some_and(|letter| letter.is_ascii_alphabetic() || letter == '_');
    begins && name.chars().all(|letter| letter.is_ascii_alphanumeric() || letter == '_')
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_a_simple_command_runs_is_seen() {
        let owned = |words: &[&str]| words.iter().map(|word| (*word).to_owned()).collect::<Vec<_>>();
        for (words, runs) in [
            (&["if", "!", "A=b", "ls", "-l"][..], &["ls", "-l"][..]),
            (&["exec", "-a", "x", "command", "ls"], &["ls"]),
            (&["{", "ls"], &["ls"]),
            (&["function", "f", "{", "ls"], &["ls"]),
        ] {
            let words = owned(words);
            assert_eq!(head(&words), Head::Program(&owned(runs)));
        }
        for nothing in
            [&["for", "x", "in", "rm"][..], &["cd", "/"], &["A=b"], &["command", "-v", "rm"], &["fi"], &[]]
        {
            assert_eq!(head(&owned(nothing)), Head::Nothing, "{nothing:?}");
        }
        assert_eq!(head(&owned(&["eval", "rm", "-rf x"])), Head::Code("rm -rf x".into()));
        assert_eq!(head(&owned(&["trap", "rm y", "EXIT"])), Head::Code("rm y\nEXIT".into()));
        for unknown in [
            &["eval", "\u{F0000}"][..],
            &["\u{F0000}"],
            &[".", "/dev/stdin"],
            &["source"],
            &["alias", "x=rm"],
        ] {
            assert_eq!(head(&owned(unknown)), Head::Unknown, "{unknown:?}");
        }
    }
}
