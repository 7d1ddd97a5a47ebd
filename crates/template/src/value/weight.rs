//! Estimates the memory that a JSON text takes when it is parsed, before parsing it.

use memchr::memchr2;

use serde_json::Value as Json;

use super::{List, Map, SmolStr, Value};

/// The tree that a text is to be parsed into.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Tree {
    /// A [`Value`].
    Value,
    /// A `serde_json` tree, as documents are read: about three times as large.
    Json,
    /// A [`RawObject`](super::RawObject): the text once more, and again when it is sent on.
    Raw,
}

/// What each part of a tree takes, in bytes.
struct Sizes {
    item: usize,
    member: usize,
    list: usize,
    object: usize,
}

/// How deep containers may nest; the parser refuses deeper ones.
const DEPTH_MAX: usize = 128;

/// What a reference count adds to a container.
const COUNTS: usize = 16;

impl Tree {
    fn sizes(self) -> Sizes {
        match self {
            Tree::Value => Sizes {
                item: size_of::<Value>(),
                member: size_of::<(SmolStr, Value)>(),
                list: size_of::<List>() + COUNTS,
                object: size_of::<Map>() + COUNTS,
            },
            Tree::Json => Sizes {
                item: size_of::<Json>(),
                // A hash, a key with its allocation, the value, and a table entry, in tables that grow by doubling.
                member: 2 * (size_of::<(usize, String, Json)>() + COUNTS),
                list: 0,
                object: COUNTS,
            },
            Tree::Raw => Sizes { item: 0, member: 0, list: 0, object: 0 },
        }
    }
}

/// About how many bytes of memory the text takes when it is parsed, besides the text itself. Invalid JSON has a weight too;
/// the parser will refuse it.
pub fn weight(text: &[u8], tree: Tree) -> usize {
    // Strings are at most as long as their source.
    let mut weight = text.len();
    if tree == Tree::Raw {
        return 2 * weight;
    }
    let sizes = tree.sizes();
    // The open containers; for a list, its commas so far.
    let mut open: Vec<Option<usize>> = Vec::with_capacity(DEPTH_MAX);
    let mut at = 0;
    while let Some(&byte) = text.get(at) {
        at += 1;
        match byte {
            b'"' => at = string_end(text, at),
            b':' => weight += sizes.member,
            b',' => {
                if let Some(Some(commas)) = open.last_mut() {
                    *commas += 1;
                }
            }
            b'[' | b'{' if open.len() >= DEPTH_MAX => return weight,
            b'[' => {
                weight += sizes.list;
                open.push(Some(0));
            }
            b'{' => {
                weight += sizes.object;
                open.push(None);
            }
            b']' | b'}' => {
                if let Some(Some(commas)) = open.pop() {
                    weight += sizes.item * most_at_once(commas + 1);
                }
            }
            _ => {}
        }
    }
    // A list that is never closed is refused, but its items are in memory by then.
    weight + open.into_iter().flatten().map(|commas| sizes.item * most_at_once(commas)).sum::<usize>()
}

/// A text longer than `DENSE_FROM` bytes may take at most `DENSITY_MAX` times its length in memory when it is parsed.
const DENSE_FROM: usize = 1 << 20;
const DENSITY_MAX: usize = 12;

/// The error of a text that takes too much memory for its length.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
#[error(
    "has so many small values that it would take {} MB of memory, more than {times} times its length",
    weight >> 20
)]
pub struct TooDense {
    /// About how many bytes it would take.
    pub weight: usize,
    /// How many times its length a text may take.
    pub times: usize,
}

/// The [`weight`] of a text.
///
/// # Errors
/// [`TooDense`] if that is too much for its length: a short text would use up the memory of many long ones.
pub fn admissible_weight(text: &[u8], tree: Tree) -> Result<usize, TooDense> {
    let weight = weight(text, tree);
    match text.len() > DENSE_FROM && weight / DENSITY_MAX > text.len() {
        true => Err(TooDense { weight, times: DENSITY_MAX }),
        false => Ok(weight),
    }
}

/// How many items are in memory at most while a list of `items` items grows: it doubles its capacity, and during the last
/// move, old and new buffer exist together.
fn most_at_once(items: usize) -> usize {
    match items {
        0..4_096 => items,
        _ => items.max(items.next_power_of_two()),
    }
}

/// The place after the end of the string that begins before this place.
fn string_end(text: &[u8], mut at: usize) -> usize {
    while let Some(next) = text.get(at..).and_then(|rest| memchr2(b'"', b'\\', rest)) {
        at += next;
        if text.get(at) == Some(&b'"') {
            return at + 1;
        }
        at += 2;
    }
    text.len()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn values_count_and_what_stands_in_strings_does_not() {
        let plain = weight(br#"{"a":[1,2]}"#, Tree::Value);
        let escaped = weight(br#"{"a":[1,2],"b":"\"[[,,::{{"}"#, Tree::Value);
        let Sizes { item, member, list, object } = Tree::Value.sizes();
        assert_eq!(plain, 11 + object + member + list + 2 * item);
        assert_eq!(escaped - plain, 17 + member);
        assert_eq!(weight(b"[[1,2]]", Tree::Raw), 14);
    }

    #[test]
    fn usual_data_is_light_and_many_empty_values_are_not() {
        let times = |text: String| weight(text.as_bytes(), Tree::Value) as f64 / text.len() as f64;
        assert!(times(format!("{{\"a\":\"{}\"}}", "x".repeat(100_000))) < 1.1);
        assert!(times(format!("[{}0]", "{\"n\":123456},".repeat(10_000))) < 12.0);
        assert!(times(format!("[{}0]", "-0.0123,".repeat(10_000))) < 8.0);
        assert!(
            times(format!("[{}0]", "123,".repeat(32_768))) > 12.0,
            "all of it is there twice when it moves"
        );
        assert!(times(format!("[{}0]", "{\"\":0},".repeat(10_000))) > 12.0);
        assert!(times(format!("[{}0]", "[0],".repeat(10_000))) > 12.0);
    }

    #[test]
    fn long_texts_of_small_values_are_too_dense() {
        let dense = |times| format!("[{}0]", "[0],".repeat(times));
        assert!(admissible_weight(dense(1_000).as_bytes(), Tree::Value).is_ok());
        let error = admissible_weight(dense(400_000).as_bytes(), Tree::Value).unwrap_err();
        assert!(error.weight > 12 * 1_600_000 && error.to_string().contains("12 times"), "{error}");
        let long = format!("\"{}\"", "x".repeat(2 << 20));
        assert_eq!(admissible_weight(long.as_bytes(), Tree::Value), Ok(long.len()));
    }

    #[test]
    fn texts_without_an_end_have_a_weight() {
        for text in ["\"", "\"\\", "[\"a\\\"", "{", "]]"] {
            assert!(weight(text.as_bytes(), Tree::Json) >= text.len());
        }
    }
}
