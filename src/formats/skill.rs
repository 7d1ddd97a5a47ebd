//! `SKILL.md`: front matter and a text that teaches a model to do a job in steps.

use base::model::{Id, Skill};

/// The skill that a text is. `folder` is the name of the folder that it lies in, if it lies in one.
pub fn skill(id: &Id, folder: Option<&str>, text: &str) -> Skill {
    Skill::new(id.clone(), folder.unwrap_or(id.as_str()), text)
}
