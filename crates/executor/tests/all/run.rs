//! Commands from their start to their end, with real processes.

use std::fs;
use std::os::unix::fs::PermissionsExt;
use std::path::Path;
use std::time::Duration;

use crate::common::{executor, invocation, is_alive, patient, run, until};
use ai_prompt_executor::{Executor, Invocation, Limits, Outcome, RunError};

/// A shell, for commands that have to do several things.
async fn shell(cwd: &Path, text: &str) -> Outcome {
    run(cwd, false, &["sh", "-c", text]).await
}

fn short(folder: &Path) -> Executor {
    executor(folder, Limits { time: Duration::from_secs(3), ..Limits::default() })
}

/// The number that a command has written to a file.
fn number_in(file: &Path) -> Option<i32> {
    fs::read_to_string(file).ok()?.trim().parse().ok()
}

/// The children of this process, zombies among them, whose command line or name is this one's.
fn children_named(name: &str) -> usize {
    let processes = fs::read_dir("/proc").unwrap().flatten();
    let stats = processes.filter_map(|entry| fs::read_to_string(entry.path().join("stat")).ok());
    let parent = format!(" {} ", std::process::id());
    stats.filter(|stat| stat.contains(&format!("({name})")) && stat.contains(&parent)).count()
}

#[tokio::test]
async fn a_command_gets_its_arguments_as_they_are() {
    let folder = tempfile::tempdir().unwrap();
    let outcome =
        run(folder.path(), false, &["printf", "%s|", "$HOME", "a b", "*", "`x`", "", "; ls", "ü"]).await;
    assert_eq!(outcome.stdout.text, "$HOME|a b|*|`x`||; ls|ü|");
    assert_eq!((outcome.exit_code, outcome.signal, outcome.timed_out), (Some(0), None, false));
    assert!(outcome.error.is_none() && outcome.sandbox.is_none());
}

#[tokio::test]
async fn both_outputs_the_code_and_the_working_directory_are_its_own() {
    let folder = tempfile::tempdir().unwrap();
    let outcome = shell(folder.path(), "pwd -P; cat; echo to stderr >&2; exit 7").await;
    let cwd = folder.path().canonicalize().unwrap();
    assert_eq!(outcome.stdout.text, format!("{}\n", cwd.display()), "standard input is empty");
    assert_eq!(outcome.stderr.text, "to stderr\n");
    assert_eq!((outcome.exit_code, outcome.signal), (Some(7), None));
    let outcome = shell(folder.path(), "kill -TERM $$").await;
    assert_eq!((outcome.exit_code, outcome.signal, outcome.timed_out), (None, Some(15), false));
}

#[tokio::test]
async fn a_command_gets_the_scrubbed_environment_and_nothing_else() {
    let folder = tempfile::tempdir().unwrap();
    let given = [("API_TOKEN", "t"), ("GIT_EXTERNAL_DIFF", "x"), ("MINE", "1"), ("PATH", "/usr/bin:/bin:.")];
    let given = given.map(|(name, value)| (name.into(), value.into())).into();
    let executor = Executor::new(&given, folder.path(), Limits::default());
    let outcome = executor.run(&invocation(folder.path(), false, &["env", "-0"])).await;
    let expected = executor.environment().iter();
    let expected: String =
        expected.map(|(name, value)| format!("{}={}\0", name.display(), value.display())).collect();
    let (mark, rest): (Vec<&str>, Vec<&str>) = outcome
        .stdout
        .text
        .split_inclusive('\0')
        .partition(|line| line.starts_with("AI_PROMPT_SHELL_COMMAND="));
    assert_eq!((mark.len(), rest.concat()), (1, expected.clone()), "one more variable marks what it starts");
    assert!(expected.contains("MINE=1\0") && expected.contains("PATH=/usr/bin:/bin\0"), "{expected:?}");
    assert!(!expected.contains("TOKEN") && !expected.contains("EXTERNAL"), "{expected:?}");
    let more = [("API_TOKEN", "t")].map(|(name, value)| (name.into(), value.into())).into();
    let outcome = executor.with(more).run(&invocation(folder.path(), false, &["env"])).await;
    assert!(outcome.stdout.text.contains("API_TOKEN=t\n"), "{}", outcome.stdout.text);
}

#[tokio::test]
async fn what_cannot_start_is_said() {
    let folder = tempfile::tempdir().unwrap();
    let script = folder.path().join("plain text");
    fs::write(&script, "echo a shell runs this").unwrap();
    fs::set_permissions(&script, fs::Permissions::from_mode(0o755)).unwrap();
    let cases: [(&[&str], &str); 5] = [
        (&["no-such-program-here"], "was not found"),
        (&["./absent"], "was not found"),
        (&["/etc/passwd"], "is not an executable file"),
        (&["a\0b"], "NUL"),
        (&["true", "a\0b"], "NUL"),
    ];
    for sandboxed in [false, true] {
        for (command, message) in cases {
            let outcome = run(folder.path(), sandboxed, command).await;
            let error = outcome.error.unwrap();
            assert!(error.to_string().contains(message), "{command:?}: {error}");
            assert_eq!((error.code(), outcome.exit_code), ("spawn_failed", None));
        }
        // A file without `#!` is not given to a shell, as `execvp` would do.
        let outcome = run(folder.path(), sandboxed, &["./plain text"]).await;
        assert!(matches!(outcome.error, Some(RunError::Spawn { .. })), "{outcome:?}");
        let long = "x".repeat(4 * 1024 * 1024);
        let outcome = run(folder.path(), sandboxed, &["true", &long]).await;
        assert!(matches!(outcome.error, Some(RunError::Spawn { .. })));
    }
}

#[tokio::test]
async fn a_working_directory_that_is_none_is_said() {
    let folder = tempfile::tempdir().unwrap();
    fs::write(folder.path().join("file"), "").unwrap();
    for cwd in ["absent", "file", "a\0b"] {
        let outcome = run(&folder.path().join(cwd), false, &["true"]).await;
        let code = outcome.error.unwrap().code();
        assert_eq!(code, if cwd.contains('\0') { "spawn_failed" } else { "bad_cwd" });
    }
}

#[tokio::test]
async fn programs_of_the_workspace_run_only_by_their_paths() {
    let folder = tempfile::tempdir().unwrap();
    let program = folder.path().join("ls");
    fs::write(&program, "#!/bin/sh\necho mine \"$0\"\n").unwrap();
    fs::set_permissions(&program, fs::Permissions::from_mode(0o755)).unwrap();
    let path = format!("{0}:.::{0}/../{1}:/usr/bin:/bin", folder.path().display(), folder.path().display());
    let given = [("PATH".into(), path.into())].into();
    let executor = Executor::new(&given, folder.path(), Limits::default());
    let outcome = executor.run(&invocation(folder.path(), false, &["ls"])).await;
    assert_eq!(outcome.stdout.text, "ls\n");
    let outcome = executor.run(&invocation(folder.path(), false, &["./ls"])).await;
    assert_eq!(outcome.stdout.text.split_whitespace().next(), Some("mine"));
}

#[tokio::test]
async fn large_outputs_are_read_at_the_same_time_and_cut() {
    let folder = tempfile::tempdir().unwrap();
    let limits = Limits { kept_bytes: 1000, ..Limits::default() };
    let text = "seq 100000 999999; seq 100000 999999 >&2; seq 100000 999999";
    for sandboxed in [false, true] {
        let outcome = executor(folder.path(), limits.clone())
            .run(&invocation(folder.path(), sandboxed, &["sh", "-c", text]))
            .await;
        assert_eq!((outcome.stdout.total_bytes, outcome.stderr.total_bytes), (12_600_000, 6_300_000));
        assert!(outcome.stdout.truncated && outcome.stderr.truncated);
        assert_eq!(outcome.stdout.text.len(), 1000);
        assert_eq!(outcome.stdout.tail(7), "999999\n");
    }
}

#[tokio::test]
async fn outputs_are_clean_text() {
    let folder = tempfile::tempdir().unwrap();
    let outcome =
        run(folder.path(), false, &["printf", "\\033[31mred\\033[0m\\t\\377\\a\\r\\n\\033]0;t\\a|"]).await;
    assert_eq!(outcome.stdout.text, "red\t\u{fffd}\r\n|");
}

#[tokio::test]
async fn at_the_time_limit_all_descendants_are_killed() {
    for sandboxed in [false, true] {
        let folder = tempfile::tempdir().unwrap();
        // Grandchildren in the group, and some that have left it, one of them below another.
        let text = "echo begun; sleep 1000 & echo $!; setsid sh -c 'echo $$; setsid sleep 1000 & echo $!; wait' & wait";
        let outcome =
            short(folder.path()).run(&invocation(folder.path(), sandboxed, &["sh", "-c", text])).await;
        assert!(outcome.timed_out && outcome.error.is_none(), "{outcome:?}");
        assert_eq!((outcome.exit_code, outcome.signal), (None, Some(9)));
        let processes: Vec<i32> = outcome.stdout.text.lines().filter_map(|line| line.parse().ok()).collect();
        assert_eq!(processes.len(), 3, "{outcome:?}");
        for process in processes {
            until("the process is gone", || !is_alive(process)).await;
        }
    }
}

#[tokio::test]
async fn a_command_that_ignores_signals_and_forks_is_ended_too() {
    let folder = tempfile::tempdir().unwrap();
    let text = "trap '' TERM INT HUP; echo $$; while :; do (sleep 1000 & echo $!; sleep 0.05); done";
    let outcome = short(folder.path()).run(&invocation(folder.path(), false, &["sh", "-c", text])).await;
    assert!(outcome.timed_out);
    for process in outcome.stdout.text.lines().filter_map(|line| line.parse().ok()) {
        until("the process is gone", || !is_alive(process)).await;
    }
}

#[tokio::test]
async fn what_holds_the_outputs_after_the_end_is_not_waited_for() {
    for sandboxed in [false, true] {
        let folder = tempfile::tempdir().unwrap();
        let outcome = run(folder.path(), sandboxed, &["sh", "-c", "sleep 1000 & echo $!; exit 3"]).await;
        assert_eq!((outcome.exit_code, outcome.timed_out), (Some(3), false));
        let process = outcome.stdout.text.trim().parse().unwrap();
        until("the process is gone", || !is_alive(process)).await;
    }
}

#[tokio::test]
async fn what_is_left_in_the_group_is_killed_even_if_it_is_silent() {
    let folder = tempfile::tempdir().unwrap();
    let outcome = shell(folder.path(), "sleep 1000 >/dev/null 2>&1 & echo $!").await;
    assert_eq!(outcome.exit_code, Some(0));
    let process = outcome.stdout.text.trim().parse().unwrap();
    until("the process is gone", || !is_alive(process)).await;
}

#[tokio::test]
async fn what_has_left_everything_is_killed_too_and_does_not_hold_the_answer_up() {
    let folder = tempfile::tempdir().unwrap();
    let text =
        "setsid sh -c 'echo $$ > left; sleep 1000' & while ! [ -s left ]; do sleep 0.01; done; echo done";
    let outcome = shell(folder.path(), text).await;
    assert_eq!((outcome.stdout.text.as_str(), outcome.exit_code), ("done\n", Some(0)));
    // It is in another group, and has lost its parent.
    let process = number_in(&folder.path().join("left")).unwrap();
    until("the process is gone", || !is_alive(process)).await;
}

async fn dropped_while_it_runs(folder: &Path, sandboxed: bool) {
    let file = folder.join("process");
    let text = "sleep 1000 & setsid sh -c 'echo $$ > process.new; mv process.new process; sleep 1000'";
    let (executor, command) = (patient(folder), invocation(folder, sandboxed, &["sh", "-c", text]));
    let running = tokio::spawn(async move { executor.run(&command).await });
    until("the command has begun", || file.exists()).await;
    running.abort();
    assert!(running.await.unwrap_err().is_cancelled());
    let process = number_in(&file).unwrap();
    until("the process is gone", || !is_alive(process)).await;
}

#[tokio::test]
async fn a_dropped_command_is_killed_with_its_descendants() {
    let folder = tempfile::tempdir().unwrap();
    dropped_while_it_runs(folder.path(), false).await;
}

#[tokio::test]
async fn no_zombies_are_left() {
    let folder = tempfile::tempdir().unwrap();
    // A program under a name of its own, so that other tests do not disturb.
    let program = folder.path().join("zombie-test");
    fs::copy("/bin/sleep", &program).unwrap();
    let command = |time: &str, sandboxed| Invocation {
        sandboxed,
        ..invocation(folder.path(), true, &["./zombie-test", time])
    };
    for sandboxed in [false, true] {
        patient(folder.path()).run(&command("0", sandboxed)).await;
        let limits = Limits { time: Duration::from_millis(100), ..Limits::default() };
        assert!(executor(folder.path(), limits).run(&command("1000", sandboxed)).await.timed_out);
        assert_eq!(children_named("zombie-test"), 0);
        let executor = patient(folder.path());
        let (running, command) = (executor.clone(), command("1000", sandboxed));
        let running = tokio::spawn(async move { running.run(&command).await });
        until("the command runs", || children_named("zombie-test") == 1).await;
        running.abort();
        until("nothing is left", || children_named("zombie-test") == 0).await;
    }
}

#[tokio::test]
async fn a_sandboxed_command_is_killed_when_it_is_dropped_before_it_has_started() {
    let folder = tempfile::tempdir().unwrap();
    let program = folder.path().join("early-test");
    fs::copy("/bin/sleep", &program).unwrap();
    for _ in 0..20 {
        let (executor, command) =
            (patient(folder.path()), invocation(folder.path(), true, &["./early-test", "1000"]));
        let running = tokio::spawn(async move { executor.run(&command).await });
        tokio::task::yield_now().await;
        running.abort();
        let _ = running.await;
    }
    // Threads that start a process may still be under way; after that there is nothing.
    tokio::time::sleep(Duration::from_millis(100)).await;
    until("nothing is left", || children_named("early-test") == 0).await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 4)]
async fn many_commands_run_at_the_same_time() {
    let folder = tempfile::tempdir().unwrap();
    let executor = patient(folder.path());
    let tasks = (0..40).map(|number: i32| {
        let (executor, cwd) = (executor.clone(), folder.path().to_owned());
        tokio::spawn(async move {
            let number = number.to_string();
            let outcome =
                executor.run(&invocation(&cwd, number.ends_with(['0', '2', '4']), &["echo", &number])).await;
            assert_eq!(outcome.stdout.text.trim(), number, "{outcome:?}");
        })
    });
    for task in tasks.collect::<Vec<_>>() {
        task.await.unwrap();
    }
}
