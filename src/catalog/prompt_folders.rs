//! Folders of people's prompt files, which are packages without a `package.json` of ours: an extension of the folder's name, and a
//! prompt document for each file.

use std::collections::BTreeSet;
use std::path::Path;

use serde_json::{Value as Json, json};

use super::packages::{Name, Package, PackageDocument, kind_of, packages_in};
use super::skill_folders::{PackageFiles, SkillFile};
use crate::formats::{self, FileNote, Files, Reading};
use base::model::{DocumentKind, ProblemDetail};

/// The file that says what a package is.
pub(super) const MANIFEST: &str = "package.json";

/// Whether a package is a folder of prompt files or skills: it has no `package.json`, or one that is not ours beside them.
pub(super) fn is_of_prompt_files(files: &Files, skills: &[SkillFile]) -> bool {
    match files.get(MANIFEST) {
        None => true,
        Some(Err(_)) => false,
        Some(Ok(manifest)) => {
            let any = |wanted: &dyn Fn(&str) -> bool| files.keys().any(|path| wanted(path));
            let has_prompts =
                any(&|path| formats::is_structured(path) || formats::dialect_of(path).is_some());
            // Beside documents in files of their own, plain texts say nothing.
            let has_texts = any(&formats::is_template_file);
            let has_documents = any(&|path| path.ends_with(".json") && kind_of(path).is_some());
            !formats::is_manifest(manifest)
                && (has_prompts || !skills.is_empty() || (has_texts && !has_documents))
        }
    }
}

impl Package<'_> {
    /// The documents of a folder of prompt files: an extension of the folder's name, and a prompt for each file, so that a broken
    /// one takes none of the others down.
    pub fn of_prompt_files(&self) -> Vec<PackageDocument> {
        let reading = formats::read(&self.files, &self.name);
        let is_empty = reading.is_empty() && self.skills.is_empty();
        let Some(extension) = self.folder_name().filter(|_| !is_empty) else {
            let message = "a package needs a file package.json, or prompt files (.j2, .tmpl, .prompty, .prompt.yml, …), or \
                           skills (skills/NAME/SKILL.md)";
            return vec![self.extension(Err(ProblemDetail::new(message)))];
        };
        let partials: Json = formats::partials(&self.files).map(|(path, text)| (path, json!(text))).collect();
        let document = json!({"name": extension, "contributes": {"partials": partials}});
        let name = Name { text: &extension, guessed: false };
        let bytes = Ok(document.to_string().into_bytes());
        let mut documents = vec![self.raw(DocumentKind::Extension, name, "", bytes)];
        let key = |name: &str| format!("{extension}:{}", name.replace('.', ":"));
        let mut used: BTreeSet<String> = reading.prompts.iter().map(|prompt| key(&prompt.name)).collect();
        documents.extend(reading.prompts.into_iter().map(|prompt| {
            let name = Name { text: &key(&prompt.name), guessed: false };
            self.raw(DocumentKind::Prompt, name, &prompt.file, Ok(prompt.document.to_string().into_bytes()))
        }));
        documents.extend(reading.refused.into_iter().map(|FileNote { file, name, reason, line }| {
            let problem = ProblemDetail { file: Some(self.file(&file)), line, ..ProblemDetail::new(reason) };
            // A file that cannot be taken keeps the key of its last good version, unless another one has taken that.
            let of_name = name.iter().map(|name| key(name));
            let of_file = (0..).map(|at| format!("{extension}:#{file}{}", "#".repeat(at)));
            let text = of_name.chain(of_file).find(|key| used.insert(key.clone())).unwrap_or_default();
            self.raw(DocumentKind::Prompt, Name { text: &text, guessed: false }, &file, Err(problem))
        }));
        documents
    }

    /// The name of the package's folder as the name of an extension.
    pub fn folder_name(&self) -> Option<String> {
        formats::legal_name(self.name.rsplit('/').next().unwrap_or_default())
    }
}

/// What is said of the files in folders of prompt files that are taken for no prompts, or not wholly.
pub fn notes(dir: &Path) -> std::io::Result<Vec<String>> {
    let mut notes = Vec::new();
    for package in packages_in(dir)? {
        let shown = package.display().to_string();
        let PackageFiles { files, skills, skipped, .. } = PackageFiles::read(&package);
        let mut reading = if is_of_prompt_files(&files, &skills) {
            formats::read(&files, &shown)
        } else {
            Reading::default()
        };
        if reading.is_empty() {
            continue;
        }
        reading.pass_over(skipped);
        let left_out = reading.prompts.iter().filter(|prompt| !prompt.left_out.is_empty());
        notes.extend(left_out.map(|p| format!("{shown}/{}: left out: {}", p.file, p.left_out.join(", "))));
        let passed = reading.in_short().into_iter();
        notes.extend(passed.map(|(files, reason)| format!("{shown}/{files}: not taken: {reason}")));
    }
    Ok(notes)
}
