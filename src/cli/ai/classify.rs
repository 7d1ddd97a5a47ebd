//! `ai classify`: the level of commands, with every reason.

use std::io::{BufRead, IsTerminal};

use policy::{Command, Decision, Level, Policy};

use super::args::Classify;
use super::judge::judge;
use crate::cli::args::Common;
use crate::cli::error::CliError;
use crate::cli::output::{on_one_line, say, warn};

/// A line that is longer is not read as a command.
const LINE_BYTES: usize = 1 << 20;

/// Judges the command that is given, or those of standard input.
///
/// # Errors
/// When standard input cannot be read.
pub fn run(common: &Common, options: &Classify) -> Result<(), CliError> {
    let policy = judge(common, options.workspace.as_deref(), options.rules.as_deref())?;
    let tell = |words: &str, decision: &Decision| match options.json {
        true => say(serde_json::to_string(decision).unwrap_or_default()),
        false => explain(words, decision),
    };
    if let Some((program, args)) = options.command.split_first() {
        let command = Command { program: program.clone(), args: args.to_vec(), ..Command::default() };
        tell(&shown(&command), &policy.classify(&command));
        return Ok(());
    }
    let input = std::io::stdin();
    if input.is_terminal() {
        warn("commands are read, one JSON object a line: {\"program\": \"ls\", \"args\": [\"-l\"]}");
    }
    let mut input = input.lock();
    while let Some(line) = next_line(&mut input)
        .map_err(|source| CliError::File { path: "standard input".to_owned(), source })?
    {
        let (words, decision) = line_decision(&policy, line);
        tell(&words, &decision);
    }
    Ok(())
}

/// The decision about one line, and the command as it is shown.
fn line_decision(policy: &Policy, line: Option<Vec<u8>>) -> (String, Decision) {
    let Some(line) = line else {
        let message = format!("the line is longer than {LINE_BYTES} bytes");
        return ("(a line)".to_owned(), Decision::invalid_input(message));
    };
    match read(&line) {
        Ok(command) => (shown(&command), policy.classify(&command)),
        Err(error) => {
            let expected = "{\"program\", \"args\", \"cwd\"?, \"requires\"?}";
            let message = format!("the line is not a command, {expected}: {error}");
            (on_one_line(&String::from_utf8_lossy(&line)), Decision::invalid_input(message))
        }
    }
}

fn read(line: &[u8]) -> Result<Command, String> {
    // A list would be taken for the members in their order.
    match line.trim_ascii_start().first() {
        Some(b'{') => serde_json::from_slice(line).map_err(|error| error.to_string()),
        _ => Err("it is not a JSON object".to_owned()),
    }
}

/// The next line without its end; nothing inside, if it is too long. At the end of input there is none.
fn next_line(input: &mut impl BufRead) -> std::io::Result<Option<Option<Vec<u8>>>> {
    let mut line = Some(Vec::new());
    let mut has_begun = false;
    loop {
        let piece = input.fill_buf()?;
        if piece.is_empty() {
            return Ok(has_begun.then_some(line));
        }
        has_begun = true;
        let end = memchr::memchr(b'\n', piece);
        let taken = piece.get(..end.unwrap_or(piece.len())).unwrap_or_default();
        if let Some(kept) = line.as_mut().filter(|kept| kept.len() + taken.len() <= LINE_BYTES) {
            kept.extend_from_slice(taken);
        } else {
            line = None;
        }
        let length = taken.len() + usize::from(end.is_some());
        input.consume(length);
        if end.is_some() {
            return Ok(Some(line));
        }
    }
}

/// The command with its words visibly separated.
fn shown(command: &Command) -> String {
    let words = std::iter::once(&command.program).chain(&command.args);
    words.map(|word| shown_word(word)).collect::<Vec<_>>().join(" ")
}

fn shown_word(word: &str) -> String {
    let is_plain = |letter: char| letter.is_ascii_alphanumeric() || "_-./=:,+@%^".contains(letter);
    match word {
        "" => "''".to_owned(),
        word if word.chars().all(is_plain) => word.to_owned(),
        word if word.contains(char::is_control) => format!("$'{}'", word.escape_default()),
        word => format!("'{}'", word.replace('\'', "'\\''")),
    }
}

fn explain(words: &str, decision: &Decision) {
    let told = match decision.level {
        Level::L0 => "runs by itself",
        Level::L1 => "needs your agreement",
        Level::L2 => "is refused",
    };
    say(format_args!("{words}\n  {:?}: {told}", decision.level));
    for reason in &decision.reasons {
        say(format_args!("  - {} ({})", on_one_line(&reason.message), reason.rule));
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lines_are_bounded_and_the_last_one_needs_no_end() {
        let long = "x".repeat(LINE_BYTES + 1);
        let text = format!("a\n\n{long}\nb");
        let mut input = std::io::BufReader::with_capacity(7, text.as_bytes());
        let mut lines = Vec::new();
        while let Some(line) = next_line(&mut input).unwrap() {
            lines.push(line.map(|line| String::from_utf8(line).unwrap()));
        }
        assert_eq!(lines, [Some("a".to_owned()), Some(String::new()), None, Some("b".to_owned())]);
    }

    #[test]
    fn words_are_shown_apart_and_control_characters_escaped() {
        let command = Command::new("rg", ["a b", "", "c\u{1b}[2J", "--x=y"]);
        assert_eq!(shown(&command), "rg 'a b' '' $'c\\u{1b}[2J' --x=y");
        assert_eq!(shown(&Command::new("echo", ["it's"])), "echo 'it'\\''s'");
    }
}
