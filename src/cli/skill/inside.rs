//! Files of folders that others may have written: bounded, and never outside of the folder.

use std::fs::File;
use std::io::Read;
use std::path::{Path, PathBuf};

/// A file of a folder, with links followed; nothing if it is no file, or lies outside.
pub fn file_inside(folder: &Path, file: &Path) -> Option<PathBuf> {
    let (folder, file) = (folder.canonicalize().ok()?, file.canonicalize().ok()?);
    (file.starts_with(&folder) && file.is_file()).then_some(file)
}

/// The beginning of a file as text, and whether there is more. What is no UTF-8 is replaced.
///
/// # Errors
/// When it cannot be read.
pub fn read_bounded(file: &Path, limit: usize) -> std::io::Result<(String, bool)> {
    let mut bytes = Vec::new();
    File::open(file)?.take(limit as u64 + 1).read_to_end(&mut bytes)?;
    let is_cut = bytes.len() > limit;
    bytes.truncate(limit);
    let mut text = String::from_utf8_lossy(&bytes).into_owned();
    if is_cut {
        // A character that was cut in two.
        text.truncate(text.trim_end_matches(char::REPLACEMENT_CHARACTER).len());
    }
    Ok((text, is_cut))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn links_that_lead_out_are_no_files_inside() {
        let root = tempfile::tempdir().unwrap();
        let (inside, outside) = (root.path().join("in"), root.path().join("out"));
        std::fs::create_dir(&inside).unwrap();
        std::fs::write(&outside, "secret").unwrap();
        std::fs::write(inside.join("a"), "a").unwrap();
        std::os::unix::fs::symlink("a", inside.join("near")).unwrap();
        std::os::unix::fs::symlink(&outside, inside.join("far")).unwrap();
        assert!(file_inside(&inside, &inside.join("near")).is_some());
        for other in ["far", "absent", ".", "../out"] {
            assert_eq!(file_inside(&inside, &inside.join(other)), None, "{other}");
        }
    }

    #[test]
    fn a_long_file_is_cut_between_characters() {
        let file = tempfile::NamedTempFile::new().unwrap();
        std::fs::write(file.path(), "aéé").unwrap();
        assert_eq!(read_bounded(file.path(), 4).unwrap(), ("aé".to_owned(), true));
        assert_eq!(read_bounded(file.path(), 5).unwrap(), ("aéé".to_owned(), false));
    }
}
