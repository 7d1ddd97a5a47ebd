//! The first start: a file appears under its name only when it is whole.

use std::fs::{self, File};
use std::io::ErrorKind;
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicU64, Ordering};

use crate::store::StoreError;

/// Numbers the files that this process begins.
static BEGUN: AtomicU64 = AtomicU64::new(0);

/// Has `make` make the file `path`, unless there is one that holds anything. What cannot be finished (a full disk) leaves
/// nothing behind.
pub(super) fn make_if_absent(
    path: &Path,
    make: impl FnOnce(&Path) -> Result<(), StoreError>,
) -> Result<(), StoreError> {
    match fs::metadata(path) {
        Ok(found) if found.len() > 0 || !found.is_file() => return Ok(()),
        // Whoever made it did not come any further.
        Ok(_) => fs::remove_file(path).map_err(|error| failed(path, &error))?,
        Err(_) => {}
    }
    let begun = begun(path);
    let made = make(&begun).and_then(|()| put_in_place(&begun, path).map_err(|error| failed(path, &error)));
    if let Err(error) = fs::remove_file(&begun)
        && error.kind() != ErrorKind::NotFound
    {
        tracing::warn!(file = %begun.display(), %error, "a file that was begun cannot be removed");
    }
    made
}

/// Where a file is made that is not whole yet.
fn begun(path: &Path) -> PathBuf {
    let number = BEGUN.fetch_add(1, Ordering::Relaxed);
    let mut name = path.as_os_str().to_owned();
    name.push(format!(".begun-{}-{number}", std::process::id()));
    name.into()
}

/// Gives the whole file its name, unless another process was faster: then its file is used.
fn put_in_place(begun: &Path, path: &Path) -> std::io::Result<()> {
    match fs::hard_link(begun, path) {
        Err(error) if error.kind() == ErrorKind::AlreadyExists => return Ok(()),
        // Not every file system has links.
        Err(_) => fs::rename(begun, path)?,
        Ok(()) => {}
    }
    // The name, too, has to reach the disk.
    path.parent()
        .filter(|folder| !folder.as_os_str().is_empty())
        .map_or(Ok(()), |folder| File::open(folder)?.sync_all())
}

fn failed(path: &Path, error: &std::io::Error) -> StoreError {
    StoreError::Unavailable { reason: format!("{}: {error}", path.display()) }
}
