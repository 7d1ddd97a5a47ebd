//! Masks the secrets in a text: what goes to a language model must not show passwords, keys and tokens.
//!
//! Secrets are known by their shape, or by the name before them. One pass looks for *beginnings*; at each, a rule looks at a
//! bounded part of the text and decides; then the secret is followed to its end, however far that is. The rules of what is
//! masked, and of what stays, are in the tables of the tests.
//!
//! - `anchors`: the beginnings; `shapes`: the table of known shapes; `pem`, `url`: two that are no simple shapes
//! - `assignment`: names with values; `names`, `words` and `links`: which; `value_forms`, `values` and `code`: what follows
//! - `extent`: how far a secret reaches; `window`: what a rule may look at
//! - `scanner`: the pass; `stream`: the pass over a text in pieces

mod anchors;
mod assignment;
mod code;
mod extent;
mod links;
mod names;
mod pem;
mod scanner;
mod shapes;
mod stream;
mod url;
mod value_forms;
mod values;
mod window;
mod words;

#[cfg(test)]
mod tests;

use std::borrow::Cow;

pub use stream::Masker;

use extent::Extent;
use scanner::{Scanner, Step};

/// How a mask begins: it ends with `]`, or says before what was masked.
const MASK: &str = "[masked";

/// How many bytes before a place its rules look at.
const LOOK_BEHIND: usize = 256;

/// A secret that was found.
#[derive(Debug)]
struct Found {
    start: usize,
    /// What it is, if its shape says so.
    kind: Option<&'static str>,
    extent: Extent,
}

/// The text with every secret replaced by `[masked]`, or by what it was, such as `[masked: GitHub token]`. What was masked
/// before stays.
pub fn mask(text: &str) -> Cow<'_, str> {
    let mut scanner = Scanner::default();
    let mut masked = String::new();
    let mut from = 0;
    loop {
        match scanner.step(text.as_bytes(), true) {
            Step::Secret { start, kind } => {
                masked.push_str(text.get(from..start).unwrap_or_default());
                push_mask(&mut masked, kind);
            }
            Step::End(end) => from = end,
            Step::Wait => break,
        }
    }
    if masked.is_empty() {
        return Cow::Borrowed(text);
    }
    masked.push_str(text.get(from..).unwrap_or_default());
    Cow::Owned(masked)
}

fn push_mask(text: &mut String, kind: Option<&str>) {
    text.push_str(MASK);
    if let Some(kind) = kind {
        text.push_str(": ");
        text.push_str(kind);
    }
    text.push(']');
}
