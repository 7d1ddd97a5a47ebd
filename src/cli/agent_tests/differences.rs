//! What is not as a case expects it.

use serde_json::{Value as Json, json};

use super::file::{Expected, ExpectedTurn};
use crate::agents::{Rehearsal, Rehearsed};
use agent::Message;

/// A line for everything that is not as it is expected.
pub fn differences(rehearsal: &Rehearsal, expected: &Expected) -> Vec<String> {
    let mut lines = Vec::new();
    for (at, (found, expected)) in rehearsal.turns.iter().zip(&expected.turns).enumerate() {
        let turn = if at == 0 { "start".to_owned() } else { format!("turn {at}") };
        lines.extend(of_turn(found, expected).into_iter().map(|line| format!("{turn}: {line}")));
    }
    if rehearsal.turns.iter().any(|turn| turn.stopped.is_some()) {
        return lines;
    }
    if let Some(wanted) = &expected.history {
        lines.extend(unequal("the history", &told(wanted), &told(&rehearsal.history)));
    }
    if expected.exit_code != rehearsal.exit_code {
        let say = |code: Option<u8>| code.map_or("no exit code".into(), |code| format!("the exit code {code}"));
        lines.push(format!("expected {}, got {}", say(expected.exit_code), say(rehearsal.exit_code)));
    }
    lines
}

fn of_turn(found: &Rehearsed, expected: &ExpectedTurn) -> Vec<String> {
    let mut lines = Vec::new();
    let texts = [("output", &expected.output, &found.output), ("steps", &expected.steps, &found.steps)];
    for (what, wanted, found) in texts {
        lines.extend(wanted.iter().filter_map(|wanted| unequal(what, &json!(wanted), &json!(found))));
    }
    if let Some(wanted) = expected.log.as_ref().filter(|wanted| !all_match(wanted, &found.log)) {
        lines.push(said("log", &json!(wanted), &json!(found.log)));
    }
    lines.extend(of_calls(found, expected));
    for (at, (wanted, sent)) in expected.sent.iter().zip(&found.sent).enumerate() {
        let what = format!("that the model is sent, for its answer {},", at + 1);
        lines.extend(wanted.iter().filter_map(|wanted| unequal(&what, &told(wanted), &told(sent))));
    }
    let (state, wanted) = (json!(found.state), json!(expected.state));
    if expected.state.is_some() {
        lines.extend(unequal("the state", &wanted, &state));
    }
    lines.extend(found.stopped.as_ref().map(ToString::to_string));
    // After a stop, it is no wonder that answers are left.
    if let (None, (model, calls)) = (&found.stopped, found.unused) {
        let left = [(model, "`model`"), (calls, "`calls`")].into_iter().filter(|(count, _)| *count > 0);
        lines.extend(left.map(|(count, where_)| format!("{count} of the answers in {where_} are not used")));
    }
    lines
}

/// The calls that were made, and are not those that are expected.
fn of_calls(found: &Rehearsed, expected: &ExpectedTurn) -> Vec<String> {
    let pairs = found.calls.iter().zip(&expected.calls).enumerate();
    let lines = pairs.flat_map(|(at, (call, wanted))| {
        let what = format!("call {}", at + 1);
        let tool = unequal(&what, &json!(wanted.tool), &json!(call.tool));
        let arguments = wanted.arguments.as_ref();
        let arguments = arguments
            .and_then(|wanted| unequal(&format!("{what} with"), &json!(wanted), &json!(call.arguments)));
        tool.into_iter().chain(arguments)
    });
    lines.collect()
}

fn told(messages: &[Message]) -> Json {
    messages
        .iter()
        .map(|message| {
            // A role is written as a text.
            let role = json!(message.role).as_str().unwrap_or_default().to_owned();
            json!({role: message.content})
        })
        .collect()
}

fn unequal(what: &str, wanted: &Json, found: &Json) -> Option<String> {
    (wanted != found).then(|| said(what, wanted, found))
}

fn said(what: &str, wanted: &Json, found: &Json) -> String {
    format!("expected {what} {wanted}, got {found}")
}

fn all_match(patterns: &[String], lines: &[String]) -> bool {
    patterns.len() == lines.len() && patterns.iter().zip(lines).all(|(pattern, line)| matches(pattern, line))
}

/// Whether a line is as a pattern says, in which `*` stands for any text.
fn matches(pattern: &str, line: &str) -> bool {
    let Some((first, rest)) = pattern.split_once('*') else { return pattern == line };
    let Some(mut line) = line.strip_prefix(first) else { return false };
    let mut parts: Vec<&str> = rest.split('*').collect();
    let last = parts.pop().unwrap_or_default();
    for part in parts {
        match line.split_once(part) {
            Some((_, after)) => line = after,
            None => return false,
        }
    }
    line.ends_with(last)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_star_stands_for_any_text() {
        for (pattern, line, is_match) in [
            ("abc", "abc", true),
            ("abc", "abcd", false),
            ("a*c", "abc", true),
            ("a*c", "ac", true),
            ("a*c", "acd", false),
            ("*b*", "abc", true),
            ("a*b*c", "a b b c", true),
            ("a*b*c", "a c", false),
            ("*", "", true),
            ("a*", "b", false),
            ("ab*ba", "aba", false),
        ] {
            assert_eq!(matches(pattern, line), is_match, "{pattern} {line}");
        }
    }
}
