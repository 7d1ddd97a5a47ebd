//! What is masked and what stays: tables of cases, texts in pieces, and hostile texts.

mod names;
mod shapes;
mod stays;
mod streams;

use super::mask;

/// Letters and digits as they are in keys.
const KEY: &str = "tR7bQ2xWm9Kd4LzPa8Vn3JcYf6GhUe5SoXi1ZqBw0TrEkMyNvC7dFs2HpAj8gLu4";

/// What is given, what comes out (nothing if all of it stays), and why.
type Case = (&'static str, &'static str, &'static str);

/// Writes a key of as many characters for `{20}`: so no text of this file looks like a key to others.
fn expand(text: &str) -> String {
    let mut parts = text.split('{');
    let mut expanded = parts.next().unwrap().to_owned();
    for part in parts {
        match part.split_once('}').map(|(count, rest)| (count.parse::<usize>(), rest)) {
            Some((Ok(count @ ..1_000_000), rest)) => {
                expanded.extend(KEY.chars().cycle().take(count));
                expanded.push_str(rest);
            }
            _ => expanded.extend(["{", part]),
        }
    }
    expanded
}

/// Checks cases, and that masking twice changes nothing more.
fn check(cases: &[Case]) {
    let mut wrong = Vec::new();
    for (given, expected, why) in cases {
        let given = expand(given);
        let expected = if expected.is_empty() { given.clone() } else { expand(expected) };
        let masked = mask(&given);
        if masked != expected {
            wrong
                .push(format!("{why}\n  given    {given:?}\n  expected {expected:?}\n  masked   {masked:?}"));
        } else if mask(&masked) != masked {
            wrong.push(format!("{why}: again\n  given {masked:?}\n  masked {:?}", mask(&masked)));
        }
    }
    assert!(wrong.is_empty(), "{} cases:\n{}", wrong.len(), wrong.join("\n"));
}
