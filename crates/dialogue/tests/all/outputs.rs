//! Outputs of commands, and what models get of them.

use dialogue::{Cleaning, Duplicates, clean};
use serde::Deserialize;

use crate::cases;

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Case {
    name: String,
    output: String,
    #[serde(default)]
    command: String,
    /// `all`, `consecutive` or `none`.
    duplicates: Option<String>,
    chars: Option<usize>,
    cleaned: String,
}

impl Case {
    fn problem(&self) -> Option<String> {
        let duplicates = match self.duplicates.as_deref() {
            None | Some("all") => Duplicates::All,
            Some("consecutive") => Duplicates::Consecutive,
            Some(other) => {
                assert_eq!(other, "none");
                Duplicates::None
            }
        };
        let cleaning = Cleaning { duplicates, chars: self.chars.unwrap_or(8000) };
        let cleaned = clean(&self.output, &self.command, cleaning);
        (cleaned != self.cleaned).then(|| {
            format!("{}: {:?}\n  gives {cleaned:?}\n  not   {:?}", self.name, self.output, self.cleaned)
        })
    }
}

#[test]
fn each_output_is_cleaned_as_its_case_says() {
    let problems: Vec<String> = cases::read::<Case>("outputs.jsonl", 60, |case| &case.name)
        .iter()
        .filter_map(Case::problem)
        .collect();
    assert!(problems.is_empty(), "{}", problems.join("\n"));
}
