//! `skill run` where nobody sits at a terminal, and what sessions leave behind.

use std::os::unix::fs::PermissionsExt;

use serde_json::{Value as Json, json};

use super::desk::{Desk, lines};
use support::upstream::{completion, json as reply_json};

const TIDY: &str = "name: tidy\ndescription: Tidies up.\nallowed-tools: Bash(git add:*), Read\n";

#[actix_web::test]
async fn unattended_what_only_reads_and_what_the_skill_names_runs_and_nothing_else() {
    let desk = Desk::new(&[
        "[CMD] git status --porcelain",
        "[CMD] git add .",
        "[CMD] git commit -m x",
        "[CMD] rm -rf server",
        "[MESSAGE] Nearly ready.",
        "[ASK:optional] A tag?",
        "[DONE] Ready.",
    ])
    .await;
    desk.repository();
    desk.skill("tidy", TIDY, "Tidy up.");
    let log = desk.path("log");
    let out = desk.good(&["skill", "run", "tidy", "--yes", "safe", "--log", log.to_str().unwrap()]).await;
    assert_eq!(
        desk.told(),
        [
            "Execute skill: tidy\n\n[Step 1 of 100]",
            "Command output:\n M server/skills.js\n?? .claude/\n\n[Step 2 of 100]",
            "Command output:\n(no output)\n\n[Step 3 of 100]",
            "User skipped the command.\n\n[Step 4 of 100]",
            "User skipped the command.\n\n[Step 5 of 100]",
            "[Continue after informational message]\n\n[Step 6 of 100]",
            "User response: \n\n[Step 7 of 100]",
        ]
    );
    for shown in [
        "Skill tidy, from ./.claude/skills/tidy/SKILL.md",
        "its allowed-tools: Bash(git add:*), Read",
        "$ git status --porcelain",
        "L2: is refused",
        "Nearly ready.",
        "Done: Ready.",
    ] {
        assert!(out.contains(shown), "{shown}: {out}");
    }
    assert!(
        desk.path("work/server/skills.js").exists() && desk.git(&["log", "--oneline"]).lines().count() == 1
    );
    let entries = lines(&log);
    let decisions: Vec<(&Json, &Json, &Json)> =
        entries.iter().map(|entry| (&entry["level"], &entry["decision"], &entry["exit_code"])).collect();
    let (l0, l1, l2) = (&json!("L0"), &json!("L1"), &json!("L2"));
    assert_eq!(
        decisions,
        [
            (l0, &json!("safe"), &json!(0)),
            (l1, &json!("allowed"), &json!(0)),
            (l1, &json!("skipped"), &Json::Null),
            (l2, &json!("refused"), &Json::Null),
        ]
    );
    assert!(entries[3]["reasons"].to_string().contains("destructive"), "{entries:?}");
    assert_eq!(std::fs::metadata(&log).unwrap().permissions().mode() & 0o777, 0o600);
}

#[actix_web::test]
async fn without_yes_nothing_runs_and_a_question_that_needs_an_answer_ends_the_run() {
    let desk = Desk::new(&["[CMD] ls", "[ASK] Which message?"]).await;
    desk.skill("ask", "name: ask\ndescription: Asks.\n", "Ask.");
    let (code, out, err) = desk.run(&["skill", "run", "ask"]).await;
    assert_eq!(code, 3, "{out}{err}");
    assert!(err.contains("\"Which message?\"") && err.contains("no terminal"), "{err}");
    assert_eq!(desk.told()[1], "User skipped the command.\n\n[Step 2 of 100]");
    assert_eq!(desk.upstream.seen()[0].json()["model"], "CHEAP");
    let sessions: Json = serde_json::from_str(&desk.good(&["session", "list", "--json"]).await).unwrap();
    assert_eq!(sessions[0]["state"], "cancelled");
}

#[actix_web::test]
async fn an_answer_without_a_tag_is_no_command_where_nobody_looks() {
    let desk = Desk::new(&["touch created", "touch created"]).await;
    desk.skill("x", "allowed-tools: Bash\n", "Do it.");
    let (code, out, err) = desk.run(&["skill", "run", "x", "--yes", "safe"]).await;
    assert_eq!(code, 1, "{out}{err}");
    assert!(!desk.path("work/created").exists());
}

#[actix_web::test]
async fn the_model_is_told_of_arguments_knowledge_and_the_system() {
    let desk = Desk::new(&["[DONE]"]).await;
    desk.skill("greet", "params: [{name: how, default: kindly}]\n", "Greet $1, all of: $ARGUMENTS.");
    desk.write("home/.config/kosmos-panel/ai_system_promt.md", "Of the user.");
    let out = desk
        .good(&["skill", "run", "greet", "Ada", "and Bob", "-v", "where=here", "--prompt", "Please"])
        .await;
    assert!(out.contains("Done: Skill completed"), "{out}");
    assert_eq!(desk.told(), ["Please\n\nParameters:\n- where: here\n- how: kindly\n\n[Step 1 of 100]"]);
    let system = desk.system();
    assert!(system.contains("--- System Context ---\nOf the user.\n"), "{system}");
    assert!(system.contains("--- Target OS: Linux ---"), "{system}");
    assert!(system.ends_with("--- Active Skill: greet ---\nGreet Ada, all of: Ada and Bob."), "{system}");
    desk.write("work/.kosmos-panel/ai_system_promt.md", "Of the project.");
    desk.good(&["skill", "run", "greet"]).await;
    let second = desk.upstream.seen()[1].json()["messages"][0].to_string();
    assert!(second.contains("Of the project.") && !second.contains("Of the user."), "{second}");
}

#[actix_web::test]
async fn skills_are_found_in_the_project_then_with_the_user_then_in_the_catalog() {
    let desk = Desk::new(&["[DONE] Ready"]).await;
    let skill = |from: &str| format!("---\nname: tidy\ndescription: d\n---\nFrom {from}.\n");
    desk.write("home/.claude/skills/tidy/SKILL.md", skill("the user"));
    desk.good(&["skill", "set", "p.tidy", &format!("--value={}", skill("the store"))]).await;
    for (place, from) in [
        ("", "the user"),
        (".kosmos-panel/skills/tidy/SKILL.md", "kosmos"),
        (".agents/skills/tidy/SKILL.md", "agents"),
        (".claude/skills/group/tidy/skill.md", "claude"),
        (".ai-prompt-shell/skills/Tidy/SKILL.md", "ours"),
    ] {
        if !place.is_empty() {
            desk.write(&format!("work/{place}"), skill(from));
        }
        desk.good(&["skill", "run", "tidy"]).await;
        let sent = desk.upstream.seen().last().unwrap().json()["messages"][0].to_string();
        assert!(sent.contains(&format!("From {from}.")), "{from}: {sent}");
    }
    let out = desk.good(&["skill", "run", "p.tidy"]).await;
    assert!(out.contains("from the service's catalog"), "{out}");
    let sent = desk.upstream.seen().last().unwrap().json()["messages"][0].to_string();
    assert!(sent.contains("From the store."), "{sent}");
}

#[actix_web::test]
async fn unknown_and_hostile_names_are_refused_with_what_there_is() {
    let desk = Desk::new(&["[DONE]"]).await;
    desk.skill("tidy", "description: d\n", "Tidy.");
    desk.write("work/SKILL.md", "outside");
    desk.write("outside/SKILL.md", "outside");
    std::os::unix::fs::symlink(desk.path("outside"), desk.path("work/.claude/skills/linked")).unwrap();
    for arguments in [&["skill", "run"][..], &["skill", "run", "absent"], &["skill", "run", "linked"]] {
        let (code, _, err) = desk.run(arguments).await;
        assert_eq!(code, 2, "{err}");
        assert!(err.contains("tidy  (./.claude/skills/tidy/SKILL.md)"), "{err}");
        assert!(err.contains("skills.git-quick-commit  (the service's catalog)"), "{err}");
    }
    for hostile in ["..", "../..", "/etc", "../outside", ".claude/skills/tidy", "tidy/../tidy"] {
        let (code, _, err) = desk.run(&["skill", "run", hostile]).await;
        assert!(code == 2 && err.contains("no name of a skill"), "{hostile}: {err}");
    }
    for host in ["-oProxyCommand=touch created", "a b", ""] {
        let (code, _, err) = desk.run(&["skill", "run", "tidy", &format!("--host={host}")]).await;
        assert!(code == 2 && err.contains("USER@SERVER"), "{host}: {err}");
    }
    assert!(desk.upstream.seen().is_empty() && !desk.path("work/created").exists());
}

#[actix_web::test]
async fn commands_get_the_folder_of_the_skill_and_no_secrets() {
    let desk = Desk::new(&[
        "[CMD] printf '%s|' \"$(cat \"$SKILL_DIR/scripts/name\")\" \"${MY_TOKEN-none}\" \"${OTHER_TOKEN-none}\"",
        "[CMD] echo API_KEY=abcdefgh12345678",
        "[DONE]",
    ])
    .await;
    desk.skill("x", "allowed-tools: Bash\n", "Do it.");
    desk.write("work/.claude/skills/x/scripts/name", "of the folder");
    let arguments = ["skill", "run", "x", "--yes", "safe", "--env", "MY_TOKEN"];
    let (words, environment, folder) = (desk.words(&arguments), desk.environment(), desk.path("work"));
    let running = move || {
        std::process::Command::new(&words[0])
            .args(&words[1..])
            .current_dir(folder)
            .env_clear()
            .envs(environment)
            .envs([("MY_TOKEN", "mine"), ("OTHER_TOKEN", "other")])
            .stdin(std::process::Stdio::null())
            .output()
            .unwrap()
    };
    let output = tokio::task::spawn_blocking(running).await.unwrap();
    assert!(output.status.success(), "{output:?}");
    assert_eq!(desk.told()[1], "Command output:\nof the folder|mine|none|\n\n[Step 2 of 100]");
    assert!(!desk.told()[2].contains("abcdefgh12345678"), "{}", desk.told()[2]);
}

#[actix_web::test]
async fn files_beside_a_skill_of_the_catalog_are_there_for_its_commands() {
    let desk = Desk::new(&["[CMD] sh \"$SKILL_DIR/scripts/hello.sh\"", "[DONE]"]).await;
    desk.write("packages/p/package.json", r#"{"name": "p"}"#);
    desk.write(
        "packages/p/skills/hello/SKILL.md",
        "---\nname: hello\ndescription: d\nallowed-tools: Bash\n---\nSay hello.\n",
    );
    desk.write("packages/p/skills/hello/scripts/hello.sh", "echo from the package\n");
    let packages = desk.path("packages").display().to_string();
    desk.good(&["--packages", &packages, "skill", "run", "hello", "--yes", "safe"]).await;
    assert_eq!(desk.told()[1], "Command output:\nfrom the package\n\n[Step 2 of 100]");
}

#[actix_web::test]
async fn a_command_that_takes_too_long_is_killed_and_the_model_is_told() {
    let desk = Desk::new(&["[CMD] echo begun; sleep 1000", "[DONE]"]).await;
    desk.skill("x", "allowed-tools: Bash\n", "Do it.");
    desk.good(&["skill", "run", "x", "--yes", "safe", "--timeout", "1"]).await;
    let told = &desk.told()[1];
    assert!(told.contains("begun\n[The command was killed after 1 s, its time limit.]"), "{told}");
    assert!(told.contains("[Exit code: 137]"), "{told}");
}

#[actix_web::test]
async fn a_log_that_cannot_be_written_loses_no_answer_and_one_that_cannot_be_opened_ends_the_run_before_it_begins()
 {
    let desk = Desk::new(&["[CMD] ls", "[DONE] Ready."]).await;
    desk.skill("x", "description: d\n", "Do it.");
    let (code, out, err) = desk.run(&["skill", "run", "x", "--yes", "safe", "--log", "/dev/full"]).await;
    assert!(
        code == 0 && out.contains("Done: Ready.") && err.contains("the log cannot be written"),
        "{out}{err}"
    );
    assert!(desk.told()[1].starts_with("Command output:"), "{:?}", desk.told());
    let (code, _, err) = desk.run(&["skill", "run", "x", "--log", "absent/log"]).await;
    assert!(code == 1 && err.contains("absent/log"), "{err}");
    assert_eq!(desk.upstream.seen().len(), 2);
}

#[actix_web::test]
async fn a_failure_of_the_model_ends_an_unattended_run_and_keeps_the_session() {
    let desk = Desk::scripted(|seen| match crate::sessions::sent(seen).len() {
        1 => reply_json(200, completion("[CMD] ls")),
        _ => reply_json(400, json!({"error": {"message": "no such model today", "type": "x", "code": "y"}})),
    })
    .await;
    desk.skill("x", "description: d\n", "Do it.");
    let (code, out, err) = desk.run(&["skill", "run", "x", "--yes", "safe"]).await;
    assert_eq!(code, 1, "{out}{err}");
    assert!(err.contains("no such model today") && err.contains("stays as it is"), "{err}");
    let listed = desk.good(&["session", "list", "--state", "waiting_cmd"]).await;
    assert!(listed.contains(" x") && listed.lines().count() == 1, "{listed}");
}

#[actix_web::test]
async fn a_skill_is_chosen_by_what_is_wanted() {
    let desk = Desk::new(&[r#"{"skills": ["skills.git-quick-commit"]}"#, "[DONE] Ready"]).await;
    let (code, out, err) = desk.run(&["skill", "run", "--auto", "save my work"]).await;
    assert_eq!(code, 0, "{out}{err}");
    assert!(out.contains("Chosen: skills.git-quick-commit") && out.contains("Done: Ready"), "{out}");
    assert!(desk.told().last().unwrap().starts_with("save my work"), "{:?}", desk.told());
}

#[actix_web::test]
async fn sessions_are_listed_shown_exported_and_removed() {
    let desk = Desk::new(&["[CMD] echo '```'", "[DONE] Ready."]).await;
    desk.skill("x", "name: x\ndescription: d\n", "Do it.");
    desk.good(&["skill", "run", "x", "--yes", "safe"]).await;
    let listed = desk.good(&["session", "list", "--kind", "skill", "--state", "done"]).await;
    let id = listed.split_whitespace().next().unwrap().to_owned();
    assert!(listed.contains("done") && listed.contains("2 of 100"), "{listed}");
    assert_eq!(desk.good(&["session", "list", "--state", "failed"]).await, "");
    let shown = desk.good(&["session", "show", &id]).await;
    assert!(shown.contains("assistant:\n[CMD] echo '```'"), "{shown}");
    let json: Json = serde_json::from_str(&desk.good(&["session", "show", &id, "--json"]).await).unwrap();
    assert_eq!((&json["state"], &json["skill"]), (&json!("done"), &json!("x")));
    let file = desk.path("session.md").display().to_string();
    desk.good(&["session", "export", &id, "--output", &file]).await;
    let text = std::fs::read_to_string(&file).unwrap();
    assert!(text.starts_with("# x\n") && text.contains("````sh\necho '```'\n````\n"), "{text}");
    assert!(text.contains("````\nCommand output:\n```\n````\n"), "{text}");
    assert_eq!(desk.good(&["session", "export", &id]).await, text);
    assert_eq!(std::fs::metadata(&file).unwrap().permissions().mode() & 0o777, 0o600);
    desk.good(&["session", "rm", &id]).await;
    let (code, _, err) = desk.run(&["session", "show", &id]).await;
    assert!(code == 1 && err.contains(&id), "{err}");
}
