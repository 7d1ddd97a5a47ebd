//! What the name of a file says: its dialect, whether it is a template, and the name of the prompt in it.

use super::{fabric, flow, github, prompty};
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

/// The names of files that are about a folder, and no prompts.
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
    let stem = name.split('.').next().unwrap_or_default();
    ABOUT.contains(&stem) && (name.ends_with(".md") || name.ends_with(".txt"))
}

/// Whether the text of a `package.json` is an extension document, or a broken one. Those of Node.js contribute nothing.
pub fn is_manifest(text: &[u8]) -> bool {
    let document = serde_json::from_slice::<serde_json::Value>(text);
    let has =
        |document: &serde_json::Value, member| document.get(member).is_some_and(|member| !member.is_null());
    document.map_or(true, |document| {
        ["contributes", "extensionType"].into_iter().any(|member| has(&document, member))
    })
}

/// Whether a file is of a format that says more than a bare template does.
pub fn is_structured(path: &str) -> bool {
    let name = file_name(path).to_ascii_lowercase();
    let ends = |extension: &&str| name.ends_with(extension);
    ends(&prompty::EXTENSION)
        || github::EXTENSIONS.iter().any(ends)
        || [flow::FILE, fabric::SYSTEM].contains(&file_name(path))
}

/// Whether a file may hold a prompt, or texts for one.
pub fn is_prompt_file(path: &str) -> bool {
    is_structured(path) || extension_of(path).is_some()
}

/// The name of the prompt in a file: its folders and its own name without its extension. A folder `prompts` around all of it does
/// not count, and neither does the file name of a pattern. `None` if nothing is left of it.
pub fn name_of(path: &str) -> Option<String> {
    let path = path.strip_prefix("prompts/").unwrap_or(path);
    let lower = path.to_ascii_lowercase();
    let structured =
        github::EXTENSIONS.iter().chain([&prompty::EXTENSION]).find(|end| lower.ends_with(**end));
    let stem = match (structured, extension_of(path)) {
        (Some(end), _) => path.len() - end.len(),
        (None, Some((extension, _))) => path.len() - extension.len() - 1,
        (None, None) => path.len(),
    };
    let path = match folder_of(path) {
        folder if file_name(path) == fabric::SYSTEM && !folder.is_empty() => folder,
        _ => path.get(..stem)?,
    };
    let segments: Option<Vec<String>> = path.split('/').map(legal_name).collect();
    segments.map(|segments| segments.join("."))
}

/// The name of a prompt that is called otherwise than its file, beside the one in `path`.
pub fn name_beside(path: &str, name: &str) -> Option<String> {
    let name = legal_name(name)?;
    let path = path.strip_prefix("prompts/").unwrap_or(path);
    let folders = folder_of(path).split('/').filter(|folder| !folder.is_empty()).map(legal_name);
    let segments: Option<Vec<String>> = folders.chain([Some(name)]).collect();
    segments.map(|segments| segments.join("."))
}

/// The text as a segment of an id: each run of other characters becomes a `-`. `None` if nothing is left of it.
pub fn legal_name(text: &str) -> Option<String> {
    let parts = text.split(|c: char| !(c.is_ascii_alphanumeric() || c == '_' || c == '-'));
    let name = parts.filter(|part| !part.is_empty()).collect::<Vec<_>>().join("-");
    name.contains(|c: char| c.is_ascii_alphanumeric()).then_some(name)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_of_prompts_are_made_of_paths() {
        for (path, name) in [
            ("a/b c.prompty", "a.b-c"),
            ("x.prompt.yml", "x"),
            ("sample_prompt.yaml", "sample"),
            ("prompts/deep/q.v1.jinja2", "deep.q-v1"),
            ("patterns/ai/system.md", "patterns.ai"),
            ("system.md", "system"),
            ("Grüße (2).txt", "Gr-e-2"),
        ] {
            assert_eq!(name_of(path).as_deref(), Some(name), "{path}");
        }
        assert_eq!(name_of("a/...md"), None);
    }

    #[test]
    fn the_extension_says_the_dialect_and_what_is_about_the_folder_is_no_template() {
        assert_eq!(dialect_of("prompts/a.b.J2"), Some(Syntax::Jinja));
        assert_eq!(dialect_of("a.gotmpl"), Some(Syntax::Go));
        assert_eq!(dialect_of("a.md"), None);
        assert!(
            !is_manifest(br#"{"name": "my-app"}"#)
                && is_manifest(br#"{"contributes": {}}"#)
                && is_manifest(b"{")
        );
        assert!(is_structured("a/system.md") && !is_structured("a/System.md"));
        assert!(is_template_file("x/a.md") && is_template_file("a.txt"));
        assert!(is_template_file("security_review.md") && is_template_file("readme.j2"));
        assert!(!is_template_file("x/README.zh.md") && !is_template_file("requirements.txt"));
        assert!(!is_template_file("a.json") && !is_template_file("md"));
    }
}
