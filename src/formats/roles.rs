//! Texts with headings for roles (`system:`, `# user:`), as Prompty and promptflow write chats, and how they part into messages.
//!
//! Those programs render the text first and look for headings then. A text is parted before it is rendered here, so that no value
//! of a variable can begin a message.

/// The roles of headings.
const ROLES: [&str; 6] = ["system", "user", "assistant", "developer", "function", "tool"];

/// Statements that have an end; `set` has one only without a `=`.
const BLOCKS: [&str; 11] =
    ["for", "if", "macro", "call", "filter", "block", "with", "autoescape", "raw", "trans", "generation"];

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

/// A heading of a text.
struct Heading<'t> {
    role: &'static str,
    attributes: &'t str,
    /// Where its line begins, and where the next one does.
    from: usize,
    to: usize,
    line: usize,
}

/// Parts a text whose line breaks are `\n`.
pub fn layout(text: &str) -> Layout<'_> {
    let tags = tags(text);
    let mut headings = Vec::new();
    let mut from = 0;
    for (at, line) in text.split_inclusive('\n').enumerate() {
        let to = from + line.len();
        if !tags.iter().any(|tag| tag.from < from && from < tag.to) {
            if let Some((role, attributes)) = heading(line) {
                headings.push(Heading { role, attributes, from, to, line: at + 1 });
            } else if is_computed(line) {
                return Layout::Woven(format!("line {} computes the role of a message", at + 1));
            }
        }
        from = to;
    }
    match headings.is_empty() {
        true => Layout::Plain,
        false => why_woven(&headings, &tags, text).map_or_else(|| parted(text, &headings), Layout::Woven),
    }
}

/// The role and the attributes that a line is the heading of.
fn heading(line: &str) -> Option<(&'static str, &str)> {
    let line = line.trim();
    let line = line.strip_prefix('#').unwrap_or(line).trim_start().strip_suffix(':')?.trim_end();
    let (role, attributes) = match line.split_once('[') {
        Some((role, attributes)) => (role, attributes.strip_suffix(']')?),
        None => (line, ""),
    };
    let role = ROLES.into_iter().find(|known| known.eq_ignore_ascii_case(role.trim_end()))?;
    Some((role, attributes))
}

/// Whether a line is a heading whose role is the value of an expression (`{{item.role}}:`).
fn is_computed(line: &str) -> bool {
    let line = line.trim().trim_start_matches('#').trim_start();
    line.starts_with("{{") && line.ends_with("}}:") && line.contains("role")
}

/// A tag of Jinja.
struct Tag<'t> {
    from: usize,
    to: usize,
    /// What a statement says; empty for comments and expressions.
    statement: &'t str,
}

/// The tags of a text, in order. What stands between `raw` and `endraw` has none.
fn tags(text: &str) -> Vec<Tag<'_>> {
    let mut tags = Vec::new();
    let mut at = 0;
    let mut raw = false;
    while let Some(found) = text.get(at..).and_then(|rest| rest.find('{')) {
        let from = at + found;
        let rest = text.get(from..).unwrap_or_default();
        let end = [("{%", "%}"), ("{{", "}}"), ("{#", "#}")].into_iter().find(|(open, _)| rest.starts_with(open));
        let Some(length) = end.and_then(|(_, close)| Some(rest.find(close)? + 2)) else {
            at = from + 1;
            continue;
        };
        let inner = rest.get(2..length - 2).unwrap_or_default().trim_matches(['-', '+']).trim();
        let statement = if rest.starts_with("{%") { inner } else { "" };
        if raw && statement != "endraw" {
            at = from + 1;
            continue;
        }
        raw = statement == "raw";
        tags.push(Tag { from, to: from + length, statement });
        at = from + length;
    }
    tags
}

/// Why the messages of a text depend on values, or on one another.
fn why_woven(headings: &[Heading<'_>], tags: &[Tag<'_>], text: &str) -> Option<String> {
    let mut open: Vec<&str> = Vec::new();
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
        let later = headings.iter().find(|heading| heading.from > tag.from);
        if let Some(later) = later.filter(|_| open.is_empty()) {
            let rest = text.get(later.from..).unwrap_or_default();
            if hands_on(tag.statement, rest) {
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
    let mut words = statement.split(|c: char| !(c.is_alphanumeric() || c == '_')).filter(|word| !word.is_empty());
    match words.next() {
        Some("set" | "macro") => words.next().is_some_and(|name| rest.contains(name)),
        Some("import" | "from" | "extends") => true,
        _ => false,
    }
}

fn parted<'t>(text: &'t str, headings: &[Heading<'t>]) -> Layout<'t> {
    let mut sections = Vec::new();
    let first = headings.first().map_or(0, |heading| heading.from);
    let lead = text.get(..first).unwrap_or_default();
    if !without_comments(lead).trim().is_empty() {
        // What comes before the first heading is told by the system.
        sections.push(section(text, ("system", ""), 0, first));
    }
    let ends = headings.iter().skip(1).map(|next| next.from).chain([text.len()]);
    sections.extend(headings.iter().zip(ends).map(|(heading, end)| {
        section(text, (heading.role, heading.attributes), heading.to, end)
    }));
    Layout::Sections(sections)
}

fn section<'t>(text: &'t str, (role, attributes): (&'static str, &'t str), from: usize, to: usize) -> Section<'t> {
    let whole = text.get(from..to).unwrap_or_default();
    let blank: usize =
        whole.split_inclusive('\n').take_while(|line| line.trim().is_empty()).map(str::len).sum();
    let before = text.get(..from + blank).unwrap_or_default();
    let lines_before = before.bytes().filter(|byte| *byte == b'\n').count();
    Section { role, attributes, text: whole.get(blank..).unwrap_or_default().trim_end(), lines_before }
}

fn without_comments(text: &str) -> String {
    let mut rest = text;
    let mut out = String::new();
    while let Some((before, comment)) = rest.split_once("{#") {
        out.push_str(before);
        rest = comment.split_once("#}").map_or("", |(_, after)| after);
    }
    out + rest
}

#[cfg(test)]
mod tests {
    use super::*;

    fn parts(text: &str) -> Vec<(&'static str, &str, usize)> {
        match layout(text) {
            Layout::Sections(sections) => {
                sections.into_iter().map(|section| (section.role, section.text, section.lines_before)).collect()
            }
            other => panic!("{other:?}"),
        }
    }

    #[test]
    fn headings_begin_messages() {
        let text = "{# about #}\nsystem:\n\nYou help.\n\n  # User:\n{{ q }}\nassistant[name=\"a\"] :\nok";
        assert_eq!(parts(text), [("system", "You help.", 3), ("user", "{{ q }}", 6), ("assistant", "ok", 8)]);
        assert_eq!(parts("lead\nuser:\nhi"), [("system", "lead", 0), ("user", "hi", 2)]);
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
        assert!(!woven("system:\n{% if a %}b{% endif %}\nuser:\n{% set x = 1 %}{{ x }}"));
    }
}
