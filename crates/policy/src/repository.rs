//! The configuration of a git repository: whether it may start programs.
//!
//! Keys that are known to be harmless are listed; every other key counts as a helper. git has too many that name a program
//! (`diff.*.command`, `filter.*.clean`, `core.sshCommand`, `gpg.program`, …), and new versions add more.

use std::fs;
use std::io::Read;
use std::path::{Path, PathBuf};

use crate::place;

/// A configuration that is longer is not read.
const MOST_BYTES: u64 = 256 << 10;

/// Helpers that are told.
const MOST_TOLD: usize = 5;

/// Keys that start nothing: the section, and the names in it. A `*` stands for the name of a subsection.
const HARMLESS: &[(&str, &str)] = &[
    ("advice", "*"),
    ("apply", "ignorewhitespace whitespace"),
    (
        "blame",
        "blankboundary coloring date ignorerevsfile markignoredlines markunblamablelines showemail showroot",
    ),
    ("branch", "autosetupmerge autosetuprebase"),
    (
        "branch.*",
        "description gh-merge-base github-pr-owner-number merge mergeoptions pushremote rebase remote vscode-merge-base",
    ),
    ("color", "branch diff grep interactive pager showbranch status ui"),
    ("commit", "cleanup gpgsign status verbose"),
    (
        "core",
        "abbrev autocrlf bare bigfilethreshold checkstat commentchar compression deltabasecachelimit eol filemode hidedotfiles \
         ignorecase ignorestat logallrefupdates longpaths loosecompression packedgitlimit packedgitwindowsize precomposeunicode \
         preloadindex protecthfs protectntfs quotepath repositoryformatversion safecrlf sharedrepository sparsecheckout \
         sparsecheckoutcone splitindex symlinks trustctime untrackedcache warnambiguousrefs whitespace",
    ),
    (
        "diff",
        "algorithm autorefreshindex colormoved colormovedws context dirstat ignoresubmodules indentheuristic interhunkcontext \
         mnemonicprefix noprefix relative renamelimit renames statgraphwidth suppressblankempty wserrorhighlight",
    ),
    ("extensions", "compatobjectformat noop objectformat refstorage"),
    ("feature", "experimental manyfiles"),
    ("fetch", "all output parallel prune prunetags recursesubmodules showforcedupdates writecommitgraph"),
    (
        "gc",
        "auto autodetach autopacklimit pruneexpire reflogexpire reflogexpireunreachable worktreepruneexpire",
    ),
    ("grep", "column extendedregexp fallbacktonoindex fullname linenumber patterntype threads"),
    ("gui", "encoding"),
    ("i18n", "commitencoding logoutputencoding"),
    ("index", "recordendofindexentries recordoffsettable skiphash sparse threads version"),
    ("init", "defaultbranch defaultobjectformat defaultrefformat"),
    ("lfs", "repositoryformatversion"),
    (
        "log",
        "abbrevcommit date decorate excludedecoration follow graphcolors initialdecorationset mailmap showroot",
    ),
    ("maintenance", "auto strategy"),
    ("merge", "branchdesc conflictstyle directoryrenames ff log renamelimit renames renormalize stat"),
    ("pack", "compression threads usebitmaps usesparse window windowmemory writebitmaps"),
    ("pull", "ff octopus rebase twohead"),
    ("push", "autosetupremote default followtags"),
    ("rebase", "abbreviatecommands autosquash autostash missingcommitscheck stat updaterefs"),
    ("receive", "advertiseatomic autogc denycurrentbranch denydeletes denynonfastforwards"),
    ("remote", "pushdefault"),
    (
        "remote.*",
        "fetch gh-resolved mirror prune prunetags push pushurl skipdefaultupdate skipfetchall tagopt url",
    ),
    ("rerere", "autoupdate enabled"),
    ("stash", "showincludeuntracked showpatch showstat"),
    (
        "status",
        "aheadbehind branch displaycommentprefix relativepaths renamelimit renames short showstash showuntrackedfiles",
    ),
    ("submodule", "active propagatebranches"),
    ("submodule.*", "active branch fetchrecursesubmodules ignore shallow url"),
    ("tag", "gpgsign"),
    ("user", "email name signingkey useconfigonly"),
    ("versionsort", "suffix"),
];

/// The git folder of the repository that a folder is in. Candidates that look broken come before it: git passes over them, perhaps.
pub fn find(folder: &Path) -> Vec<PathBuf> {
    let mut found = Vec::new();
    for folder in folder.ancestors() {
        let dot_git = folder.join(".git");
        let inside = fs::symlink_metadata(&dot_git).is_ok().then(|| pointed_to(&dot_git));
        let itself = is_complete(folder).then(|| folder.to_path_buf());
        let candidates: Vec<PathBuf> = inside.into_iter().chain(itself).collect();
        let is_last = candidates.iter().any(|candidate| is_complete(candidate));
        found.extend(candidates);
        if is_last {
            break;
        }
    }
    found
}

/// Whether git takes a folder for a git folder. That of a further work tree has the rest elsewhere.
fn is_complete(folder: &Path) -> bool {
    // A link counts, wherever it leads.
    let has = |name: &str| fs::symlink_metadata(folder.join(name)).is_ok();
    has("HEAD") && ((has("objects") && has("refs")) || has("commondir"))
}

/// The folder that a `.git` file points to; a `.git` folder is one itself.
pub fn pointed_to(dot_git: &Path) -> PathBuf {
    let text = if dot_git.is_file() { text_of(dot_git) } else { None };
    let target = text.as_deref().and_then(|text| text.strip_prefix("gitdir:")).map(str::trim);
    match (target, dot_git.parent()) {
        (Some(target), Some(folder)) => place::resolve(folder, target.as_ref()),
        _ => dot_git.to_path_buf(),
    }
}

/// The keys of a repository's configuration that may start programs, a few of them; what cannot be read counts as one.
pub fn helpers(git_dir: &Path) -> Vec<String> {
    let common = text_of(&git_dir.join("commondir"));
    let common =
        common.map_or_else(|| git_dir.to_path_buf(), |dir| place::resolve(git_dir, dir.trim().as_ref()));
    let config = common.join("config");
    if fs::symlink_metadata(&config).is_err() {
        return Vec::new();
    }
    match text_of(&config) {
        Some(text) => helpers_in(&text),
        None => vec!["something that cannot be read".to_owned()],
    }
}

fn text_of(path: &Path) -> Option<String> {
    // What is no file, a FIFO say, could be waited for without end.
    let file =
        fs::metadata(path).ok().filter(fs::Metadata::is_file).and_then(|_| fs::File::open(path).ok())?;
    let mut text = String::new();
    let read = file.take(MOST_BYTES + 1).read_to_string(&mut text).ok()?;
    (read as u64 <= MOST_BYTES).then_some(text)
}

fn helpers_in(text: &str) -> Vec<String> {
    let (mut section, mut found) = (String::new(), Vec::new());
    for line in text.lines().map(str::trim) {
        let mut rest = line;
        if line.starts_with('[') {
            let Some((header, after)) = header(line) else { return vec![unreadable(line)] };
            section = header;
            rest = after.trim();
        }
        if rest.is_empty() || rest.starts_with(['#', ';']) {
            continue;
        }
        // A value that goes on in the next line could hide the beginning of a section.
        if rest.ends_with('\\') {
            return vec![unreadable(line)];
        }
        let name = rest.split(['=', ' ', '\t', '#', ';']).next().unwrap_or_default().to_lowercase();
        if !is_harmless(&section, &name) {
            found.push(format!("`{section}.{name}`"));
        }
    }
    found.truncate(MOST_TOLD);
    found
}

fn unreadable(line: &str) -> String {
    format!("{:?}, which cannot be read with certainty", line.chars().take(40).collect::<String>())
}

/// The name of a section (`core`, `branch.main`), and what follows on its line.
fn header(line: &str) -> Option<(String, &str)> {
    let inner = line.strip_prefix('[')?;
    if let Some((name, rest)) = inner.split_once(']').filter(|(name, _)| !name.contains('"')) {
        return Some((name.trim().to_lowercase(), rest));
    }
    let (name, rest) = inner.split_once('"')?;
    let (subsection, rest) = rest.split_once('"').filter(|(subsection, _)| !subsection.contains('\\'))?;
    Some((format!("{}.{subsection}", name.trim().to_lowercase()), rest.trim_start().strip_prefix(']')?))
}

fn is_harmless(section: &str, name: &str) -> bool {
    let pattern = match section.split_once('.') {
        Some((section, _)) => format!("{section}.*"),
        None => section.to_owned(),
    };
    let keys = HARMLESS.iter().find(|(section, _)| *section == pattern).map(|(_, keys)| *keys);
    keys.is_some_and(|keys| keys == "*" || keys.split_whitespace().any(|key| key.eq_ignore_ascii_case(name)))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_ordinary_configuration_starts_nothing() {
        let text = "[core]\n\trepositoryformatversion = 0\n\tfilemode = true\n[remote \"origin\"]\n\turl = https://x/y\n\
                    \tfetch = +refs/heads/*:refs/remotes/origin/*\n[branch \"main\"]\n\tremote = origin\n# end\n[user] name = A B\n";
        assert_eq!(helpers_in(text), Vec::<String>::new());
    }

    #[test]
    fn keys_that_may_start_programs_are_found_however_they_are_written() {
        for text in [
            "[core]\nfsmonitor = x",
            "[core] fsmonitor=x",
            "[CORE]\nFSMonitor",
            "[diff \"x\"]\ncommand = y",
            "[filter \"lfs\"]\nclean = y",
            "[include]\npath = z",
            "[includeIf \"gitdir:x\"]\npath = z",
            "[alias]\nst = !x",
            "[core]\nabbrev = x \\\n[user]\nname = y",
            "[diff.x]\ncommand = y",
            "[remote \"o\"]\npromisor = true",
            "[a \"b\\\"c\"]\nx = y",
            "name = x",
        ] {
            assert_eq!(helpers_in(text).len(), 1, "{text}");
        }
    }
}
