//! Reads the session file of a skill: a list of cases, each the start of a session, its steps, and what is expected of them.

use serde_json::{Map, Value as Json};

use super::super::package_tests::ExpectedError;
use crate::cli::case_files;
use crate::http::{read_event, start_of};
use crate::sessions::SessionState;
use crate::skills::{Act, SkillSource, Start};
use base::model::Id;
use base::schema::{Members, Violation};
use template::value::RawObject;

/// The members that directives have.
const DIRECTIVE: [&str; 6] = ["type", "content", "command", "question", "required", "message"];

/// One case.
pub struct Case {
    /// What it is called in messages.
    pub name: String,
    /// How the session begins.
    pub start: Start,
    /// What happens in its steps; nothing if it cannot be started.
    pub acts: Vec<Act>,
    /// What is expected of it.
    pub expected: Expected,
    /// Why it cannot be started.
    pub error: Option<ExpectedError>,
}

/// What is expected of a session.
pub struct Expected {
    /// Texts that the system message must contain.
    pub system: Vec<String>,
    /// What is expected of each step.
    pub steps: Vec<ExpectedStep>,
    /// The state at the end.
    pub state: SessionState,
}

/// What is expected of a step.
pub struct ExpectedStep {
    /// The message that the model gets.
    pub sent: Option<String>,
    /// Members that the directive has.
    pub directive: Map<String, Json>,
}

/// The cases of a file.
///
/// # Errors
/// Everything that is wrong, a line for each.
pub fn cases(text: &[u8], skill: &Id) -> Result<Vec<Case>, Vec<String>> {
    case_files::cases(text, |body| case(body, skill))
}

fn case(body: RawObject, skill: &Id) -> Result<Case, Vec<Violation>> {
    let mut members = Members::new(body);
    let name: Option<String> = members.need("name", "a text: what the case is about");
    let system = members.take("system", "a list of texts that the system message contains");
    let steps: Option<Vec<RawObject>> = members.take("steps", "a list of steps, which are objects");
    let state = members.take("state", "`done`, `waiting_cmd`, `waiting_user` or `idle`");
    let error =
        members.take("error", "an object with `code`, and `missing`, a list of names, if that matters");
    if steps.as_ref().is_some_and(|steps| !steps.is_empty()) == error.is_some() {
        members.add("", "needs exactly one of `steps`, of which there is at least one, and `error`");
    }
    let steps = steps.into_iter().flatten().enumerate();
    let steps = steps.filter_map(|(at, body)| step(body, &mut members, &format!("/steps/{at}")));
    let (acts, steps) = steps.unzip();
    let start = start_of(&mut members, SkillSource::Registered(skill.clone()));
    members.finish("is no member of a case")?;
    let state = state.unwrap_or(SessionState::Done);
    let expected = Expected { system: system.unwrap_or_default(), steps, state };
    Ok(Case { name: name.unwrap_or_default(), start, acts, expected, error })
}

/// A step; none if something is wrong with it, which `members` of the case are told, at its place.
fn step(body: RawObject, members: &mut Members, place: &str) -> Option<(Act, ExpectedStep)> {
    read_step(body).map_err(|violations| add(members, place, violations)).ok()
}

fn add(members: &mut Members, place: &str, violations: Vec<Violation>) {
    violations.into_iter().for_each(|one| members.add(format!("{place}{}", one.path), one.message));
}

fn read_step(body: RawObject) -> Result<(Act, ExpectedStep), Vec<Violation>> {
    let mut members = Members::new(body);
    let sent = members.take("sent", "a text: the message that the model gets");
    let answer: Option<String> = members.need("answer", "a text: what the model answers");
    let directive = directive(&mut members);
    let event: Option<RawObject> = members.take("event", "an object: what the client tells");
    let event = event.map(read_event).transpose();
    let event = event.map_err(|violations| add(&mut members, "/event", violations)).ok().flatten();
    members.finish("is no member of a step, which has `sent`, `answer`, `expect` and `event`")?;
    Ok((Act { answer: answer.unwrap_or_default(), event }, ExpectedStep { sent, directive }))
}

/// The members that the directive must have.
fn directive(members: &mut Members) -> Map<String, Json> {
    let expect: Option<Map<String, Json>> = members.take("expect", "an object with members of the directive");
    let expect = expect.unwrap_or_default();
    for name in expect.keys().filter(|name| !DIRECTIVE.contains(&name.as_str())) {
        let all = DIRECTIVE.map(|name| format!("`{name}`")).join(", ");
        members.add(format!("/expect/{name}"), format!("is no member of a directive, which may have {all}"));
    }
    expect
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    fn wrong(file: &Json) -> Vec<String> {
        cases(file.to_string().as_bytes(), &Id::parse("x.y").unwrap()).err().unwrap_or_default()
    }

    #[test]
    fn a_case_is_the_start_of_a_session_its_steps_and_what_is_expected() {
        let file = json!([
            {"name": "one", "params": {"a": 1}, "os": "linux", "max_steps": 3, "system": ["x"], "state": "waiting_cmd",
             "steps": [{"answer": "[CMD] ls", "expect": {"type": "CMD"}, "sent": "s"}]},
            {"name": "two", "error": {"code": "missing_variables", "missing": ["a"]}}
        ]);
        let cases = cases(file.to_string().as_bytes(), &Id::parse("x.y").unwrap()).ok().unwrap();
        assert_eq!(cases[0].start.params["a"], 1);
        let expected = &cases[0].expected;
        assert_eq!((cases[0].start.max_steps, expected.state), (Some(3), SessionState::WaitingCmd));
        assert_eq!(expected.steps[0].directive["type"], "CMD");
        assert!(cases[1].acts.is_empty() && cases[1].error.is_some());
    }

    #[test]
    fn everything_that_is_wrong_with_a_file_is_told() {
        let file = json!([
            {"name": "a", "steps": [{"answer": 1, "expect": {"comand": ""}}, {"event": {"type": "comand_result"}, "x": 1}],
             "params": [], "state": "over", "systems": []},
            {"steps": [], "error": {"cod": 1}},
            {"name": "b", "steps": [{"answer": "", "event": {"type": "command_result", "text": "x", "exit_code": "0"}}],
             "error": {"code": "x"}}
        ]);
        let told = wrong(&file).join("\n");
        for line in [
            "a: /steps/0/answer: must be a text",
            "a: /steps/0/expect/comand: is no member of a directive",
            "a: /steps/1/answer: is missing",
            "a: /steps/1/event/type: must be `command_result`",
            "a: /steps/1/x: is no member of a step",
            "a: /params: must be an object",
            "a: /state: must be `done`",
            "a: /systems: is no member of a case",
            "case 2: /name: is missing",
            "case 2: needs exactly one of `steps`",
            "case 2: /error: must be an object with `code`",
            "b: needs exactly one of `steps`",
            "b: /steps/0/event/text: is no member of such an event",
            "b: /steps/0/event/exit_code: must be a whole number",
        ] {
            assert!(told.contains(line), "{line}:\n{told}");
        }
    }

    #[test]
    fn a_file_is_a_list_with_at_least_one_case() {
        assert!(wrong(&json!({}))[0].starts_with("must be a JSON list of cases"));
        assert!(wrong(&json!([1]))[0].starts_with("must be a JSON list of cases"));
        assert_eq!(wrong(&json!([])), ["there is no case in it"]);
    }
}
