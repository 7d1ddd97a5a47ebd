//! What a model is told: the texts of the messages of the user.

use std::fmt::Write;

use serde::Serialize;

use super::output::{Cleaning, clean};

/// What a client tells of a command.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize)]
pub struct CommandResult {
    /// What it wrote to its standard output.
    #[serde(skip_serializing_if = "String::is_empty")]
    pub stdout: String,
    /// What it wrote to its standard error.
    #[serde(skip_serializing_if = "String::is_empty")]
    pub stderr: String,
    /// Its exit code, if it ended by itself.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub exit_code: Option<i64>,
    /// Whether it was not run.
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    pub skipped: bool,
    /// The command that was run, if it is not the one that was asked for.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub command: Option<String>,
}

/// The first message: what the user wants, or the name of the skill, and the parameters.
pub fn start(skill: &str, prompt: Option<&str>, params: &[(String, String)]) -> String {
    let mut text = match prompt.map(str::trim).filter(|prompt| !prompt.is_empty()) {
        Some(prompt) => prompt.to_owned(),
        None => format!("Execute skill: {skill}"),
    };
    if !params.is_empty() {
        text.push_str("\n\nParameters:");
        for (name, value) in params {
            // Writing into a text cannot fail.
            let _ = write!(text, "\n- {name}: {value}");
        }
    }
    text
}

/// What became of the command `asked`.
pub(super) fn command(asked: &str, result: &CommandResult, cleaning: Cleaning) -> String {
    if result.skipped {
        return "User skipped the command.".to_owned();
    }
    let run = result.command.as_deref().map(str::trim).filter(|run| !run.is_empty() && *run != asked.trim());
    let instead = run.map(|run| format!("Command run instead: {run}\n")).unwrap_or_default();
    let output = clean(&both(&result.stdout, &result.stderr), run.unwrap_or(asked), cleaning);
    let code = result.exit_code.filter(|code| *code != 0);
    let code = code.map(|code| format!("\n\n[Exit code: {code}]")).unwrap_or_default();
    format!("{instead}Command output:\n{output}{code}")
}

/// Both outputs, one below the other.
fn both(stdout: &str, stderr: &str) -> String {
    let needs_line = !stdout.is_empty() && !stdout.ends_with('\n') && !stderr.is_empty();
    format!("{stdout}{}{stderr}", if needs_line { "\n" } else { "" })
}

/// The answer of the user.
pub(super) fn response(text: &str) -> String {
    format!("User response: {}", text.trim())
}

/// What follows a message that needs no answer.
pub(super) const AFTER_MESSAGE: &str = "[Continue after informational message]";

/// A message with the number of its step.
pub(super) fn numbered(text: &str, step: usize, max_steps: usize) -> String {
    format!("{text}\n\n[Step {step} of {max_steps}]")
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::output::Duplicates;

    const CLEANING: Cleaning = Cleaning { duplicates: Duplicates::All, chars: 8_000 };

    fn told(result: &CommandResult) -> String {
        command("ls", result, CLEANING)
    }

    #[test]
    fn a_start_names_the_skill_or_says_what_the_user_wants() {
        assert_eq!(start("s", None, &[]), "Execute skill: s");
        assert_eq!(start("s", Some(" \n"), &[]), "Execute skill: s");
        let params = [("a".to_owned(), "1".to_owned()), ("b".to_owned(), "[\"x\"]".to_owned())];
        assert_eq!(start("s", Some(" Do it. "), &params), "Do it.\n\nParameters:\n- a: 1\n- b: [\"x\"]");
    }

    #[test]
    fn outputs_are_told_with_what_was_run_and_how_it_ended() {
        let result = CommandResult { stdout: "a".into(), stderr: "b".into(), ..CommandResult::default() };
        assert_eq!(told(&result), "Command output:\na\nb");
        let failed = CommandResult { exit_code: Some(2), ..result.clone() };
        assert_eq!(told(&failed), "Command output:\na\nb\n\n[Exit code: 2]");
        let other = CommandResult { exit_code: Some(0), command: Some("ls -a".into()), ..result.clone() };
        assert_eq!(told(&other), "Command run instead: ls -a\nCommand output:\na\nb");
        let same = CommandResult { command: Some(" ls ".into()), ..result };
        assert_eq!(told(&same), "Command output:\na\nb");
        let skipped = CommandResult { skipped: true, stdout: "x".into(), ..CommandResult::default() };
        assert_eq!(told(&skipped), "User skipped the command.");
    }

    #[test]
    fn an_empty_answer_leaves_the_space() {
        assert_eq!(response(" "), "User response: ");
        assert_eq!(numbered(&response("fix"), 3, 100), "User response: fix\n\n[Step 3 of 100]");
    }
}
