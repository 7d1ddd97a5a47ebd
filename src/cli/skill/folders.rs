//! The skills that lie in folders of the project and of the user.

use std::collections::HashSet;
use std::path::{Path, PathBuf};

use super::inside::{file_inside, read_bounded};
use crate::cli::error::CliError;
use crate::cli::user;
use crate::formats;
use base::model::{Id, Skill};

/// The folders of a project, in their order.
const PROJECT: [&str; 4] =
    [".ai-prompt-shell/skills", ".claude/skills", ".agents/skills", ".kosmos-panel/skills"];

/// Folders within folders that are looked at.
const DEPTH_MAX: usize = 5;

/// Entries of one of the folders, with all below, that are looked at.
const ENTRIES_MAX: usize = 5_000;

/// The longest `SKILL.md`, in bytes.
pub const SKILL_BYTES: usize = 1 << 20;

/// A skill that lies in a folder.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Found {
    /// The names of its folders below the folder of skills, as an id.
    pub id: Id,
    /// The name of its folder.
    pub folder_name: String,
    /// Its `SKILL.md`, as it is found: links are not resolved.
    pub file: PathBuf,
    /// The folder of skills.
    root: PathBuf,
}

/// The folders in which skills are searched: those of the project, and then those of the user.
pub fn roots() -> Vec<PathBuf> {
    let (home, configuration) = (user::home(), user::configuration());
    let below = |folder: &Option<PathBuf>, path: &str| Some(folder.as_ref()?.join(path));
    let of_user = [
        below(&configuration, "ai-prompt-shell/skills"),
        below(&home, ".claude/skills"),
        below(&home, ".agents/skills"),
        below(&home, ".config/kosmos-panel/skills"),
    ];
    let of_project = PROJECT.iter().map(|folder| Path::new(".").join(folder));
    of_project.chain(of_user.into_iter().flatten()).collect()
}

/// All skills of these folders, in their order; below each, by their ids.
pub fn all(roots: &[PathBuf]) -> Vec<Found> {
    roots.iter().flat_map(|root| below(root)).collect()
}

/// The skill of this name in the first folder that has one: its id, the last part of its id, or the name that it gives itself.
///
/// # Errors
/// When a folder has several of that name.
pub fn find(roots: &[PathBuf], name: &str) -> Result<Option<Found>, CliError> {
    for root in roots {
        let skills = below(root);
        if let Some(exact) = skills.iter().find(|skill| skill.id.as_str() == name) {
            return Ok(Some(exact.clone()));
        }
        let last =
            |skill: &&Found| skill.folder_name == name || skill.id.as_str().rsplit('.').next() == Some(name);
        let own = |skill: &&Found| skill.read().is_ok_and(|(skill, _)| skill.name == name);
        let mut named: Vec<&Found> = skills.iter().filter(last).collect();
        if named.is_empty() {
            named = skills.iter().filter(own).collect();
        }
        match named.as_slice() {
            [] => {}
            [one] => return Ok(Some((*one).clone())),
            several => {
                let ids: Vec<&str> = several.iter().map(|skill| skill.id.as_str()).collect();
                let message =
                    format!("{}: several skills have the name {name}: {}", root.display(), ids.join(", "));
                return Err(CliError::Usage(message));
            }
        }
    }
    Ok(None)
}

impl Found {
    /// The skill, and the whole text of its file.
    ///
    /// # Errors
    /// When it cannot be read, or is too long.
    pub fn read(&self) -> Result<(Skill, String), CliError> {
        let (text, is_cut) =
            read_bounded(&self.file, SKILL_BYTES).map_err(|source| CliError::file(&self.file, source))?;
        if is_cut {
            let message = format!("{}: a skill has at most {SKILL_BYTES} bytes", self.file.display());
            return Err(CliError::Usage(message));
        }
        Ok((formats::skill(&self.id, Some(&self.folder_name), &text), text))
    }

    /// The folder of the skill, with links followed.
    pub fn folder(&self) -> Option<PathBuf> {
        let file = file_inside(&self.root, &self.file)?;
        file.parent().map(Path::to_path_buf)
    }
}

/// The skills below one folder.
fn below(root: &Path) -> Vec<Found> {
    let Ok(real) = root.canonicalize() else { return Vec::new() };
    let mut search = Search { root, real, seen: HashSet::new(), left: ENTRIES_MAX, found: Vec::new() };
    search.folder(root, &[]);
    search.found.sort_by(|one, other| one.id.cmp(&other.id));
    search.found
}

struct Search<'r> {
    root: &'r Path,
    /// The root with links followed.
    real: PathBuf,
    /// Folders that were looked at, with links followed: a link may lead back.
    seen: HashSet<PathBuf>,
    left: usize,
    found: Vec<Found>,
}

impl Search<'_> {
    fn folder(&mut self, folder: &Path, names: &[String]) {
        let Ok(real) = folder.canonicalize() else { return };
        if !real.starts_with(&self.real) || names.len() > DEPTH_MAX || !self.seen.insert(real) {
            return;
        }
        let entries = std::fs::read_dir(folder).into_iter().flatten().flatten().take(self.left);
        let mut entries: Vec<PathBuf> = entries.map(|entry| entry.path()).collect();
        self.left -= entries.len();
        entries.sort();
        for path in entries {
            let Some(name) = path.file_name().and_then(|name| name.to_str()) else { continue };
            if path.is_dir() && !name.starts_with('.') && name != "node_modules" {
                let names: Vec<String> = names.iter().cloned().chain([name.to_owned()]).collect();
                self.folder(&path, &names);
            } else if name.eq_ignore_ascii_case("SKILL.md") && !names.is_empty() {
                self.file(path, names);
            }
        }
    }

    /// A file that leads out of the folder is no skill of it.
    fn file(&mut self, file: PathBuf, names: &[String]) {
        // Names in other alphabets are no ids; then it is found by the folder's name, or its own.
        let legal = names.iter().map(|name| formats::legal_name(name).unwrap_or_else(|| "skill".to_owned()));
        let Ok(id) = Id::parse(&legal.collect::<Vec<_>>().join(".")) else { return };
        let is_first = self.found.iter().all(|other| other.file.parent() != file.parent());
        if is_first && file_inside(self.root, &file).is_some() {
            let folder_name = names.last().cloned().unwrap_or_default();
            self.found.push(Found { id, folder_name, file, root: self.root.to_path_buf() });
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn put(root: &Path, path: &str, text: &str) {
        let file = root.join(path);
        std::fs::create_dir_all(file.parent().unwrap()).unwrap();
        std::fs::write(file, text).unwrap();
    }

    fn ids(root: &Path) -> Vec<String> {
        all(&[root.to_path_buf()]).iter().map(|skill| skill.id.to_string()).collect()
    }

    #[test]
    fn skills_are_found_in_folders_of_folders_by_a_file_in_any_case() {
        let dir = tempfile::tempdir().unwrap();
        let root = dir.path();
        for path in [
            "a/SKILL.md",
            "b/skill.md",
            "group/c/Skill.MD",
            "my skill/SKILL.md",
            "коммит/SKILL.md",
            "SKILL.md",
            ".git/x/SKILL.md",
            "d/README.md",
        ] {
            put(root, path, "text");
        }
        put(root, "1/2/3/4/5/6/SKILL.md", "too deep");
        assert_eq!(ids(root), ["a", "b", "group.c", "my-skill", "skill"]);
        let (skill, text) = find(&[root.to_path_buf()], "c").unwrap().unwrap().read().unwrap();
        assert_eq!((skill.name.as_str(), text.as_str()), ("c", "text"));
        assert!(find(&[root.to_path_buf()], "my skill").unwrap().is_some());
        assert!(find(&[root.to_path_buf()], "коммит").unwrap().is_some());
        assert!(find(&[root.to_path_buf()], "group").unwrap().is_none());
    }

    #[test]
    fn the_first_folder_that_has_a_name_wins_and_two_of_that_name_in_one_are_an_error() {
        let dir = tempfile::tempdir().unwrap();
        let (project, user) = (dir.path().join("project"), dir.path().join("user"));
        put(&project, "x/a/SKILL.md", "project");
        put(&user, "a/SKILL.md", "user");
        put(&user, "b/SKILL.md", "user");
        let roots = [dir.path().join("absent"), project.clone(), user];
        assert_eq!(find(&roots, "a").unwrap().unwrap().read().unwrap().1, "project");
        assert_eq!(find(&roots, "b").unwrap().unwrap().read().unwrap().1, "user");
        put(&project, "y/a/SKILL.md", "project");
        let error = find(&roots, "a").unwrap_err().to_string();
        assert!(error.contains("x.a, y.a"), "{error}");
        assert_eq!(
            find(&roots, "y.a").unwrap().unwrap().folder(),
            Some(project.join("y/a").canonicalize().unwrap())
        );
    }

    #[test]
    fn links_are_followed_inside_of_the_folder_only() {
        let dir = tempfile::tempdir().unwrap();
        let (root, outside) = (dir.path().join("skills"), dir.path().join("outside"));
        put(&root, "a/SKILL.md", "text");
        put(&outside, "x/SKILL.md", "text");
        std::os::unix::fs::symlink("a", root.join("linked")).unwrap();
        std::os::unix::fs::symlink("..", root.join("a/loop")).unwrap();
        std::os::unix::fs::symlink(&outside, root.join("out")).unwrap();
        std::fs::create_dir(root.join("b")).unwrap();
        std::os::unix::fs::symlink(outside.join("x/SKILL.md"), root.join("b/SKILL.md")).unwrap();
        assert_eq!(ids(&root), ["a"]);
    }

    #[test]
    fn a_skill_that_is_too_long_is_an_error() {
        let dir = tempfile::tempdir().unwrap();
        put(dir.path(), "a/SKILL.md", &"x".repeat(SKILL_BYTES + 1));
        let found = find(&[dir.path().to_path_buf()], "a").unwrap().unwrap();
        assert!(found.read().unwrap_err().to_string().contains("at most"));
    }
}
