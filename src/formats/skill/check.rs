//! The verdict of agentskills.io on a skill, as strict as its reference validator (`skills-ref`), with the place of each fault.
//!
//! Its letters are those of all languages, and it parts front matter at the first two `---`, wherever they stand.

use base::model::ProblemDetail;
use icu_normalizer::ComposingNormalizerBorrowed;
use unicode_general_category::{GeneralCategory, get_general_category};

use super::super::strict_yaml::{self, Member, Node};
use super::rules::{COMPATIBILITY_MAX, DESCRIPTION_MAX, NAME_MAX};

/// The only members that front matter may have.
const ALLOWED: [&str; 6] = ["name", "description", "license", "allowed-tools", "metadata", "compatibility"];

/// What keeps the text of a SKILL.md in `folder` from being valid; nothing if it is.
pub fn check_skill(folder: &str, bytes: &[u8]) -> Vec<ProblemDetail> {
    let members = match text_of(bytes).and_then(|text| members_of(&text)) {
        Ok(members) => members,
        Err(problem) => return vec![problem],
    };
    let mut faults = Faults { members: &members, found: Vec::new() };
    faults.names();
    faults.name(folder);
    faults.description();
    faults.compatibility();
    faults.found
}

fn text_of(bytes: &[u8]) -> Result<String, ProblemDetail> {
    let text = std::str::from_utf8(bytes).map_err(|error| at(1, format!("is no text in UTF-8: {error}")))?;
    Ok(text.replace("\r\n", "\n").replace('\r', "\n"))
}

fn members_of(text: &str) -> Result<Vec<Member>, ProblemDetail> {
    if text.starts_with('\u{feff}') {
        return Err(at(1, "begins with a byte order mark, and must begin with `---`"));
    }
    let Some(rest) = text.strip_prefix("---") else {
        return Err(at(1, "must begin with front matter: a line `---`"));
    };
    let Some((front, _)) = rest.split_once("---") else {
        return Err(at(1, "has front matter without an end: write a line `---` below it"));
    };
    match strict_yaml::parse(front) {
        Ok(Some(Node::Object(members))) => Ok(members),
        Ok(_) => Err(at(1, "has front matter that is no list of `name: value` lines")),
        Err(error) => Err(ProblemDetail { line: error.line, ..ProblemDetail::new(error.message) }),
    }
}

fn at(line: usize, message: impl Into<String>) -> ProblemDetail {
    ProblemDetail { line: Some(line), ..ProblemDetail::new(message) }
}

struct Faults<'a> {
    members: &'a [Member],
    found: Vec<ProblemDetail>,
}

impl Faults<'_> {
    fn names(&mut self) {
        let unknown = self.members.iter().filter(|member| !ALLOWED.contains(&member.name.as_str()));
        self.found.extend(unknown.map(|member| {
            let allowed = ALLOWED.map(|name| format!("`{name}`")).join(", ");
            at(
                member.line,
                format!("`{}` is not among the members that front matter may have: {allowed}", member.name),
            )
        }));
    }

    /// The text of a member that must be there and say something, with its line.
    fn required(&mut self, name: &str) -> Option<(String, usize)> {
        let Some(member) = self.members.iter().find(|member| member.name == name) else {
            self.found.push(at(1, format!("`{name}` is missing in the front matter")));
            return None;
        };
        match &member.value {
            Node::Text(text) if !text.trim().is_empty() => Some((text.clone(), member.line)),
            _ => {
                self.found.push(at(member.line, format!("`{name}` must be a text that is not empty")));
                None
            }
        }
    }

    fn name(&mut self, folder: &str) {
        let Some((name, line)) = self.required("name") else { return };
        let normal = |text: &str| ComposingNormalizerBorrowed::new_nfkc().normalize(text).into_owned();
        let (name, folder) = (normal(name.trim()), normal(folder));
        let mut add = |holds: bool, message: String| {
            if !holds {
                self.found.push(at(line, message));
            }
        };
        let count = name.chars().count();
        add(count <= NAME_MAX, format!("the name has {count} characters; {NAME_MAX} are allowed"));
        add(name == name.to_lowercase(), format!("the name `{name}` must be in lower case"));
        let is_edged = name.starts_with('-') || name.ends_with('-');
        add(!is_edged, format!("the name `{name}` must not begin or end with a hyphen"));
        add(!name.contains("--"), format!("the name `{name}` must not have two hyphens in a row"));
        let is_legal = name.chars().all(|c| c == '-' || is_letter_or_digit(c));
        add(is_legal, format!("the name `{name}` may have letters, digits and hyphens only"));
        add(
            name == folder,
            format!("the name is `{name}`, and the folder `{folder}`: they must be the same"),
        );
    }

    fn description(&mut self) {
        let Some((text, line)) = self.required("description") else { return };
        let count = text.chars().count();
        if count > DESCRIPTION_MAX {
            let message = format!("the description has {count} characters; {DESCRIPTION_MAX} are allowed");
            self.found.push(at(line, message));
        }
    }

    fn compatibility(&mut self) {
        let Some(member) = self.members.iter().find(|member| member.name == "compatibility") else { return };
        let message = match &member.value {
            Node::Text(text) if text.chars().count() <= COMPATIBILITY_MAX => return,
            Node::Text(_) => format!("`compatibility` has more than {COMPATIBILITY_MAX} characters"),
            _ => "`compatibility` must be a text".to_owned(),
        };
        self.found.push(at(member.line, message));
    }
}

/// As Python's `str.isalnum`.
fn is_letter_or_digit(c: char) -> bool {
    use GeneralCategory as Is;
    matches!(
        get_general_category(c),
        Is::UppercaseLetter
            | Is::LowercaseLetter
            | Is::TitlecaseLetter
            | Is::ModifierLetter
            | Is::OtherLetter
            | Is::DecimalNumber
            | Is::LetterNumber
            | Is::OtherNumber
    )
}
