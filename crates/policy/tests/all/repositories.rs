//! Repositories whose configuration may start programs: whatever git does in them is asked about.

use std::fs;

use policy::{Command, Level, Permissions};

use crate::fixture::Fixture;

#[test]
fn a_configuration_that_defines_helpers_is_asked_about() {
    let fixture = Fixture::new();
    let policy = fixture.policy(Permissions::default());
    let status = || policy.classify(&Command::new("git", ["status"])).level;
    assert_eq!(status(), Level::L0);
    for helper in [
        "[core]\n\tfsmonitor = ./evil\n",
        "[core]\n\tworktree = /etc\n",
        "[diff \"x\"]\n\ttextconv = evil\n",
        "[alias]\n\tst = !evil\n",
        "[include]\n\tpath = other\n",
        "[extensions]\n\tpartialClone = origin\n",
        "[hook \"x\"]\n\tcommand = evil\n",
    ] {
        fs::write(fixture.workspace.join(".git/config"), helper).unwrap();
        assert_eq!(status(), Level::L1, "{helper}");
    }
}

#[test]
fn the_repository_is_found_as_git_finds_it() {
    let fixture = Fixture::new();
    let policy = fixture.policy(Permissions::default());
    let helper = "[filter \"x\"]\n\tclean = evil\n";
    let linked = fixture.workspace.join("linked");
    let private = fixture.workspace.join(".git/worktrees/linked");
    fs::create_dir_all(&linked).unwrap();
    fs::create_dir_all(&private).unwrap();
    fs::write(linked.join(".git"), "gitdir: ../.git/worktrees/linked\n").unwrap();
    fs::write(private.join("commondir"), "../..\n").unwrap();
    let bare = fixture.workspace.join("sub/bare");
    fs::create_dir_all(bare.join("objects")).unwrap();
    fs::create_dir_all(bare.join("refs")).unwrap();
    fs::write(bare.join("HEAD"), "ref: refs/heads/main\n").unwrap();
    fs::write(bare.join("config"), helper).unwrap();
    let level = |args: &[&str]| policy.classify(&Command::new("git", args.iter().copied())).level;
    assert_eq!(level(&["-C", "linked", "status"]), Level::L0);
    assert_eq!(level(&["-C", "sub/bare", "log"]), Level::L1, "a bare repository");
    assert_eq!(level(&["--git-dir", "sub/bare", "log"]), Level::L1);
    fs::write(fixture.workspace.join(".git/config"), helper).unwrap();
    assert_eq!(level(&["-C", "linked", "status"]), Level::L1, "a work tree of the repository");
    assert_eq!(level(&["-C", "src", "status"]), Level::L1, "a folder in it");
}

#[test]
fn what_git_passes_over_hides_nothing() {
    let fixture = Fixture::new();
    let policy = fixture.policy(Permissions::default());
    let helper = "[filter \"x\"]\nclean = evil\n";
    let level = |args: &[&str]| policy.classify(&Command::new("git", args.iter().copied())).level;
    // An empty `.git`: git goes on to the folder above.
    fs::create_dir(fixture.workspace.join("sub/.git")).unwrap();
    assert_eq!(level(&["-C", "sub", "diff"]), Level::L0);
    fs::write(fixture.workspace.join(".git/config"), helper).unwrap();
    assert_eq!(level(&["-C", "sub", "diff"]), Level::L1);
    fs::write(fixture.workspace.join(".git/config"), "").unwrap();
    // A folder that has the rest of a repository elsewhere, and a broken `.git` in it.
    let (odd, evil) = (fixture.workspace.join("odd"), fixture.workspace.join("evil"));
    fs::create_dir_all(odd.join(".git")).unwrap();
    fs::create_dir(&evil).unwrap();
    fs::write(evil.join("config"), helper).unwrap();
    std::os::unix::fs::symlink("refs/heads/none", odd.join("HEAD")).unwrap();
    assert_eq!(level(&["-C", "odd", "diff"]), Level::L0);
    fs::write(odd.join("commondir"), "../evil\n").unwrap();
    assert_eq!(level(&["-C", "odd", "diff"]), Level::L1);
    // A file that points to a git folder, given as one.
    fs::write(fixture.workspace.join("pointer"), "gitdir: evil\n").unwrap();
    assert_eq!(level(&["--git-dir", "pointer", "diff"]), Level::L1);
}
