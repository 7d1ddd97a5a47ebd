//! The same agent on the command line, which knows no more of it than the service does.

use std::io::Write;
use std::path::Path;
use std::process::{Command, Stdio};

use serde_json::{Value as Json, json};

use super::{Travel, calls, relevant, says};
use support::terminal::{Terminal, beside};
use support::upstream::Act;

/// Talks to the agent with these lines; gives the exit code, the standard output, and the log without its times.
async fn talk(travel: &Travel, lines: &'static str) -> (i32, String, Vec<String>) {
    let server = travel.app.base.clone();
    let run = move || {
        let folder = tempfile::tempdir().unwrap();
        let mut command = Command::new(env!("CARGO_BIN_EXE_ai-prompt-shell"));
        command.args(["--server", &server, "agent", "run", "travel", "--log", "log", "-v", "who=Ada"]);
        command.current_dir(folder.path()).stdin(Stdio::piped()).stdout(Stdio::piped());
        let mut child = command.spawn().unwrap();
        child.stdin.take().unwrap().write_all(lines.as_bytes()).unwrap();
        let output = child.wait_with_output().unwrap();
        let log = std::fs::read_to_string(folder.path().join("log")).unwrap();
        let log = log.lines().map(|line| line.split_once(' ').unwrap().1.to_owned()).collect();
        (output.status.code().unwrap(), String::from_utf8(output.stdout).unwrap(), log)
    };
    tokio::task::spawn_blocking(run).await.unwrap()
}

/// What the agent says first.
const HELLO: &str = "Hello, Ada!\nI find trips, add up what they cost, and book seats.\nAsk me with what can you do? or :h; leave with bye or that is all.\n";

#[tokio::test]
async fn a_question_and_an_approval_are_lines_like_all_others() {
    let travel = Travel::start().await;
    travel.model_says([relevant(true), calls("find_trips", &json!({})), says("-"), says("Have a look.")]);
    travel.model_says([relevant(true), calls("book_seats", &json!({"city": "Oslo", "seats": 2}))]);
    travel.model_says([says("-"), says("Three it is.")]);
    let lines = "Away!\n\nOslo\nTwo seats, please\n{\"city\": \"Oslo\", \"seats\": 3}\nbye\n";
    let (code, told, log) = talk(&travel, lines).await;
    let expected = [
        HELLO,
        "Is it about a journey?\nNext: find_trips {}\nWhich city?\n",
        "Oslo for 120 EUR\nHave a look.\n",
        "Is it about a journey?\nNext: book_seats {\"city\":\"Oslo\",\"seats\":2}\nBook 2 seats to Oslo?\n",
        "Booked 3 seats to Oslo.\nThree it is.\nHave a good trip!\n",
    ];
    assert_eq!((code, told), (0, expected.concat()));
    let expected = [
        "DEBUG [hall] started",
        "DEBUG [topic] on topic",
        "DEBUG [choice] find_trips",
        "WARNING [check] find_trips lacks city",
        "DEBUG [work] 1 results",
        "DEBUG [topic] on topic",
        "DEBUG [choice] book_seats",
        "DEBUG [work] 1 results",
        "DEBUG [hall] left",
    ];
    assert_eq!(log, expected);
    assert_eq!(travel.script.left(), 0);
}

#[tokio::test]
async fn the_exit_code_is_that_of_the_document_and_the_end_of_input_cancels() {
    let travel = Travel::start().await;
    travel.model_says([relevant(true)]);
    let (code, told, log) = talk(&travel, "To Oslo\nand further\n").await;
    assert_eq!(
        (code, told),
        (7, format!("{HELLO}Is it about a journey?\nMy model is away. Come back later.\n"))
    );
    assert!(log.iter().any(|line| line.starts_with("CRITICAL [choice] no choice: ")), "{log:?}");
    let (code, told, _) = talk(&travel, ":h").await;
    assert_eq!((code, told.starts_with(HELLO)), (0, true), "{told}");
    let sessions = travel.app.get("/api/sessions?kind=agent").await.body;
    let states: Vec<&Json> = sessions.as_array().unwrap().iter().map(|one| &one["state"]).collect();
    assert_eq!(states, ["cancelled", "ended"]);
}

/// The agent in a real terminal, with a log of everything.
fn terminal(travel: &Travel, folder: &Path) -> Terminal {
    let program = env!("CARGO_BIN_EXE_ai-prompt-shell");
    let server = &travel.app.base;
    let words = ["--server", server, "agent", "run", "travel", "--log", "log", "--verbose", "-v", "who=Ada"];
    let words: Vec<String> = [program].into_iter().chain(words).map(str::to_owned).collect();
    let environment = [("HOME", folder.display().to_string()), ("LC_ALL", "C.UTF-8".to_owned())];
    Terminal::start(&folder.join("tmux"), folder, &environment, &words)
}

/// The state of the newest session.
async fn state(travel: &Travel) -> Json {
    travel.app.get("/api/sessions?kind=agent").await.body[0]["state"].clone()
}

#[actix_web::test]
async fn a_terminal_shows_colours_edits_lines_and_ends_at_the_end_of_input() {
    let travel = Travel::start().await;
    travel.model_says([relevant(false), relevant(true)]);
    travel.model_says([calls("book_seats", &json!({"city": "Oslo", "seats": 2})), says("-"), says("Done.")]);
    let folder = tempfile::tempdir().unwrap();
    let (screen, log) = (terminal(&travel, folder.path()), folder.path().join("log"));
    beside(move || {
        screen.shows("leave with bye");
        screen.enter("The weather?");
        screen.shows_times("I only know about journeys.", 1);
        screen.enter("Seats");
        screen.shows("[a]pprove / [r]eject / [e]dit:");
        screen.enter("e");
        screen.shows("arguments: {\"city\":\"Oslo\",\"seats\":2}");
        screen.enter("");
        screen.shows("Done.");
        let colours = screen.colours();
        assert!(colours.contains("\u{1b}[2mIs it about a journey?"), "{colours:?}");
        let (before, _) = colours.split_once("I only know about journeys.").unwrap();
        assert!(before.rsplit('\n').next().unwrap().contains("\u{1b}[33m"), "{colours:?}");
        screen.key("C-d");
        screen.shows("ended with 0");
    })
    .await;
    assert_eq!(state(&travel).await, "cancelled");
    let log = std::fs::read_to_string(log).unwrap();
    // The answer is asked for in the last step, and is logged there.
    for line in [
        "[hall] started",
        "[topic] post_chat_completions // payload: {",
        "[work] call_tool // seats.book: {",
        "[work] post_chat_completions // payload: {",
        "[work] post_chat_completions // response: {",
    ] {
        assert!(log.contains(&format!("DEBUG {line}")), "{line}: {log}");
    }
    assert!(!log.contains('\u{1b}'));
}

#[actix_web::test]
async fn ctrl_c_ends_at_the_prompt_and_while_the_model_thinks_and_the_log_is_complete() {
    let travel = Travel::start().await;
    let folder = tempfile::tempdir().unwrap();
    let screen = terminal(&travel, folder.path());
    beside(move || {
        screen.shows("leave with bye");
        screen.key("C-c");
        screen.shows("ended with 130");
    })
    .await;
    assert_eq!(state(&travel).await, "cancelled");
    travel.model_says([relevant(true), vec![Act::Hang]]);
    let screen = terminal(&travel, folder.path());
    let model = beside(move || {
        screen.shows("leave with bye");
        screen.enter("To Oslo");
        screen
    })
    .await;
    travel.model.arrived(2).await;
    beside(move || {
        model.shows("Is it about a journey?");
        model.key("C-c");
        model.shows("ended with 130");
    })
    .await;
    assert_eq!(state(&travel).await, "cancelled");
    let log = std::fs::read_to_string(folder.path().join("log")).unwrap();
    // What hangs was told before it was sent.
    let payload = log.lines().last().unwrap();
    assert!(payload.contains("DEBUG [choice] post_chat_completions // payload: {"), "{log}");
}
