//! What messages hold, as GigaChat takes it: texts, and results that are JSON objects.

use serde_json::json;
use serde_json::value::RawValue;

use template::value::{RawObject, parse_json};

/// A result as GigaChat takes it: the text of a JSON object.
pub fn as_object(content: &str) -> String {
    let json: Option<&RawValue> = serde_json::from_str(content).ok();
    match json {
        Some(object) if object.get().starts_with('{') => content.to_owned(),
        Some(other) => json!({"result": other}).to_string(),
        None => json!({"result": content}).to_string(),
    }
}

/// The text of a content: a text, or a list of texts, a line each; nothing is an empty text.
///
/// # Errors
/// What GigaChat cannot take of it, as the rest of a sentence.
pub fn text(content: Option<&RawValue>) -> Result<String, String> {
    const WRONG: &str = "needs a `content` that is a text, or a list of texts";
    let Some(content) = content.filter(|content| content.get() != "null") else { return Ok(String::new()) };
    if content.get().starts_with('"') {
        return parse_json(content.get().as_bytes()).map_err(|_| WRONG.to_owned());
    }
    let parts: Vec<Box<RawValue>> = parse_json(content.get().as_bytes()).map_err(|_| WRONG.to_owned())?;
    let texts: Vec<String> = parts.iter().map(|part| part_text(part)).collect::<Result<_, _>>()?;
    Ok(texts.join("\n"))
}

fn part_text(part: &RawValue) -> Result<String, String> {
    if let Ok(text) = parse_json::<String>(part.get().as_bytes()) {
        return Ok(text);
    }
    let part: RawObject = parse_json(part.get().as_bytes()).unwrap_or_default();
    let kind: String = part.find("type").unwrap_or_default();
    let told = match kind.as_str() {
        "text" | "input_text" | "output_text" | "" => part.find("text"),
        "refusal" => part.find("refusal"),
        _ => None,
    };
    told.ok_or_else(|| format!("has a part of the type {kind:?}: only texts go to GigaChat from here"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_result_is_a_json_object() {
        for (content, expected) in [
            ("{\"a\": 1.0}", "{\"a\": 1.0}"),
            ("", "{\"result\":\"\"}"),
            ("5", "{\"result\":5}"),
            ("\"x\"", "{\"result\":\"x\"}"),
            ("{broken", "{\"result\":\"{broken\"}"),
        ] {
            assert_eq!(as_object(content), expected);
        }
    }
}
