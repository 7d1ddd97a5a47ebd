//! What the name of a file says: its dialect, whether it is a template, and the name of the prompt in it.

use template::Syntax;

/// The extensions of files that hold templates, with the dialect that each one says. A plain or a Markdown text may be of either
/// dialect, or no template at all: there the text itself decides.
const EXTENSIONS: [(&str, Option<Syntax>); 7] = [
    ("j2", Some(Syntax::Jinja)),
    ("jinja", Some(Syntax::Jinja)),
    ("jinja2", Some(Syntax::Jinja)),
    ("tmpl", Some(Syntax::Go)),
    ("gotmpl", Some(Syntax::Go)),
    ("txt", None),
    ("md", None),
];

/// The beginnings of the names of files that are about a folder, and no prompts.
const ABOUT: [&str; 9] = [
    "readme",
    "license",
    "licence",
    "changelog",
    "contributing",
    "code_of_conduct",
    "security",
    "notice",
    "requirements",
];

/// The name of a file without its folders.
pub fn file_name(path: &str) -> &str {
    path.rsplit('/').next().unwrap_or(path)
}

/// The folders of a path; empty for a file at the top.
pub fn folder_of(path: &str) -> &str {
    path.rsplit_once('/').map_or("", |(folder, _)| folder)
}

fn extension_of(path: &str) -> Option<(&str, Option<Syntax>)> {
    let (_, extension) = file_name(path).rsplit_once('.')?;
    EXTENSIONS.into_iter().find(|(known, _)| known.eq_ignore_ascii_case(extension))
}

/// The dialect that the extension of a file says.
pub fn dialect_of(path: &str) -> Option<Syntax> {
    extension_of(path)?.1
}

/// Whether a file holds a template, or a text that may be included by one.
pub fn is_template_file(path: &str) -> bool {
    extension_of(path).is_some() && !is_about_folder(path)
}

/// Whether a file tells people about the folder: a README, a license.
pub fn is_about_folder(path: &str) -> bool {
    let name = file_name(path).to_ascii_lowercase();
    ["md", "txt"].iter().any(|extension| name.ends_with(&format!(".{extension}")))
        && ABOUT.iter().any(|about| name.starts_with(about))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_extension_says_the_dialect_and_what_is_about_the_folder_is_no_template() {
        assert_eq!(dialect_of("prompts/a.b.J2"), Some(Syntax::Jinja));
        assert_eq!(dialect_of("a.gotmpl"), Some(Syntax::Go));
        assert_eq!(dialect_of("a.md"), None);
        assert!(is_template_file("x/a.md") && is_template_file("a.txt"));
        assert!(!is_template_file("x/README.md") && !is_template_file("requirements.txt"));
        assert!(!is_template_file("a.json") && !is_template_file("md"));
    }
}
