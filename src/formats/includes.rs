//! Which files of a folder its prompts include, found by the tags that name them, without a compiler.

use std::collections::{BTreeMap, BTreeSet};

use serde_json::Value as Json;

use super::FoundPrompt;
use base::model::without_files;

/// The words that begin a tag which includes another text, in either dialect.
const WORDS: [&str; 5] = ["include", "import", "extends", "from", "template"];

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
    known: BTreeMap<&'p String, Option<Vec<String>>>,
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
        let names: Option<Vec<Vec<String>>> = texts.into_iter().map(names_in).collect();
        let Some(mut waiting) = names.map(|names| names.concat()) else { return false };
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
fn names_in(text: &str) -> Option<Vec<String>> {
    let mut names = Vec::new();
    let starts = ["{%", "{{"].into_iter().flat_map(|open| text.match_indices(open));
    for (at, _) in starts {
        let tag = text.get(at + 2..).unwrap_or_default();
        let end = tag.char_indices().take(TAG_CHARS_MAX).find(|(_, c)| ['}', '%'].contains(c));
        let tag = end.and_then(|(end, _)| tag.get(..end)).unwrap_or(tag);
        let tag = tag.trim_start_matches(['-', '+', '(']).trim_start();
        let word: String = tag.chars().take_while(char::is_ascii_alphabetic).take(TAG_CHARS_MAX).collect();
        let rest = tag.get(word.len()..).unwrap_or_default();
        if WORDS.contains(&word.as_str()) && (end.is_none() || !add_names(rest, &mut names)) {
            return None;
        }
    }
    Some(names)
}

/// Adds the literals of a tag; whether it has nothing else that names a text.
fn add_names(rest: &str, names: &mut Vec<String>) -> bool {
    let rest = rest.trim_start();
    let quotes = ['"', '\'', '`'];
    if !rest.trim_start_matches(['[', '(', ' ']).starts_with(quotes) {
        // A variable of that name (`{{ template }}`) names no text, and neither does one that is called like a word.
        return rest.is_empty() || rest.starts_with(['.', '|', ',', '=']);
    }
    let mut pieces = rest.split(quotes);
    let mut outside = String::new();
    while let Some(between) = pieces.next() {
        outside.push_str(between);
        names.extend(pieces.next().map(str::to_owned));
    }
    !outside.contains(['~', '+', '%'])
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
        assert_eq!(found("{% include 'a' ~ x %}", "").len(), 4);
    }
}
