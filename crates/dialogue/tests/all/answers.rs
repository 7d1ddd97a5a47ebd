//! Answers of models, and the directives that they are.

use dialogue::{Answer, Directive, UnknownFormat, read};
use serde::Deserialize;

use crate::cases;

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Case {
    name: String,
    answer: String,
    #[serde(default)]
    is_cut: bool,
    /// Whether an answer without a tag is an error.
    #[serde(default)]
    needs_tag: bool,
    directive: Option<Directive>,
    /// How the message of the error begins.
    error: Option<String>,
}

impl Case {
    fn problem(&self) -> Option<String> {
        let unknown = if self.needs_tag { UnknownFormat::Error } else { UnknownFormat::Command };
        let result = read(Answer { text: &self.answer, is_cut: self.is_cut }, unknown);
        let is_expected = match (&result, &self.directive, &self.error) {
            (Ok(directive), Some(expected), None) => directive == expected,
            (Err(error), None, Some(expected)) => error.to_string().starts_with(expected),
            _ => false,
        };
        (!is_expected).then(|| format!("{}: {:?}\n  gives {result:?}", self.name, self.answer))
    }
}

#[test]
fn each_answer_gives_its_directive_or_its_error() {
    let problems: Vec<String> = cases::read::<Case>("answers.jsonl", 100, |case| &case.name)
        .iter()
        .filter_map(Case::problem)
        .collect();
    assert!(problems.is_empty(), "{}", problems.join("\n"));
}

#[test]
fn what_the_history_keeps_is_the_same_directive_again() {
    for case in cases::read::<Case>("answers.jsonl", 100, |case| &case.name) {
        let Some(directive) = case.directive else { continue };
        let text = match &directive {
            Directive::Command { content, .. }
            | Directive::Ask { content, .. }
            | Directive::Message { content, .. }
            | Directive::Done { content, .. } => content,
        };
        let again = read(Answer { text, is_cut: false }, UnknownFormat::Error);
        assert_eq!(again.as_ref(), Ok(&directive), "{}", case.name);
    }
}
