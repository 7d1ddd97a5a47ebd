//! Which files of a folder its prompts include, found by the tags that name them, without a compiler.

use std::collections::{BTreeMap, BTreeSet};

use serde_json::Value as Json;

use super::FoundPrompt;
use base::model::without_files;

/// The words that begin a tag which includes another text, in either dialect.
const WORDS: [&str; 5] = ["include", "import", "extends", "from", "template"];

/// The words that may follow a name in Jinja: nothing behind them names another text.
const TAILS: [&str; 5] = ["ignore", "with", "without", "as", "import"];

/// The longest tag whose names are read; a longer one counts as one that computes them.
const TAG_CHARS_MAX: usize = 2_000;

/// Those of the partials, by their paths, that the prompts or included partials may include. If a name is computed, these are all.
pub fn included(prompts: &[FoundPrompt], partials: &BTreeMap<String, String>) -> BTreeMap<String, String> {
    let mut finder = Finder { partials, known: BTreeMap::new(), found: BTreeSet::new() };
    match prompts.iter().all(|prompt| finder.add(prompt)) {
        true => finder
            .found
            .into_iter()
            .filter_map(|path| Some((path.clone(), partials.get(path)?.clone())))
            .collect(),
        false => partials.clone(),
    }
}

struct Finder<'p> {
    partials: &'p BTreeMap<String, String>,
    /// The names that partials include; none if one is computed.
    known: BTreeMap<&'p String, Option<BTreeSet<String>>>,
    /// The paths of the partials that are included.
    found: BTreeSet<&'p String>,
}

impl Finder<'_> {
    /// Adds what a prompt includes; false if a name is computed.
    fn add(&mut self, prompt: &FoundPrompt) -> bool {
        let document = without_files(prompt.document.clone());
        let folder = document.get("folder").and_then(Json::as_str).unwrap_or_default();
        let mut texts = Vec::new();
        texts_of(&document, &mut texts);
        let names: Option<Vec<BTreeSet<String>>> = texts.into_iter().map(names_in).collect();
        let Some(names) = names else { return false };
        let mut waiting: Vec<String> = names.into_iter().flatten().collect();
        let mut seen = BTreeSet::new();
        while let Some(name) = waiting.pop() {
            let Some((path, text)) = lookup(&name, folder, self.partials) else { continue };
            if !seen.insert(path) {
                continue;
            }
            self.found.insert(path);
            match self.known.entry(path).or_insert_with(|| names_in(text)) {
                Some(names) => waiting.extend(names.iter().cloned()),
                None => return false,
            }
        }
        true
    }
}

/// The templates of a prompt document.
fn texts_of<'d>(document: &'d Json, texts: &mut Vec<&'d str>) {
    match document {
        Json::String(text) => texts.push(text),
        Json::Array(items) => items.iter().for_each(|item| texts_of(item, texts)),
        Json::Object(members) => {
            let templates = ["userPrompt", "messages", "content", "text"];
            let members = members.iter().filter(|(name, _)| templates.contains(&name.as_str()));
            members.for_each(|(_, member)| texts_of(member, texts));
        }
        _ => {}
    }
}

/// The partial of a name, as a template of this folder finds it.
fn lookup<'p>(
    name: &str,
    folder: &str,
    partials: &'p BTreeMap<String, String>,
) -> Option<(&'p String, &'p String)> {
    let parts: Vec<&str> = name.split('/').filter(|part| !["", "."].contains(part)).collect();
    let path = parts.join("/");
    let places = ["", "prompts", folder].into_iter();
    let mut paths =
        places.map(|place| if place.is_empty() { path.clone() } else { format!("{place}/{path}") });
    paths.find_map(|path| partials.get_key_value(&path))
}

/// The names that the tags of a text include; none if one of them is computed.
fn names_in(text: &str) -> Option<BTreeSet<String>> {
    let mut names = BTreeSet::new();
    let starts = ["{%", "{{"].into_iter().flat_map(|open| text.match_indices(open));
    for (at, _) in starts {
        let tag = text.get(at + 2..).unwrap_or_default().trim_start_matches(['-', '+', '(']).trim_start();
        if let Some(word) = WORDS.into_iter().find(|word| begins_with_word(tag, word)) {
            add_names(word, tag.get(word.len()..).unwrap_or_default(), &mut names)?;
        }
    }
    Some(names)
}

fn begins_with_word(tag: &str, word: &str) -> bool {
    tag.strip_prefix(word).is_some_and(|rest| !rest.starts_with(|c: char| c.is_alphanumeric() || c == '_'))
}

/// Adds the literals of a tag; nothing if it computes a name.
fn add_names(word: &str, rest: &str, names: &mut BTreeSet<String>) -> Option<()> {
    let rest = rest.trim_start();
    if !rest.trim_start_matches(['[', '(', ' ']).starts_with(['"', '\'', '`']) {
        // A variable of that name (`{{ template }}`) names no text, and neither does one that is called like a word.
        let is_variable =
            rest.is_empty() || rest.starts_with(['.', '|', ',', '=', '}', '%']) || rest.starts_with("-}");
        return is_variable.then_some(());
    }
    let (literals, others) = literals(rest)?;
    let tail = others.trim_start_matches([' ', '\t', '\n', '[', ']', '(', ')', ',']);
    let tail_word = tail.split(|c: char| !c.is_alphabetic()).next().unwrap_or_default();
    // In Go, a name is always a literal, and data follow it.
    if word != "template" && !tail.is_empty() && !TAILS.contains(&tail_word) {
        return None;
    }
    names.extend(literals);
    Some(())
}

/// The texts in quotes up to the end of a tag, and what stands between them; nothing for a tag without an end.
fn literals(rest: &str) -> Option<(Vec<String>, String)> {
    let (mut found, mut others) = (Vec::new(), String::new());
    let mut chars = rest.chars().take(TAG_CHARS_MAX).peekable();
    while let Some(c) = chars.next() {
        match c {
            '"' | '\'' | '`' => {
                let mut text = String::new();
                loop {
                    match chars.next()? {
                        end if end == c => break,
                        '\\' if c != '`' => text.push(chars.next()?),
                        other => text.push(other),
                    }
                }
                found.push(text);
            }
            '%' | '}' if chars.peek() == Some(&'}') => {
                return Some((found, others.trim_end_matches(['-', '+', ' ']).to_owned()));
            }
            other => others.push(other),
        }
    }
    None
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    fn found(text: &str, folder: &str) -> Vec<String> {
        let document = json!({"messages": [{"role": "user", "content": {"file": "x", "text": ""}}, {"role": "user", "content": text}], "folder": folder});
        let prompt = FoundPrompt {
            name: "p".to_owned(),
            file: "p.prompty".to_owned(),
            beside: None,
            format: "Prompty",
            document,
            left_out: Vec::new(),
        };
        let partials = [
            ("a.j2", "{% from 'b.j2' import x %}"),
            ("b.j2", "b"),
            ("d/c.j2", "{% include 'c.j2' %}"),
            ("e.tmpl", "e"),
        ];
        let partials = partials.map(|(path, text)| (path.to_owned(), text.to_owned()));
        included(&[prompt], &BTreeMap::from(partials)).into_keys().collect()
    }

    #[test]
    fn only_what_is_included_is_found_and_all_if_a_name_is_computed() {
        assert_eq!(found("{%- include './a.j2' ignore missing %}", ""), ["a.j2", "b.j2"]);
        assert_eq!(found("{% include ['x', 'c.j2'] %}", "d"), ["d/c.j2"]);
        assert_eq!(found("{{template \"e.tmpl\" .}}", ""), ["e.tmpl"]);
        assert_eq!(found("{{ template }} {{ template.x }} 'a.j2' {% if include %}", ""), [""; 0]);
        assert_eq!(found("{% include name %}", "").len(), 4);
        for computed in [
            "{% include 'a' ~ x %}",
            "{% include 'parts/%s.txt' % lang %}",
            "{% include 'parts/{}.txt'.format(lang) %}",
            "{% include 'xx.txt'|replace('xx', lang) %}",
            "{% include ['x', lang] %}",
            "{% include 'x' if 0 else lang %}",
            "{% include 'x",
        ] {
            assert_eq!(found(computed, "").len(), 4, "{computed}");
        }
        let literals = |text| names_in(text).map(|names| names.into_iter().collect::<Vec<_>>());
        assert_eq!(
            literals("{% include \"it's 100%.txt\" without context %}"),
            Some(vec!["it's 100%.txt".to_owned()])
        );
        assert_eq!(
            literals("{{template \"a\" (dict \"b\" .x)}}{{- include }}"),
            Some(vec!["a".to_owned(), "b".to_owned()])
        );
    }
}
