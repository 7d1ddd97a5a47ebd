//! The smallest strings: by length, and of letters; else what a format or a pattern asks for.

use serde_json::Value as Json;

use super::expand::Branch;
use super::{formats, pattern};

/// The longest string that is made.
const LENGTH_MAX: usize = 100_000;

/// How many strings of one length there are here.
const LETTERS: usize = 26;

/// Whether so many more bytes may be made.
pub type Allowance<'a> = &'a dyn Fn(usize) -> bool;

/// Some of the smallest strings that a branch allows.
pub fn texts(branch: &Branch, wanted: usize, allow: Allowance) -> Vec<Json> {
    let lengths = branch.at_least("minLength")..=branch.at_most("maxLength");
    if *lengths.start() > LENGTH_MAX {
        return Vec::new();
    }
    let mut texts = candidates(branch, wanted, *lengths.start(), allow);
    texts.retain(|text| lengths.contains(&text.chars().count()));
    texts.truncate(wanted);
    texts.into_iter().map(Json::from).collect()
}

fn candidates(branch: &Branch, wanted: usize, shortest: usize, allow: Allowance) -> Vec<String> {
    let patterns: Vec<&str> = branch.all("pattern").filter_map(Json::as_str).collect();
    let formats = branch.all("format").filter_map(Json::as_str);
    let mut texts: Vec<String> =
        patterns.iter().flat_map(|pattern| pattern::texts(pattern, wanted, shortest, allow)).collect();
    for format in formats {
        texts.extend(
            (0..wanted)
                .take_while(|_| allow(shortest))
                .filter_map(|number| formats::example(format, number, shortest)),
        );
    }
    if texts.is_empty() || !patterns.is_empty() {
        texts.extend((0..wanted).take_while(|_| allow(shortest)).map(|number| letters(number, shortest)));
    }
    texts
}

/// The text of that number among those of at least a length: `a`s, of which only the last one changes.
pub fn letters(number: usize, shortest: usize) -> String {
    let (length, letter) = match shortest {
        0 if number == 0 => return String::new(),
        0 => (1 + (number - 1) / LETTERS, (number - 1) % LETTERS),
        _ => (shortest + number / LETTERS, number % LETTERS),
    };
    let last = u8::try_from(letter).map_or('z', |letter| char::from(b'a' + letter));
    let mut text = "a".repeat(length - 1);
    text.push(last);
    text
}
