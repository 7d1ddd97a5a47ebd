//! The cases on the command line: `agent run`, with lines on standard input, and no terminal.

use std::path::Path;
use std::process::Stdio;
use std::time::Duration;

use tokio::io::AsyncWriteExt;
use tokio::process::Command;

use super::cases::{self, Case, Told, told_in};
use super::{Lane, differ, differ_told, in_lanes};

/// How long a conversation may take.
const TIME: Duration = Duration::from_secs(30);

#[tokio::test]
async fn every_case_of_the_simple_agent_on_the_command_line() {
    let faults = in_lanes(cases::all(), play).await;
    assert!(faults.is_empty(), "{}", faults.join("\n"));
}

async fn play(lane: &Lane, case: &Case) -> Vec<String> {
    let folder = tempfile::tempdir().unwrap();
    let mut child = command(lane, case, folder.path()).spawn().unwrap();
    let lines = case.turns().iter().filter_map(|turn| turn["line"].as_str());
    let input: String = lines.map(|line| format!("{line}\n")).collect();
    child.stdin.take().unwrap().write_all(input.as_bytes()).await.unwrap();
    let output = tokio::time::timeout(TIME, child.wait_with_output()).await;
    let output = output.unwrap_or_else(|_| panic!("{} does not end", case.name)).unwrap();
    let (out, err) = (String::from_utf8(output.stdout).unwrap(), String::from_utf8(output.stderr).unwrap());
    let mut expected = case.start();
    for turn in case.turns() {
        let Told { output, log } = told_in(turn);
        expected.output.extend(output);
        expected.log.extend(log);
    }
    let printed: String = expected.output.drain(..).map(|text| format!("{text}\n")).collect();
    let mut faults = differ("standard output", &printed, &out);
    faults.extend(differ("standard error", &String::new(), &err));
    faults.extend(differ("exit code", &Some(case.exit_code().unwrap_or(0)), &output.status.code()));
    let log = std::fs::read_to_string(folder.path().join("agent.log")).unwrap();
    faults.extend(differ_told(&expected, &Told { output: Vec::new(), log: entries(&log) }));
    faults
}

fn command(lane: &Lane, case: &Case, folder: &Path) -> Command {
    let mut command = Command::new(env!("CARGO_BIN_EXE_ai-prompt-shell"));
    command.current_dir(folder).args([
        "agent",
        "run",
        "simple-agent",
        "--log",
        "agent.log",
        "--store",
        "memory:",
    ]);
    let mut set = |key: &str, value: &str| _ = command.arg("-s").arg(format!("{key}={value}"));
    set("llm.base_url", &lane.model.base);
    set("tools.modules.rag.url", &lane.rag.url);
    set("tools.modules.haiku.url", &lane.haiku.url);
    for (name, value) in case.settings() {
        let value = value.as_str().map_or_else(|| value.to_string(), str::to_owned);
        set(&format!("agents.simple-agent.{name}"), &value);
    }
    command.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped()).kill_on_drop(true);
    command
}

/// The entries of a log file, without their times: `LEVEL [prefix] text`.
fn entries(log: &str) -> Vec<String> {
    let mut entries: Vec<String> = Vec::new();
    for line in log.lines() {
        match line.strip_prefix("    ") {
            Some(rest) => {
                let entry = entries.last_mut().expect("a log begins with an entry");
                entry.push('\n');
                entry.push_str(rest);
            }
            None => {
                let (time, entry) = line.split_once(' ').unwrap();
                assert!(time.ends_with('Z') && time.contains('T'), "{line}");
                entries.push(entry.to_owned());
            }
        }
    }
    entries
}

#[tokio::test]
async fn a_verbose_log_has_what_models_and_tools_are_sent_and_answer() {
    let lane = Lane::new().await;
    let case = cases::all().into_iter().find(|case| case.name == "rag: ответ RAG").unwrap();
    lane.prepare(&case).await;
    let folder = tempfile::tempdir().unwrap();
    let mut child = command(&lane, &case, folder.path()).arg("--verbose").spawn().unwrap();
    let line = case.turns()[0]["line"].as_str().unwrap();
    child.stdin.take().unwrap().write_all(line.as_bytes()).await.unwrap();
    let output = tokio::time::timeout(TIME, child.wait_with_output()).await.unwrap().unwrap();
    assert!(output.status.success(), "{output:?}");
    let log = entries(&std::fs::read_to_string(folder.path().join("agent.log")).unwrap());
    for (prefix, parts) in [
        ("DEBUG [cls] post_chat_completions // payload: ", &["GigaChat-2-Max", "relevant", line][..]),
        ("DEBUG [cls] post_chat_completions // response: ", &["\\\"relevant\\\": true", "usage"]),
        ("DEBUG [select] post_chat_completions // payload: ", &["GigaChat-2-Max", "generate_haiku", line]),
        ("DEBUG [select] post_chat_completions // response: ", &["tool_calls", "rag_search"]),
        ("DEBUG [exec] call_tool // rag.health: ", &["{}"]),
        ("DEBUG [exec] call_tool // rag.search: ", &["\"top_k\":2"]),
        ("DEBUG [exec] call_tool // rag.search answers: ", &["chunk_texts"]),
    ] {
        let entry = log.iter().find_map(|entry| entry.strip_prefix(prefix));
        let entry = entry.unwrap_or_else(|| panic!("no {prefix}: {log:#?}"));
        assert!(parts.iter().all(|part| entry.contains(part)), "{prefix}{entry}");
    }
}
