//! The files of a folder, read once and within bounds: what a package, or a folder of prompt files, consists of.
//!
//! Hidden files and folders are left out. Links are followed within the folder (Kubernetes mounts volumes so), never out of it,
//! and never to a folder, so that there are no circles.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

use base::encoding::without_mark;

use super::names::is_template_file;

/// The files of a folder: the path below it, and the content or the error of reading it. A folder that cannot be listed is an
/// entry `PATH/` with the error.
pub type Files = BTreeMap<String, Result<Vec<u8>, String>>;

/// The largest file that is read.
pub const FILE_BYTES_MAX: u64 = 16 << 20;

/// The largest text that templates can include.
const PARTIAL_BYTES_MAX: usize = 1 << 20;

/// How deep folders may be nested.
const DEPTH_MAX: usize = 32;

/// What was found in a folder.
#[derive(Debug, Default)]
pub struct Folder {
    /// The files that were wanted.
    pub files: Files,
    /// The paths of the others, which were not read.
    pub others: Vec<String>,
    /// What is neither a file nor a folder that is looked into, with the reason.
    pub skipped: Vec<(String, String)>,
    /// Whether that is all: false if there are more files than may be.
    pub is_complete: bool,
}

/// How many files of a folder there may be.
#[derive(Debug, Clone, Copy)]
pub struct FolderBounds {
    /// Those that are wanted, or told of.
    pub read: usize,
    /// All of them.
    pub walked: usize,
}

impl FolderBounds {
    /// One bound on all files, wanted or not.
    pub fn of_all(files: usize) -> FolderBounds {
        FolderBounds { read: files, walked: files }
    }
}

/// Reads the files below `dir` that are `wanted` by their paths, within bounds.
pub fn read_folder(dir: &Path, wanted: &dyn Fn(&str) -> bool, bounds: FolderBounds) -> Folder {
    let mut folder = Folder { is_complete: true, ..Folder::default() };
    let mut reader = Reader { top: dir, wanted, bounds, folder: &mut folder };
    reader.read(dir, 0);
    folder
}

struct Reader<'a> {
    top: &'a Path,
    wanted: &'a dyn Fn(&str) -> bool,
    bounds: FolderBounds,
    folder: &'a mut Folder,
}

impl Reader<'_> {
    fn read(&mut self, dir: &Path, depth: usize) {
        let listed = match std::fs::read_dir(dir) {
            _ if depth > DEPTH_MAX => Err(format!("folders are nested more than {DEPTH_MAX} deep")),
            Ok(entries) => Ok(entries),
            Err(error) => Err(format!("cannot be listed: {error}")),
        };
        let entries = match listed {
            Ok(entries) => entries,
            Err(message) => {
                let name = dir.strip_prefix(self.top).map(slashed).unwrap_or_default();
                self.folder.files.insert(format!("{name}/"), Err(message));
                return;
            }
        };
        let mut paths: Vec<PathBuf> = entries.filter_map(|entry| Some(entry.ok()?.path())).collect();
        // A name that is no text is told.
        paths.retain(|path| {
            !(is_hidden(path) && path.file_name().is_some_and(|name| name.to_str().is_some()))
        });
        paths.sort();
        for path in paths {
            let Folder { files, others, skipped, .. } = &self.folder;
            let read = files.len() + skipped.len();
            if read >= self.bounds.read || read + others.len() >= self.bounds.walked {
                self.folder.is_complete = false;
                return;
            }
            self.add(&path, depth);
        }
    }

    fn add(&mut self, path: &Path, depth: usize) {
        let Ok(name) = path.strip_prefix(self.top).map(slashed) else { return };
        if path.file_name().is_some_and(|name| name.to_str().is_none()) {
            return self.skip(name, "its name is not in UTF-8");
        }
        let is_link = path.is_symlink();
        let metadata = match std::fs::metadata(path) {
            Ok(metadata) => metadata,
            Err(_) if is_link => return self.skip(name, "it is a link that leads nowhere"),
            Err(error) => return self.skip(name, &format!("it cannot be read: {error}")),
        };
        if metadata.is_dir() {
            return match is_link {
                true => self.skip(name, "it is a link to a folder, which is not followed"),
                false => self.read(path, depth + 1),
            };
        }
        if !metadata.is_file() {
            return self.skip(name, "it is no file that can be read (a device, a pipe)");
        }
        if !(self.wanted)(&name) {
            self.folder.others.push(name);
            return;
        }
        let contents = match is_link && !self.is_inside(path) {
            true => Err("is a link out of the folder, which is not followed".to_owned()),
            false => read_file(path, metadata.len()),
        };
        self.folder.files.insert(name, contents);
    }

    fn skip(&mut self, name: String, reason: &str) {
        self.folder.skipped.push((name, reason.to_owned()));
    }

    fn is_inside(&self, path: &Path) -> bool {
        let top = self.top.canonicalize();
        path.canonicalize().is_ok_and(|real| top.is_ok_and(|top| real.starts_with(top)))
    }
}

fn read_file(path: &Path, bytes: u64) -> Result<Vec<u8>, String> {
    if bytes > FILE_BYTES_MAX {
        return Err(format!("the file has {bytes} bytes; at most {FILE_BYTES_MAX} are read"));
    }
    std::fs::read(path).map_err(|error| format!("cannot be read: {error}"))
}

/// Whether a file or folder is hidden.
pub fn is_hidden(path: &Path) -> bool {
    path.file_name().and_then(|name| name.to_str()).is_none_or(|name| name.starts_with('.'))
}

/// A path with `/` between its parts.
pub fn slashed(path: &Path) -> String {
    path.components().map(|part| part.as_os_str().to_string_lossy()).collect::<Vec<_>>().join("/")
}

/// The text of a file, without a byte order mark.
///
/// # Errors
/// Why there is none: it cannot be read, or is no text.
pub fn text_of(contents: &Result<Vec<u8>, String>) -> Result<&str, String> {
    let bytes = contents.as_ref().map_err(String::clone)?;
    match std::str::from_utf8(bytes) {
        Ok(_) if bytes.contains(&0) => Err("not a text: it holds a NUL".to_owned()),
        Ok(text) => Ok(without_mark(text)),
        Err(error) => Err(format!("not a text in UTF-8: {error}")),
    }
}

/// The texts that templates can include, by their paths.
pub fn partials(files: &Files) -> impl Iterator<Item = (String, &str)> {
    let templates = files.iter().filter(|(path, _)| is_template_file(path));
    let texts = templates.filter_map(|(path, contents)| Some((path.clone(), text_of(contents).ok()?)));
    texts.filter(|(_, text)| text.len() <= PARTIAL_BYTES_MAX)
}
