//! Prompts of shells at the start of a line: those of bash, zsh, fish, cmd and PowerShell.
//!
//! What could be ordinary output is none: a prompt names a user and a host, or a folder of Windows, before its last sign.

use super::super::space;

/// The signs that end prompts of users and hosts.
const SIGNS: [char; 3] = ['$', '#', '>'];

/// What follows the prompts at the start of a line, without white space around it; nothing if there is none.
pub(super) fn after_all(line: &str) -> Option<&str> {
    let first = after_one(line)?;
    let mut rest = space::trim(first);
    while let Some(after) = after_one(rest) {
        rest = space::trim(after);
    }
    Some(rest)
}

fn after_one(line: &str) -> Option<&str> {
    let text = without_environment(line);
    after_bracketed(text)
        .or_else(|| after_user(text))
        .or_else(|| after_power_shell(text))
        .or_else(|| after_drive(text))
}

/// The line without `(venv) ` before the prompt.
fn without_environment(line: &str) -> &str {
    let inside = line.strip_prefix('(').and_then(|rest| rest.split_once(") "));
    inside.filter(|(name, _)| is_name(name)).map_or(line, |(_, rest)| rest)
}

/// `[user@host dir]$`
fn after_bracketed(text: &str) -> Option<&str> {
    let (inside, rest) = text.strip_prefix('[')?.split_once(']')?;
    let (_, directory) = after_user_and_host(inside)?;
    let is_prompt = directory.is_empty() || directory.starts_with(' ');
    ended(rest.strip_prefix(SIGNS)?).filter(|_| is_prompt)
}

/// `user@host:path$`, and fish's `user@host path>` and zsh's `user@host path %`, whose paths begin with `~` or `/`.
fn after_user(text: &str) -> Option<&str> {
    let (_, rest) = after_user_and_host(text)?;
    if let Some(path) = rest.strip_prefix(':') {
        let is_whole = path.starts_with(['~', '/']);
        return after_sign(path, &SIGNS, |c| is_whole || !space::is_space(c));
    }
    let path = rest.strip_prefix(' ').filter(|path| path.starts_with(['~', '/']))?;
    let after_word = || path.split_once(' ').and_then(|(_, rest)| ended(rest.strip_prefix('%')?));
    after_sign(path, &SIGNS, |c| !space::is_space(c)).or_else(after_word)
}

/// `PS C:\path>`, and such prompts on other systems.
fn after_power_shell(text: &str) -> Option<&str> {
    let path = text.strip_prefix("PS ")?;
    let is_path =
        path.starts_with(['/', '~', '\\']) || path.split_once(":\\").is_some_and(|(drive, _)| is_name(drive));
    after_sign(path, &['>'], |c| !is_reserved(c)).filter(|_| is_path)
}

/// `C:\path>`, which the command may follow at once.
fn after_drive(text: &str) -> Option<&str> {
    let path = text.strip_prefix(|c: char| c.is_ascii_alphabetic())?.strip_prefix(":\\")?;
    let (path, rest) = path.split_once('>')?;
    let is_path =
        !path.contains(is_reserved) && !path.ends_with([' ', '-', '=']) && !rest.starts_with(['>', '=']);
    is_path.then_some(rest)
}

/// What stands before and after the end of `user@host`.
fn after_user_and_host(text: &str) -> Option<(&str, &str)> {
    let (user, rest) = text.split_once('@')?;
    let end = rest.find(|c: char| !is_name_part(c)).unwrap_or(rest.len());
    let (host, rest) = rest.split_at_checked(end)?;
    (is_name(user) && !host.is_empty()).then_some((user, rest))
}

fn is_name(text: &str) -> bool {
    !text.is_empty() && text.chars().all(is_name_part)
}

fn is_name_part(c: char) -> bool {
    c.is_alphanumeric() || matches!(c, '.' | '_' | '-')
}

/// Characters that paths of Windows cannot hold.
fn is_reserved(c: char) -> bool {
    matches!(c, '<' | '>' | '"' | '|' | '?' | '*')
}

/// What follows the first sign that ends a path, all of whose characters are allowed.
fn after_sign<'a>(path: &'a str, signs: &[char], allows: impl Fn(char) -> bool) -> Option<&'a str> {
    let mut last = ' ';
    for (at, c) in path.char_indices() {
        let rest = path.get(at + c.len_utf8()..)?;
        if signs.contains(&c) && !space::is_space(last) && ended(rest).is_some() {
            return Some(rest);
        }
        if !allows(c) {
            return None;
        }
        last = c;
    }
    None
}

/// What follows a prompt: white space, or nothing.
fn ended(rest: &str) -> Option<&str> {
    (rest.is_empty() || rest.starts_with(space::is_space)).then_some(rest)
}
