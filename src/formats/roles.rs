//! Texts with headings for roles (`system:`, `# user:`), as Prompty and promptflow write chats, and how they part into messages.
//!
//! Those programs render the text first and look for headings then. Here a text is parted before it is rendered, if it can be, or
//! else its own headings are marked (`render::roles`), so that no value of a variable can begin a message.

use std::collections::HashSet;

use super::tags::{Tag, may_print, tags};
use super::threads::conversations;

/// The roles of headings.
const ROLES: [&str; 6] = ["system", "user", "assistant", "developer", "function", "tool"];

/// Statements that have an end; `set` has one only without a `=`.
const BLOCKS: [&str; 11] =
    ["for", "if", "macro", "call", "filter", "block", "with", "autoescape", "raw", "trans", "generation"];

/// Statements that give names to the text after them.
const NAMING: [&str; 5] = ["set", "macro", "import", "from", "extends"];

/// The most of these that are looked at in one text; one with more counts as a text whose messages depend on one another.
const NAMING_MAX: usize = 200;

/// The text of one message.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Section<'t> {
    /// Its role.
    pub role: &'static str,
    /// What stands in brackets after the role.
    pub attributes: &'t str,
    /// Its text, without blank lines at both ends.
    pub text: &'t str,
    /// How many lines come before its text.
    pub lines_before: usize,
}

/// How a text parts into messages.
#[derive(Debug, PartialEq, Eq)]
pub enum Layout<'t> {
    /// It has no headings.
    Plain,
    /// Each heading begins a message, whatever the values of variables are.
    Sections(Vec<Section<'t>>),
    /// Which messages there are depends on values; the text says why.
    Woven(String),
}

/// A line that is a heading.
#[derive(Debug, PartialEq, Eq)]
pub struct HeadingLine<'t> {
    /// Where it begins, and where the next line does.
    pub from: usize,
    /// Where the next line begins.
    pub to: usize,
    /// What stands before the colon: a role, perhaps with attributes in brackets, or an expression that computes the role.
    pub label: &'t str,
    /// The number of the line, from 1.
    pub line: usize,
}

/// A heading of a text.
struct Heading<'t> {
    role: &'static str,
    attributes: &'t str,
    from: usize,
    to: usize,
    line: usize,
}

/// Parts a text whose line breaks are `\n`.
pub fn layout(text: &str) -> Layout<'_> {
    if !conversations(text).is_empty() {
        return Layout::Woven("it has the messages of a conversation".to_owned());
    }
    let tags = tags(text);
    let mut headings = Vec::new();
    for HeadingLine { from, to, label, line } in lines_among(text, &tags) {
        match role_of(label) {
            Some((role, attributes)) => headings.push(Heading { role, attributes, from, to, line }),
            None => return Layout::Woven(format!("line {line} computes the role of a message")),
        }
    }
    match headings.is_empty() {
        true => Layout::Plain,
        false => why_woven(&headings, &tags, text).map_or_else(|| parted(text, &headings), Layout::Woven),
    }
}

/// The text without a heading in its last line that has no end.
pub fn without_open_heading(text: &str) -> &str {
    let whole = format!("{text}\n");
    let open = heading_lines(&whole).into_iter().next_back().filter(|heading| heading.to > text.len());
    open.and_then(|heading| text.get(..heading.from)).unwrap_or(text)
}

/// Whether the heading of a role comes before anything that a text prints.
pub fn begins_with_heading(text: &str) -> bool {
    let first = heading_lines(text).into_iter().next();
    first.is_some_and(|first| {
        role_of(first.label).is_some() && !may_print(text.get(..first.from).unwrap_or_default())
    })
}

/// The headings of a text, outside of its tags and comments, in order. A last line without an end is none, since nothing follows it.
pub fn heading_lines(text: &str) -> Vec<HeadingLine<'_>> {
    lines_among(text, &tags(text))
}

fn lines_among<'t>(text: &'t str, tags: &[Tag<'t>]) -> Vec<HeadingLine<'t>> {
    let mut found = Vec::new();
    let mut from = 0;
    let mut tags = tags.iter().peekable();
    for (at, line) in text.split_inclusive('\n').enumerate() {
        let to = from + line.len();
        while tags.next_if(|tag| tag.to <= from).is_some() {}
        let is_inside = tags.peek().is_some_and(|tag| tag.from < from);
        let is_whole = line.ends_with('\n');
        if let Some(label) = label_of(line).filter(|_| is_whole && !is_inside) {
            found.push(HeadingLine { from, to, label, line: at + 1 });
        }
        from = to;
    }
    found
}

/// What a line is the heading of: a role, or an expression that computes one (`{{item.role}}:`).
fn label_of(line: &str) -> Option<&str> {
    let line = line.trim();
    let label = line.strip_prefix('#').unwrap_or(line).trim_start().strip_suffix(':')?.trim_end();
    let is_computed = label.starts_with("{{")
        && label.ends_with("}}")
        && label.contains("role")
        && label.matches("{{").count() == 1;
    (is_computed || role_of(label).is_some()).then_some(label)
}

/// The role and the attributes of a label.
pub fn role_of(label: &str) -> Option<(&'static str, &str)> {
    let (role, attributes) = match label.split_once('[') {
        Some((role, attributes)) => (role, attributes.strip_suffix(']')?),
        None => (label, ""),
    };
    let role = ROLES.into_iter().find(|known| known.eq_ignore_ascii_case(role.trim()))?;
    Some((role, attributes))
}

/// The attributes of a label (`name="Ada", x=1`), and whether each is one of a message.
pub fn attributes_of(attributes: &str) -> impl Iterator<Item = (&str, &str, bool)> {
    attributes.split(',').map(str::trim).filter(|text| !text.is_empty()).map(|attribute| {
        let (key, value) = attribute.split_once('=').unwrap_or((attribute, ""));
        let (key, value) = (key.trim(), value.trim().trim_matches('"'));
        (key, value, ["name", "tool_call_id"].contains(&key))
    })
}

/// Why the messages of a text depend on values, or on one another.
fn why_woven(headings: &[Heading<'_>], tags: &[Tag<'_>], text: &str) -> Option<String> {
    let mut open: Vec<&str> = Vec::new();
    let mut named = 0;
    let mut waiting = headings.iter().peekable();
    for tag in tags {
        while let Some(heading) = waiting.next_if(|heading| heading.from < tag.from) {
            if let Some(block) = open.last() {
                return Some(inside(heading, block));
            }
        }
        let word = tag.statement.split_whitespace().next().unwrap_or_default();
        if word.starts_with("end") {
            open.pop();
            continue;
        }
        if let Some(later) = waiting.peek().filter(|_| open.is_empty() && NAMING.contains(&word)) {
            named += 1;
            let rest = text.get(later.from..).unwrap_or_default();
            if named > NAMING_MAX || hands_on(tag.statement, rest) {
                return Some(format!("`{{% {} %}}` is for messages that follow it, too", tag.statement));
            }
        }
        if BLOCKS.contains(&word) || (word == "set" && !tag.statement.contains('=')) {
            open.push(word);
        }
    }
    let last = open.last()?;
    waiting.next().map(|heading| inside(heading, last))
}

fn inside(heading: &Heading<'_>, block: &str) -> String {
    format!("the heading `{}:` in line {} is inside of `{{% {block} %}}`", heading.role, heading.line)
}

/// Whether a statement gives a name to the text after it, which uses it.
fn hands_on(statement: &str, rest: &str) -> bool {
    let (word, names) = statement.split_once(char::is_whitespace).unwrap_or((statement, ""));
    let names = match word {
        "set" => names.split('=').next().unwrap_or_default(),
        "macro" => names.split('(').next().unwrap_or_default(),
        _ => return ["import", "from", "extends"].contains(&word),
    };
    let used: HashSet<&str> = words(rest).collect();
    words(names).any(|name| used.contains(name))
}

/// The words of a text that may be names.
pub fn words(text: &str) -> impl Iterator<Item = &str> {
    text.split(|c: char| !(c.is_alphanumeric() || c == '_')).filter(|word| !word.is_empty())
}

fn parted<'t>(text: &'t str, headings: &[Heading<'t>]) -> Layout<'t> {
    let mut sections = Vec::new();
    let first = headings.first().map_or(0, |heading| heading.from);
    let lead = text.get(..first).unwrap_or_default();
    if may_print(lead) {
        // What comes before the first heading is told by the system.
        sections.push(section(lead, ("system", ""), 0));
    }
    let ends = headings.iter().skip(1).map(|next| next.from).chain([text.len()]);
    sections.extend(headings.iter().zip(ends).map(|(heading, end)| {
        let text = text.get(heading.to..end).unwrap_or_default();
        section(text, (heading.role, heading.attributes), heading.line)
    }));
    Layout::Sections(sections)
}

/// The message in a part of a text that comes after so many lines.
fn section<'t>(
    text: &'t str,
    (role, attributes): (&'static str, &'t str),
    lines_before: usize,
) -> Section<'t> {
    let blank = text.split_inclusive('\n').take_while(|line| line.trim().is_empty());
    let (lines, bytes) = blank.fold((0, 0), |(lines, bytes), line| (lines + 1, bytes + line.len()));
    let text = text.get(bytes..).unwrap_or_default().trim_end();
    Section { role, attributes, text, lines_before: lines_before + lines }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn parts(text: &str) -> Vec<(&'static str, &str, usize)> {
        match layout(text) {
            Layout::Sections(sections) => sections
                .into_iter()
                .map(|section| (section.role, section.text, section.lines_before))
                .collect(),
            other => panic!("{other:?}"),
        }
    }

    #[test]
    fn headings_begin_messages() {
        let text = "{# about #}\nsystem:\n\nYou help.\n\n  # User:\n{{ q }}\nassistant[name=\"a\"] :\nok";
        assert_eq!(parts(text), [("system", "You help.", 3), ("user", "{{ q }}", 6), ("assistant", "ok", 8)]);
        assert_eq!(parts("lead\nuser:\nhi"), [("system", "lead", 0), ("user", "hi", 2)]);
        let silent = "{% set unused = 'kind' %}{% set x %}text{% endset %}{# user: #}\nuser:\nhi";
        assert_eq!(parts(silent), [("user", "hi", 2)], "statements that print nothing are no message");
        assert_eq!(parts("{% include 'x' %}\nuser:\nhi").len(), 2);
        assert_eq!(layout("The user: hi\nno heading: here"), Layout::Plain);
        assert_eq!(parts("user:\n{% raw %}{% for %}{% endraw %}\nuser:\nx").len(), 2);
        assert_eq!(parts("user:\n{# a\nuser:\n#}b").len(), 1);
    }

    #[test]
    fn headings_that_depend_on_values_are_told() {
        let woven = |text: &str| matches!(layout(text), Layout::Woven(_));
        assert!(woven("system:\na\n{% for m in history %}\nuser:\n{{ m }}\n{% endfor %}\nuser:\n{{ q }}"));
        assert!(woven("system:\na\n{% for m in history %}\n{{ m.role }}:\n{{ m }}\n{% endfor %}"));
        assert!(woven("{% set x = 1 %}\nsystem:\na\nuser:\n{{ x }}"));
        assert!(woven("{% set a, b = 1, 2 %}\nsystem:\na\nuser:\n{{ b }}"));
        assert!(woven("system:\n{{ history | messages }}"));
        assert!(!woven("system:\n{% if a %}b{% endif %}\nuser:\n{% set x = 1 %}{{ x }}"));
    }
}
