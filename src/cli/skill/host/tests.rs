//! The scripts, run by the shells of this machine as a host would run them.

use std::io::Write;
use std::path::Path;
use std::process::{Command, Output, Stdio};

use super::*;

const SHELLS: [&str; 2] = ["dash", "bash"];

/// Runs a script on the input of a shell, which stays open until the shell has ended.
fn run(shell: &str, cwd: &Path, script: &str, arguments: &[&str]) -> Output {
    let mut child = Command::new(shell)
        .current_dir(cwd)
        .env("HOME", cwd.join("home"))
        .args(["-s", "--"])
        .args(arguments)
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .unwrap();
    let mut input = child.stdin.take().unwrap();
    input.write_all(script.as_bytes()).unwrap();
    let output = child.wait_with_output().unwrap();
    drop(input);
    output
}

fn out(output: &Output) -> String {
    String::from_utf8_lossy(&output.stdout).into_owned()
}

#[test]
fn names_of_hosts_that_ssh_could_take_for_something_else_are_refused() {
    for wrong in ["", "-oProxyCommand=x", "a b", "a\tb", "a\nb", "a\0", " a", "\u{a0}a"] {
        assert!(name(wrong).is_err(), "{wrong:?}");
    }
    for good in ["user@server", "server", "ssh://u@h:22", "u@[::1]"] {
        assert_eq!(name(good).as_deref(), Ok(good));
    }
    let host = Host::new("u@h", Path::new("/"));
    let (invocation, input) = host.command("ls 'a'", None, Duration::from_secs(7));
    let expected = ["-o", "BatchMode=yes", "-T", "--", "u@h", "sh", "-s", "--", "154163040047141047", "12"];
    assert_eq!(invocation.args, expected);
    assert_eq!(input, RUN.as_bytes());
}

#[test]
fn a_command_runs_as_it_is_with_its_folder_and_its_code() {
    let dir = tempfile::tempdir().unwrap();
    let command = "printf '%s|' \"$SKILL_DIR\" 'a  b' \"it's\" '$x' '\\n'; echo ü >&2; cat; exit 7";
    for shell in SHELLS {
        let output = run(shell, dir.path(), RUN, &[&octal(command), "60", &octal("/a b/ü")]);
        assert_eq!(out(&output), "/a b/ü|a  b|it's|$x|\\n|", "{shell}");
        assert_eq!(String::from_utf8_lossy(&output.stderr), "ü\n", "{shell}");
        assert_eq!(output.status.code(), Some(7), "{shell}");
        let output = run(shell, dir.path(), RUN, &[&octal("echo \"${SKILL_DIR-none}\"\n"), "60"]);
        assert_eq!(out(&output), "none\n", "{shell}");
    }
}

#[test]
fn what_a_command_leaves_behind_and_one_that_takes_too_long_are_killed() {
    let dir = tempfile::tempdir().unwrap();
    for shell in SHELLS {
        let output = run(shell, dir.path(), RUN, &[&octal("sleep 1000 & echo begun"), "60"]);
        assert_eq!((out(&output).as_str(), output.status.code()), ("begun\n", Some(0)), "{shell}");
        let output = run(shell, dir.path(), RUN, &[&octal("echo begun; sleep 1000; echo no"), "1"]);
        assert_eq!((out(&output).as_str(), output.status.code()), ("begun\n", Some(137)), "{shell}");
    }
}

#[test]
fn a_command_dies_with_the_connection() {
    let dir = tempfile::tempdir().unwrap();
    for shell in SHELLS {
        let mut child = Command::new(shell)
            .args(["-s", "--", &octal("echo $$; exec sleep 1000"), "60"])
            .current_dir(dir.path())
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .spawn()
            .unwrap();
        let mut input = child.stdin.take().unwrap();
        input.write_all(RUN.as_bytes()).unwrap();
        let mut number = String::new();
        let mut reader = std::io::BufReader::new(child.stdout.take().unwrap());
        std::io::BufRead::read_line(&mut reader, &mut number).unwrap();
        drop(input);
        assert_eq!(child.wait().unwrap().code(), Some(137), "{shell}");
        assert!(!Path::new("/proc").join(number.trim()).join("exe").exists(), "{shell}");
    }
}

#[test]
fn knowledge_is_found_in_the_folder_and_in_the_home() {
    let dir = tempfile::tempdir().unwrap();
    let (near, far) = (dir.path().join(".kosmos-panel"), dir.path().join("home/.config/kosmos-panel"));
    std::fs::create_dir_all(&near).unwrap();
    std::fs::create_dir_all(&far).unwrap();
    let system = out(&run("sh", dir.path(), LOOK, &["100"]));
    assert_eq!(system.lines().count(), 1);
    std::fs::write(far.join("ai_system_promt.md"), "of the user").unwrap();
    assert_eq!(out(&run("sh", dir.path(), LOOK, &["100"])), format!("{system}of the user"));
    std::os::unix::fs::symlink("/etc/passwd", near.join("ai_system_promt.md")).unwrap();
    assert_eq!(out(&run("sh", dir.path(), LOOK, &["100"])), format!("{system}of the user"), "no links");
    std::fs::remove_file(near.join("ai_system_promt.md")).unwrap();
    std::fs::write(near.join("ai_system_promt.md"), "of the folder").unwrap();
    assert_eq!(out(&run("sh", dir.path(), LOOK, &["6"])), format!("{system}of the"));
}

#[test]
fn skills_are_found_there_and_names_cannot_leave_their_folder() {
    let dir = tempfile::tempdir().unwrap();
    let near = dir.path().join(".kosmos-panel/skills/near");
    let far = dir.path().join("home/.config/kosmos-panel/skills/far one");
    for folder in [&near, &far, &dir.path().join(".kosmos-panel/skills/linked")] {
        std::fs::create_dir_all(folder).unwrap();
    }
    std::fs::write(near.join("SKILL.md"), "near text\n").unwrap();
    std::fs::write(far.join("skill.md"), "far text").unwrap();
    std::fs::write(dir.path().join("SKILL.md"), "outside").unwrap();
    std::os::unix::fs::symlink("/etc/passwd", dir.path().join(".kosmos-panel/skills/linked/SKILL.md"))
        .unwrap();
    let find = |name: &str| out(&run("sh", dir.path(), FIND, &[&octal(name), "100"]));
    assert_eq!(find("near"), format!("{}\nnear text\n", near.display()));
    assert_eq!(find("far one"), format!("{}\nfar text", far.display()));
    for hostile in [
        "",
        "..",
        "../..",
        "/etc",
        "linked",
        "near/",
        "$(touch x)",
        "`touch x`",
        "'; touch x; '",
        "*",
        "absent",
    ] {
        assert_eq!(find(hostile), "", "{hostile:?}");
    }
    assert!(!dir.path().join("x").exists());
}
