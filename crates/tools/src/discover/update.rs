//! A newly found document over the stored one of the same id.

use serde_json::Value as Json;

/// The members that a source says; all others are people's.
const FOUND: [&str; 9] =
    ["name", "module", "type", "description", "parameters", "url", "restful", "grpc", "mcp"];

/// The stored document with what was found put in. What people added (`timeoutMs`, `cacheSeconds`, `default`, `returns` and the
/// like) stays, as does a description that the source lacks.
pub fn updated(stored: &Json, found: &Json) -> Json {
    let (Some(stored), Some(found)) = (stored.as_object(), found.as_object()) else { return found.clone() };
    let mut updated = stored.clone();
    updated.retain(|name, _| {
        found.contains_key(name) || !FOUND.contains(&name.as_str()) || name == "description"
    });
    updated.extend(found.iter().map(|(name, member)| (name.clone(), member.clone())));
    updated.into()
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    #[test]
    fn what_people_added_stays_and_what_the_source_says_is_new() {
        let stored = json!({
            "timeoutMs": 5, "name": "t", "module": "m", "type": "restful", "url": "/old", "description": "old",
            "parameters": {"properties": {"a": {}}}, "default": null,
        });
        let found = json!({
            "name": "t", "module": "m", "type": "mcp", "parameters": {"properties": {"b": {}, "a": {}}},
            "mcp": {"url": "http://h/"},
        });
        let expected = json!({
            "timeoutMs": 5, "name": "t", "module": "m", "type": "mcp", "description": "old",
            "parameters": {"properties": {"b": {}, "a": {}}}, "default": null, "mcp": {"url": "http://h/"},
        });
        assert_eq!(updated(&stored, &found).to_string(), expected.to_string());
        assert_eq!(updated(&expected, &found).to_string(), expected.to_string());
        assert_eq!(updated(&json!("broken"), &found), found);
    }
}
