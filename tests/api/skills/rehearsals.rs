//! `check --test` plays the session files of skills, with their answers in the place of a model's.

use std::path::Path;

use serde_json::{Value as Json, json};

use crate::commands::{good, run, text};
use support::app::write;

const SKILL: &str = "---
name: greet
description: Greets somebody. Use it to greet.
params:
  - name: who
    required: true
  - name: how
    default: kindly
---
Greet $ARGUMENTS.
";

/// A package with the skill `p.greet` and its sessions.
fn package(dir: &Path, sessions: &Json) {
    write(dir, "ext/p/package.json", r#"{"name": "p"}"#);
    write(dir, "ext/p/skills/greet/SKILL.md", SKILL);
    write(dir, "ext/p/skills/greet/session.test.json", sessions.to_string());
}

/// The lines of `check --test` about the sessions, without the name of the file.
fn failures(sessions: &Json) -> Vec<String> {
    let dir = tempfile::tempdir().unwrap();
    let dir = dir.path();
    package(dir, sessions);
    assert_eq!(good(dir, &["check", "ext"]), "all is well\n", "without --test, sessions are not read");
    let (code, out, err) = text(&run(dir, &["check", "ext", "--test"]));
    let lines = out.lines().filter_map(|line| line.strip_prefix("ext/p/skills/greet/session.test.json: "));
    let lines: Vec<String> = lines.map(str::to_owned).collect();
    assert_eq!(code == 0, lines.is_empty(), "{out}{err}");
    lines
}

#[test]
fn a_session_is_played_with_all_that_a_session_has() {
    let sessions = json!([
        {"name": "greets", "params": {"who": "Ada", "ARGUMENTS": "with a bow"}, "os": "linux", "knowledge": "It is a test.",
         "system": ["You are a terminal AI assistant", "Target OS: Linux", "It is a test.",
                    "--- Active Skill: greet ---\nGreet with a bow."],
         "steps": [
            {"sent": "Execute skill: greet\n\nParameters:\n- who: Ada\n- how: kindly\n\n[Step 1 of 100]",
             "answer": "<think>first</think>**[MESSAGE]** Soon.", "expect": {"type": "MESSAGE", "message": "Soon."}},
            {"sent": "[Continue after informational message]\n\n[Step 2 of 100]",
             "answer": "[CMD] echo hi", "expect": {"type": "CMD", "command": "echo hi"},
             "event": {"type": "command_result", "stdout": "\u{1b}[1mhi\u{1b}[0m\n", "exit_code": 3}},
            {"sent": "Command output:\nhi\n\n[Exit code: 3]\n\n[Step 3 of 100]",
             "answer": "[ASK:optional] More?", "expect": {"type": "ASK", "required": false, "question": "More?"},
             "event": {"type": "user_message", "text": ""}},
            {"answer": "[DONE]", "expect": {"message": "Skill completed"}}
         ]},
        {"name": "stops where it waits", "prompt": "Greet Ada", "params": {"who": "Ada"}, "state": "waiting_cmd",
         "steps": [{"sent": "Greet Ada\n\nParameters:\n- who: Ada\n- how: kindly\n\n[Step 1 of 7]", "answer": "echo hi"}],
         "max_steps": 7},
        {"name": "ends with its steps", "params": {"who": "Ada"}, "max_steps": 1,
         "steps": [{"answer": "[ASK] Who?", "event": {"type": "user_message", "text": "Ada"}}]},
        {"name": "goes on by events alone", "params": {"who": "Ada"}, "auto_continue": false,
         "steps": [{"answer": "[MESSAGE] Soon.", "event": {"type": "continue"}}, {"answer": "[DONE] Hi"}]},
        {"name": "needs somebody", "error": {"code": "missing_variables", "missing": ["who"]}}
    ]);
    assert_eq!(failures(&sessions), Vec::<String>::new());
}

#[test]
fn every_failure_is_told_with_its_case_and_step() {
    let who = json!({"who": "Ada"});
    let done = json!({"answer": "[DONE] Hi"});
    let ran = json!({"answer": "[CMD] ls", "event": {"type": "command_result"}});
    let sessions = json!([
        {"name": "a", "params": who, "system": ["nowhere"], "state": "waiting_user",
         "steps": [{"sent": "x", "answer": "[DONE] Hi", "expect": {"type": "DONE", "message": "Ho"}}]},
        {"name": "b", "params": who, "steps": [ran]},
        {"name": "c", "params": who, "steps": [done, done]},
        {"name": "d", "params": who, "steps": [ran, {"answer": " "}]},
        {"name": "e", "params": who, "steps": [{"answer": "[CMD] ls"}, done]},
        {"name": "f", "params": who, "steps": [{"answer": "[ASK] x", "event": {"type": "user_message", "text": ""}}, done]},
        {"name": "g", "params": who, "steps": [{"answer": "[MESSAGE] x", "event": {"type": "continue"}}, done]},
        {"name": "h", "params": who, "error": {"code": "missing_variables"}},
        {"name": "i", "steps": [done]},
        {"name": "j", "error": {"code": "missing_variables", "missing": ["how"]}}
    ]);
    let told = failures(&sessions);
    let begins = [
        r#"a: the system message lacks "nowhere": it is "You are"#,
        r#"a: step 1: expected that the model is sent "x", got "Execute skill: greet\n\nParameters:"#,
        r#"a: step 1: expected {"type":"DONE","message":"Ho"}, got {"type":"DONE","content":"[DONE] Hi","message":"Hi"}"#,
        "a: expected the state `waiting_user` at the end, got `done`",
        "b: step 1: the model is asked again, and no answer follows",
        "c: step 2: the session is over, and one more answer follows",
        "d: step 2: the answer cannot be used: the answer is empty",
        "e: step 1: the session is in the state `waiting_cmd`, and no event says how it goes on",
        "f: step 1: the event is refused: `text` is empty",
        "g: step 1: the session goes on by itself after a message",
        "h: expected the error missing_variables, but the session starts",
        r#"i: expected a session, got {"message":"the skill `p.greet` needs parameters that are missing: who"#,
        "j: expected the error missing_variables of how, got {",
    ];
    assert_eq!(told.len(), begins.len(), "{told:#?}");
    for (line, begin) in told.iter().zip(begins) {
        assert!(line.starts_with(begin), "{begin}\n{line}");
    }
}

#[test]
fn a_file_that_cannot_be_played_says_what_is_wrong_with_it() {
    let wrong = json!([
        {"name": "a", "steps": [{"anwser": "[DONE]", "event": {"type": "done"}}]},
        {"name": "b", "params": {}, "steps": [], "states": "done"},
    ]);
    assert_eq!(
        failures(&wrong),
        [
            "a: /steps/0/answer: is missing: it must be a text: what the model answers",
            "a: /steps/0/event/type: must be `command_result`, `user_message` or `continue`",
            "a: /steps/0/anwser: is no member of a step, which has `sent`, `answer`, `expect` and `event`",
            "b: needs exactly one of `steps`, of which there is at least one, and `error`",
            "b: /states: is no member of a case",
        ]
    );
    assert!(failures(&json!({}))[0].starts_with("must be a JSON list of cases, which are objects: "));
}
