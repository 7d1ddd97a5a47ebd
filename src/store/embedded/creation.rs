//! Creates the database file atomically.
//!
//! The file is written under a temporary name, flushed to the disk, and then linked to its real name, so that a crash or a
//! full disk never leaves a partial store. An empty file counts as no file.

use std::fs::{self, File};
use std::io::ErrorKind;
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicU64, Ordering};

use crate::store::StoreError;

/// Numbers the temporary files of this process.
static NEXT_NUMBER: AtomicU64 = AtomicU64::new(0);

/// Creates the file `path` with `create`, unless there is a file that is not empty. After an error (a full disk, for
/// instance) no file is left behind.
pub(super) fn create_if_absent(
    path: &Path,
    create: impl FnOnce(&Path) -> Result<(), StoreError>,
) -> Result<(), StoreError> {
    match fs::metadata(path) {
        Ok(found) if found.len() > 0 || !found.is_file() => return Ok(()),
        // An empty file is what an interrupted creation of another program leaves.
        Ok(_) => fs::remove_file(path).map_err(|error| unavailable(path, &error))?,
        Err(_) => {}
    }
    let temporary = temporary_name(path);
    let result = create(&temporary)
        .and_then(|()| publish(&temporary, path).map_err(|error| unavailable(path, &error)));
    if let Err(error) = fs::remove_file(&temporary)
        && error.kind() != ErrorKind::NotFound
    {
        tracing::warn!(file = %temporary.display(), %error, "a temporary file of the store cannot be removed");
    }
    result
}

/// The name of a file that is not complete yet, in the same folder.
fn temporary_name(path: &Path) -> PathBuf {
    let number = NEXT_NUMBER.fetch_add(1, Ordering::Relaxed);
    let mut name = path.as_os_str().to_owned();
    name.push(format!(".begun-{}-{number}", std::process::id()));
    name.into()
}

/// Gives the complete file its real name. If another process was faster, its file is kept.
fn publish(temporary: &Path, path: &Path) -> std::io::Result<()> {
    match fs::hard_link(temporary, path) {
        Err(error) if error.kind() == ErrorKind::AlreadyExists => return Ok(()),
        // Not every file system has hard links.
        Err(_) => fs::rename(temporary, path)?,
        Ok(()) => {}
    }
    // The directory entry has to reach the disk as well.
    path.parent()
        .filter(|folder| !folder.as_os_str().is_empty())
        .map_or(Ok(()), |folder| File::open(folder)?.sync_all())
}

fn unavailable(path: &Path, error: &std::io::Error) -> StoreError {
    StoreError::Unavailable { message: format!("{}: {error}", path.display()) }
}
