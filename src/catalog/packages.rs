//! Packages: folders of documents, on disk or inside the binary, which are read as if they were in the store.
//!
//! Hidden files and folders are not part of a package. A package with more than 2,000 files is a problem.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use include_dir::{Dir, include_dir};
use serde_json::Value as Json;

use super::document::own_name;
use super::slots::RawDocument;
use base::model::{DocumentKind, Id, ProblemDetail, filled_in};

static BUILTIN: Dir<'static> = include_dir!("$CARGO_MANIFEST_DIR/extensions");

/// The files of one package: the path below the package's folder, and the content or the error of reading it. A folder that
/// cannot be listed is an entry `PATH/` with the error.
type Files = BTreeMap<String, Result<Vec<u8>, String>>;

/// The largest number of files in a package.
const FILES_MAX: usize = 2_000;

/// The largest file of a package.
const FILE_BYTES_MAX: u64 = 16 << 20;

/// A document of a package with its kind.
pub type PackageDocument = (DocumentKind, RawDocument);

/// The documents of the packages inside the binary; `root` is the prefix of every key.
pub fn builtin(root: &str) -> Vec<PackageDocument> {
    let packages = BUILTIN.dirs().map(|dir| {
        let mut files = Files::new();
        collect_builtin(dir, dir.path(), &mut files);
        (format!("(built-in)/{}", dir.path().display()), files)
    });
    packages.flat_map(|(name, files)| Package { name, files, root }.documents()).collect()
}

fn collect_builtin(dir: &Dir<'_>, top: &Path, files: &mut Files) {
    for file in dir.files() {
        if let Ok(path) = file.path().strip_prefix(top) {
            files.insert(slashed(path), Ok(file.contents().to_vec()));
        }
    }
    dir.dirs().for_each(|sub| collect_builtin(sub, top, files));
}

/// The documents of all packages below `dir`; none if the folder does not exist.
///
/// # Errors
/// If the folder exists and cannot be listed.
pub fn folder(dir: &Path, root: &str) -> std::io::Result<Vec<PackageDocument>> {
    let read = |package: PathBuf| {
        let mut files = Files::new();
        collect_folder(&package, &package, &mut files);
        Package { name: package.display().to_string(), files, root }.documents()
    };
    Ok(packages_in(dir)?.into_iter().flat_map(read).collect())
}

/// The folders of the packages below `dir`, sorted; none if the folder does not exist.
fn packages_in(dir: &Path) -> std::io::Result<Vec<PathBuf>> {
    let mut packages: Vec<PathBuf> = match std::fs::read_dir(dir) {
        Ok(entries) => {
            entries.filter_map(|entry| Some(entry.ok()?.path())).filter(|p| is_package(p)).collect()
        }
        Err(error) if error.kind() == std::io::ErrorKind::NotFound => return Ok(Vec::new()),
        Err(error) => return Err(error),
    };
    packages.sort();
    Ok(packages)
}

/// Whether a path is a folder that is not hidden.
fn is_package(path: &Path) -> bool {
    path.is_dir() && !is_hidden(path)
}

fn is_hidden(path: &Path) -> bool {
    path.file_name().and_then(|name| name.to_str()).is_none_or(|name| name.starts_with('.'))
}

fn collect_folder(dir: &Path, top: &Path, files: &mut Files) {
    let entries = match std::fs::read_dir(dir) {
        Ok(entries) => entries,
        Err(error) => {
            let name = dir.strip_prefix(top).map(slashed).unwrap_or_default();
            files.insert(format!("{name}/"), Err(format!("cannot be listed: {error}")));
            return;
        }
    };
    let mut paths: Vec<PathBuf> = entries.filter_map(|entry| Some(entry.ok()?.path())).collect();
    paths.retain(|path| !is_hidden(path));
    paths.sort();
    for path in paths {
        if files.len() >= FILES_MAX {
            let message = format!("the package has more than {FILES_MAX} files");
            files.insert("package.json".to_owned(), Err(message));
            return;
        }
        // Symbolic links are followed within the package (Kubernetes mounts volumes so), but not out of it.
        let inside = || {
            path.canonicalize().is_ok_and(|real| top.canonicalize().is_ok_and(|top| real.starts_with(top)))
        };
        let Ok(metadata) = std::fs::metadata(&path) else { continue };
        let is_link = path.is_symlink();
        if metadata.is_dir() && !is_link {
            collect_folder(&path, top, files);
        } else if metadata.is_file()
            && (!is_link || inside())
            && let Ok(name) = path.strip_prefix(top)
        {
            files.insert(slashed(name), read_file(&path, metadata.len()));
        }
    }
}

fn read_file(path: &Path, bytes: u64) -> Result<Vec<u8>, String> {
    if bytes > FILE_BYTES_MAX {
        return Err(format!("the file has {bytes} bytes; at most {FILE_BYTES_MAX} are read"));
    }
    std::fs::read(path).map_err(|error| format!("cannot be read: {error}"))
}

fn slashed(path: &Path) -> String {
    path.components().map(|part| part.as_os_str().to_string_lossy()).collect::<Vec<_>>().join("/")
}

/// The name of a document of a package.
struct Name<'a> {
    /// In the notation of keys of the store.
    text: &'a str,
    /// Whether it is made of the file name because the document does not name itself.
    guessed: bool,
}

/// A package with the contents of its files.
struct Package<'a> {
    name: String,
    files: Files,
    root: &'a str,
}

impl Package<'_> {
    fn documents(&self) -> Vec<PackageDocument> {
        let mut documents = Vec::new();
        for (path, contents) in &self.files {
            let bytes = contents.as_deref().map_err(|error| ProblemDetail::new(error.clone()));
            let document = match path.as_str() {
                "package.json" => self.extension(bytes),
                _ if !path.ends_with(".json") && contents.is_ok() => continue,
                _ => match kind_of(path) {
                    Some((kind, name)) => self.document(kind, name, path, bytes),
                    None => continue,
                },
            };
            documents.push(document);
        }
        if !self.files.contains_key("package.json") {
            documents.push(self.extension(Err(ProblemDetail::new("a package needs a file package.json"))));
        }
        documents
    }

    fn file(&self, path: &str) -> String {
        format!("{}/{path}", self.name)
    }

    /// The extension document, with the files that it refers to filled in. Its key is made of its name, or of the name of the
    /// folder if it has none.
    fn extension(&self, bytes: Result<&[u8], ProblemDetail>) -> PackageDocument {
        let mut json = bytes.as_ref().ok().and_then(|bytes| serde_json::from_slice::<Json>(bytes).ok());
        let name = json.as_ref().and_then(|json| json.get("name")).and_then(Json::as_str);
        let name_is_missing = name.is_none();
        let folder = self.name.rsplit('/').next().unwrap_or_default();
        let id = name.unwrap_or(folder).replace('.', ":");
        let filled = match json.as_mut().map(|json| self.fill_in_files(json)) {
            Some(Ok(())) => json.map(|json| Ok(json.to_string().into_bytes())),
            Some(Err(problem)) => Some(Err(problem)),
            None => None,
        };
        let bytes = filled.unwrap_or_else(|| bytes.map(<[u8]>::to_vec));
        let name = Name { text: &id, guessed: name_is_missing };
        self.raw(DocumentKind::Extension, name, "package.json", bytes)
    }

    /// A document in a file of its own. Its key is made of the name that it gives itself, or of its file name if it has none.
    fn document(
        &self,
        kind: DocumentKind,
        file_name: &str,
        path: &str,
        bytes: Result<&[u8], ProblemDetail>,
    ) -> PackageDocument {
        let json = bytes.as_ref().ok().and_then(|bytes| serde_json::from_slice::<Json>(bytes).ok());
        let own_name = json.and_then(|json| own_name(kind, &json)).map(|name| name.replace('.', ":"));
        let guessed = own_name.is_none() && !kind.named_by().is_empty();
        let text = own_name.unwrap_or_else(|| file_name.replace('/', ":"));
        self.raw(kind, Name { text: &text, guessed }, path, bytes.map(<[u8]>::to_vec))
    }

    fn raw(
        &self,
        kind: DocumentKind,
        name: Name<'_>,
        path: &str,
        bytes: Result<Vec<u8>, ProblemDetail>,
    ) -> PackageDocument {
        let Name { text, guessed } = name;
        let key = format!("{}{}{text}", self.root, kind.key_prefix());
        (kind, RawDocument { key, guessed, file: Some(self.file(path)), bytes: bytes.map(Arc::from) })
    }

    /// Replaces every `{"file": PATH}` in the prompts by `{"file": …, "text": …}`.
    fn fill_in_files(&self, json: &mut Json) -> Result<(), ProblemDetail> {
        match json.pointer_mut("/contributes/prompts") {
            Some(prompts) => self.fill_in(prompts),
            None => Ok(()),
        }
    }

    fn fill_in(&self, json: &mut Json) -> Result<(), ProblemDetail> {
        match json {
            Json::Array(items) => items.iter_mut().try_for_each(|item| self.fill_in(item)),
            Json::Object(members) => match members.get("file").and_then(Json::as_str) {
                Some(path) if members.len() == 1 => {
                    *json = filled_in(&self.file(path), self.text(path)?);
                    Ok(())
                }
                _ => members.values_mut().try_for_each(|member| self.fill_in(member)),
            },
            _ => Ok(()),
        }
    }

    fn text(&self, path: &str) -> Result<&str, ProblemDetail> {
        let fail =
            |message: String| ProblemDetail { file: Some(self.file(path)), ..ProblemDetail::new(message) };
        match self.files.get(path) {
            None => Err(fail(format!("the file `{path}` that package.json names is not in the package"))),
            Some(Err(error)) => Err(fail(error.clone())),
            Some(Ok(bytes)) => std::str::from_utf8(bytes).map_err(|e| fail(format!("not valid UTF-8: {e}"))),
        }
    }
}

/// The kind of the document in a file, and the file's name below the kind's folder, without `.json`:
/// `environs/vscode/rules.json` -> `vscode/rules`.
fn kind_of(path: &str) -> Option<(DocumentKind, &str)> {
    DocumentKind::ALL.into_iter().find_map(|kind| {
        let name = path.strip_prefix(kind.package_folder()?)?;
        Some((kind, name.strip_suffix(".json").unwrap_or(name)))
    })
}

/// The test files of all packages (`prompts/NAME.test.json`), each with the id of the prompt that it tests.
pub fn test_files(dir: &Path) -> std::io::Result<Vec<(PathBuf, Option<Id>)>> {
    let mut found = Vec::new();
    for package in packages_in(dir)? {
        let manifest = std::fs::read(package.join("package.json")).unwrap_or_default();
        let name = serde_json::from_slice::<Json>(&manifest).ok();
        let name = name.as_ref().and_then(|json| json.get("name")).and_then(Json::as_str);
        let extension = name.and_then(|name| Id::parse(name).ok());
        let Ok(entries) = std::fs::read_dir(package.join("prompts")) else { continue };
        let mut files: Vec<PathBuf> = entries.filter_map(|entry| Some(entry.ok()?.path())).collect();
        files.sort();
        for file in files {
            let name =
                file.file_name().and_then(|name| name.to_str()).and_then(|n| n.strip_suffix(".test.json"));
            if let Some(name) = name {
                found.push((file.clone(), extension.as_ref().and_then(|id| id.child(name).ok())));
            }
        }
    }
    Ok(found)
}
