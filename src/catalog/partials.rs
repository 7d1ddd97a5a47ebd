//! Texts that templates include by a path: those that the extension of the including prompt has under `contributes.partials`.
//!
//! A package's template files are added there when it is read. A path is looked up from the package's folder, then from
//! `prompts/`, then from the prompt's own `folder`. It never leaves the package: nothing is read from a disk here, and a path
//! that would lead elsewhere is refused.

use std::sync::Arc;

use super::entry::ExtensionEntry;
use super::snapshot::Documents;
use base::model::{Id, Prompt};

/// Whose templates look up paths.
#[derive(Debug, Clone)]
pub struct Includer {
    /// The id of the prompt.
    pub id: Id,
    folder: Option<String>,
    /// Files that it includes as they were, by the paths that it uses.
    kept: Arc<[(String, PartialFile)]>,
}

/// A text that was found by its path.
#[derive(Debug, Clone)]
pub struct PartialFile {
    /// The extension that has it.
    pub extension: Id,
    /// Its path in the extension.
    pub path: String,
    /// Its text.
    pub text: Arc<str>,
}

impl PartialEq for PartialFile {
    fn eq(&self, other: &PartialFile) -> bool {
        let same_text = Arc::ptr_eq(&self.text, &other.text) || self.text == other.text;
        (&self.extension, &self.path) == (&other.extension, &other.path) && same_text
    }
}

impl Includer {
    /// The templates of a prompt, with files as they are now.
    pub fn new(prompt: &Prompt) -> Includer {
        Includer { id: prompt.id.clone(), folder: prompt.folder.clone(), kept: Arc::default() }
    }

    /// The templates of a prompt as it serves: if that is its last good version, with files as they were for it.
    pub fn serving(prompt: &Prompt, documents: &Documents) -> Includer {
        let kept = documents.prompts.get(&prompt.id).map(|entry| entry.files.clone()).unwrap_or_default();
        Includer { kept, ..Includer::new(prompt) }
    }
}

impl Documents {
    /// The text that a template means by a path.
    pub fn partial_file(&self, path: &str, includer: &Includer) -> Option<PartialFile> {
        if let Some((_, kept)) = includer.kept.iter().find(|(known, _)| known == path) {
            return Some(kept.clone());
        }
        let path = parts_of(path).ok()?.join("/");
        let folders = ["", "prompts"].into_iter().chain(includer.folder.as_deref());
        let mut paths = folders.map(|folder| match folder.trim_matches('/') {
            "" => path.clone(),
            folder => format!("{folder}/{path}"),
        });
        let entry = self.extension_around(&includer.id)?;
        let (path, text) = paths.find_map(|path| entry.extension.partials.get_key_value(&path))?;
        let extension = Id::parse(&entry.extension.name).ok()?;
        Some(PartialFile { extension, path: path.clone(), text: text.clone() })
    }

    /// Why there is no partial of this name, for the author of a template.
    pub fn no_partial(&self, name: &str, includer: &Includer) -> String {
        let unknown = format!("there is no template, and no prompt, called `{name}`");
        if !name.contains(['/', '\\', '.']) {
            return unknown;
        }
        if let Err(reason) = parts_of(name) {
            return reason;
        }
        match self.extension_around(&includer.id) {
            None => format!(
                "{unknown}; paths are looked up in packages, and no extension has the prompt `{}`",
                includer.id
            ),
            Some(entry) if entry.extension.partials.is_empty() => format!(
                "{unknown}; the extension `{}` has no files (a stored one has those under `contributes.partials`)",
                entry.extension.name
            ),
            Some(entry) => format!(
                "{unknown}, and the extension `{}` has no template file of this path below its folder, below `prompts/` \
                 or beside the prompt (links that leave the package are not read)",
                entry.extension.name
            ),
        }
    }

    /// The extension of a prompt: names may contain dots, so any prefix of the id may be one; the longest wins.
    fn extension_around(&self, prompt: &Id) -> Option<&Arc<ExtensionEntry>> {
        let mut id = prompt.parent();
        while let Some(extension) = id {
            if let Some(entry) = self.extensions.get(&extension) {
                return Some(entry);
            }
            id = extension.parent();
        }
        None
    }
}

/// The parts of a path, without `.`.
///
/// # Errors
/// Why the path is refused.
fn parts_of(path: &str) -> Result<Vec<&str>, String> {
    let leaves =
        |what: &str| format!("the path `{path}` {what}; write it from the package's folder, with `/`");
    if path.starts_with('/') || path.contains(['\\', ':']) {
        return Err(leaves("is not a relative one"));
    }
    if path.split('/').any(|part| part == "..") {
        return Err(leaves("may leave the package, since it has a `..`"));
    }
    Ok(path.split('/').filter(|part| !["", "."].contains(part)).collect())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn paths_that_could_leave_the_package_are_refused() {
        for path in ["/etc/passwd", "../x.j2", "a/../../x.j2", "a\\..\\x.j2", "C:x.j2"] {
            assert!(parts_of(path).unwrap_err().contains(path), "{path}");
        }
        assert_eq!(parts_of("./a//b.j2"), Ok(vec!["a", "b.j2"]));
    }
}
