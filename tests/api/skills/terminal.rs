//! `skill run` in a real terminal: tmux types, and reads the screen.

use serde_json::{Value as Json, json};

use super::desk::{Desk, lines};
use support::terminal::{Terminal, beside};

/// Runs the program in the project.
fn start(desk: &Desk, arguments: &[&str]) -> Terminal {
    Terminal::start(&desk.path("tmux"), &desk.path("work"), &desk.environment(), &desk.words(arguments))
}

const QUESTION: &str = "[y]es / [s]kip / [e]dit / [c]ancel:";

#[actix_web::test]
async fn the_worked_example_of_the_original_commits_in_a_real_repository() {
    let commit = "[CMD] git add . && git commit -m \"fix: update skills API\"";
    let answers = [
        "[CMD] git status --porcelain",
        "[ASK] Введи сообщение коммита:",
        commit,
        "[DONE] Коммит успешно создан.",
    ];
    let desk = Desk::new(&answers).await;
    desk.repository();
    desk.write("work/.git/info/exclude", ".claude\n");
    desk.write("work/new-file.txt", "new\n");
    let body = "## What I do\n\nЯ выполняю следующие шаги:\n1. Запускаю `git status --porcelain`";
    desk.skill("git-quick-commit", "name: git-quick-commit\ndescription: Commits all changes.\n", body);
    let terminal = start(&desk, &["skill", "run", "git-quick-commit"]);
    let desk = beside(move || {
        terminal.shows(QUESTION);
        terminal.enter("y");
        terminal.shows("Введи сообщение коммита:");
        terminal.enter("");
        terminal.shows("An answer is needed");
        terminal.enter("fix: update skills API");
        let screen = terminal.shows_times(QUESTION, 2);
        assert!(screen.contains("$ git add . && git commit -m \"fix: update skills API\""), "{screen}");
        assert!(screen.contains("L1: needs your agreement") && screen.contains("(write)"), "{screen}");
        terminal.enter("y");
        let screen = terminal.shows("ended with 0");
        assert!(screen.contains("Done: Коммит успешно создан."), "{screen}");
        desk
    })
    .await;
    assert_eq!(desk.git(&["log", "-1", "--format=%s"]), "fix: update skills API\n");
    let committed = crate::sessions::last_sent(&desk.upstream);
    let hash = desk.git(&["log", "-1", "--format=%h"]);
    let user = |text: &str| ("user".to_owned(), text.to_owned());
    let model = |text: &str| ("assistant".to_owned(), text.to_owned());
    let whole = [
        user("Execute skill: git-quick-commit\n\n[Step 1 of 100]"),
        model(answers[0]),
        user("Command output:\n M server/skills.js\n?? new-file.txt\n\n[Step 2 of 100]"),
        model(answers[1]),
        user("User response: fix: update skills API\n\n[Step 3 of 100]"),
        model(answers[2]),
        user(&format!(
            "Command output:\n[main {}] fix: update skills API\n 2 files changed, 2 insertions(+), 1 deletion(-)\n create mode 100644 new-file.txt\n\n[Step 4 of 100]",
            hash.trim()
        )),
    ];
    assert_eq!(committed, whole[6].1);
    let seen = desk.upstream.seen();
    assert_eq!(seen.len(), 4);
    for (at, request) in seen.iter().enumerate() {
        assert_eq!(crate::sessions::sent(request), whole[..=2 * at], "request {}", at + 1);
        let body = request.json();
        assert_eq!(
            (&body["model"], &body["temperature"], &body["max_tokens"]),
            (&json!("CHEAP"), &json!(0.3), &json!(512))
        );
        let system = body["messages"][0]["content"].as_str().unwrap().to_owned();
        assert!(
            system.starts_with("You are a terminal AI assistant executing a multi-step skill."),
            "{system}"
        );
        assert!(
            system.ends_with(&format!("--- Active Skill: git-quick-commit ---\n{body}", body = body_of())),
            "{system}"
        );
    }
}

fn body_of() -> &'static str {
    "## What I do\n\nЯ выполняю следующие шаги:\n1. Запускаю `git status --porcelain`"
}

#[actix_web::test]
async fn a_command_is_edited_skipped_refused_and_shown_as_it_is() {
    let desk = Desk::new(&[
        "[CMD] echo one",
        "[CMD] sudo reboot",
        "[CMD] echo a\u{202e}b",
        "[ASK:optional] More?",
        "[DONE] Ready.",
    ])
    .await;
    desk.skill("x", "description: d\n", "Do it.");
    let log = desk.path("log").display().to_string();
    let terminal = start(&desk, &["skill", "run", "x", "--log", &log]);
    let desk = beside(move || {
        terminal.shows(QUESTION);
        terminal.enter("e");
        terminal.shows("$ echo one\n");
        // The line is there to be changed.
        terminal.enter(" two");
        let screen = terminal.shows_times(QUESTION, 2);
        assert!(screen.contains("$ echo one two"), "{screen}");
        terminal.enter("y");
        let screen = terminal.shows("It is refused. [s]kip / [e]dit / [c]ancel:");
        assert!(screen.contains("L2: is refused") && screen.contains("(privilege)"), "{screen}");
        terminal.enter("y");
        terminal.shows_times("It is refused.", 2);
        terminal.enter("s");
        let screen = terminal.shows("$ echo a\\u{202e}b");
        assert!(!screen.contains('\u{202e}'), "{screen}");
        terminal.enter("s");
        terminal.shows("More?");
        terminal.enter("");
        terminal.shows("ended with 0");
        desk
    })
    .await;
    assert_eq!(
        desk.told()[1..],
        [
            "Command run instead: echo one two\nCommand output:\none two\n\n[Step 2 of 100]".to_owned(),
            "User skipped the command.\n\n[Step 3 of 100]".to_owned(),
            "User skipped the command.\n\n[Step 4 of 100]".to_owned(),
            "User response: \n\n[Step 5 of 100]".to_owned(),
        ]
    );
    let decisions: Vec<Json> =
        lines(&desk.path("log")).iter().map(|entry| entry["decision"].clone()).collect();
    assert_eq!(decisions, ["edited", "refused", "skipped"].map(Json::from));
}

#[actix_web::test]
async fn a_command_of_several_lines_is_shown_whole_and_edited_in_an_editor() {
    let desk = Desk::new(&["[CMD] cat <<E\none\nlast\nE", "[DONE] Ready."]).await;
    desk.skill("x", "description: d\n", "Do it.");
    let terminal = start(&desk, &["skill", "run", "x"]);
    let desk = beside(move || {
        let screen = terminal.shows(QUESTION);
        assert!(screen.contains("$ cat <<E\n| one\n| last\n| E\n"), "{screen}");
        terminal.enter("e");
        let screen = terminal.shows_times(QUESTION, 2);
        assert!(screen.contains("$ cat <<E\n| two\n| last\n| E\n"), "{screen}");
        terminal.enter("y");
        terminal.shows("ended with 0");
        desk
    })
    .await;
    assert!(desk.told()[1].contains("Command output:\ntwo\nlast\n"), "{:?}", desk.told());
}

#[actix_web::test]
async fn the_end_of_input_cancels() {
    let desk = Desk::new(&["[CMD] ls"]).await;
    desk.skill("x", "description: d\n", "Do it.");
    let terminal = start(&desk, &["skill", "run", "x"]);
    beside(move || {
        terminal.shows(QUESTION);
        terminal.key("C-d");
        terminal.shows("ended with 130");
        desk
    })
    .await;
}

#[actix_web::test]
async fn one_of_the_skills_that_fit_is_chosen_by_its_number() {
    let fitting = r#"{"skills": ["skills.failing-tests", "skills.git-quick-commit"]}"#;
    let desk = Desk::new(&[fitting, "[DONE] Ready."]).await;
    let terminal = start(&desk, &["skill", "run", "--auto", "save my work"]);
    let desk = beside(move || {
        let screen = terminal.shows("Which one? [1]");
        assert!(screen.contains("2  skills.git-quick-commit (git-quick-commit): "), "{screen}");
        terminal.enter("7");
        terminal.shows_times("Which one? [1]", 2);
        terminal.enter("2");
        terminal.shows("ended with 0");
        desk
    })
    .await;
    let system = desk.upstream.seen()[1].json()["messages"][0].to_string();
    assert!(system.contains("--- Active Skill: git-quick-commit ---"), "{system}");
}

#[actix_web::test]
async fn ctrl_c_kills_a_command_and_cancels_at_a_question() {
    let desk = Desk::new(&["[CMD] echo begun; sleep 1000", "[ASK] What now?"]).await;
    desk.skill("x", "description: d\n", "Do it.");
    let terminal = start(&desk, &["skill", "run", "x"]);
    let desk = beside(move || {
        terminal.shows(QUESTION);
        terminal.enter("y");
        terminal.shows("\nbegun\n");
        terminal.key("C-c");
        terminal.shows("[g]o on");
        terminal.enter("g");
        terminal.shows("What now?");
        terminal.key("C-c");
        let screen = terminal.shows("ended with 130");
        assert!(screen.contains("The session is cancelled."), "{screen}");
        desk
    })
    .await;
    let told = &desk.told()[1];
    assert!(told.contains("begun\n[The user stopped the command.]"), "{told}");
    let sessions: Json = serde_json::from_str(&desk.good(&["session", "list", "--json"]).await).unwrap();
    assert_eq!(sessions[0]["state"], "cancelled");
}

#[actix_web::test]
async fn ctrl_c_cancels_while_the_model_thinks() {
    let desk = Desk::scripted(|seen| match crate::sessions::sent(seen).len() {
        1 => support::upstream::json(200, support::upstream::completion("[CMD] ls")),
        _ => vec![support::upstream::Act::Hang],
    })
    .await;
    desk.skill("x", "description: d\n", "Do it.");
    let terminal = start(&desk, &["skill", "run", "x"]);
    let desk = beside(move || {
        terminal.shows(QUESTION);
        terminal.enter("s");
        terminal.shows("the model thinks");
        terminal.key("C-c");
        terminal.shows("ended with 130");
        desk
    })
    .await;
    let sessions: Json = serde_json::from_str(&desk.good(&["session", "list", "--json"]).await).unwrap();
    assert_eq!(sessions[0]["state"], "cancelled");
}

#[actix_web::test]
async fn a_model_that_fails_is_tried_again_if_the_user_wants_it() {
    let asked = std::sync::atomic::AtomicUsize::new(0);
    let desk = Desk::scripted(move |_| match asked.fetch_add(1, std::sync::atomic::Ordering::Relaxed) {
        0 => {
            support::upstream::json(400, json!({"error": {"message": "not today", "type": "x", "code": "y"}}))
        }
        _ => support::upstream::json(200, support::upstream::completion("[DONE] Ready.")),
    })
    .await;
    desk.skill("x", "description: d\n", "Do it.");
    let terminal = start(&desk, &["skill", "run", "x"]);
    beside(move || {
        let screen = terminal.shows("[t]ry again / [c]ancel:");
        assert!(screen.contains("not today"), "{screen}");
        terminal.enter("t");
        terminal.shows("ended with 0");
        desk
    })
    .await;
}
