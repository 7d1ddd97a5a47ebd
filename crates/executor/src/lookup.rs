//! Where programs are found: a `PATH` that the workspace cannot change.

use std::ffi::{OsStr, OsString};
use std::path::{Path, PathBuf};

use crate::outcome::RunError;

/// The folders of the system. They are always good, even if the workspace is `/` or `/usr`, and they are searched if nothing else is.
const SYSTEM: [&str; 7] =
    ["/opt/homebrew/bin", "/usr/local/sbin", "/usr/local/bin", "/usr/sbin", "/usr/bin", "/sbin", "/bin"];

/// The folders of `path` (written as in the variable `PATH`) that a file of the workspace cannot get into, in their order.
///
/// Left out are relative and empty entries, which mean something else in every working directory, and entries that lie inside the
/// workspace after links are followed. Links are resolved in the answer, so that they cannot be bent later. An answer without any
/// folder would find nothing: then it is the folders of the system.
pub fn clean_path(path: &OsStr, workspace: &Path) -> Vec<PathBuf> {
    let workspace = workspace.canonicalize().unwrap_or_else(|_| workspace.to_owned());
    let mut folders: Vec<PathBuf> = Vec::new();
    for folder in std::env::split_paths(path).filter_map(|entry| trusted(entry, &workspace)) {
        if !folders.contains(&folder) {
            folders.push(folder);
        }
    }
    if folders.is_empty() { SYSTEM.map(PathBuf::from).to_vec() } else { folders }
}

fn trusted(entry: PathBuf, workspace: &Path) -> Option<PathBuf> {
    if SYSTEM.iter().any(|folder| Path::new(folder) == entry) {
        return Some(entry);
    }
    let real = entry.is_absolute().then(|| entry.canonicalize().ok())??;
    (real.is_dir() && !real.starts_with(workspace)).then_some(real)
}

/// The folders as the value of `PATH`.
pub(crate) fn joined(folders: &[PathBuf]) -> OsString {
    // A folder with a separator in its name cannot have come out of `split_paths`, but out of a link: leave it out.
    let fits = |folder: &&PathBuf| std::env::join_paths([folder]).is_ok();
    std::env::join_paths(folders.iter().filter(fits)).unwrap_or_default()
}

/// The file of a program: a bare name is searched in `folders`, a relative path begins at `cwd`, an absolute path is taken as it is.
///
/// # Errors
///
/// [`RunError::NotFound`] and [`RunError::NotExecutable`].
pub fn find_program(program: &str, cwd: &Path, folders: &[PathBuf]) -> Result<PathBuf, RunError> {
    let is_bare = !program.contains(std::path::is_separator);
    if is_bare {
        let mut files = folders.iter().map(|folder| folder.join(program));
        let found = files.find(|file| !program.is_empty() && is_executable(file));
        return found.ok_or_else(|| RunError::NotFound(program.to_owned()));
    }
    let file = cwd.join(program);
    if !file.exists() {
        return Err(RunError::NotFound(program.to_owned()));
    }
    if is_executable(&file) { Ok(file) } else { Err(RunError::NotExecutable(file)) }
}

#[cfg(unix)]
fn is_executable(file: &Path) -> bool {
    use std::os::unix::fs::PermissionsExt;
    file.metadata().is_ok_and(|metadata| metadata.is_file() && metadata.permissions().mode() & 0o111 != 0)
}

#[cfg(not(unix))]
fn is_executable(file: &Path) -> bool {
    file.is_file()
}

#[cfg(unix)]
#[cfg(test)]
mod tests {
    use std::fs;
    use std::os::unix::fs::{PermissionsExt, symlink};

    use super::*;

    fn path_of(entries: &[&Path]) -> OsString {
        std::env::join_paths(entries).unwrap()
    }

    #[test]
    fn relative_entries_and_those_inside_of_the_workspace_are_left_out() {
        let root = tempfile::tempdir().unwrap();
        let real = root.path().canonicalize().unwrap();
        let (workspace, outside) = (real.join("work"), real.join("tools"));
        fs::create_dir_all(workspace.join("bin")).unwrap();
        fs::create_dir(&outside).unwrap();
        symlink(workspace.join("bin"), real.join("into")).unwrap();
        symlink(&outside, workspace.join("out")).unwrap();
        let entries = [
            Path::new(""),
            Path::new("."),
            Path::new("bin"),
            &workspace,
            &workspace.join("bin"),
            &workspace.join("bin/../bin"),
            &real.join("into"),
            &real.join("absent"),
            &workspace.join("out"),
            &outside,
            Path::new("/usr/bin"),
            Path::new("/usr/bin"),
        ];
        assert_eq!(clean_path(&path_of(&entries), &workspace), [outside, PathBuf::from("/usr/bin")]);
    }

    #[test]
    fn folders_of_the_system_are_good_in_any_workspace() {
        assert_eq!(
            clean_path(OsStr::new("/usr/bin:/bin:/opt:rel"), Path::new("/")),
            [Path::new("/usr/bin"), Path::new("/bin")]
        );
        assert_eq!(clean_path(OsStr::new("rel::."), Path::new("/tmp")).len(), SYSTEM.len());
        assert_eq!(clean_path(OsStr::new(""), Path::new("/tmp")).len(), SYSTEM.len());
    }

    #[test]
    fn programs_are_found_by_name_and_by_path() {
        let folder = tempfile::tempdir().unwrap();
        let (good, plain) = (folder.path().join("good"), folder.path().join("plain"));
        fs::write(&good, "").unwrap();
        fs::set_permissions(&good, fs::Permissions::from_mode(0o755)).unwrap();
        fs::write(&plain, "").unwrap();
        let folders = [folder.path().to_owned()];
        let find = |program: &str| find_program(program, folder.path(), &folders);
        assert_eq!(find("good").unwrap(), good);
        assert_eq!(find("./good").unwrap(), folder.path().join("./good"));
        assert_eq!(find(good.to_str().unwrap()).unwrap(), good);
        for absent in ["plain", "absent", "", ".", ".."] {
            assert!(matches!(find(absent), Err(RunError::NotFound(_))), "{absent}");
        }
        assert!(matches!(find("./plain"), Err(RunError::NotExecutable(_))));
        assert!(matches!(find("./absent"), Err(RunError::NotFound(_))));
        assert!(matches!(find("/"), Err(RunError::NotExecutable(_))));
    }
}
