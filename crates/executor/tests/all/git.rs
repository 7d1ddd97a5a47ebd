//! What git runs when it only looks at a repository that is malicious, and what it does not run any more in its hardened form.
//!
//! The tables are what the judge of commands relies on: which options close what, and which subcommands take them.

use std::collections::BTreeSet;

use crate::common::{PATIENCE, invocation};
use crate::repository::Repository;
use ai_prompt_executor::{Executor, Limits, Outcome, offered};

async fn git(
    repository: &Repository,
    sandboxed: bool,
    command: &[impl AsRef<str>],
) -> (Outcome, BTreeSet<String>) {
    let variables =
        [("PATH".into(), std::env::var_os("PATH").unwrap()), ("HOME".into(), "/nonexistent".into())];
    let limits = Limits { time: PATIENCE, ..Limits::default() };
    let executor = Executor::new(&variables.into(), &repository.folder(), limits);
    let command: Vec<&str> = command.iter().map(AsRef::as_ref).collect();
    let outcome = executor.run(&invocation(&repository.folder(), sandboxed, &command)).await;
    assert!(outcome.error.is_none() && !outcome.timed_out, "{command:?}: {outcome:?}");
    (outcome, repository.markers())
}

fn words(text: &str) -> Vec<&str> {
    text.split_whitespace().collect()
}

/// A command with what the policy puts in front of each subcommand that reads; the options behind it are those of the test.
fn hardened(text: &str) -> Vec<String> {
    let mut front = policy::hardened("git", &["rev-parse".to_owned()]);
    front.retain(|word| word != "rev-parse");
    let all = std::iter::once("git".to_owned()).chain(front);
    all.chain(words(text).into_iter().map(str::to_owned)).collect()
}

fn set(names: &[&str]) -> BTreeSet<String> {
    names.iter().map(|name| (*name).to_owned()).collect()
}

#[tokio::test]
async fn plain_commands_run_what_the_repository_says() {
    let repository = Repository::new();
    let cases: [(&str, &[&str]); 13] = [
        ("git status", &["clean", "fsmonitor", "submodule clean", "submodule fsmonitor"]),
        ("git diff", &["clean", "command", "fsmonitor", "submodule clean", "textconv"]),
        ("git log -p", &["gpg", "textconv"]),
        ("git show main~2", &["textconv"]),
        ("git show --remerge-diff main~1", &["driver"]),
        ("git show -m main~1", &["driver"]),
        ("git diff --submodule=diff", &["submodule command", "submodule textconv"]),
        ("git blame f.conv", &["textconv"]),
        ("git describe --always --dirty", &["clean"]),
        ("git ls-files -m", &["clean"]),
        ("git own", &["alias"]),
        ("git log --alternate-refs", &["alternates"]),
        ("git status --help", &["man"]),
    ];
    for (command, expected) in cases {
        let (outcome, markers) = git(&repository, false, &words(command)).await;
        assert!(markers.is_superset(&set(expected)), "{command}: {markers:?} {outcome:?}");
    }
    let (_, markers) = git(&repository, false, &["git", "checkout", "-q", "-b", "new"]).await;
    assert!(markers.contains("hook"), "{markers:?}");
}

/// The hardened forms, and what still runs: filters, which no option closes, and what only unusual options lead to.
const FORMS: [(&str, &[&str]); 41] = [
    ("status --ignore-submodules=dirty", &["clean"]),
    ("status --porcelain=v2 -z --ignore-submodules=dirty", &["clean"]),
    ("status", &["clean", "submodule clean"]),
    ("diff --no-ext-diff --no-textconv --ignore-submodules=dirty", &["clean"]),
    ("diff --no-ext-diff --no-textconv --stat --ignore-submodules=dirty", &["clean"]),
    ("diff --no-ext-diff --no-textconv", &["clean", "submodule clean"]),
    ("diff --no-ext-diff --no-textconv --cached", &[]),
    ("diff --no-ext-diff --no-textconv main~2 main", &[]),
    ("log", &[]),
    ("log -p --no-ext-diff --no-textconv", &[]),
    ("log --stat -M --no-ext-diff --no-textconv", &[]),
    ("log -G one --no-ext-diff --no-textconv", &[]),
    ("log -S one --no-ext-diff --no-textconv", &[]),
    ("log -L1,1:f.conv --no-ext-diff --no-textconv", &[]),
    ("log --format=%G? --no-ext-diff --no-textconv", &[]),
    ("show --no-ext-diff --no-textconv main~2", &[]),
    ("show --no-ext-diff --no-textconv main~1 -m", &[]),
    ("show --no-ext-diff --no-textconv main~2:f.conv", &[]),
    ("show --no-ext-diff --no-textconv stash@{0}", &[]),
    ("blame --no-textconv f.conv", &[]),
    ("blame --no-textconv f.txt", &[]),
    ("blame --no-textconv f.flt", &["clean"]),
    ("blame --no-textconv main -- f.flt", &[]),
    ("stash list --no-ext-diff --no-textconv", &[]),
    ("stash list -p --no-ext-diff --no-textconv", &[]),
    ("stash show -p --no-ext-diff --no-textconv", &[]),
    ("reflog show -p --no-ext-diff --no-textconv", &[]),
    ("grep --no-textconv six", &[]),
    ("grep --no-textconv two main", &[]),
    ("ls-files", &[]),
    ("ls-files -o --exclude-standard", &[]),
    ("ls-files -m", &["clean"]),
    ("describe --always", &[]),
    ("describe --always --dirty", &["clean"]),
    ("rev-parse HEAD", &[]),
    ("branch -vv", &[]),
    ("tag -n", &[]),
    ("remote -v", &[]),
    // Not closed, so never without a question.
    ("show --no-ext-diff --no-textconv --remerge-diff main~1", &["driver"]),
    ("range-diff --no-ext-diff --no-textconv main~3 main~2 main~1", &["textconv"]),
    ("log --no-ext-diff --no-textconv --alternate-refs -1", &["alternates"]),
];

#[tokio::test]
async fn hardened_commands_run_nothing_but_what_cannot_be_closed() {
    let repository = Repository::new();
    for (command, expected) in FORMS {
        let (outcome, markers) = git(&repository, false, &hardened(command)).await;
        assert_eq!(markers, set(expected), "{command}: {outcome:?}");
        assert_eq!(outcome.exit_code, Some(0), "{command}: {outcome:?}");
    }
}

#[tokio::test]
async fn in_the_sandbox_they_work_and_what_runs_can_do_nothing() {
    let repository = Repository::new();
    eprintln!("the kernel offers {:?}", offered());
    for (command, expected) in FORMS {
        let (outcome, markers) = git(&repository, true, &hardened(command)).await;
        assert_eq!(outcome.sandbox, Some(offered().sandbox()));
        assert!(markers.is_empty() || offered().landlock == 0, "{command}: {markers:?}");
        if expected.is_empty() {
            assert_eq!(outcome.exit_code, Some(0), "{command}: {outcome:?}");
        }
    }
    if offered().landlock > 0 {
        for command in
            ["git status", "git diff", "git log -p", "git own", "git checkout -b new", "git add -A"]
        {
            let (_, markers) = git(&repository, true, &words(command)).await;
            assert!(markers.is_empty(), "{command}: {markers:?}");
        }
    }
}

#[tokio::test]
async fn an_external_diff_is_closed_by_an_option() {
    let repository = Repository::new();
    repository.use_external_diff();
    let (_, markers) = git(&repository, false, &hardened("diff")).await;
    assert!(markers.contains("external"), "{markers:?}");
    for command in ["diff", "log -p", "show main~2", "stash show -p"] {
        let command = format!("{command} --no-ext-diff --no-textconv");
        let (_, markers) = git(&repository, false, &hardened(&command)).await;
        assert!(markers.is_subset(&set(&["clean", "submodule clean"])), "{command}: {markers:?}");
    }
}

#[tokio::test]
async fn missing_objects_are_not_fetched_by_sandboxed_commands() {
    for (sandboxed, expected) in [(false, set(&["uploadpack"])), (true, set(&[]))] {
        for command in
            ["show --no-ext-diff --no-textconv main~2", "cat-file -p main~2:f.txt", "grep one main~2"]
        {
            let repository = Repository::new();
            repository.lose_an_object();
            let (outcome, markers) = git(&repository, sandboxed, &hardened(command)).await;
            assert_eq!(markers, expected, "{command}: {outcome:?}");
            assert!(!outcome.stderr.text.contains("cannot create"), "{command}: it was started: {outcome:?}");
        }
    }
}

#[tokio::test]
async fn the_options_against_helpers_are_not_known_everywhere() {
    let repository = Repository::new();
    let both = "diff log show whatchanged reflog stash_list stash_show diff-tree diff-files diff-index rev-list shortlog \
                format-patch range-diff blame annotate";
    let text_conversion_only = "grep";
    let neither = "status branch tag remote describe ls-files ls-tree cat-file cherry show-branch name-rev merge-base \
                   for-each-ref rev-parse config archive";
    for (subcommands, options) in
        [(both, "--no-ext-diff --no-textconv"), (text_conversion_only, "--no-textconv")]
    {
        for subcommand in subcommands.split_whitespace() {
            let rest = match subcommand {
                "diff-tree" | "diff-index" | "rev-list" | "shortlog" => "main~2",
                "blame" | "annotate" => "f.txt",
                "format-patch" => "--stdout -1 main~2",
                "range-diff" => "main~3 main~2 main~1",
                "grep" => "six",
                _ => "",
            };
            let command = format!("{} {options} {rest}", subcommand.replace('_', " "));
            let (outcome, _) = git(&repository, false, &hardened(&command)).await;
            assert_eq!(outcome.exit_code, Some(0), "{command}: {outcome:?}");
        }
    }
    for subcommand in neither.split_whitespace().chain([text_conversion_only]) {
        let command = format!("{subcommand} --no-ext-diff");
        let (outcome, _) = git(&repository, false, &hardened(&command)).await;
        assert!(outcome.exit_code != Some(0) || subcommand == "rev-parse", "{command}: {outcome:?}");
    }
}

#[tokio::test]
async fn the_policy_hardens_git_so_that_only_filters_are_left_which_it_asks_about() {
    let repository = Repository::new();
    for (command, expected) in [
        ("status", &["clean"][..]),
        ("status -s", &["clean"]),
        ("diff", &["clean"]),
        ("diff --stat", &["clean"]),
        ("diff --cached", &[]),
        ("log -p", &[]),
        ("log --format=%H", &[]),
        ("show main~2", &[]),
        ("blame f.conv", &[]),
        ("annotate f.conv", &[]),
        ("stash list -p", &[]),
        ("stash show -p", &[]),
        ("reflog show -p", &[]),
        ("grep six", &[]),
        ("rev-list main", &[]),
        ("diff-tree -p main~2 main", &[]),
        ("ls-files", &[]),
        ("-C . branch -vv", &[]),
    ] {
        let args: Vec<String> = words(command).into_iter().map(str::to_owned).collect();
        let args = policy::hardened("git", &args);
        let words: Vec<&str> = std::iter::once("git").chain(args.iter().map(String::as_str)).collect();
        let (outcome, markers) = git(&repository, false, &words).await;
        assert_eq!(markers, set(expected), "{words:?}: {outcome:?}");
        assert_eq!(outcome.exit_code, Some(0), "{words:?}: {outcome:?}");
    }
}
