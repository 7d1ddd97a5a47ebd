//! Reads a session file of agents: a list of cases, each a conversation with what is expected of it.

use serde_json::{Map as JsonMap, Value as Json};

use super::answers::{ExpectedCall, call, reply};
use crate::agents::{Script, Turn};
use crate::cli::case_files;
use crate::sessions::SessionState;
use agent::{Event, Message, Role};
use base::model::Id;
use base::schema::{Members, Violation};
use template::value::RawObject;

/// One case.
#[derive(Debug)]
pub struct Case {
    /// What it is called in messages.
    pub name: String,
    /// The conversation.
    pub script: Script,
    /// What is expected of it.
    pub expected: Expected,
}

/// What is expected of a conversation.
#[derive(Debug, Default)]
pub struct Expected {
    /// What is expected of the start, and of each turn.
    pub turns: Vec<ExpectedTurn>,
    /// All messages at the end.
    pub history: Option<Vec<Message>>,
    /// The exit code; none if the session goes on.
    pub exit_code: Option<u8>,
}

/// What is expected of a turn; nothing of what is absent.
#[derive(Debug, Default)]
pub struct ExpectedTurn {
    /// The texts that are shown.
    pub output: Option<Vec<String>>,
    /// The lines of the log, in which `*` stands for any text.
    pub log: Option<Vec<String>>,
    /// The steps with their outcomes.
    pub steps: Option<Vec<String>>,
    /// The state after it.
    pub state: Option<SessionState>,
    /// The messages of the history that the model is sent for each of its answers.
    pub sent: Vec<Option<Vec<Message>>>,
    /// The calls of tools.
    pub calls: Vec<ExpectedCall>,
}

/// The cases of a file of a package with these agents.
///
/// # Errors
/// Everything that is wrong, a line for each.
pub fn cases(text: &[u8], agents: &[Id]) -> Result<Vec<Case>, Vec<String>> {
    case_files::cases(text, |body| case(body, agents))
}

fn case(body: RawObject, agents: &[Id]) -> Result<Case, Vec<Violation>> {
    let mut members = Members::new(body);
    let name: Option<String> = members.need("name", "a text: what the case is about");
    let agent = agent(&mut members, agents);
    let settings = members.take("settings", "an object: what overrides the settings of the agent");
    let variables = members.take("variables", "an object: what texts and prompts see as `variables`");
    let start: Option<RawObject> = members.take("start", "an object with `output` and `log`");
    let start = start.map(read_start).transpose();
    let start = start.map_err(|violations| add(&mut members, "/start", violations)).ok().flatten();
    let turns: Option<Vec<RawObject>> = members.need("turns", "a list of turns, which are objects");
    let (mut played, mut expected) = (Vec::new(), vec![start.unwrap_or_default()]);
    for (at, body) in turns.into_iter().flatten().enumerate() {
        match read_turn(body) {
            Ok((turn, of_turn)) => {
                played.push(turn);
                expected.push(of_turn);
            }
            Err(violations) => add(&mut members, &format!("/turns/{at}"), violations),
        }
    }
    let history = messages(&mut members, "history");
    let exit_code: Option<u8> = members.take("exit_code", "a whole number from 0 to 255");
    settle_states(&mut expected, exit_code.is_some());
    members.finish("is no member of a case")?;
    let expected = Expected { turns: expected, history, exit_code };
    let settings: JsonMap<String, Json> = settings.unwrap_or_default();
    let (Some(agent), Some(name)) = (agent, name) else { return Err(Vec::new()) };
    let script = Script { agent, settings, variables: variables.unwrap_or_default(), turns: played };
    Ok(Case { name, script, expected })
}

/// A turn that says no state has to wait, but for the last one of a case with an exit code: there the session has ended.
fn settle_states(turns: &mut [ExpectedTurn], ends: bool) {
    let last = if ends { SessionState::Ended } else { SessionState::Waiting };
    let all = turns.iter_mut().rev().enumerate();
    for (from_end, turn) in all {
        let usual = if from_end == 0 { last } else { SessionState::Waiting };
        turn.state.get_or_insert(usual);
    }
}

/// The agent that a case names, or the only one of its package.
fn agent(members: &mut Members, agents: &[Id]) -> Option<Id> {
    let named: Option<String> = members.take("agent", "the id of an agent");
    match (named, agents) {
        (Some(name), _) => Id::parse(&name).map_err(|error| members.add("/agent", error.to_string())).ok(),
        (None, [only]) => Some(only.clone()),
        (None, _) => {
            let known = agents.iter().map(Id::as_str).collect::<Vec<_>>().join("`, `");
            let known = if known.is_empty() { "none".to_owned() } else { format!("`{known}`") };
            members.add("/agent", format!("is missing: name the agent; the package has {known}"));
            None
        }
    }
}

/// Adds what is wrong with a part, at its place.
pub fn add(members: &mut Members, place: &str, violations: Vec<Violation>) {
    violations.into_iter().for_each(|one| members.add(format!("{place}{}", one.path), one.message));
}

fn read_start(body: RawObject) -> Result<ExpectedTurn, Vec<Violation>> {
    let mut members = Members::new(body);
    let (output, log) = said(&mut members);
    members.finish("is no member of a start, which has `output` and `log`")?;
    Ok(ExpectedTurn { output, log, ..ExpectedTurn::default() })
}

fn said(members: &mut Members) -> (Option<Vec<String>>, Option<Vec<String>>) {
    let output = members.take("output", "a list of the texts that are shown");
    (output, members.take("log", "a list of lines: `LEVEL [prefix] text`"))
}

fn read_turn(body: RawObject) -> Result<(Turn, ExpectedTurn), Vec<Violation>> {
    let mut members = Members::new(body);
    let event = event(&mut members);
    let (model, sent) = list(&mut members, "model", reply).into_iter().unzip();
    let (given, calls) = list(&mut members, "calls", call).into_iter().unzip();
    let (output, log) = said(&mut members);
    let steps = members.take("steps", "a list of steps with their outcomes: `main/message`");
    let state = members.take("state", "`waiting`, `waiting_confirmation` or `ended`");
    members.finish("is no member of a turn")?;
    let turn = Turn { event: event.unwrap_or(Event::EndOfInput), model, calls: given };
    Ok((turn, ExpectedTurn { output, log, steps, state, sent, calls }))
}

/// What the user does in a turn: exactly one of the members that say it.
fn event(members: &mut Members) -> Option<Event> {
    let line = members.take("line", "a text: what the user says").map(Event::Line);
    let arguments = members.take("arguments", "an object: the arguments of the call").map(Event::Change);
    let mut truth = |name: &str, event: Event| {
        let given: Option<bool> = members.take(name, "true");
        if given == Some(false) {
            members.add(format!("/{name}"), "must be true");
        }
        given.map(|_| event)
    };
    let others = [
        truth("approve", Event::Approve),
        truth("reject", Event::Reject),
        truth("end_of_input", Event::EndOfInput),
    ];
    let mut given = [line, arguments].into_iter().chain(others).flatten();
    match (given.next(), given.next()) {
        (Some(event), None) => Some(event),
        _ => {
            let all = "`line`, `approve`, `reject`, `arguments` and `end_of_input`";
            members.add("", format!("needs exactly one of {all}"));
            None
        }
    }
}

/// The items of a list, read one by one.
fn list<T>(
    members: &mut Members,
    name: &str,
    read: impl Fn(RawObject) -> Result<T, Vec<Violation>>,
) -> Vec<T> {
    let items: Option<Vec<RawObject>> = members.take(name, "a list of objects");
    let mut all = Vec::new();
    for (at, item) in items.into_iter().flatten().enumerate() {
        match read(item) {
            Ok(item) => all.push(item),
            Err(violations) => add(members, &format!("/{name}/{at}"), violations),
        }
    }
    all
}

/// A list of messages: `{"user": text}` or `{"assistant": text}` each.
pub fn messages(members: &mut Members, name: &str) -> Option<Vec<Message>> {
    let what = "a list of messages, each {\"user\": text} or {\"assistant\": text}";
    let items: Vec<JsonMap<String, Json>> = members.take(name, what)?;
    let read = |item: &JsonMap<String, Json>| {
        let mut all = item.iter();
        let (role, content) = all.next().filter(|_| item.len() == 1)?;
        let role = match role.as_str() {
            "user" => Role::User,
            "assistant" => Role::Assistant,
            _ => return None,
        };
        Some(Message { role, content: content.as_str()?.to_owned() })
    };
    let messages: Option<Vec<Message>> = items.iter().map(read).collect();
    if messages.is_none() {
        members.add(format!("/{name}"), format!("must be {what}"));
    }
    messages
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    fn read(file: &Json, agents: &[&str]) -> Result<Vec<Case>, Vec<String>> {
        let agents: Vec<Id> = agents.iter().map(|id| Id::parse(id).unwrap()).collect();
        cases(file.to_string().as_bytes(), &agents)
    }

    #[test]
    fn a_case_is_a_conversation_and_what_is_expected_of_it() {
        let file = json!([{
            "name": "one", "settings": {"A": 1}, "variables": {"b": 2}, "start": {"output": ["Hi"], "log": []},
            "turns": [
                {"line": "x", "model": [{"text": "yes", "sent": [{"user": "x"}]}, {"close": true}], "state": "waiting",
                 "calls": [{"tool": "a.b", "arguments": {}, "answer": {"ok": 1}}], "steps": ["main/message"]},
                {"end_of_input": true},
            ],
            "history": [{"user": "x"}, {"assistant": "y"}], "exit_code": 0,
        }]);
        let case = read(&file, &["only"]).unwrap().remove(0);
        assert_eq!((case.name.as_str(), case.script.agent.as_str()), ("one", "only"));
        assert_eq!((case.script.turns.len(), case.expected.turns.len()), (2, 3));
        let turn = &case.expected.turns[1];
        assert_eq!((turn.sent.len(), turn.calls.len(), turn.state), (2, 1, Some(SessionState::Waiting)));
        assert_eq!(case.expected.history.unwrap()[1].role, Role::Assistant);
        assert!(turn.output.is_none() && matches!(case.script.turns[1].event, Event::EndOfInput));
    }

    #[test]
    fn everything_that_is_wrong_with_a_file_is_told() {
        let file = json!([
            {"name": "a", "turns": [{"line": 1, "outputs": []}, {"line": "x", "approve": true, "model": [{}, {"text": 1}]}],
             "settings": [], "start": {"state": "waiting"}, "exit_code": -1},
            {"turns": [{"reject": false, "calls": [{"tool": "no id!", "answer": 1, "close": true}, {"close": true}],
                        "state": "over"}], "history": [{"user": 1}]},
            {"name": "b", "agent": "x y", "turn": []},
        ]);
        let told = read(&file, &["one", "two"]).unwrap_err().join("\n");
        for line in [
            "a: /agent: is missing: name the agent; the package has `one`, `two`",
            "a: /settings: must be an object",
            "a: /start/state: is no member of a start",
            "a: /turns/0/line: must be a text",
            "a: /turns/0/outputs: is no member of a turn",
            "a: /turns/1: needs exactly one of `line`, `approve`",
            "a: /turns/1/model/0: needs exactly one of `text`, `tool_calls`",
            "a: /turns/1/model/1/text: must be a text",
            "a: /exit_code: must be a whole number",
            "case 2: /name: is missing",
            "case 2: /turns/0/reject: must be true",
            "case 2: /turns/0/calls/0: needs exactly one of `answer`, `text`",
            "case 2: /turns/0/calls/1/tool: is missing",
            "case 2: /turns/0/state: must be `waiting`",
            "case 2: /history: must be a list of messages",
            "b: /agent: ",
            "b: /turns: is missing",
            "b: /turn: is no member of a case",
        ] {
            assert!(told.contains(line), "{line}:\n{told}");
        }
        assert!(read(&json!({}), &[]).unwrap_err()[0].starts_with("must be a JSON list of cases"));
        assert_eq!(read(&json!([]), &[]).unwrap_err(), ["there is no case in it"]);
    }
}
