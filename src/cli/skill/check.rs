//! `skill check`: the rules of agentskills.io, on folders of this machine.

use std::path::{Path, PathBuf};

use super::super::check::counted;
use super::super::error::CliError;
use super::super::output::{on_one_line, say, warn};
use crate::formats::{FolderBounds, SKILL_FILE, check_skill, folder_of, is_skill_file, read_folder};
use base::model::ProblemDetail;

/// The most files that are walked past in one folder.
const FILES_MAX: usize = 20_000;

/// The names of the file that make a folder a skill, the better one first.
const FILE_NAMES: [&str; 2] = [SKILL_FILE, "skill.md"];

/// A skill with the file that problems are in.
struct Checked {
    file: PathBuf,
    problems: Vec<ProblemDetail>,
}

/// Checks the skills in folders, and prints every problem with its place.
///
/// # Errors
/// [`CliError::Reported`] if any is invalid; wrong usage for what is no folder.
pub fn run(dirs: &[PathBuf]) -> Result<(), CliError> {
    let mut checked = Vec::new();
    for dir in dirs {
        if !dir.is_dir() {
            return Err(CliError::Usage(format!("{} is not a folder", dir.display())));
        }
        checked.extend(skills_in(dir)?.iter().map(|skill| check(skill)));
    }
    let invalid = checked.iter().filter(|skill| !skill.problems.is_empty()).count();
    checked.iter().for_each(print);
    let of = counted(checked.len(), "skill");
    match invalid {
        0 => say(format_args!("{of}, all valid")),
        invalid => say(format_args!("{of}, {invalid} invalid")),
    }
    if invalid == 0 { Ok(()) } else { Err(CliError::Reported) }
}

/// The folder itself if it is a skill, else those below it; itself, too, if there are none.
fn skills_in(dir: &Path) -> Result<Vec<PathBuf>, CliError> {
    if FILE_NAMES.iter().any(|name| dir.join(name).exists()) {
        return Ok(vec![dir.to_owned()]);
    }
    let folder = read_folder(dir, &|_| false, FolderBounds::of_all(FILES_MAX));
    if !folder.is_complete {
        let message =
            format!("{} has more than {FILES_MAX} files; name the folders of its skills", dir.display());
        return Err(CliError::Usage(message));
    }
    folder.skipped.iter().for_each(|(path, reason)| {
        warn(on_one_line(&format!("note: {}: not looked at: {reason}", dir.join(path).display())));
    });
    let mut skills: Vec<PathBuf> = folder
        .others
        .iter()
        .filter(|path| is_skill_file(path))
        .map(|path| dir.join(folder_of(path)))
        .collect();
    skills.dedup();
    Ok(if skills.is_empty() { vec![dir.to_owned()] } else { skills })
}

fn check(dir: &Path) -> Checked {
    let found = FILE_NAMES.iter().map(|name| dir.join(name)).find(|file| file.exists());
    let Some(file) = found else {
        let message =
            format!("there is no {SKILL_FILE} here (a file skill.md will do; no other spelling does)");
        return Checked { file: dir.to_owned(), problems: vec![ProblemDetail::new(message)] };
    };
    let problems = match std::fs::read(&file) {
        Ok(bytes) => check_skill(&name_of(dir), &bytes),
        Err(error) => vec![ProblemDetail::new(format!("it cannot be read: {error}"))],
    };
    Checked { file, problems }
}

/// The name of a folder, which `.` has, too.
fn name_of(dir: &Path) -> String {
    let whole = if dir.file_name().is_some() { Some(dir.to_owned()) } else { dir.canonicalize().ok() };
    let name = whole.as_deref().and_then(Path::file_name);
    name.map(|name| name.to_string_lossy().into_owned()).unwrap_or_default()
}

fn print(skill: &Checked) {
    let file = skill.file.display();
    for problem in &skill.problems {
        let line = problem.line.map(|line| format!(":{line}")).unwrap_or_default();
        say(on_one_line(&format!("{file}{line}: {}", problem.message)));
    }
}
