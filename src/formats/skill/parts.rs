//! The parts of a SKILL.md: front matter between lines of `---`, and the text below.

use base::encoding::without_mark;
use base::model::ProblemDetail;
use serde_json::{Map, Value as Json};

use super::super::yaml;
use super::lines;

/// The line above and below front matter.
const FENCE: &str = "---";

/// Members that front matter without its first fence must have one of, so that no headings of a text are taken for it.
const TELLING: [&str; 5] = ["name", "description", "params", "allowed-tools", "allowed_tools"];

/// Front matter as it was written.
#[derive(Debug, Clone, Copy)]
pub struct Front<'a> {
    /// Its lines, without the fences.
    pub text: &'a str,
    /// The line of the file that its first line is, from 1.
    first_line: usize,
}

/// A text in its parts.
#[derive(Debug)]
pub struct Parts<'a> {
    /// The front matter, if there is any.
    pub front: Option<Front<'a>>,
    /// The text below it.
    pub body: &'a str,
    /// What is wrong with the fences.
    pub problems: Vec<ProblemDetail>,
}

/// The text without a byte order mark, with `\n` at the ends of lines.
pub fn normal(text: &str) -> String {
    without_mark(text).replace("\r\n", "\n")
}

/// Parts a text as [`normal`] gives it.
pub fn split(text: &str) -> Parts<'_> {
    let blank = text.lines().take_while(|line| line.trim().is_empty());
    let (skipped, lines_before) =
        blank.fold((0, 0), |(bytes, lines), line| (bytes + line.len() + 1, lines + 1));
    let rest = text.get(skipped..).unwrap_or_default();
    let Some(first) = rest.lines().next() else { return without_front(text, None) };
    if !is_fence(first) {
        return forgotten_fence(text, rest, lines_before + 1);
    }
    let inside = rest.get(first.len() + 1..).unwrap_or_default();
    match until_fence(inside) {
        Some((front, body)) => {
            let front = Front { text: front, first_line: lines_before + 2 };
            Parts { front: Some(front), body, problems: Vec::new() }
        }
        None => without_front(text, Some("the front matter has no end: write a line `---` below it")),
    }
}

fn without_front<'a>(text: &'a str, problem: Option<&str>) -> Parts<'a> {
    let problem = problem.map(|message| ProblemDetail { line: Some(1), ..ProblemDetail::new(message) });
    Parts { front: None, body: text, problems: problem.into_iter().collect() }
}

/// Front matter that begins without a fence: every line before the one fence must read as front matter.
fn forgotten_fence<'a>(text: &'a str, rest: &'a str, first_line: usize) -> Parts<'a> {
    let Some((front, body)) = until_fence(rest).filter(|(front, _)| lines::is_front_matter(front)) else {
        return without_front(text, None);
    };
    let members = lines::read(front);
    if !TELLING.iter().any(|name| members.contains_key(*name)) {
        return without_front(text, None);
    }
    let message =
        "the first line should be `---`; what stands before the next `---` was read as front matter";
    let problem = ProblemDetail { line: Some(first_line), ..ProblemDetail::new(message) };
    Parts { front: Some(Front { text: front, first_line }), body, problems: vec![problem] }
}

/// The lines before the next fence, and those after it.
fn until_fence(text: &str) -> Option<(&str, &str)> {
    let mut at = 0;
    for line in text.split_inclusive('\n') {
        if is_fence(line) {
            return Some((text.get(..at)?, text.get(at + line.len()..)?));
        }
        at += line.len();
    }
    None
}

fn is_fence(line: &str) -> bool {
    line.trim_end() == FENCE
}

/// The members of front matter, those of `beside` first.
pub fn merged(
    front: Option<Front<'_>>,
    beside: Map<String, Json>,
    problems: &mut Vec<ProblemDetail>,
) -> Map<String, Json> {
    let mut members = front.map(|front| members_of(front, problems)).unwrap_or_default();
    members.extend(beside);
    members
}

/// Reads front matter as YAML, or else line by line.
fn members_of(front: Front<'_>, problems: &mut Vec<ProblemDetail>) -> Map<String, Json> {
    let problem = match yaml::parse(front.text, yaml::PROMPT_FILE) {
        Ok(Json::Object(members)) => return members,
        Ok(Json::Null) => return Map::new(),
        Ok(_) => ProblemDetail::new("the front matter is no list of `name: value` lines"),
        Err(error) => ProblemDetail {
            line: error.line.map(|line| line + front.first_line - 1),
            ..ProblemDetail::new(format!(
                "the front matter is {}; it was read line by line (values with `: `, `@` or `*` need quotes)",
                error.message
            ))
        },
    };
    problems.push(problem);
    lines::read(front.text)
}

impl Front<'_> {
    /// The line of the file in which a member begins, from 1.
    pub fn line_of(&self, name: &str) -> Option<usize> {
        let at = self.text.lines().position(|line| lines::key_of(line).is_some_and(|key| key == name))?;
        Some(at + self.first_line)
    }
}
