//! The files beside skills: where a skill comes from, and the content of one of its files.
//!
//! Only files that were found when the package was read can be had, so no path leads out of a skill's folder, or to a hidden
//! file. Links are followed within the package.

use std::io::Read;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use super::Catalog;
use super::packages::builtin_file;
use super::slots::Layer;
use crate::formats::{FILE_BYTES_MAX, folder_of};
use base::error::{Kind, Kinded};
use base::model::{DocumentKind, Id};

/// Where a skill that serves comes from.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct SkillSource {
    /// The place of its document, as problems name it: the key in the store, or the path of the file.
    pub key: String,
    pub(super) layer: Layer,
    /// The paths of the files beside its SKILL.md, below its folder; sorted.
    pub files: Arc<[String]>,
}

impl SkillSource {
    /// `store`, or the path of its file.
    pub fn name(&self) -> &str {
        match self.layer {
            Layer::Store => "store",
            Layer::Builtin | Layer::Package => &self.key,
        }
    }

    /// The place of the file of this name beside it, if it is a skill of the packages' folder that has one.
    pub fn file_of_package(&self, name: &str) -> Option<PathBuf> {
        let has_one = self.layer == Layer::Package && self.files.iter().any(|file| file == name);
        has_one.then(|| Path::new(folder_of(&self.key)).join(name))
    }
}

/// Why there is no content of a file beside a skill.
#[derive(Debug, thiserror::Error)]
pub enum BundledFileError {
    /// There is no skill with this id.
    #[error("there is no skill `{id}`")]
    NoSkill {
        /// The id that was asked for.
        id: Id,
    },
    /// The skill has no file of this path.
    #[error("the skill `{id}` has no file `{path}`; its `files` are listed by GET /api/skills/{id}")]
    NoFile {
        /// The skill.
        id: Id,
        /// The path that was asked for.
        path: String,
    },
    /// The file has become too large, or cannot be read.
    #[error("the file `{path}` of the skill `{id}` cannot be had: {message}")]
    Unreadable {
        /// The skill.
        id: Id,
        /// The path that was asked for.
        path: String,
        /// Why.
        message: String,
    },
}

impl Kinded for BundledFileError {
    fn kind(&self) -> Kind {
        match self {
            BundledFileError::NoSkill { .. } | BundledFileError::NoFile { .. } => Kind::NotFound,
            BundledFileError::Unreadable { .. } => Kind::Unavailable,
        }
    }
}

impl Catalog {
    /// The content of a file beside a skill; the last segment of the id will do where only one skill has it.
    ///
    /// # Errors
    /// [`BundledFileError`].
    pub async fn bundled_file(&self, id: &Id, path: &str) -> Result<Vec<u8>, BundledFileError> {
        let snapshot = self.snapshot();
        let id = snapshot.full_id(DocumentKind::Skill, id);
        let Some(source) = snapshot.documents.skill_sources.get(&id) else {
            return Err(BundledFileError::NoSkill { id });
        };
        let no_file = || BundledFileError::NoFile { id: id.clone(), path: path.to_owned() };
        if !source.files.iter().any(|file| file == path) {
            return Err(no_file());
        }
        let file = format!("{}/{path}", folder_of(&source.key));
        if source.layer == Layer::Builtin {
            return builtin_file(&file).map(<[u8]>::to_vec).ok_or_else(no_file);
        }
        let packages = self.options.packages.clone();
        let read = tokio::task::spawn_blocking(move || read_inside(&packages, Path::new(&file))).await;
        let unreadable =
            |message| BundledFileError::Unreadable { id: id.clone(), path: path.to_owned(), message };
        match read {
            Ok(Ok(Some(contents))) => Ok(contents),
            Ok(Ok(None)) => Err(no_file()),
            Ok(Err(message)) => Err(unreadable(message)),
            Err(error) => Err(unreadable(error.to_string())),
        }
    }
}

/// The content of a file of a package; `None` if it is not there, or leads out of the package.
fn read_inside(packages: &Path, file: &Path) -> Result<Option<Vec<u8>>, String> {
    let Some(package) = package_of(packages, file) else { return Ok(None) };
    let (Ok(package), Ok(real)) = (package.canonicalize(), file.canonicalize()) else { return Ok(None) };
    if !real.starts_with(package) || !real.is_file() {
        return Ok(None);
    }
    let fail = |error: std::io::Error| error.to_string();
    let mut contents = Vec::new();
    let opened = std::fs::File::open(real).map_err(fail)?;
    opened.take(FILE_BYTES_MAX + 1).read_to_end(&mut contents).map_err(fail)?;
    if contents.len() as u64 > FILE_BYTES_MAX {
        return Err(format!("it has more than {FILE_BYTES_MAX} bytes"));
    }
    Ok(Some(contents))
}

/// The folder of the package that a file lies in.
fn package_of(packages: &Path, file: &Path) -> Option<PathBuf> {
    let name = file.strip_prefix(packages).ok()?.components().next()?;
    Some(packages.join(name))
}
