//! What is not as a case expects it.

use serde_json::{Value as Json, json};

use super::file::{Expected, ExpectedTurn};
use crate::agents::{Rehearsal, Rehearsed};
use agent::Message;

/// Whether what was found is as it is wanted.
type Agree = fn(&Json, &Json) -> bool;

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
        lines.extend(first("message of the history", told(wanted), told(&rehearsal.history), is_same));
    }
    if expected.exit_code != rehearsal.exit_code {
        let say = |code: Option<u8>| code.map_or("none".to_owned(), |code| code.to_string());
        let (wanted, found) = (say(expected.exit_code), say(rehearsal.exit_code));
        lines.push(format!("expected the exit code {wanted}, got {found}"));
    }
    lines
}

fn of_turn(found: &Rehearsed, expected: &ExpectedTurn) -> Vec<String> {
    let mut lines = Vec::new();
    let lists = [
        ("output", &expected.output, &found.output, is_same as Agree),
        ("log", &expected.log, &found.log, is_like),
        ("step", &expected.steps, &found.steps, is_same),
    ];
    for (what, wanted, found, agree) in lists {
        let wanted = wanted.as_ref();
        lines.extend(wanted.and_then(|wanted| first(what, texts(wanted), texts(found), agree)));
    }
    lines.extend(of_calls(found, expected));
    for (at, (wanted, sent)) in expected.sent.iter().zip(&found.sent).enumerate() {
        let what = format!("that the model is sent, for its answer {},", at + 1);
        let sent = Json::Array(told(sent));
        lines.extend(wanted.iter().filter_map(|wanted| unequal(&what, &Json::Array(told(wanted)), &sent)));
    }
    lines.extend(of_end(found, expected));
    lines
}

/// What is wrong after a turn.
fn of_end(found: &Rehearsed, expected: &ExpectedTurn) -> Vec<String> {
    if let Some(stopped) = &found.stopped {
        // Then it is no wonder that the session does not wait, and that answers are left.
        return vec![stopped.to_string()];
    }
    let (state, wanted) = (json!(found.state), json!(expected.state));
    let state = expected.state.and_then(|_| unequal("the state", &wanted, &state));
    let left = [(found.unused.0, "`model`"), (found.unused.1, "`calls`")];
    let left = left.into_iter().filter(|(count, _)| *count > 0);
    let left = left.map(|(count, member)| format!("{count} of the answers in {member} are not used"));
    state.into_iter().chain(left).collect()
}

/// The first place where two lists differ.
fn first(what: &str, wanted: Vec<Json>, found: Vec<Json>, agree: Agree) -> Option<String> {
    let mut places = 0..wanted.len().max(found.len());
    let at = places.find(|at| match (wanted.get(*at), found.get(*at)) {
        (Some(wanted), Some(found)) => !agree(wanted, found),
        _ => true,
    })?;
    let shown = |text: Option<&Json>| text.map_or("nothing more".to_owned(), Json::to_string);
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

fn texts(texts: &[String]) -> Vec<Json> {
    texts.iter().map(|text| json!(text)).collect()
}

/// Messages as session files have them.
fn told(messages: &[Message]) -> Vec<Json> {
    let told = |message: &Message| {
        // A role is written as a text.
        let role = json!(message.role).as_str().unwrap_or_default().to_owned();
        json!({role: message.content})
    };
    messages.iter().map(told).collect()
}

fn unequal(what: &str, wanted: &Json, found: &Json) -> Option<String> {
    (wanted != found).then(|| format!("expected {what} {wanted}, got {found}"))
}

fn is_same(wanted: &Json, found: &Json) -> bool {
    wanted == found
}

/// Whether a line is as a pattern says.
fn is_like(pattern: &Json, line: &Json) -> bool {
    matches(pattern.as_str().unwrap_or_default(), line.as_str().unwrap_or_default())
}

/// The same for texts: `*` stands for any text.
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
