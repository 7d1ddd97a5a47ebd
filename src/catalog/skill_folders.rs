//! The skills of packages: `skills/**/SKILL.md`, and the names of the files beside them, which are read when somebody asks for them.

use std::collections::BTreeMap;
use std::path::Path;
use std::sync::Arc;

use super::packages::{FILES_MAX, Name, Package, PackageDocument};
use crate::formats::{self, Files, Folder, FolderBounds, SKILL_FILE, folder_of, is_skill_file, read_folder};
use base::model::{DocumentKind, ProblemDetail};

/// The folder of a package that holds its skills.
const SKILLS: &str = "skills";

/// The largest number of files beside a skill that are known by their names; no others can be had.
const BESIDE_MAX: usize = 1_000;

/// The largest number of files that are walked past in a package, in which those beside skills count, too.
pub(super) const WALKED_MAX: usize = 20_000;

/// The files of a package.
pub(super) struct PackageFiles {
    /// Those that are read, without those of skills.
    pub files: Files,
    /// Its skills.
    pub skills: Vec<SkillFile>,
    /// What was passed over, with the reasons.
    pub skipped: Vec<(String, String)>,
    /// Whether that is all: false if there are more files than may be.
    pub is_complete: bool,
}

/// The file of a skill.
pub(super) struct SkillFile {
    /// The path of its SKILL.md below the package.
    path: String,
    contents: Result<Vec<u8>, String>,
    /// The paths of other files in its folder, below that, sorted.
    beside: Vec<String>,
}

impl PackageFiles {
    /// Reads the folder of a package.
    pub fn read(package: &Path) -> PackageFiles {
        let bounds = FolderBounds { read: FILES_MAX, walked: WALKED_MAX };
        let folder = package.join(SKILLS);
        let of_skills = match folder.is_dir() && !folder.is_symlink() {
            true => read_folder(package, &|path| is_below_skills(path) && is_skill_file(path), bounds),
            false => Folder { is_complete: true, ..Folder::default() },
        };
        let paths = of_skills.files.keys().chain(&of_skills.others).map(String::as_str);
        let owners = Owners::new(paths);
        let Folder { files, skipped, is_complete, .. } =
            read_folder(package, &|path| !owners.covers(path), bounds);
        PackageFiles {
            skills: owners.skills(of_skills.files),
            is_complete: is_complete && of_skills.is_complete,
            files,
            skipped,
        }
    }

    /// Parts the files of a package that have all been read.
    pub fn part(all: Files) -> PackageFiles {
        let owners = Owners::new(all.keys().map(String::as_str));
        let (of_skills, files): (Files, Files) = all.into_iter().partition(|(path, _)| owners.covers(path));
        PackageFiles { files, skills: owners.skills(of_skills), skipped: Vec::new(), is_complete: true }
    }
}

fn is_below_skills(path: &str) -> bool {
    path.strip_prefix(SKILLS).is_some_and(|rest| rest.starts_with('/'))
}

/// Which skill a file belongs to: that of the nearest folder with a SKILL.md.
struct Owners {
    /// The path of the SKILL.md, and of other files, by the path of the folder.
    by_folder: BTreeMap<String, (String, Vec<String>)>,
}

impl Owners {
    fn new<'p>(paths: impl Iterator<Item = &'p str> + Clone) -> Owners {
        let mut by_folder: BTreeMap<String, (String, Vec<String>)> = BTreeMap::new();
        for path in paths.clone().filter(|path| is_below_skills(path) && is_skill_file(path)) {
            let (chosen, _) = by_folder.entry(folder_of(path).to_owned()).or_default();
            // Of several in one folder, which differ by case, the one with the usual name is it.
            if chosen.is_empty() || path.ends_with(SKILL_FILE) {
                *chosen = path.to_owned();
            }
        }
        let mut owners = Owners { by_folder };
        for path in paths {
            let Some(folder) = owners.owner_of(path).map(str::to_owned) else { continue };
            let name = path.get(folder.len() + 1..).unwrap_or_default();
            // A path with a slash at its end is the error of a folder that cannot be listed.
            if let Some((chosen, beside)) = owners.by_folder.get_mut(&folder)
                && chosen != path
                && !name.ends_with('/')
                && beside.len() < BESIDE_MAX
            {
                beside.push(name.to_owned());
            }
        }
        owners.by_folder.values_mut().for_each(|(_, beside)| beside.sort());
        owners
    }

    /// The folder of the skill that a file belongs to.
    fn owner_of(&self, path: &str) -> Option<&str> {
        let mut folder = folder_of(path);
        while is_below_skills(folder) || folder == SKILLS && folder_of(path) == SKILLS {
            if let Some((owner, _)) = self.by_folder.get_key_value(folder) {
                return Some(owner);
            }
            folder = folder_of(folder);
        }
        None
    }

    fn covers(&self, path: &str) -> bool {
        is_below_skills(path) && self.owner_of(path).is_some()
    }

    fn skills(self, mut files: Files) -> Vec<SkillFile> {
        let with_contents = |(_, (path, beside)): (String, (String, Vec<String>))| {
            Some(SkillFile { contents: files.remove(&path)?, path, beside })
        };
        self.by_folder.into_iter().filter_map(with_contents).collect()
    }
}

impl Package<'_> {
    /// The skills of the package, whose ids begin with the name of its extension.
    pub fn skill_documents(&self, skills: Vec<SkillFile>, extension: &str) -> Vec<PackageDocument> {
        skills.into_iter().map(|skill| self.skill_document(skill, extension)).collect()
    }

    fn skill_document(&self, skill: SkillFile, extension: &str) -> PackageDocument {
        let SkillFile { path, contents, beside } = skill;
        let (name, contents) = match name_of(&path) {
            Ok(name) => (name, contents.map_err(ProblemDetail::new)),
            Err(message) => (format!("#{path}"), Err(ProblemDetail::new(message))),
        };
        let text = format!("{extension}:{name}");
        let name = Name { text: &text, guessed: false };
        let (kind, mut raw) = self.raw(DocumentKind::Skill, name, &path, contents);
        raw.beside = Arc::from(beside);
        (kind, raw)
    }
}

/// What follows the name of the extension in the key of a skill: the folders around it.
fn name_of(path: &str) -> Result<String, String> {
    let Some(folders) = folder_of(path).strip_prefix("skills/") else {
        return Err("a skill lies in a folder of its own: skills/NAME/SKILL.md".to_owned());
    };
    let names: Option<Vec<String>> = folders.split('/').map(formats::legal_name).collect();
    let message =
        || format!("no id can be made of `{folders}`: name the folders of skills with letters and digits");
    names.map(|names| names.join(":")).ok_or_else(message)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn files_belong_to_the_nearest_skill_and_others_to_the_package() {
        let paths = [
            "package.json",
            "prompts/a.j2",
            "skills/README.md",
            "skills/one/SKILL.md",
            "skills/one/scripts/run.sh",
            "skills/one/closed/",
            "skills/one/skill.md",
            "skills/one/two/assets/a/b.txt",
            "skills/one/two/skill.MD",
            "skills/three/x.j2",
        ];
        let all: Files = paths.into_iter().map(|path| (path.to_owned(), Ok(Vec::new()))).collect();
        let PackageFiles { files, skills, .. } = PackageFiles::part(all);
        let kept: Vec<&str> = files.keys().map(String::as_str).collect();
        assert_eq!(kept, ["package.json", "prompts/a.j2", "skills/README.md", "skills/three/x.j2"]);
        let found: Vec<(&str, Vec<&str>)> =
            skills.iter().map(|s| (s.path.as_str(), s.beside.iter().map(String::as_str).collect())).collect();
        assert_eq!(
            found,
            [
                ("skills/one/SKILL.md", vec!["scripts/run.sh", "skill.md"]),
                ("skills/one/two/skill.MD", vec!["assets/a/b.txt"]),
            ]
        );
    }

    #[test]
    fn folders_become_the_segments_of_ids() {
        assert_eq!(name_of("skills/a/b c/SKILL.md").as_deref(), Ok("a:b-c"));
        assert!(name_of("skills/SKILL.md").unwrap_err().contains("a folder of its own"));
        assert!(name_of("skills/日本/SKILL.md").unwrap_err().contains("日本"));
    }
}
