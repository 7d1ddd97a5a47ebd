//! Front matter that is almost YAML, line by line: values with `: `, `@` or `*` in them, quotes that do not pair up, tabs.
//!
//! What is understood: members, texts over several lines, block scalars, lists of values and of objects, and objects in
//! objects. A line that is none of these goes on with the text before it. Reading never fails.

use serde_json::{Map, Value as Json};

use super::super::yaml;

/// How deep lists and objects may be nested; what lies deeper is a text.
const DEPTH_MAX: usize = 8;

/// A tab counts as so many spaces.
const TAB: usize = 2;

/// A line without its indentation.
#[derive(Debug, Clone, Copy)]
struct Line<'a> {
    indent: usize,
    text: &'a str,
}

impl Line<'_> {
    fn is_empty(&self) -> bool {
        self.text.is_empty()
    }

    fn is_comment(&self) -> bool {
        self.text.starts_with('#')
    }

    fn is_item(&self) -> bool {
        item_of(self.text).is_some()
    }
}

/// The members that the lines of a text say; of two with one name the last.
pub fn read(text: &str) -> Map<String, Json> {
    let lines: Vec<Line<'_>> = text.lines().map(line).collect();
    object(&lines, 0)
}

/// Whether every line of a text reads as front matter, and at least one of them is a member.
pub fn is_front_matter(text: &str) -> bool {
    let lines = || text.lines().map(line).filter(|line| !line.is_empty() && !line.is_comment());
    let begins = lines().next().is_some_and(|line| line.indent == 0 && member_of(line.text).is_some());
    begins && lines().all(|line| line.indent > 0 || member_of(line.text).is_some() || line.is_item())
}

/// The name of the member that begins in a line at the top level.
pub fn key_of(text: &str) -> Option<&str> {
    let line = line(text);
    (line.indent == 0 && !line.is_comment()).then(|| member_of(line.text))?.map(|(key, _)| key)
}

fn line(text: &str) -> Line<'_> {
    let trimmed = text.trim_start_matches([' ', '\t']);
    let before = text.len() - trimmed.len();
    let tabs = text.get(..before).unwrap_or_default().matches('\t').count();
    Line { indent: before + tabs * (TAB - 1), text: trimmed.trim_end() }
}

/// The name and the value of a member; names are words, so that `Use when: …` is none.
fn member_of(text: &str) -> Option<(&str, &str)> {
    let (key, value) = text.split_once(':')?;
    let key = key.trim_end();
    let key =
        ['"', '\''].iter().find_map(|quote| key.strip_prefix(*quote)?.strip_suffix(*quote)).unwrap_or(key);
    let is_word = |c: char| c.is_alphanumeric() || ['_', '-', '.'].contains(&c);
    let is_name = !key.is_empty() && key.chars().all(is_word) && !key.starts_with('-');
    (is_name && (value.is_empty() || value.starts_with([' ', '\t']))).then(|| (key, value.trim()))
}

/// What follows the dash of an item.
fn item_of(text: &str) -> Option<&str> {
    let rest = text.strip_prefix('-')?;
    (rest.is_empty() || rest.starts_with([' ', '\t'])).then(|| rest.trim_start())
}

/// The members of an object whose lines these are.
fn object(lines: &[Line<'_>], depth: usize) -> Map<String, Json> {
    let mut members = Map::new();
    let own = indent_of(lines);
    let mut rest = lines;
    while let Some((first, after)) = rest.split_first() {
        let member = member_of(first.text).filter(|_| first.indent <= own && !first.is_comment());
        let Some((key, value)) = member else {
            rest = after;
            continue;
        };
        let inner = extent(after, first.indent, value.is_empty());
        let (below, next) = after.split_at(inner);
        members.insert(key.to_owned(), value_of(value, below, depth));
        rest = next;
    }
    members
}

/// The indentation of the first line that says something.
fn indent_of(lines: &[Line<'_>]) -> usize {
    lines.iter().find(|line| !line.is_empty() && !line.is_comment()).map_or(0, |line| line.indent)
}

/// How many of the lines belong to the member or item above them: those that are indented more, and those that are no member. The
/// items of a list may stand as far left as the member whose value they are.
fn extent(lines: &[Line<'_>], indent: usize, takes_items: bool) -> usize {
    let is_inside = |line: &Line<'_>| {
        let is_list = takes_items && line.indent == indent && line.is_item();
        let goes_on = line.indent == indent && member_of(line.text).is_none() && !line.is_item();
        line.is_empty() || line.indent > indent || is_list || goes_on
    };
    lines.iter().take_while(|line| is_inside(line)).count()
}

/// The value that begins beside its name and goes on in the lines below.
fn value_of(beside: &str, below: &[Line<'_>], depth: usize) -> Json {
    if let Some(style) = block_style(beside) {
        return Json::String(block(below, style));
    }
    let first = below.iter().find(|line| !line.is_empty() && !line.is_comment());
    match first {
        Some(line) if beside.is_empty() && line.is_item() && depth < DEPTH_MAX => list(below, depth + 1),
        Some(line) if beside.is_empty() && member_of(line.text).is_some() && depth < DEPTH_MAX => {
            Json::Object(object(below, depth + 1))
        }
        _ => scalar(&joined(beside, below)),
    }
}

/// How the text of a block is put together.
#[derive(Debug, Clone, Copy)]
struct BlockStyle {
    /// `>`: lines are joined, and an empty line parts paragraphs.
    is_folded: bool,
    /// `-`: there is no line end behind it.
    is_stripped: bool,
}

/// The style that `|` or `>`, with their signs, begins a text of several lines in.
fn block_style(value: &str) -> Option<BlockStyle> {
    let signs = value.split('#').next().unwrap_or(value).trim_end().strip_prefix(['|', '>'])?;
    let are_signs = signs.chars().all(|c| ['-', '+'].contains(&c) || c.is_ascii_digit());
    are_signs.then(|| BlockStyle { is_folded: value.starts_with('>'), is_stripped: signs.contains('-') })
}

/// The text of a block.
fn block(lines: &[Line<'_>], BlockStyle { is_folded, is_stripped }: BlockStyle) -> String {
    let own = lines.iter().filter(|line| !line.is_empty()).map(|line| line.indent).min().unwrap_or(0);
    let mut text = String::new();
    for line in lines {
        let was_text = !text.is_empty() && !text.ends_with('\n');
        match is_folded {
            true if line.is_empty() => text.push('\n'),
            true if was_text => text.push(' '),
            true => {}
            false if !text.is_empty() => text.push('\n'),
            false => {}
        }
        let deeper = if is_folded || line.is_empty() { 0 } else { line.indent - own };
        text.push_str(&" ".repeat(deeper));
        text.push_str(line.text);
    }
    let end = if is_stripped || text.trim().is_empty() { "" } else { "\n" };
    format!("{}{end}", text.trim())
}

/// A text over several lines, in one.
fn joined(beside: &str, below: &[Line<'_>]) -> String {
    let below = below.iter().filter(|line| !line.is_empty() && !line.is_comment()).map(|line| line.text);
    let parts: Vec<&str> = [beside].into_iter().filter(|text| !text.is_empty()).chain(below).collect();
    parts.join(" ")
}

fn list(lines: &[Line<'_>], depth: usize) -> Json {
    let mut items = Vec::new();
    let mut rest = lines;
    while let Some((first, after)) = rest.split_first() {
        let Some(beside) = item_of(first.text) else {
            rest = after;
            continue;
        };
        let (below, next) = after.split_at(extent(after, first.indent, false));
        items.push(item(first, beside, below, depth));
        rest = next;
    }
    Json::Array(items)
}

/// An item of a list: an object whose first member stands beside the dash, or another value.
fn item(first: &Line<'_>, beside: &str, below: &[Line<'_>], depth: usize) -> Json {
    let is_object = member_of(beside).is_some()
        || beside.is_empty() && below.iter().any(|line| member_of(line.text).is_some());
    if !is_object || depth >= DEPTH_MAX {
        return value_of(beside, below, DEPTH_MAX);
    }
    let dash = first.text.len() - beside.len();
    let beside = Line { indent: first.indent + dash, text: beside };
    let inner: Vec<Line<'_>> =
        [beside].into_iter().filter(|line| !line.is_empty()).chain(below.iter().copied()).collect();
    Json::Object(object(&inner, depth + 1))
}

/// A value on one line: as YAML if it is a single value there, else as it stands.
fn scalar(text: &str) -> Json {
    let is_list = text.starts_with('[') && text.find(']') == Some(text.len() - 1);
    let is_object = text.starts_with('{') && text.ends_with('}');
    match yaml::parse(text, yaml::PROMPT_FILE) {
        Ok(Json::Array(items)) if text.starts_with('[') => Json::Array(items),
        Ok(Json::Object(members)) if is_object => Json::Object(members),
        Ok(Json::Array(_) | Json::Object(_)) => Json::String(unquoted(text).to_owned()),
        Ok(value) => value,
        Err(_) if is_list => {
            let inner = text.get(1..text.len() - 1).unwrap_or_default();
            let items = inner.split(',').map(str::trim).filter(|item| !item.is_empty());
            Json::Array(items.map(|item| unquoted(item).into()).collect())
        }
        Err(_) => Json::String(unquoted(text).to_owned()),
    }
}

/// The text without the quotes around it, or without one that has no partner.
fn unquoted(text: &str) -> &str {
    for quote in ['"', '\''] {
        if let Some(rest) = text.strip_prefix(quote) {
            let whole = rest.strip_suffix(quote);
            return whole.unwrap_or(if rest.contains(quote) { text } else { rest });
        }
    }
    text
}
