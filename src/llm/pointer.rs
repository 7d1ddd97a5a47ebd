//! What a `$ref` refers to, if that is in the same document.

use serde_json::Value as Json;

use base::encoding::percent_decoded;

/// The steps from the root of the document to what a reference refers to; `None` if it refers to another document, or is no
/// JSON Pointer (RFC 6901) in a fragment.
pub fn steps(reference: &str) -> Option<Vec<String>> {
    let pointer = percent_decoded(reference.strip_prefix('#')?)?;
    if pointer.is_empty() {
        return Some(Vec::new());
    }
    let steps = pointer.strip_prefix('/')?.split('/');
    Some(steps.map(|step| step.replace("~1", "/").replace("~0", "~")).collect())
}

/// What lies at the end of these steps; `None` if there is nothing, or the way leads through a document of its own.
pub fn follow<'s>(document: &'s Json, steps: &[String]) -> Option<&'s Json> {
    let mut place = document;
    for (number, step) in steps.iter().enumerate() {
        let is_elsewhere = number > 0 && place.get("$id").is_some_and(Json::is_string);
        place = match place {
            _ if is_elsewhere => return None,
            Json::Object(members) => members.get(step)?,
            Json::Array(items) => items.get(index(step)?)?,
            _ => return None,
        };
    }
    Some(place)
}

/// An index of an array, which has no leading zeros.
fn index(step: &str) -> Option<usize> {
    let is_index = step == "0" || !step.starts_with('0') && step.bytes().all(|byte| byte.is_ascii_digit());
    if is_index { step.parse().ok() } else { None }
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    #[test]
    fn references_lead_through_escapes_and_arrays() {
        let document = json!({"a/b": {"c~d": [1, {"ä %": 2}]}, "": 3, "x": {"$id": "other", "y": 4}});
        for (reference, expected) in [
            ("#", Some(&document)),
            ("#/a~1b/c~0d/0", Some(&json!(1))),
            ("#/a%2Fb", None),
            ("#/a~1b/c~0d/1/%C3%A4%20%25", Some(&json!(2))),
            ("#/a~1b/c~0d/1/ä %25", Some(&json!(2))),
            ("#/a~1b/c~0d/01", None),
            ("#/", Some(&json!(3))),
            ("#/x", Some(&document["x"])),
            ("#/x/y", None),
            ("#x", None),
            ("other#/x", None),
            ("#/%zz", None),
            ("#/%4", None),
            ("#/%+4", None),
            ("#/%ff", None),
        ] {
            let found = steps(reference).and_then(|steps| follow(&document, &steps));
            assert_eq!(found, expected, "{reference}");
        }
    }
}
