//! Lines that occur more than once.

use hashbrown::HashSet;

use super::Duplicates;

/// The text without repeated lines.
pub(super) fn without(text: String, duplicates: Duplicates) -> String {
    match duplicates {
        Duplicates::None => text,
        Duplicates::Consecutive => {
            let mut last = None;
            of_lines(&text, |line| last.replace(line) != Some(line))
        }
        Duplicates::All => {
            let mut seen = HashSet::new();
            of_lines(&text, |line| seen.insert(line))
        }
    }
}

fn of_lines<'a>(text: &'a str, mut keeps: impl FnMut(&'a str) -> bool) -> String {
    let mut kept = String::with_capacity(text.len());
    for line in text.lines().filter(|line| keeps(line)) {
        kept.push_str(line);
        kept.push('\n');
    }
    kept
}
