//! The files beside a skill of the catalog, in a folder of this machine, so that commands can use them.

use std::os::unix::fs::PermissionsExt;
use std::path::{Component, Path};

use tempfile::TempDir;

use super::source::Source;
use crate::cli::client::Client;
use crate::cli::error::CliError;
use base::encoding::percent_encoded;

/// The most files.
const FILES_MAX: usize = 200;

/// The most bytes of all files together.
const BYTES_MAX: usize = 16 << 20;

/// A folder with the files; it is removed with the value.
pub struct Bundle(Option<TempDir>);

impl Bundle {
    /// The files of a skill of the catalog, if it has any, and commands run on this machine.
    ///
    /// # Errors
    /// When one cannot be had, or they are too many.
    pub async fn of(client: &Client, source: &Source, is_for_host: bool) -> Result<Bundle, CliError> {
        if source.files.is_empty() || is_for_host {
            return Ok(Bundle(None));
        }
        let too_large = || {
            let message = format!(
                "skill {}: it has more than {FILES_MAX} files, or more than {BYTES_MAX} bytes of them; put its folder \
                 into .ai-prompt-shell/skills, and run it from there",
                source.skill.id
            );
            CliError::Usage(message)
        };
        if source.files.len() > FILES_MAX {
            return Err(too_large());
        }
        let made = tempfile::Builder::new().prefix("ai-prompt-shell-skill-").tempdir();
        let folder = made.map_err(|error| CliError::file(&std::env::temp_dir(), error))?;
        let mut left = BYTES_MAX;
        for path in &source.files {
            let segments: Vec<String> = path.split('/').map(percent_encoded).collect();
            let url = format!(
                "/api/skills/{}/files/{}",
                percent_encoded(source.skill.id.as_str()),
                segments.join("/")
            );
            // One that is gone meanwhile is not missed.
            let Some(bytes) = client.get_bytes(&url).await? else { continue };
            left = left.checked_sub(bytes.len()).ok_or_else(too_large)?;
            put(folder.path(), path, &bytes)?;
        }
        Ok(Bundle(Some(folder)))
    }

    /// The folder.
    pub fn folder(&self) -> Option<&Path> {
        self.0.as_ref().map(TempDir::path)
    }
}

/// Writes a file, which may be executed.
fn put(folder: &Path, path: &str, bytes: &[u8]) -> Result<(), CliError> {
    let is_inside = Path::new(path).components().all(|part| matches!(part, Component::Normal(_)));
    if !is_inside {
        return Err(CliError::Usage(format!(
            "the service names a file that lies outside of the skill: {path:?}"
        )));
    }
    let file = folder.join(path);
    let written = std::fs::create_dir_all(file.parent().unwrap_or(folder))
        .and_then(|()| std::fs::write(&file, bytes))
        .and_then(|()| std::fs::set_permissions(&file, std::fs::Permissions::from_mode(0o700)));
    written.map_err(|source| CliError::file(&file, source))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn files_are_written_inside_of_the_folder_only() {
        let dir = tempfile::tempdir().unwrap();
        put(dir.path(), "scripts/a.sh", b"echo a").unwrap();
        assert_eq!(std::fs::read(dir.path().join("scripts/a.sh")).unwrap(), b"echo a");
        for hostile in ["../x", "/etc/x", "a/../../x", "./../x"] {
            assert!(put(dir.path(), hostile, b"").is_err(), "{hostile}");
        }
    }
}
