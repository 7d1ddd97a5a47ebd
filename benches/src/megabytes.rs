//! Texts of 1 MB, and how long something takes on them.

use std::time::Instant;

use crate::statistics::{median, percentile};

/// The length of each text, in bytes, up to the start of a character.
pub const LENGTH: usize = 1_000_000;

/// The first megabyte of parts in a row.
pub fn text(parts: impl Iterator<Item = String>) -> String {
    let mut text = String::with_capacity(LENGTH);
    for part in parts {
        if text.len() >= LENGTH {
            break;
        }
        text.push_str(&part);
    }
    text.truncate(text.floor_char_boundary(LENGTH));
    text
}

/// A part again and again, with a number that changes for each `#`.
pub fn numbered(part: &str) -> String {
    text((0..).map(|number: usize| part.replace('#', &number.to_string())))
}

/// The milliseconds that each round of an operation takes.
pub fn millis(rounds: usize, operation: impl Fn()) -> Vec<f64> {
    let timed = |_| {
        let start = Instant::now();
        operation();
        start.elapsed().as_secs_f64() * 1e3
    };
    (0..rounds).map(timed).collect()
}

/// The median, the lowest and the highest of times.
pub fn shown(millis: &[f64]) -> String {
    let (lowest, highest) = (percentile(millis, 0.0), percentile(millis, 100.0));
    format!("{:.2} ({lowest:.2}..{highest:.2})", median(millis))
}
