//! What agentskills.io asks of a skill, told as problems of a skill that can be used nevertheless.

use base::model::{ProblemDetail, Skill};

use super::members::{Members, text};

/// The most characters of a name.
pub const NAME_MAX: usize = 64;

/// The most characters of a description.
pub const DESCRIPTION_MAX: usize = 1024;

/// The most characters of `compatibility`.
pub const COMPATIBILITY_MAX: usize = 500;

/// What is wrong with a name; `None` if it is as agentskills.io wants it.
pub fn name_fault(name: &str) -> Option<String> {
    let is_legal = |c: char| c.is_ascii_lowercase() || c.is_ascii_digit() || c == '-';
    let count = name.chars().count();
    let fault = if count == 0 {
        "it is empty".to_owned()
    } else if count > NAME_MAX {
        format!("it has {count} characters")
    } else if let Some(c) = name.chars().find(|c| !is_legal(*c)) {
        format!("it has a `{}`", c.escape_debug())
    } else if name.starts_with('-') || name.ends_with('-') {
        "it begins or ends with a hyphen".to_owned()
    } else if name.contains("--") {
        "it has two hyphens in a row".to_owned()
    } else {
        return None;
    };
    let rule =
        format!("names are 1 to {NAME_MAX} lower-case letters, digits and single hyphens between them");
    Some(format!("the name `{name}` will not do everywhere: {fault}; {rule}"))
}

/// Adds what is wrong with a skill to its problems.
pub fn add_problems(members: &Members<'_>, folder: Option<&str>, skill: &mut Skill) {
    let mut problems = Vec::new();
    let mut add = |name: &str, message: String| problems.push(members.problem(name, message));
    if members.is_empty() {
        add(
            "name",
            "there is no front matter: write `name` and `description` between lines of `---`".to_owned(),
        );
    } else {
        if let Some(fault) = name_fault(&skill.name) {
            add("name", fault);
        }
        name_problem(members, folder, skill).into_iter().for_each(|message| add("name", message));
        description_problem(skill).into_iter().for_each(|message| add("description", message));
        compatibility_problem(members).into_iter().for_each(|message| add("compatibility", message));
    }
    if skill.content.is_empty() {
        problems.push(ProblemDetail::new("there is no text below the front matter that says what to do"));
    }
    skill.problems.append(&mut problems);
}

fn name_problem(members: &Members<'_>, folder: Option<&str>, skill: &Skill) -> Option<String> {
    let name = &skill.name;
    let is_named = members.get("name").and_then(text).is_some_and(|name| !name.is_empty());
    match folder {
        _ if !is_named => Some(format!("there is no `name`; `{name}` is taken")),
        Some(folder) if folder != name => {
            Some(format!("the name is `{name}`, and the folder `{folder}`: they must be the same"))
        }
        _ => None,
    }
}

fn description_problem(skill: &Skill) -> Option<String> {
    match skill.description.chars().count() {
        0 => Some("there is no `description`: say what the skill does, and when to use it".to_owned()),
        count if count > DESCRIPTION_MAX => {
            Some(format!("the description has {count} characters; {DESCRIPTION_MAX} are allowed"))
        }
        _ => None,
    }
}

fn compatibility_problem(members: &Members<'_>) -> Option<String> {
    let Some(text) = text(members.get("compatibility")?) else {
        return Some("`compatibility` must be a text".to_owned());
    };
    let count = text.chars().count();
    (count > COMPATIBILITY_MAX)
        .then(|| format!("`compatibility` has {count} characters; {COMPATIBILITY_MAX} are allowed"))
}
