//! The command line, run as its users run it.

use std::os::unix::fs::PermissionsExt;
use std::path::Path;
use std::process::{Command, Output, Stdio};

use serde_json::{Value as Json, json};

use support::app::{TestApp, write};
use support::redis::RedisServer;

/// Runs the program in a folder.
pub fn run(folder: &Path, arguments: &[&str]) -> Output {
    command(folder, arguments).output().unwrap()
}

fn command(folder: &Path, arguments: &[&str]) -> Command {
    let mut command = Command::new(env!("CARGO_BIN_EXE_ai-prompt-shell"));
    command.current_dir(folder).args(arguments).stdin(Stdio::null());
    command
}

/// The exit code, and what was printed on standard output and standard error.
pub fn text(output: &Output) -> (i32, String, String) {
    let text = |bytes: &[u8]| String::from_utf8_lossy(bytes).into_owned();
    (output.status.code().unwrap(), text(&output.stdout), text(&output.stderr))
}

/// Runs the program, which must succeed, and returns what it printed.
#[track_caller]
pub fn good(folder: &Path, arguments: &[&str]) -> String {
    let (code, out, err) = text(&run(folder, arguments));
    assert_eq!(code, 0, "{arguments:?}: {out}{err}");
    out
}

#[test]
fn documents_are_set_listed_shown_rendered_and_removed_without_a_server() {
    let dir = tempfile::tempdir().unwrap();
    let dir = dir.path();
    write(dir, "p.json", r#"{"prompt":"Hi {{.variables.name}} {{.team.rules}}"}"#);
    assert_eq!(good(dir, &["prompt", "set", "x.y", "p.json"]), "prompt x.y created\n");
    assert_eq!(
        good(dir, &["environ", "set", "team.rules", "--value", r#""be kind""#]),
        "environ team.rules created\n"
    );
    assert!(good(dir, &["prompt", "list"]).lines().any(|id| id == "x.y"));
    assert_eq!(good(dir, &["prompt", "render", "x.y", "-v", "name=Ada"]), "Hi Ada be kind\n");
    assert_eq!(good(dir, &["prompt", "render", "x.y", "--json", r#"{"name":1}"#]), "Hi 1 be kind\n");
    let shown: Json = serde_json::from_str(&good(dir, &["prompt", "show", "x:y"])).unwrap();
    assert_eq!(shown["syntax"], "go");
    let listed: Json = serde_json::from_str(&good(dir, &["environ", "list", "--json"])).unwrap();
    assert!(listed.as_array().unwrap().contains(&json!({"id": "team.rules", "value": "be kind"})));
    assert_eq!(good(dir, &["prompt", "rm", "x.y"]), "prompt x.y removed\n");
    let (code, _, err) = text(&run(dir, &["prompt", "show", "x.y"]));
    assert_eq!((code, err.contains("no prompt `x.y`")), (1, true), "{err}");
}

/// The lines of `/proc/net/{table}` about sockets that a process listens on: `state` is what the table calls that.
fn listening(process: u32, table: &str, state: &str) -> Vec<String> {
    let files = std::fs::read_dir(format!("/proc/{process}/fd")).unwrap();
    let links = files.filter_map(|file| std::fs::read_link(file.unwrap().path()).ok());
    let inodes: Vec<String> = links
        .filter_map(|link| Some(link.to_str()?.strip_prefix("socket:[")?.strip_suffix(']')?.to_owned()))
        .collect();
    let of_process = |line: &&str| {
        let words: Vec<&str> = line.split_whitespace().collect();
        words.contains(&state) && words.iter().any(|word| inodes.iter().any(|inode| inode == word))
    };
    let table = std::fs::read_to_string(format!("/proc/net/{table}")).unwrap();
    table.lines().filter(of_process).map(str::to_owned).collect()
}

#[test]
fn a_command_opens_no_port_but_a_socket_in_a_folder_of_its_own() {
    let dir = tempfile::tempdir().unwrap();
    let mut command = command(dir.path(), &["environ", "set", "a.b"]);
    let mut child =
        command.env("TMPDIR", dir.path()).stdin(Stdio::piped()).stdout(Stdio::null()).spawn().unwrap();
    // It has everything open when it waits for the document.
    let sockets = (0..100).find_map(|_| {
        std::thread::sleep(std::time::Duration::from_millis(100));
        Some(listening(child.id(), "unix", "00010000")).filter(|sockets| !sockets.is_empty())
    });
    let sockets = sockets.expect("a socket of its own");
    let path = sockets[0].split_whitespace().last().unwrap();
    let folder = Path::new(path).parent().unwrap().to_owned();
    assert_eq!(folder.metadata().unwrap().permissions().mode() & 0o777, 0o700, "{path}");
    let ports = [listening(child.id(), "tcp", "0A"), listening(child.id(), "tcp6", "0A")].concat();
    assert_eq!(ports, Vec::<String>::new());
    std::io::Write::write_all(&mut child.stdin.take().unwrap(), b"1").unwrap();
    assert!(child.wait().unwrap().success());
    assert!(!folder.exists(), "{} is left", folder.display());
}

#[actix_web::test]
async fn commands_talk_to_the_server_that_is_named() {
    let app = TestApp::start().await;
    let dir = tempfile::tempdir().unwrap();
    let base = app.base.clone();
    let (listed, failed) = tokio::task::spawn_blocking(move || {
        let dir = dir.path();
        good(dir, &["--server", &base, "prompt", "set", "x.y", "--value", r#"{"prompt":"P"}"#]);
        let refused = run(
            dir,
            &[
                "--server",
                &base,
                "prompt",
                "set",
                "x.y",
                "--value",
                r#"{"syntax":"go","prompt":"a\n{{if}}"}"#,
            ],
        );
        (good(dir, &["--server", &base, "prompt", "list"]), text(&refused))
    })
    .await
    .unwrap();
    assert_eq!(listed, "x.y\n");
    assert_eq!(failed.0, 1);
    assert!(failed.2.contains("(line 2"), "{failed:?}");
    assert_eq!(app.render("x.y", json!({})).await.rendered(), "P");
}

#[test]
fn wrong_usage_is_exit_code_2_and_failure_1() {
    let dir = tempfile::tempdir().unwrap();
    let dir = dir.path();
    write(dir, "bad.toml", "[render]\nunknown = 1");
    for (arguments, expected, word) in [
        (&["prompt", "explode"][..], 2, "unrecognized"),
        (&["prompt", "render", "x.y", "-v", "novalue"], 2, "NAME=VALUE"),
        (&["prompt", "render", "x.y", "--json", "[1]"], 2, "object"),
        (&["--config", "bad.toml", "prompt", "list"], 2, "unknown"),
        (&["--config", "absent.toml", "prompt", "list"], 2, "absent.toml"),
        (&["-s", "render.timeout_ms=0", "prompt", "list"], 2, "timeout_ms"),
        (&["-s", "log.level=a=b=c", "serve"], 2, "log.level"),
        (&["--store", "mysql://x", "prompt", "list"], 1, "redis://"),
        (&["--server", "http://127.0.0.1:1", "prompt", "list"], 1, "cannot be reached"),
        (&["prompt", "render", "no.such"], 1, "no prompt"),
        (&["check", "absent-folder"], 2, "not a folder"),
        (&["import", "absent-folder"], 2, "not a folder"),
    ] {
        let (code, out, err) = text(&run(dir, arguments));
        assert_eq!(code, expected, "{arguments:?}: {out}{err}");
        assert!(err.contains(word), "{arguments:?}: {err}");
    }
}

#[test]
fn check_names_file_line_column_and_reason_of_a_broken_package() {
    let dir = tempfile::tempdir().unwrap();
    let dir = dir.path();
    let package = |name: &str| {
        format!(
            r#"{{"name":"{name}","contributes":{{"prompts":[{{"name":"q","userPrompt":{{"file":"prompts/q.jinja"}}}}]}}}}"#
        )
    };
    write(dir, "ext/good/package.json", package("good"));
    write(dir, "ext/good/prompts/q.jinja", "{% if variables.a %}x{% endif %}");
    assert_eq!(good(dir, &["check", "ext"]), "all is well\n");
    write(dir, "ext/bad/package.json", package("bad"));
    write(dir, "ext/bad/prompts/q.jinja", "one\n{% if %}x{% endif %}");
    write(dir, "ext/worse/package.json", "{\n  \"name\": oops }");
    let (code, out, _) = text(&run(dir, &["check", "ext"]));
    assert_eq!(code, 1);
    let line =
        |start: &str| out.lines().find(|l| l.starts_with(start)).unwrap_or_else(|| panic!("{start}: {out}"));
    assert!(line("ext/bad/prompts/q.jinja:2:7: ").contains("Expected an expression"), "{out}");
    assert!(line("ext/worse/package.json:2:11: ").contains("not valid JSON"), "{out}");
    assert!(!dir.join("data").exists(), "a check makes no files");
}

#[test]
fn check_runs_the_tests_of_packages() {
    let dir = tempfile::tempdir().unwrap();
    let dir = dir.path();
    write(
        dir,
        "ext/p/package.json",
        r#"{"name":"p","contributes":{"prompts":[{"name":"q","prompt":"Hi {{.variables.name}}"}]}}"#,
    );
    let good_cases = json!([
        {"name": "greets", "variables": {"name": "Ada"}, "expect": "Hi Ada"},
        {"name": "needs a name", "error": {"code": "missing_variables", "missing": ["variables.name"]}}
    ]);
    write(dir, "ext/p/prompts/q.test.json", good_cases.to_string());
    assert_eq!(good(dir, &["check", "ext", "--test"]), "all is well, and all tests pass\n");
    let bad_cases = json!([{"name": "wrong", "variables": {"name": "Ada"}, "expect": "Hi Bob"}]);
    write(dir, "ext/p/prompts/q.test.json", bad_cases.to_string());
    let (code, out, _) = text(&run(dir, &["check", "ext", "--test"]));
    assert_eq!(code, 1);
    assert!(out.contains("wrong: expected \"Hi Bob\", got \"Hi Ada\""), "{out}");
}

#[test]
fn the_packages_that_ship_pass_their_own_tests() {
    let root = Path::new(env!("CARGO_MANIFEST_DIR"));
    let dir = tempfile::tempdir().unwrap();
    let extensions = root.join("extensions");
    assert_eq!(
        good(dir.path(), &["check", extensions.to_str().unwrap(), "--test"]),
        "all is well, and all tests pass\n"
    );
}

#[test]
fn a_catalog_moves_from_an_embedded_store_to_redis_and_back() {
    let server = RedisServer::start();
    let dir = tempfile::tempdir().unwrap();
    let dir = dir.path();
    // The partial sorts after the prompt that includes it.
    good(dir, &["prompt", "set", "x.z", "--value", r#"{"prompt":"partial {{.variables.a}}"}"#]);
    good(dir, &["prompt", "set", "x.a", "--value", r#"{"prompt":"main {{template \"z\" .}}"}"#]);
    good(dir, &["environ", "set", "a.b", "--value", "[1, 2.50]"]);
    good(dir, &["tool", "set", "m.t", "--value", r#"{"name":"t","module":"m","type":"restful","url":"/"}"#]);
    good(
        dir,
        &[
            "extension",
            "set",
            "e",
            "--value",
            r#"{"name":"e","contributes":{"prompts":[{"name":"q","prompt":"Q"}]}}"#,
        ],
    );
    assert_eq!(good(dir, &["export", "one"]), "5 documents written to one\n");
    let url = server.url();
    assert_eq!(good(dir, &["--store", &url, "import", "one"]), "5 of 5 documents stored\n");
    assert_eq!(good(dir, &["--store", &url, "prompt", "render", "x.a", "-v", "a=1"]), "main partial 1\n");
    good(dir, &["--store", &url, "export", "two"]);
    for file in
        ["prompts/x/z.json", "prompts/x/a.json", "environs/a/b.json", "tools/m/t.json", "extensions/e.json"]
    {
        let read = |folder: &str| std::fs::read(dir.join(folder).join(file)).unwrap();
        assert_eq!(read("one"), read("two"), "{file}");
    }
}

#[test]
fn commands_use_the_running_service_when_the_store_is_locked_and_say_so() {
    let dir = tempfile::tempdir().unwrap();
    let dir = dir.path();
    let listen = format!("127.0.0.1:{}", support::redis::free_port());
    let mut service =
        command(dir, &["--listen", &listen]).stdout(Stdio::piped()).stderr(Stdio::null()).spawn().unwrap();
    let mut lines = std::io::BufRead::lines(std::io::BufReader::new(service.stdout.take().unwrap()));
    let greeting = lines.next().unwrap().unwrap();
    assert!(greeting.contains(&listen), "{greeting}");
    let (code, _, err) = text(&run(dir, &["--listen", &listen, "environ", "set", "a.b", "--value", "1"]));
    assert_eq!((code, err.contains(&format!("talking to http://{listen}"))), (0, true), "{err}");
    // The curl line that the service prints works as it stands.
    let curl: String = lines
        .by_ref()
        .map(|line| line.unwrap())
        .skip_while(|l| !l.contains("curl"))
        .take(2)
        .collect::<Vec<_>>()
        .join("\n");
    let answer = Command::new("sh").args(["-c", &format!("{curl} -w '%{{http_code}}'")]).output().unwrap();
    let answer = String::from_utf8_lossy(&answer.stdout).into_owned();
    assert!(answer.ends_with("200") && answer.contains("rendered_prompt"), "{curl}: {answer}");
    service.kill().unwrap();
    service.wait().unwrap();
}

#[test]
fn a_check_looks_at_the_folder_it_is_given_also_while_a_service_runs() {
    let dir = tempfile::tempdir().unwrap();
    let dir = dir.path();
    write(
        dir,
        "broken/p/package.json",
        r#"{"name":"p","contributes":{"prompts":[{"name":"q","prompt":"{% if %}"}]}}"#,
    );
    let listen = format!("127.0.0.1:{}", support::redis::free_port());
    let mut service =
        command(dir, &["--listen", &listen]).stdout(Stdio::piped()).stderr(Stdio::null()).spawn().unwrap();
    let mut lines = std::io::BufRead::lines(std::io::BufReader::new(service.stdout.take().unwrap()));
    lines.next().unwrap().unwrap();
    let (code, out, _) = text(&run(dir, &["--listen", &listen, "check", "broken"]));
    service.kill().unwrap();
    service.wait().unwrap();
    assert_eq!((code, out.contains("broken/p/package.json")), (1, true), "{out}");
}

#[test]
fn commands_that_run_at_once_wait_for_one_another() {
    let dir = tempfile::tempdir().unwrap();
    let dir = dir.path();
    let start = |n: usize| {
        let listen = format!("127.0.0.1:{}", support::redis::free_port());
        let id = format!("a.n{n}");
        let mut set = command(dir, &["--listen", &listen, "environ", "set", &id, "--value", "1"]);
        set.stdout(Stdio::null()).spawn().unwrap()
    };
    let started: Vec<_> = (0..3).map(start).collect();
    for mut set in started {
        assert!(set.wait().unwrap().success());
    }
    let listed = good(dir, &["environ", "list"]);
    assert_eq!(listed.lines().filter(|id| id.starts_with("a.n")).count(), 3, "{listed}");
}

#[test]
fn a_reader_that_goes_away_and_a_proxy_for_the_world_outside_do_no_harm() {
    let dir = tempfile::tempdir().unwrap();
    let binary = env!("CARGO_BIN_EXE_ai-prompt-shell");
    let script = format!("http_proxy=http://127.0.0.1:1 {binary} prompt list --json | head -n 1");
    let output = Command::new("sh").current_dir(dir.path()).args(["-c", &script]).output().unwrap();
    let (_, out, err) = text(&output);
    assert_eq!((out.trim(), err.contains("panicked")), ("[", false), "{err}");
}

#[test]
fn a_store_that_cannot_be_reached_is_a_failure_of_every_command() {
    let dir = tempfile::tempdir().unwrap();
    for command in
        [&["export", "out"][..], &["prompt", "list"], &["prompt", "show", "x.y"], &["environ", "list"]]
    {
        let arguments = [&["--store", "redis://127.0.0.1:1/0"], command].concat();
        let (code, out, err) = text(&run(dir.path(), &arguments));
        assert_eq!((code, out.as_str()), (1, ""), "{command:?}: {err}");
        assert!(err.starts_with("error: the store is unavailable: cannot connect"), "{command:?}: {err}");
    }
    assert!(!dir.path().join("out").exists());
}

#[test]
fn completions_end_quietly_when_their_reader_goes_away_and_a_check_needs_no_folder() {
    let dir = tempfile::tempdir().unwrap();
    let mut child = command(dir.path(), &["completions", "bash"])
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .unwrap();
    drop(child.stdout.take());
    let (code, _, err) = text(&child.wait_with_output().unwrap());
    assert_eq!((code, err.as_str()), (0, ""));
    assert!(good(dir.path(), &["completions", "bash"]).contains("ai-prompt-shell"));
    good(dir.path(), &["check", "--test", "--store", "memory:"]);
}

#[test]
fn a_prompt_is_answered_on_the_command_line_with_no_configuration() {
    let dir = tempfile::tempdir().unwrap();
    let dir = dir.path();
    let document = r#"{"userPrompt": "Hello {{.variables.name}}"}"#;
    good(dir, &["prompt", "set", "x.y", "--value", document]);
    assert_eq!(good(dir, &["prompt", "chat", "x.y", "-v", "name=Ada Lovelace"]), "Hello Ada Lovelace\n");
    let more = ["prompt", "chat", "x.y", "-v", "name=A", "--message", "and more", "--full"];
    let full: Json = serde_json::from_str(&good(dir, &more)).unwrap();
    assert_eq!(full["choices"][0]["message"]["content"], "and more");
    let (code, _, err) = text(&run(dir, &["prompt", "chat", "x.y", "-v", "name=A", "--model", "gpt"]));
    assert!(code == 1 && err.contains("there is no model `gpt`"), "{err}");
    let (code, _, err) = text(&run(dir, &["prompt", "chat", "x.y"]));
    assert!(code == 1 && err.contains("variables.name"), "{err}");
}
