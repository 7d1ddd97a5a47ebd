//! Every command of the policy's table that runs by itself, run for real and without the sandbox: it ends, and nothing has changed.

use std::collections::BTreeMap;
use std::fs;
use std::os::unix::fs::{MetadataExt, symlink};
use std::path::{Path, PathBuf};
use std::process::Command;

use crate::common::{PATIENCE, invocation};
use ai_prompt_executor::{Executor, Limits};
use policy::{Level, Permissions, Policy, Rules, Surroundings, hardened};
use serde::Deserialize;

#[derive(Deserialize)]
struct Case {
    level: String,
    command: Vec<String>,
    cwd: Option<String>,
}

/// Programs that wait for as long as they are told.
const WAITING: &[&str] = &["sleep"];

/// What there is below a folder: of each file its kind and rights, its time of change, and its contents.
fn everything(folder: &Path, found: &mut BTreeMap<PathBuf, (u32, i64, Vec<u8>)>) {
    for entry in fs::read_dir(folder).unwrap().map(Result::unwrap) {
        let (path, about) = (entry.path(), entry.metadata().unwrap());
        let contents = if about.is_file() { fs::read(&path).unwrap() } else { Vec::new() };
        found.insert(path.clone(), (about.mode(), about.mtime_nsec(), contents));
        if about.is_dir() {
            everything(&path, found);
        }
    }
}

/// A workspace like that of the policy's own tests, with a real repository.
fn workspace(root: &Path) -> PathBuf {
    let workspace = root.join("work");
    fs::create_dir_all(workspace.join("src")).unwrap();
    fs::create_dir_all(workspace.join("sub")).unwrap();
    fs::create_dir_all(root.join("home/.ssh")).unwrap();
    fs::write(workspace.join("README.md"), "# readme\nfoo\n").unwrap();
    fs::write(workspace.join("src/main.rs"), "fn main() {}\n").unwrap();
    fs::write(workspace.join(".env"), "A=b\n").unwrap();
    for (link, target) in
        [("link_out", "/etc"), ("link_up", ".."), ("link_in", "src"), ("link_secret", ".env")]
    {
        symlink(target, workspace.join(link)).unwrap();
    }
    for arguments in [
        "init -q -b main",
        "add README.md src",
        "-c user.name=a -c user.email=a@b commit -q -m first",
        "tag v1",
    ] {
        let status = Command::new("git").args(arguments.split(' ')).current_dir(&workspace).status().unwrap();
        assert!(status.success(), "git {arguments}");
    }
    fs::write(workspace.join("README.md"), "# readme\nbar\n").unwrap();
    workspace
}

fn cases() -> Vec<Case> {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../policy/tests/cases");
    let files = fs::read_dir(folder).unwrap().map(|file| fs::read_to_string(file.unwrap().path()).unwrap());
    let lines: Vec<String> =
        files.flat_map(|text| text.lines().map(str::to_owned).collect::<Vec<_>>()).collect();
    let cases = lines.iter().map(|line| serde_json::from_str(line).unwrap());
    cases.filter(|case: &Case| case.level == "L0" && case.cwd.is_none()).collect()
}

#[tokio::test]
async fn what_runs_by_itself_ends_and_changes_nothing() {
    let root = tempfile::tempdir().unwrap();
    let root = root.path().canonicalize().unwrap();
    let workspace = workspace(&root);
    let surroundings = Surroundings {
        workspace: workspace.clone(),
        cwd: workspace.clone(),
        home: Some(root.join("home")),
        path: "/usr/local/bin:/usr/bin:/bin".to_owned(),
    };
    let policy = Policy::new(surroundings, Permissions::default(), Rules::default());
    let variables =
        [("PATH".into(), "/usr/local/bin:/usr/bin:/bin".into()), ("HOME".into(), root.join("home").into())];
    let limits = Limits { time: PATIENCE, ..Limits::default() };
    let executor = Executor::new(&variables.into(), &workspace, limits);
    let mut before = BTreeMap::new();
    everything(&root, &mut before);
    let mut ran = 0;
    for case in cases() {
        let fill = |word: &String| {
            word.replace("{W}", workspace.to_str().unwrap())
                .replace("{H}", root.join("home").to_str().unwrap())
        };
        let words: Vec<String> = case.command.iter().map(fill).collect();
        let (program, args) = words.split_first().unwrap();
        let command = policy::Command { program: program.clone(), args: args.to_vec(), ..Default::default() };
        if policy.classify(&command).level != Level::L0 || WAITING.contains(&program.as_str()) {
            continue;
        }
        let args = hardened(program, args);
        let words: Vec<&str> =
            std::iter::once(program.as_str()).chain(args.iter().map(String::as_str)).collect();
        let outcome = executor.run(&invocation(&workspace, false, &words)).await;
        assert!(!outcome.timed_out, "{words:?} does not end");
        ran += usize::from(outcome.exit_code == Some(0));
        let mut after = BTreeMap::new();
        everything(&root, &mut after);
        assert!(after == before, "{words:?} has changed something");
    }
    assert!(ran > 500, "only {ran} commands have run");
}
