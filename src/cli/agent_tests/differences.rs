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
        let texts =
            |messages: &[Message]| messages.iter().map(|one| told(one).to_string()).collect::<Vec<_>>();
        let (wanted, found) = (texts(wanted), texts(&rehearsal.history));
        lines.extend(in_list("message of the history", Some(&wanted), &found, |wanted, found| {
            wanted == found
        }));
    }
    if expected.exit_code != rehearsal.exit_code {
        let say =
            |code: Option<u8>| code.map_or("no exit code".into(), |code| format!("the exit code {code}"));
        lines.push(format!("expected {}, got {}", say(expected.exit_code), say(rehearsal.exit_code)));
    }
    lines
}

fn of_turn(found: &Rehearsed, expected: &ExpectedTurn) -> Vec<String> {
    let mut lines = Vec::new();
    lines.extend(in_list("output", expected.output.as_deref(), &found.output, |wanted, found| {
        wanted == found
    }));
    lines.extend(in_list("log", expected.log.as_deref(), &found.log, |wanted, found| matches(wanted, found)));
    lines.extend(in_list("step", expected.steps.as_deref(), &found.steps, |wanted, found| wanted == found));
    lines.extend(of_calls(found, expected));
    for (at, (wanted, sent)) in expected.sent.iter().zip(&found.sent).enumerate() {
        let what = format!("that the model is sent, for its answer {},", at + 1);
        lines.extend(wanted.iter().filter_map(|wanted| unequal(&what, &all_told(wanted), &all_told(sent))));
    }
    if let Some(stopped) = &found.stopped {
        // After a stop, it is no wonder that the session does not wait, and that answers are left.
        lines.push(stopped.to_string());
        return lines;
    }
    let (state, wanted) = (json!(found.state), json!(expected.state));
    lines.extend(expected.state.and_then(|_| unequal("the state", &wanted, &state)));
    let left = [(found.unused.0, "`model`"), (found.unused.1, "`calls`")];
    let left = left.into_iter().filter(|(count, _)| *count > 0);
    lines.extend(left.map(|(count, member)| format!("{count} of the answers in {member} are not used")));
    lines
}

/// The first place where texts are not as expected.
fn in_list(
    what: &str,
    wanted: Option<&[String]>,
    found: &[String],
    is_same: impl Fn(&str, &str) -> bool,
) -> Option<String> {
    let wanted = wanted?;
    let places = 0..wanted.len().max(found.len());
    let at = places.into_iter().find(|at| match (wanted.get(*at), found.get(*at)) {
        (Some(wanted), Some(found)) => !is_same(wanted, found),
        _ => true,
    })?;
    let shown =
        |text: Option<&String>| text.map_or("nothing more".to_owned(), |text| json!(text).to_string());
    Some(format!("expected {what} {}: {}, got {}", at + 1, shown(wanted.get(at)), shown(found.get(at))))
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

/// A message as session files have it.
fn told(message: &Message) -> Json {
    // A role is written as a text.
    let role = json!(message.role).as_str().unwrap_or_default().to_owned();
    json!({role: message.content})
}

fn all_told(messages: &[Message]) -> Json {
    messages.iter().map(told).collect()
}

fn unequal(what: &str, wanted: &Json, found: &Json) -> Option<String> {
    (wanted != found).then(|| format!("expected {what} {wanted}, got {found}"))
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
