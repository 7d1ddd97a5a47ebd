//! Export and import: the store as a folder with one file for each document (`prompts/….json`, `skills/…/SKILL.md`, and so on).

use std::borrow::Cow;
use std::path::{Path, PathBuf};

use serde_json::Value as Json;

use super::args::{Common, Import};
use super::client::Client;
use super::documents::{media_type_of, path};
use super::error::CliError;
use super::import::PromptFiles;
use super::output::{say, warn};
use super::target;
use crate::formats::{self, FolderBounds};
use base::model::{DocumentKind, Id};

/// The largest document that is looked at to tell what a folder is.
const DOCUMENT_BYTES_MAX: u64 = 16 << 20;

/// The most files of a hidden folder that are looked at.
const HIDDEN_FILES_MAX: usize = 2_000;

/// Writes the documents of the store into a folder; with `all`, also those of packages.
///
/// # Errors
/// The service's own error, or that of a file.
pub async fn export(common: &Common, dir: &Path, all: bool) -> Result<(), CliError> {
    let client = target::open(common).await?;
    let mut count = 0;
    for kind in DocumentKind::ALL {
        let ids = client.get(&format!("/api/{kind}s?stored={}", !all)).await?;
        for id in ids.as_array().into_iter().flatten().filter_map(Json::as_str) {
            let source = if all { "any" } else { "store" };
            if let Some(document) = client.get_bytes(&format!("{}?raw={source}", path(kind, id))).await? {
                write(&file_of(dir, kind, id), &as_file(kind, &document))?;
                count += 1;
            }
        }
    }
    say(format_args!("{count} documents written to {}", dir.display()));
    Ok(())
}

/// Stores the documents of an exported folder, or those that prompt files make.
///
/// # Errors
/// [`CliError::Reported`] when some were refused; the others are stored.
pub async fn import(common: &Common, options: Import) -> Result<(), CliError> {
    let dir = options.dir.as_path();
    if !dir.is_dir() {
        return Err(CliError::Usage(format!("{} is not a folder", dir.display())));
    }
    if content_of(&dir.join("package.json")).is_some_and(|text| formats::is_manifest(&text)) {
        let message = "is a package (it has a package.json): put it below packages.dir, which is `extensions` by default";
        return Err(CliError::Usage(format!("{} {message}", dir.display())));
    }
    let mut waiting: Vec<(DocumentKind, PathBuf)> = Vec::new();
    for kind in DocumentKind::ALL {
        let below = dir.join(format!("{kind}s"));
        let mut files = Vec::new();
        collect(&below, ending_of(kind), &mut files)?;
        files.sort();
        waiting.extend(files.into_iter().map(|file| (kind, file)));
    }
    let prompt_files = PromptFiles::read(&options);
    let is_export = waiting.iter().any(|(kind, file)| is_exported(dir, *kind, file));
    match prompt_files.is_prompts(!is_export) {
        true => prompt_files.import(common, &options).await,
        false if waiting.is_empty() => {
            let message = "holds no exported documents, and no prompt files (.j2, .jinja, .jinja2, .tmpl, .gotmpl, .txt, .md, \
                           .prompty, .prompt.yml, flow.dag.yaml)";
            let hidden = hidden_prompts(dir).map(|folder| {
                format!("; hidden folders are skipped, and {0} holds some: import {0}", folder.display())
            });
            Err(CliError::Usage(format!("{} {message}{}", dir.display(), hidden.unwrap_or_default())))
        }
        false => import_documents(common, dir, waiting).await,
    }
}

async fn import_documents(
    common: &Common,
    dir: &Path,
    mut waiting: Vec<(DocumentKind, PathBuf)>,
) -> Result<(), CliError> {
    let client = target::open(common).await?;
    let total = waiting.len();
    // A document may need another one that comes later: try again as long as something gets through.
    let refused = loop {
        let before = waiting.len();
        let refused = put_all(&client, dir, waiting).await?;
        if refused.is_empty() || refused.len() == before {
            break refused;
        }
        waiting = refused.into_iter().map(|RefusedFile { kind, file, .. }| (kind, file)).collect();
    };
    for RefusedFile { file, message, .. } in &refused {
        warn(format_args!("{}: {message}", file.display()));
    }
    say(format_args!("{} of {total} documents stored", total - refused.len()));
    if refused.is_empty() { Ok(()) } else { Err(CliError::Reported) }
}

/// A file whose document was not stored.
struct RefusedFile {
    kind: DocumentKind,
    file: PathBuf,
    message: String,
}

async fn put_all(
    client: &Client,
    dir: &Path,
    files: Vec<(DocumentKind, PathBuf)>,
) -> Result<Vec<RefusedFile>, CliError> {
    let mut refused = Vec::new();
    for (kind, file) in files {
        let Some(id) = id_of(dir, kind, &file) else {
            refused.push(RefusedFile { kind, file, message: "the path is not that of an id".to_owned() });
            continue;
        };
        let document = std::fs::read(&file).map_err(|source| CliError::file(&file, source))?;
        let media_type = media_type_of(kind, &document);
        match client.put_as(&path(kind, id.as_str()), media_type, document).await {
            Ok(_) => {}
            Err(error @ CliError::Refused { .. }) => {
                refused.push(RefusedFile { kind, file, message: error.to_string() });
            }
            Err(error) => return Err(error),
        }
    }
    Ok(refused)
}

fn file_of(dir: &Path, kind: DocumentKind, id: &str) -> PathBuf {
    dir.join(format!("{kind}s")).join(format!("{}{}", id.replace('.', "/"), ending_of(kind)))
}

fn id_of(dir: &Path, kind: DocumentKind, file: &Path) -> Option<Id> {
    let relative = file.strip_prefix(dir.join(format!("{kind}s"))).ok()?.to_str()?;
    Id::parse(&relative.strip_suffix(ending_of(kind))?.replace(['/', '\\'], ".")).ok()
}

/// What follows the id in the path of a document's file.
fn ending_of(kind: DocumentKind) -> &'static str {
    match kind {
        DocumentKind::Skill => "/SKILL.md",
        _ => ".json",
    }
}

/// The content of the file of a document.
fn as_file(kind: DocumentKind, document: &[u8]) -> Cow<'_, [u8]> {
    match kind {
        DocumentKind::Skill => formats::skill_file(document),
        _ => Cow::Borrowed(document),
    }
}

/// Whether a file is a document as exports write it. Other JSON files may stand in folders of prompt files.
fn is_exported(dir: &Path, kind: DocumentKind, file: &Path) -> bool {
    let is_alone = [DocumentKind::Extension, DocumentKind::Skill].contains(&kind);
    let is_named = id_of(dir, kind, file).is_some_and(|id| is_alone || id.parent().is_some());
    if kind == DocumentKind::Skill {
        return is_named;
    }
    let document = content_of(file).and_then(|bytes| serde_json::from_slice::<Json>(&bytes).ok());
    let has = |member: &str| document.as_ref().is_some_and(|document| document.get(member).is_some());
    let is_whole = match kind {
        DocumentKind::Prompt => ["userPrompt", "prompt", "messages"].into_iter().any(has),
        _ => kind.named_by().iter().all(|member| has(member)),
    };
    is_named && document.is_some() && is_whole
}

/// The content of a file of at most 16 MiB.
fn content_of(file: &Path) -> Option<Vec<u8>> {
    let metadata = std::fs::metadata(file).ok()?;
    (metadata.is_file() && metadata.len() <= DOCUMENT_BYTES_MAX).then(|| std::fs::read(file).ok())?
}

/// A hidden folder that holds prompt files.
fn hidden_prompts(dir: &Path) -> Option<PathBuf> {
    let entries = std::fs::read_dir(dir).ok()?;
    let mut hidden: Vec<PathBuf> = entries.filter_map(|entry| Some(entry.ok()?.path())).collect();
    hidden.retain(|path| path.is_dir() && formats::is_hidden(path));
    hidden.sort();
    hidden.into_iter().find_map(|hidden| {
        let files = formats::read_folder(&hidden, &|_| false, FolderBounds::of_all(HIDDEN_FILES_MAX)).others;
        let structured = files.iter().find(|file| formats::is_structured(file));
        let found = structured.or_else(|| files.iter().find(|file| formats::dialect_of(file).is_some()))?;
        Some(hidden.join(formats::folder_of(found)))
    })
}

fn write(file: &Path, document: &[u8]) -> Result<(), CliError> {
    let parent = file.parent().unwrap_or(Path::new("."));
    std::fs::create_dir_all(parent).map_err(|source| CliError::file(parent, source))?;
    std::fs::write(file, document).map_err(|source| CliError::file(file, source))
}

fn collect(dir: &Path, ending: &str, files: &mut Vec<PathBuf>) -> Result<(), CliError> {
    let entries = match std::fs::read_dir(dir) {
        Ok(entries) => entries,
        Err(error) if error.kind() == std::io::ErrorKind::NotFound => return Ok(()),
        Err(source) => return Err(CliError::file(dir, source)),
    };
    for path in entries.filter_map(|entry| Some(entry.ok()?.path())) {
        if path.is_symlink() && path.is_dir() {
            // Exports have no links, which may lead in circles.
        } else if path.is_dir() {
            collect(&path, ending, files)?;
        } else if path.to_str().is_some_and(|path| path.ends_with(ending) && !path.ends_with(".test.json")) {
            files.push(path);
        }
    }
    Ok(())
}
