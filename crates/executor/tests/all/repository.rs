//! A git repository whose configuration, hooks and attributes name programs wherever git takes some. Each leaves a marker.

use std::collections::BTreeSet;
use std::fs;
use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};
use std::process::Command;

/// The kinds of files that have attributes, and their attributes.
const ATTRIBUTES: &str = "*.conv diff=conv\n*.drv diff=drv\n*.flt filter=flt\n*.mrg merge=mrg\n";
const KINDS: [&str; 5] = ["conv", "drv", "flt", "mrg", "txt"];

/// A repository with a submodule, both malicious, in a folder of its own.
pub struct Repository(tempfile::TempDir);

impl Repository {
    /// History, a stash, changed files; and only then the configuration, so that nothing has run yet.
    pub fn new() -> Repository {
        let repository = Repository(tempfile::tempdir().unwrap());
        fs::create_dir(repository.markers_folder()).unwrap();
        repository.make_submodule();
        repository.make_history();
        repository.configure();
        repository.configure_submodule();
        repository
    }

    pub fn folder(&self) -> PathBuf {
        self.0.path().join("repository")
    }

    fn markers_folder(&self) -> PathBuf {
        self.0.path().join("markers")
    }

    /// The programs that have run since the last call.
    pub fn markers(&self) -> BTreeSet<String> {
        let entries = fs::read_dir(self.markers_folder()).unwrap().map(|entry| entry.unwrap());
        entries
            .map(|entry| {
                fs::remove_file(entry.path()).unwrap();
                entry.file_name().into_string().unwrap()
            })
            .collect()
    }

    /// Runs git, with no configuration but the repository's, to prepare something.
    pub fn git(&self, folder: &Path, args: &[&str]) -> String {
        let mut git = Command::new("git");
        git.env_clear().envs([("HOME", "/nonexistent"), ("GIT_CONFIG_NOSYSTEM", "1")]).current_dir(folder);
        git.env("PATH", std::env::var_os("PATH").unwrap());
        git.args(["-c", "user.name=n", "-c", "user.email=e@example.com", "-c", "protocol.file.allow=always"]);
        let output = git.args(args).output().unwrap();
        assert!(output.status.success() || args[0] == "merge", "{args:?}: {output:?}");
        String::from_utf8(output.stdout).unwrap().trim().to_owned()
    }

    fn here(&self, args: &[&str]) -> String {
        self.git(&self.folder(), args)
    }

    fn make_submodule(&self) {
        let folder = self.0.path().join("other");
        fs::create_dir(&folder).unwrap();
        self.git(&folder, &["init", "-q", "-b", "main"]);
        write_all(&folder, "1\n");
        self.git(&folder, &["add", "-A"]);
        self.git(&folder, &["commit", "-qm", "one"]);
        write_all(&folder, "2\n");
        self.git(&folder, &["commit", "-qam", "two"]);
    }

    /// The commits `main~3` to `main`: one, two, a merge with a conflict, one with a signature. Files that have changed keep
    /// their sizes, so that git has to compare contents.
    fn make_history(&self) {
        fs::create_dir(self.folder()).unwrap();
        self.here(&["init", "-q", "-b", "main"]);
        write_all(&self.folder(), "one\n");
        self.here(&["submodule", "add", "-q", self.0.path().join("other").to_str().unwrap(), "sub"]);
        self.here(&["add", "-A"]);
        self.here(&["commit", "-qm", "one"]);
        self.here(&["checkout", "-q", "-b", "side"]);
        fs::write(self.folder().join("f.mrg"), "sid\n").unwrap();
        self.here(&["commit", "-qam", "side"]);
        self.here(&["checkout", "-q", "main"]);
        write_all(&self.folder(), "two\n");
        self.here(&["commit", "-qam", "two"]);
        self.here(&["merge", "-q", "side"]);
        fs::write(self.folder().join("f.mrg"), "mrg\n").unwrap();
        self.here(&["commit", "-qam", "merge"]);
        self.sign();
        write_all(&self.folder(), "sta\n");
        self.here(&["stash", "-q"]);
        write_all(&self.folder(), "six\n");
        self.git(&self.folder().join("sub"), &["checkout", "-q", "HEAD~1"]);
        write_all(&self.folder().join("sub"), "9\n");
    }

    /// A commit with something that looks like a signature, and is given to the program that checks signatures.
    fn sign(&self) {
        let text = self.here(&["cat-file", "commit", "HEAD"]);
        let (head, _) = text.split_once("\n\n").unwrap();
        let parent = self.here(&["rev-parse", "HEAD"]);
        let lines = head.lines().filter(|line| !line.starts_with("parent"));
        let mut lines: Vec<String> = lines.map(str::to_owned).collect();
        lines.insert(1, format!("parent {parent}"));
        lines.push(
            "gpgsig -----BEGIN PGP SIGNATURE-----\n \n iQ==\n -----END PGP SIGNATURE-----\n\nsigned\n"
                .to_owned(),
        );
        let file = self.0.path().join("commit");
        fs::write(&file, lines.join("\n")).unwrap();
        let commit = self.here(&["hash-object", "-t", "commit", "-w", file.to_str().unwrap()]);
        self.here(&["update-ref", "refs/heads/main", &commit]);
    }

    /// A program that leaves a marker, and goes on as a shell script.
    fn program(&self, marker: &str, rest: &str) -> String {
        let path = self.0.path().join(format!("{marker}.sh"));
        let touched = self.markers_folder().join(marker);
        fs::write(&path, format!("#!/bin/sh\necho >'{}'\n{rest}\n", touched.display())).unwrap();
        fs::set_permissions(&path, fs::Permissions::from_mode(0o755)).unwrap();
        path.to_str().unwrap().to_owned()
    }

    fn configure(&self) {
        let settings = [
            ("core.fsmonitor", self.program("fsmonitor", "printf 'x\\0'")),
            ("core.pager", self.program("pager", "cat")),
            ("pager.log", self.program("pager", "cat")),
            ("diff.conv.textconv", self.program("textconv", "cat \"$1\"")),
            ("diff.drv.command", self.program("command", "")),
            ("filter.flt.clean", self.program("clean", "cat")),
            ("filter.flt.smudge", self.program("smudge", "cat")),
            ("merge.mrg.driver", self.program("driver", "exit 1")),
            ("gpg.program", self.program("gpg", "exit 1")),
            ("log.showSignature", "true".to_owned()),
            ("log.diffMerges", "remerge".to_owned()),
            ("format.pretty", "%h %s %G?".to_owned()),
            ("alias.status", format!("!{}", self.program("alias", ""))),
            ("alias.own", format!("!{}", self.program("alias", ""))),
            ("man.viewer", "own".to_owned()),
            ("man.own.cmd", self.program("man", "")),
            ("core.alternateRefsCommand", self.program("alternates", "")),
            ("remote.origin.url", self.0.path().join("other").to_str().unwrap().to_owned()),
            ("remote.origin.uploadpack", self.program("uploadpack", "exit 1")),
            ("submodule.sub.ignore", "none".to_owned()),
        ];
        settings.iter().for_each(|(name, value)| drop(self.here(&["config", name, value])));
        let hooks = self.0.path().join("hooks");
        fs::create_dir(&hooks).unwrap();
        for hook in ["post-checkout", "post-index-change", "reference-transaction"] {
            fs::copy(self.program("hook", ""), hooks.join(hook)).unwrap();
        }
        self.here(&["config", "core.hooksPath", hooks.to_str().unwrap()]);
        let alternates = self.folder().join(".git/objects/info/alternates");
        fs::write(alternates, format!("{}\n", self.0.path().join("other/.git/objects").display())).unwrap();
        self.markers();
    }

    fn configure_submodule(&self) {
        let settings = [
            ("core.fsmonitor", self.program("submodule fsmonitor", "printf 'x\\0'")),
            ("diff.conv.textconv", self.program("submodule textconv", "cat \"$1\"")),
            ("diff.drv.command", self.program("submodule command", "")),
            ("filter.flt.clean", self.program("submodule clean", "cat")),
        ];
        for (name, program) in settings {
            let command = format!("'{program}'");
            // Text conversions get their argument appended, a file monitor is no shell's line.
            self.git(&self.folder().join("sub"), &["config", name, &command]);
        }
        self.markers();
    }

    /// Makes it a partial clone that lacks a file of `main~2`.
    pub fn lose_an_object(&self) {
        let settings = [
            ("core.repositoryFormatVersion", "1"),
            ("extensions.partialClone", "origin"),
            ("remote.origin.promisor", "true"),
        ];
        let object = self.here(&["rev-parse", "main~2:f.txt"]);
        settings.iter().for_each(|(name, value)| drop(self.here(&["config", name, value])));
        let (folder, file) = object.split_at(2);
        fs::remove_file(self.folder().join(".git/objects").join(folder).join(file)).unwrap();
        self.markers();
    }

    /// Has all diffs made by a program.
    pub fn use_external_diff(&self) {
        self.here(&["config", "diff.external", &self.program("external", "")]);
        self.markers();
    }
}

fn write_all(folder: &Path, text: &str) {
    fs::write(folder.join(".gitattributes"), ATTRIBUTES).unwrap();
    KINDS.iter().for_each(|kind| fs::write(folder.join(format!("f.{kind}")), text).unwrap());
}
