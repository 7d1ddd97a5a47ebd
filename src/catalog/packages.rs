//! Packages: folders of documents, on disk or inside the binary, which are read as if they were in the store.
//!
//! A package with more than 2,000 files is a problem; those beside skills do not count, as they are not read.

use std::path::{Path, PathBuf};
use std::sync::Arc;

use include_dir::{Dir, include_dir};
use serde_json::{Value as Json, json};

use super::document::{Document, own_name};
use super::prompt_folders::{MANIFEST, is_of_prompt_files};
use super::skill_folders::{PackageFiles, SkillFile, WALKED_MAX};
use super::slots::RawDocument;
use crate::formats::{self, Files, is_hidden, slashed};
use base::encoding::without_mark;
use base::model::{DocumentKind, Id, ProblemDetail, Prompt, filled_in, is_file_reference, string_member};

static BUILTIN: Dir<'static> = include_dir!("$CARGO_MANIFEST_DIR/extensions");

/// The largest number of files in a package.
pub(super) const FILES_MAX: usize = 2_000;

/// A document of a package with its kind.
pub type PackageDocument = (DocumentKind, RawDocument);

/// The documents of the packages inside the binary; `root` is the prefix of every key.
pub fn builtin(root: &str) -> Vec<PackageDocument> {
    BUILTIN.dirs().flat_map(|dir| builtin_package(dir, root).documents()).collect()
}

/// The prompts of a package inside the binary, which are there even if its packages are not loaded.
pub fn shipped_prompts(package: &str) -> Vec<Arc<Prompt>> {
    let documents = BUILTIN.get_dir(package).map(|dir| builtin_package(dir, "").documents());
    let of_extension = |(kind, raw): PackageDocument| {
        let id = Id::from_key(&raw.key, "", kind).ok()?;
        match Document::read(kind, &id, &raw.bytes.ok()?).ok()? {
            Document::Extension(extension) => Some(extension.prompts.clone()),
            _ => None,
        }
    };
    documents.into_iter().flatten().filter_map(of_extension).flatten().collect()
}

/// What stands before the path of a package inside the binary.
const BUILTIN_NAME: &str = "(built-in)/";

fn builtin_package<'a>(dir: &Dir<'_>, root: &'a str) -> Package<'a> {
    let mut files = Files::new();
    collect_builtin(dir, dir.path(), &mut files);
    let PackageFiles { files, skills, .. } = PackageFiles::part(files);
    Package { name: format!("{BUILTIN_NAME}{}", dir.path().display()), files, skills, root }
}

/// The content of a file inside the binary, by its path as people see it.
pub(super) fn builtin_file(path: &str) -> Option<&'static [u8]> {
    Some(BUILTIN.get_file(path.strip_prefix(BUILTIN_NAME)?)?.contents())
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
        let PackageFiles { mut files, skills, is_complete, .. } = PackageFiles::read(&package);
        if !is_complete {
            let message = format!(
                "the package has more than {FILES_MAX} files, or more than {WALKED_MAX} with those beside its skills"
            );
            files.insert(MANIFEST.to_owned(), Err(message));
        }
        Package { name: package.display().to_string(), files, skills, root }.documents()
    };
    Ok(packages_in(dir)?.into_iter().flat_map(read).collect())
}

/// The folders of the packages below `dir`, sorted; none if the folder does not exist.
pub(super) fn packages_in(dir: &Path) -> std::io::Result<Vec<PathBuf>> {
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

/// The name of a document of a package.
pub(super) struct Name<'a> {
    /// In the notation of keys of the store.
    pub text: &'a str,
    /// Whether it is made of the file name because the document does not name itself.
    pub guessed: bool,
}

/// A package with the contents of its files.
pub(super) struct Package<'a> {
    /// The path of its folder.
    pub name: String,
    pub files: Files,
    pub skills: Vec<SkillFile>,
    root: &'a str,
}

impl Package<'_> {
    fn documents(mut self) -> Vec<PackageDocument> {
        let is_of_prompt_files = is_of_prompt_files(&self.files, &self.skills);
        let mut documents = Vec::new();
        for (path, contents) in &self.files {
            let bytes = contents.as_deref().map_err(|error| ProblemDetail::new(error.clone()));
            let document = match path.as_str() {
                MANIFEST if is_of_prompt_files => continue,
                MANIFEST => self.extension(bytes),
                _ if !path.ends_with(".json") && contents.is_ok() => continue,
                _ => match kind_of(path) {
                    Some((kind, name)) => self.document(kind, name, path, bytes),
                    None => continue,
                },
            };
            documents.push(document);
        }
        if is_of_prompt_files {
            documents.extend(self.of_prompt_files());
        }
        let skills = std::mem::take(&mut self.skills);
        documents.extend(self.skill_documents(skills, &self.extension_name(is_of_prompt_files)));
        documents
    }

    /// The name of its extension, in the notation of keys.
    fn extension_name(&self, is_of_prompt_files: bool) -> String {
        let manifest = self.files.get(MANIFEST).filter(|_| !is_of_prompt_files);
        let json = manifest.and_then(|bytes| serde_json::from_slice::<Json>(bytes.as_ref().ok()?).ok());
        let name = json.and_then(|json| string_member(&json, "name")).or_else(|| self.folder_name());
        name.unwrap_or_default().replace('.', ":")
    }

    /// The path of a file as people see it.
    pub fn file(&self, path: &str) -> String {
        format!("{}/{path}", self.name)
    }

    /// The extension document, with the files that it refers to filled in. Its key is made of its name, or of the name of the
    /// folder if it has none.
    pub fn extension(&self, bytes: Result<&[u8], ProblemDetail>) -> PackageDocument {
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
        self.raw(DocumentKind::Extension, name, MANIFEST, bytes)
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

    /// A document of the package, with its key in the notation of the store.
    pub fn raw(
        &self,
        kind: DocumentKind,
        name: Name<'_>,
        path: &str,
        bytes: Result<Vec<u8>, ProblemDetail>,
    ) -> PackageDocument {
        let Name { text, guessed } = name;
        let key = format!("{}{}{text}", self.root, kind.key_prefix());
        (
            kind,
            RawDocument {
                key,
                guessed,
                file: Some(self.file(path)),
                bytes: bytes.map(Arc::from),
                beside: Arc::default(),
            },
        )
    }

    /// Adds to the extension what its files say: the texts that its prompts name, and those that templates can include.
    fn fill_in_files(&self, json: &mut Json) -> Result<(), ProblemDetail> {
        let Some(contributes) = json.get_mut("contributes").and_then(Json::as_object_mut) else {
            return Ok(());
        };
        for prompt in contributes.get_mut("prompts").and_then(Json::as_array_mut).into_iter().flatten() {
            settle_by_files(prompt);
            self.fill_in(prompt)?;
        }
        let partials = contributes.entry("partials").or_insert_with(|| Json::Object(serde_json::Map::new()));
        if let Some(partials) = partials.as_object_mut() {
            for (path, text) in formats::partials(&self.files) {
                partials.entry(path).or_insert_with(|| text.into());
            }
        }
        Ok(())
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
            Some(Ok(bytes)) => std::str::from_utf8(bytes)
                .map(without_mark)
                .map_err(|error| fail(format!("not valid UTF-8: {error}"))),
        }
    }
}

/// Gives a prompt the dialect that its files' extensions say (the first that says one), and the folder of its first file,
/// unless it says these itself.
fn settle_by_files(prompt: &mut Json) {
    let mut files = Vec::new();
    files_in(prompt, &mut files);
    let syntax = files.iter().find_map(|file| formats::dialect_of(file));
    let folder = files.first().map(|file| formats::folder_of(file).to_owned());
    let Some(prompt) = prompt.as_object_mut() else { return };
    if let Some(syntax) = syntax {
        prompt.entry("syntax").or_insert_with(|| json!(syntax));
    }
    if let Some(folder) = folder.filter(|folder| !["", "prompts"].contains(&folder.as_str())) {
        prompt.entry("folder").or_insert_with(|| folder.into());
    }
}

/// The files that a prompt names in place of texts.
fn files_in(json: &Json, files: &mut Vec<String>) {
    match json {
        Json::Array(items) => items.iter().for_each(|item| files_in(item, files)),
        Json::Object(_) if is_file_reference(json) => files.extend(string_member(json, "file")),
        Json::Object(members) => members.values().for_each(|member| files_in(member, files)),
        _ => {}
    }
}

/// The kind of the document in a file, and the file's name below the kind's folder, without `.json`:
/// `environs/vscode/rules.json` -> `vscode/rules`.
pub(super) fn kind_of(path: &str) -> Option<(DocumentKind, &str)> {
    DocumentKind::ALL.into_iter().find_map(|kind| {
        let name = path.strip_prefix(kind.package_folder()?)?;
        Some((kind, name.strip_suffix(".json").unwrap_or(name)))
    })
}

/// The test files of all packages (`prompts/NAME.test.json`), each with the id of the prompt that it tests. In a folder of prompt
/// files they may also stand at its top.
pub fn test_files(dir: &Path) -> std::io::Result<Vec<(PathBuf, Option<Id>)>> {
    let mut found = Vec::new();
    for package in packages_in(dir)? {
        let PackageFiles { files, skills, .. } = PackageFiles::read(&package);
        let (extension, folders) = match files.get(MANIFEST).filter(|_| !is_of_prompt_files(&files, &skills))
        {
            Some(manifest) => {
                let name =
                    manifest.as_ref().ok().and_then(|bytes| serde_json::from_slice::<Json>(bytes).ok());
                (name.and_then(|json| string_member(&json, "name")), &["prompts"][..])
            }
            None => {
                let name = package.file_name().and_then(|name| name.to_str());
                (name.and_then(formats::legal_name), &["prompts", "."][..])
            }
        };
        let extension = extension.and_then(|name| Id::parse(&name).ok());
        for folder in folders {
            let Ok(entries) = std::fs::read_dir(package.join(folder)) else { continue };
            let mut files: Vec<PathBuf> = entries.filter_map(|entry| Some(entry.ok()?.path())).collect();
            files.sort();
            let named = files.iter().filter_map(|file| Some((file, file.file_name()?.to_str()?)));
            let named = named.filter_map(|(file, name)| Some((file, name.strip_suffix(".test.json")?)));
            let tested = |name: &str| extension.as_ref().and_then(|id| id.child(name).ok());
            found.extend(named.map(|(file, name)| (file.clone(), tested(name))));
        }
    }
    Ok(found)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_prompts_of_a_shipped_package_are_there_without_a_catalog() {
        let prompts = shipped_prompts("requests");
        let ids: Vec<&str> = prompts.iter().map(|prompt| prompt.id.as_str()).collect();
        assert_eq!(ids, ["requests.data", "requests.input", "requests.schema", "requests.repair"]);
        assert!(prompts.iter().all(|prompt| prompt.source_bytes() > 0));
        assert!(shipped_prompts("none").is_empty());
    }
}
