//! `agent test` and `check --test` play session files, and tell everything that is not as it is expected.

use std::path::Path;

use serde_json::{Value as Json, json};

use crate::commands::{good, run, text};
use support::app::write;

/// An agent that books seats, once the user has approved it.
fn clerk() -> Json {
    let said = |text: &str| json!([{"text": text, "history": true}]);
    let broken = json!(["No answer."]);
    json!({
        "name": "clerk",
        "help": "I book seats.",
        "commands": {"exit": ["bye"]},
        "settings": {"SEATS_MAX": 4, "CITIES": ["Rome"], "GREETING": "Hello"},
        "prompts": {"select": "desk.select", "answer": "desk.answer"},
        "steps": {
            "main": {"outcomes": {"start": ["{{ settings.GREETING }}, {{ settings.SEATS_MAX }} seats, {{ settings.CITIES | join(' and ') }}."],
                                  "exit": [{"debug": "gone"}]}},
            "select": {"outcomes": {"none": said("Which city?"), "llm_error": broken, "parse_error": broken}},
            "valid": {"outcomes": {"confirm": ["Book {{ arguments.city }}?"], "rejected": said("As you like."),
                                   "unknown_tool": ["No."], "invalid": [{"warning": "{{ error }}"}]}},
            "exec": {"outcomes": {"answered": said("{{ answer }}"), "llm_error": broken, "parse_error": broken}},
        },
        "tools": [{
            "name": "book", "tool": "office.book", "confirm": true,
            "parameters": {"type": "object", "properties": {"city": {"type": "string"}}},
            "checks": [{"parameter": "city", "missing": ["Which city?"]}],
            "on_missing": "ask",
            "failure": {"call_failed": [{"text": "That failed.", "history": true}, {"error": "{{ error }}"}]},
        }],
    })
}

/// A folder of packages with the agent, and these cases as its sessions.
fn package(dir: &Path, cases: &Json) {
    let prompt = |name: &str| json!({"name": name, "prompt": "Help the user.", "syntax": "jinja"});
    let manifest = json!({"name": "desk", "extensionType": "agents", "contributes": {"prompts": [prompt("select"), prompt("answer")]}});
    let tool = json!({"module": "office", "name": "book", "type": "restful", "restful": {"url": "/book", "method": "POST"},
                      "parameters": {"type": "object", "properties": {"city": {"type": "string", "maxLength": 9}}, "required": ["city"]}});
    write(dir, "packages/desk/package.json", manifest.to_string());
    write(dir, "packages/desk/agents/clerk.json", clerk().to_string());
    write(dir, "packages/desk/tools/office.book.json", tool.to_string());
    write(dir, "packages/desk/sessions/all.json", cases.to_string());
}

fn call(arguments: Json) -> Json {
    json!({"tool_calls": [{"name": "book", "arguments": arguments}]})
}

#[test]
fn sessions_are_played_with_all_that_a_user_can_do() {
    let rome = json!({"city": "Rome"});
    let booked = json!({"tool": "office.book", "arguments": rome, "answer": {"seat": 7}});
    let done = json!({"model": [{"text": " Seat 7. "}], "calls": [booked], "output": ["Seat 7."]});
    let with = |event: Json, rest: &Json| {
        let mut turn = rest.clone();
        turn.as_object_mut().unwrap().extend(event.as_object().unwrap().clone());
        turn
    };
    let asked = json!({"line": "a seat in Rome", "model": [call(rome.clone())], "output": ["Book Rome?"], "state": "waiting_confirmation"});
    let oslo = json!({"tool": "office.book", "arguments": {"city": "Oslo"}, "status": 500, "body": "full"});
    let cases = json!([
        {"name": "approved", "start": {"output": ["Hello, 4 seats, Rome."], "log": []},
         "turns": [asked, with(json!({"approve": true, "steps": ["exec/done", "exec/answered", "main/restart"]}), &done)],
         "history": [{"user": "a seat in Rome"}, {"assistant": "Seat 7."}]},
        {"name": "rejected", "turns": [asked, {"reject": true, "output": ["As you like."]}, {"line": "BYE", "log": ["DEBUG [main] gone"]}], "exit_code": 0},
        {"name": "changed", "turns": [asked, {"arguments": {"city": "Oslo"}, "calls": [oslo],
         "output": ["That failed."], "log": ["ERROR [exec] the tool failed with 500*full"]}]},
        {"name": "asked for the city", "turns": [{"line": "a seat", "model": [call(json!({}))], "output": ["Which city?"]},
         {"line": "Rome", "output": ["Book Rome?"], "state": "waiting_confirmation"}, with(json!({"approve": true}), &done)]},
        {"name": "what the tool does not take never reaches it", "turns": [
         {"line": "x", "model": [call(json!({"city": "Constantinople"}))], "state": "waiting_confirmation"},
         {"approve": true, "output": ["That failed."], "log": ["ERROR [exec] the arguments do not fit: *"]}]},
        {"name": "other settings", "agent": "clerk", "settings": {"seats-max": 2, "CITIES": "Oslo, Rome"},
         "start": {"output": ["Hello, 2 seats, Oslo and Rome."]}, "turns": [{"end_of_input": true}], "exit_code": 0},
    ]);
    let dir = tempfile::tempdir().unwrap();
    let dir = dir.path();
    package(dir, &cases);
    for folder in ["packages", "packages/desk", "packages/desk/sessions"] {
        assert_eq!(good(dir, &["agent", "test", folder]), "6 sessions passed\n", "{folder}");
    }
    assert_eq!(good(dir, &["check", "packages", "--test"]), "all is well, and all tests pass\n");
    // A session file means the same everywhere.
    let settings = ["-s", "agents.clerk.GREETING=Hi", "agent", "test", "packages"];
    assert_eq!(good(dir, &settings), "6 sessions passed\n");
    write(dir, "elsewhere/notes.txt", "x");
    let (code, _, err) = text(&run(dir, &["agent", "test", "elsewhere"]));
    assert_eq!((code, err.contains("has no session files")), (2, true), "{err}");
    let (code, _, err) = text(&run(dir, &["agent", "test", "nowhere"]));
    assert_eq!((code, err.contains("nowhere is not a folder")), (2, true), "{err}");
}

#[test]
fn every_difference_is_told_with_its_case_and_turn() {
    let rome = call(json!({"city": "Rome"}));
    let waits = json!({"line": "a", "model": [rome], "state": "waiting_confirmation"});
    let booked = json!({"tool": "office.book", "answer": {}});
    let cases = json!([
        {"name": "a", "start": {"output": ["Hi"], "log": ["DEBUG [main] x"]}, "turns": [], "history": [{"user": "x"}], "exit_code": 3},
        {"name": "b", "turns": [{"line": "x", "model": [{"text": "Hm", "sent": []}, {"close": true}], "output": ["Which city?", "Rome?"],
                                 "steps": ["main/start"], "log": [], "state": "ended", "calls": [booked]}]},
        {"name": "c", "turns": [waits, {"line": "yes"}]},
        {"name": "d", "turns": [{"line": "x"}]},
        {"name": "e", "turns": [waits, {"approve": true}]},
        {"name": "f", "turns": [waits, {"approve": true, "model": [{"text": "ok"}],
                                        "calls": [{"tool": "office.look", "arguments": {"city": "Oslo"}, "answer": {}}]}]},
        {"name": "g", "settings": {"SEATS": 1, "SEATS_MAX": "many"}, "turns": []},
        {"name": "h", "agent": "nobody", "turns": []},
        {"name": "i", "turns": [{"line": "bye"}], "exit_code": 0},
    ]);
    let dir = tempfile::tempdir().unwrap();
    package(dir.path(), &cases);
    let (code, out, err) = text(&run(dir.path(), &["agent", "test", "packages"]));
    assert_eq!((code, err.as_str()), (1, ""), "{out}");
    let lines: Vec<&str> =
        out.lines().filter_map(|line| line.split_once("sessions/all.json: ")).map(|(_, line)| line).collect();
    let expected = [
        r#"a: start: expected output 1: "Hi", got "Hello, 4 seats, Rome.""#,
        r#"a: start: expected log 1: "DEBUG [main] x", got nothing more"#,
        "a: start: expected the state \"ended\", got \"waiting\"",
        r#"a: expected message of the history 1: {"user":"x"}, got nothing more"#,
        "a: expected the exit code 3, got none",
        r#"b: turn 1: expected output 2: "Rome?", got nothing more"#,
        r#"b: turn 1: expected step 1: "main/start", got "main/message""#,
        r#"b: turn 1: expected that the model is sent, for its answer 1, [], got [{"user":"x"}]"#,
        r#"b: turn 1: expected the state "ended", got "waiting""#,
        "b: turn 1: 1 of the answers in `model` are not used",
        "b: turn 1: 1 of the answers in `calls` are not used",
        "c: turn 2: the turn is refused: a call waits for approval",
        "d: turn 1: the model is asked once more, and `model` has no answer for it",
        "e: turn 2: `office.book` is called, and `calls` has no answer for it",
        r#"f: turn 2: expected call 1 "office.look", got "office.book""#,
        r#"f: turn 2: expected call 1 with {"city":"Oslo"}, got {"city":"Rome"}"#,
        "g: the agent `clerk` is unavailable: the settings override `seats`, which this agent does not have",
        "g: the agent `clerk` is unavailable: the settings override `SEATS_MAX`, which must be a number",
        "h: there is no agent `nobody`",
    ];
    for (at, line) in expected.iter().enumerate() {
        assert!(lines.get(at).is_some_and(|found| found.starts_with(line)), "{at}: {line}\n{out}");
    }
    assert_eq!(lines.len(), expected.len(), "{out}");
    assert!(out.ends_with("1 session passed, 8 failed\n"), "{out}");
    let (code, out, _) = text(&run(dir.path(), &["check", "packages", "--test"]));
    assert!(code == 1 && out.ends_with("0 problems, 19 failed tests\n"), "{out}");
}

#[test]
fn a_file_that_cannot_be_played_says_what_is_wrong_with_it() {
    let dir = tempfile::tempdir().unwrap();
    package(
        dir.path(),
        &json!([{"name": "a", "turns": [{"lines": "x", "model": [{"txt": "y"}]}]}, {"turn": []}]),
    );
    let (code, out, _) = text(&run(dir.path(), &["agent", "test", "packages/desk"]));
    let lines: Vec<&str> =
        out.lines().filter_map(|line| line.split_once("all.json: ")).map(|(_, line)| line).collect();
    assert_eq!(
        lines,
        [
            "a: /turns/0: needs exactly one of `line`, `approve`, `reject`, `arguments` and `end_of_input`",
            "a: /turns/0/model/0: needs exactly one of `text`, `tool_calls`, `function_call`, `refusal`, `body`, `status` and `close`",
            "a: /turns/0/model/0/txt: is no member of an answer of the model",
            "a: /turns/0/lines: is no member of a turn",
            "case 2: /name: is missing: it must be a text: what the case is about",
            "case 2: /turns: is missing: it must be a list of turns, which are objects",
            "case 2: /turn: is no member of a case",
        ]
    );
    assert!(code == 1 && out.ends_with("0 sessions passed, 1 failed\n"), "{out}");
}

#[test]
fn settings_of_an_agent_come_from_its_document_the_file_the_environment_and_flags() {
    let dir = tempfile::tempdir().unwrap();
    let dir = dir.path();
    package(dir, &json!([]));
    let hello = |variables: &[(&str, &str)], flags: &[&str]| {
        let mut command = std::process::Command::new(env!("CARGO_BIN_EXE_ai-prompt-shell"));
        command.current_dir(dir).args([
            "--packages",
            "packages",
            "--store",
            "memory:",
            "agent",
            "run",
            "clerk",
        ]);
        let output =
            command.args(flags).envs(variables.iter().copied()).stdin(std::process::Stdio::null()).output();
        let (code, out, err) = text(&output.unwrap());
        assert_eq!(code, 0, "{out}{err}");
        out.trim().to_owned()
    };
    let environment = [("APS__AGENTS__CLERK__SEATS_MAX", "6"), ("APS__AGENTS__CLERK__CITIES", "Oslo,Bergen")];
    assert_eq!(hello(&[], &[]), "Hello, 4 seats, Rome.");
    write(dir, "ai-prompt-shell.toml", "[agents.Clerk]\nSEATS_MAX = 5\nGREETING = \"Hi\"\n");
    assert_eq!(hello(&[], &[]), "Hi, 5 seats, Rome.");
    assert_eq!(hello(&environment, &[]), "Hi, 6 seats, Oslo and Bergen.");
    let flags = [
        "-s",
        "agents.clerk.SEATS-MAX=7",
        "--set",
        r#"agents.CLERK.cities=["Turin"]"#,
        "-s",
        "agents.clerk.GREETING=7",
    ];
    assert_eq!(hello(&environment, &flags), "7, 7 seats, Turin.");
}
