//! Where a path leads: links are followed and `..` is taken off as the kernel does it, for files that do not exist, too.

use std::ffi::OsString;
use std::path::{Component, Path, PathBuf};

/// As many links as the kernel follows in one path.
const MOST_LINKS: usize = 40;

/// Where a path leads that begins at a folder. What does not exist is taken as it is written.
pub fn resolve(folder: &Path, path: &Path) -> PathBuf {
    let mut todo: Vec<OsString> = parts(path);
    let mut at = if path.is_absolute() { PathBuf::from("/") } else { folder.to_path_buf() };
    let mut links = 0;
    while let Some(part) = todo.pop() {
        if part == ".." {
            at.pop();
            continue;
        }
        at.push(&part);
        // Links there lead to different places for every process.
        if at.starts_with("/proc") || at.starts_with("/dev") {
            continue;
        }
        let Ok(target) = std::fs::read_link(&at) else { continue };
        links += 1;
        if links > MOST_LINKS {
            // The kernel refuses it. Nothing below is in the workspace.
            return PathBuf::from("/");
        }
        at.pop();
        if target.is_absolute() {
            at = PathBuf::from("/");
        }
        todo.extend(parts(&target));
    }
    at
}

/// The parts of a path, the last one first.
fn parts(path: &Path) -> Vec<OsString> {
    let parts = path.components().filter_map(|part| match part {
        Component::Normal(name) => Some(name.to_owned()),
        Component::ParentDir => Some(OsString::from("..")),
        Component::Prefix(_) | Component::RootDir | Component::CurDir => None,
    });
    let mut parts: Vec<OsString> = parts.collect();
    parts.reverse();
    parts
}

/// Files of a folder that are looked at.
const MOST_FILES: usize = 2_000;

/// Whether there are links in a folder, or so many files that nobody looks at all of them. A file has none.
pub fn has_links(folder: &Path) -> bool {
    let (mut folders, mut count) = (vec![folder.to_path_buf()], 0);
    while let Some(folder) = folders.pop() {
        for entry in std::fs::read_dir(folder).into_iter().flatten().flatten() {
            count += 1;
            match entry.file_type() {
                Ok(kind) if kind.is_dir() => folders.push(entry.path()),
                Ok(kind) if !kind.is_symlink() => {}
                _ => return true,
            }
            if count > MOST_FILES {
                return true;
            }
        }
    }
    false
}

/// Folders whose files belong to the system: writing there is refused.
const SYSTEM: &[&str] = &[
    "/Applications",
    "/Library",
    "/System",
    "/bin",
    "/boot",
    "/dev",
    "/etc",
    "/lib",
    "/lib32",
    "/lib64",
    "/libx32",
    "/nix",
    "/opt",
    "/private/etc",
    "/proc",
    "/run",
    "/sbin",
    "/srv",
    "/sys",
    "/usr",
    "/var",
];

/// Below those, folders that everybody may use.
const OPEN: &[&str] = &[
    "/dev/null",
    "/dev/shm",
    "/dev/stderr",
    "/dev/stdout",
    "/run/user",
    "/usr/src",
    "/var/folders",
    "/var/tmp",
];

/// Whether a path (resolved) belongs to the system.
pub fn is_system(path: &Path) -> bool {
    let below = |folders: &[&str]| folders.iter().any(|folder| path.starts_with(folder));
    path == Path::new("/") || (below(SYSTEM) && !below(OPEN))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn links_are_followed_before_a_step_up_is_taken() {
        let dir = tempfile::tempdir().unwrap();
        let root = dir.path().canonicalize().unwrap();
        std::fs::create_dir_all(root.join("a/b")).unwrap();
        std::os::unix::fs::symlink("a/b", root.join("link")).unwrap();
        std::os::unix::fs::symlink("/etc", root.join("out")).unwrap();
        std::os::unix::fs::symlink("loop", root.join("loop")).unwrap();
        let resolved = |path: &str| resolve(&root, Path::new(path));
        assert_eq!(resolved("link/.."), root.join("a"));
        assert_eq!(resolved("no/such/../file"), root.join("no/file"));
        assert_eq!(resolved("out/passwd"), Path::new("/etc/passwd"));
        assert_eq!(resolved("../../../../../../../.."), Path::new("/"));
        assert_eq!(resolved("loop/x"), Path::new("/"));
        assert_eq!(resolved("./a//b/."), root.join("a/b"));
    }

    #[test]
    fn the_system_has_folders_that_everybody_may_use() {
        for path in ["/", "/etc/passwd", "/usr/bin/ls", "/dev/sda", "/var/lib/x"] {
            assert!(is_system(Path::new(path)), "{path}");
        }
        for path in ["/tmp/x", "/home/u/x", "/dev/null", "/var/tmp/x", "/etcetera"] {
            assert!(!is_system(Path::new(path)), "{path}");
        }
    }
}
