//! What a project or its user wants models to know: `.kosmos-panel/ai_system_promt.md`.

use std::path::{Path, PathBuf};

use super::inside::{file_inside, read_bounded};
use crate::cli::user;

/// The name of the file; the spelling is that of those who made it.
const FILE: &str = "ai_system_promt.md";

/// As much of it as is sent, in bytes.
pub const KNOWLEDGE_BYTES: usize = 64 << 10;

/// The text of the first of the files that is there and not blank.
pub fn read() -> Option<String> {
    let of_user = user::home().map(|home| home.join(".config/kosmos-panel"));
    [Some(PathBuf::from(".kosmos-panel")), of_user].into_iter().flatten().find_map(|folder| text_in(&folder))
}

fn text_in(folder: &Path) -> Option<String> {
    let file = file_inside(folder, &folder.join(FILE))?;
    let (text, _is_cut) = read_bounded(&file, KNOWLEDGE_BYTES).ok()?;
    (!text.trim().is_empty()).then_some(text)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_file_is_read_up_to_a_bound_and_a_link_out_of_the_folder_is_not() {
        let dir = tempfile::tempdir().unwrap();
        let folder = dir.path().join(".kosmos-panel");
        std::fs::create_dir(&folder).unwrap();
        assert_eq!(text_in(&folder), None);
        std::fs::write(folder.join(FILE), "x".repeat(KNOWLEDGE_BYTES + 1)).unwrap();
        assert_eq!(text_in(&folder).map(|text| text.len()), Some(KNOWLEDGE_BYTES));
        std::fs::write(folder.join(FILE), " \n").unwrap();
        assert_eq!(text_in(&folder), None);
        std::fs::remove_file(folder.join(FILE)).unwrap();
        std::fs::write(dir.path().join("secret"), "secret").unwrap();
        std::os::unix::fs::symlink("../secret", folder.join(FILE)).unwrap();
        assert_eq!(text_in(&folder), None);
    }
}
