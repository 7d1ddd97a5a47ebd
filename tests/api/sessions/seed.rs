//! The worked example of the original, message by message.

use serde_json::json;

use super::{event, last_sent, output, said, sent, shown, start, started};

const SKILL: &str = "\
---
name: git-quick-commit
description: Commits all changes.
---
## What I do

Я выполняю следующие шаги:
1. Запускаю `git status --porcelain`
2. Если есть изменения, спрашиваю сообщение для коммита
";

const COMMIT: &str = "[CMD] git add . && git commit -m \"fix: update skills API\"";

#[tokio::test]
async fn the_four_requests_carry_what_the_original_says() {
    let answers = [
        "[CMD] git status --porcelain",
        "[ASK] Введи сообщение коммита:",
        COMMIT,
        "[DONE] Коммит успешно создан: abc1234. Изменён 1 файл.",
    ];
    let (app, upstream) = start(&answers).await;

    let begun = started(&app, SKILL, json!({})).await;
    assert_eq!(begun.status, 201, "{begun:?}");
    let id = begun.body["session_id"].as_str().unwrap().to_owned();
    assert_eq!(
        begun.body,
        json!({
            "session_id": id, "skill": "git-quick-commit", "state": "waiting_cmd", "step": 1, "max_steps": 100,
            "directives": [{
                "type": "CMD", "content": "[CMD] git status --porcelain", "command": "git status --porcelain",
            }],
        })
    );
    let asked = event(&app, &id, output(" M server/skills.js\n?? new-file.txt\n")).await;
    assert_eq!(
        asked.body,
        json!({"state": "waiting_user", "step": 2, "directives": [{
            "type": "ASK", "content": "[ASK] Введи сообщение коммита:",
            "question": "Введи сообщение коммита:", "required": true,
        }]})
    );
    let command = event(&app, &id, said("fix: update skills API")).await;
    assert_eq!(command.body["state"], "waiting_cmd");
    let committed = "[main abc1234] fix: update skills API\n 1 file changed, 5 insertions(+)\n";
    let done = event(&app, &id, output(committed)).await;
    assert_eq!(
        done.body,
        json!({"state": "done", "step": 4, "directives": [{
            "type": "DONE", "content": answers[3], "message": "Коммит успешно создан: abc1234. Изменён 1 файл.",
        }]})
    );

    let seen = upstream.seen();
    assert_eq!(seen.len(), 4);
    let user = |text: &str| ("user".to_owned(), text.to_owned());
    let model = |text: &str| ("assistant".to_owned(), text.to_owned());
    let whole = [
        user("Execute skill: git-quick-commit\n\n[Step 1 of 100]"),
        model(answers[0]),
        user("Command output:\n M server/skills.js\n?? new-file.txt\n\n[Step 2 of 100]"),
        model(answers[1]),
        user("User response: fix: update skills API\n\n[Step 3 of 100]"),
        model(COMMIT),
        user(
            "Command output:\n[main abc1234] fix: update skills API\n 1 file changed, 5 insertions(+)\n\n[Step 4 of 100]",
        ),
    ];
    for (at, request) in seen.iter().enumerate() {
        assert_eq!(sent(request), whole[..=2 * at], "request {}", at + 1);
        let body = request.json();
        let names: Vec<&String> = body.as_object().unwrap().keys().collect();
        assert_eq!(names, ["model", "messages", "temperature", "max_tokens"]);
        assert_eq!((&body["model"], &body["max_tokens"]), (&json!("CHEAP"), &json!(512)));
        assert_eq!(body["temperature"], 0.3);
        assert_eq!(body["messages"][0]["role"], "system");
        let system = body["messages"][0]["content"].as_str().unwrap();
        assert!(system.starts_with(
            "You are a terminal AI assistant executing a multi-step skill.\n\nRESPONSE FORMAT - Use EXACTLY ONE"
        ));
        assert!(system.ends_with(
            "- [DONE]: summarize what was accomplished\n\n--- Active Skill: git-quick-commit ---\n## What I do\n\n\
             Я выполняю следующие шаги:\n1. Запускаю `git status --porcelain`\n\
             2. Если есть изменения, спрашиваю сообщение для коммита"
        ));
    }
    let shown = shown(&app, &id).await;
    assert_eq!(shown["messages"].as_array().unwrap().len(), 9);
    assert_eq!(shown["messages"][8]["content"], answers[3]);
    assert_eq!((&shown["pending"], &shown["kind"]), (&json!(null), &json!("skill")));
}

#[tokio::test]
async fn a_start_says_what_is_known_of_the_system_and_what_the_user_wants() {
    let (app, upstream) = start(&["[DONE] ok"]).await;
    let body = json!({
        "os": "linux", "knowledge": "\nThe server is old.\n", "prompt": "Commit my work.",
        "params": {"branch": "dev", "files": ["a", {"b": 1}]}, "model": "other", "max_steps": 7,
    });
    assert_eq!(started(&app, SKILL, body).await.status, 201);
    assert_eq!(
        last_sent(&upstream),
        "Commit my work.\n\nParameters:\n- branch: dev\n- files: [\"a\",{\"b\":1}]\n\n[Step 1 of 7]"
    );
    let request = upstream.seen()[0].json();
    assert_eq!(request["model"], "other");
    let system = request["messages"][0]["content"].as_str().unwrap();
    let (_, rest) = system.split_once("\n\n--- Target OS: Linux ---\n").unwrap();
    let (commands, rest) = rest.split_once("\n\n--- System Context ---\nThe server is old.").unwrap();
    assert_eq!(commands.lines().count(), 1);
    assert!(rest.starts_with("\n\n--- Active Skill: git-quick-commit ---\n## What I do"), "{rest}");
}

#[tokio::test]
async fn what_happened_to_a_command_is_told_to_the_model() {
    let (app, upstream) = start(&["[CMD] make"]).await;
    let begun = started(&app, SKILL, json!({})).await;
    let id = begun.body["session_id"].as_str().unwrap();
    for (step, (told, expected)) in [
        (json!({"skipped": true}), "User skipped the command."),
        (json!({"stdout": "a", "stderr": "b\n", "exit_code": 2}), "Command output:\na\nb\n\n[Exit code: 2]"),
        (json!({}), "Command output:\n(no output)"),
        (json!({"stdout": null, "exit_code": null}), "Command output:\n(no output)"),
        (json!({"stdout": "x", "command": "make -n"}), "Command run instead: make -n\nCommand output:\nx"),
        (json!({"stdout": "x", "command": "make"}), "Command output:\nx"),
    ]
    .into_iter()
    .enumerate()
    {
        let mut body = told;
        body["type"] = "command_result".into();
        assert_eq!(event(&app, id, body).await.status, 200);
        assert_eq!(last_sent(&upstream), format!("{expected}\n\n[Step {} of 100]", step + 2));
    }
}
