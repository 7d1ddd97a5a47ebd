//! `SKILL.md`: front matter, and a text that teaches a model to do a job in steps.
//!
//! - `parts`: where the front matter ends and the text begins
//! - `lines`: front matter that is almost YAML
//! - `members`, `tools`: what the members of front matter mean
//! - `rules`: what is told of a skill that can be used; `check`: the verdict of agentskills.io
//! - `stored`: a skill as a document of the store

mod check;
mod lines;
mod members;
mod parts;
mod rules;
mod stored;
#[cfg(test)]
mod tests;
mod tools;
#[cfg(test)]
mod wild_tests;

use base::model::{Id, Skill};
use serde_json::{Map, Value as Json};

pub use check::check_skill;
pub use rules::name_fault;
pub use stored::{UnusableSkill, is_skill_document, skill_file, skill_of_object, stored_skill};

use super::names::file_name;
use members::Members;
use parts::Parts;

/// The name of the file that a skill is.
pub const SKILL_FILE: &str = "SKILL.md";

/// Whether a path is that of a skill: its name counts in any case.
pub fn is_skill_file(path: &str) -> bool {
    file_name(path).eq_ignore_ascii_case(SKILL_FILE)
}

/// The skill that a text is. `folder` is the name of the folder that it lies in, if it lies in one. Every text is a skill; what
/// is wrong with it is among its problems.
pub fn skill(id: &Id, folder: Option<&str>, text: &str) -> Skill {
    skill_beside(id, folder, text, Map::new())
}

/// As [`skill`], with members that come before those of the text's own front matter.
fn skill_beside(id: &Id, folder: Option<&str>, text: &str, beside: Map<String, Json>) -> Skill {
    let text = parts::normal(text);
    let Parts { front, body, problems } = parts::split(&text);
    let name = folder.or_else(|| id.segments().next_back()).unwrap_or_default();
    let mut skill = Skill::new(id.clone(), name, body);
    skill.problems = problems;
    let members = Members::new(front, parts::merged(front, beside, &mut skill.problems));
    members.fill(&mut skill);
    rules::add_problems(&members, folder, &mut skill);
    skill.front_matter = members.into_all();
    skill
}
