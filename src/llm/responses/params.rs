//! Parameters of a prompt, or of the settings, which are written as for chat completions, under their names in responses.

use serde_json::{Map, Value as Json, json};

use super::tools;
use template::value::RawObject;

/// Parameters of a prompt, or of the settings, which are written as for chat completions.
#[derive(Debug, Default)]
pub struct Params {
    /// Those that responses have, under their names there.
    pub native: Map<String, Json>,
    /// Those that only chat completions have.
    pub chat: Map<String, Json>,
}

impl Params {
    /// Sorts the parameters of a chat completion.
    pub fn of_chat<'p>(params: impl Iterator<Item = (&'p String, &'p Json)>) -> Params {
        let mut sorted = Params::default();
        for (name, value) in params {
            sorted.add(name, value);
        }
        sorted
    }

    /// Fills in what a request does not say, inside of `text` and `reasoning` too.
    pub(super) fn fill(&self, payload: &mut RawObject) -> Result<(), serde_json::Error> {
        payload.fill(self.native.iter())?;
        for name in ["text", "reasoning"] {
            let said: Option<Map<String, Json>> = payload.find(name);
            let defaults = self.native.get(name).and_then(Json::as_object);
            let (Some(mut said), Some(defaults)) = (said, defaults) else { continue };
            let lacking = defaults.iter().filter(|(name, _)| !said.contains_key(*name));
            let lacking: Vec<_> = lacking.map(|(name, value)| (name.clone(), value.clone())).collect();
            said.extend(lacking);
            payload.set(name, &said)?;
        }
        Ok(())
    }

    fn add(&mut self, name: &str, value: &Json) {
        let Params { native, chat } = self;
        match name {
            "max_tokens" => put(native, "max_output_tokens", value.clone()),
            "max_completion_tokens" => {
                put(native, "max_output_tokens", value.clone());
                put(chat, name, value.clone());
            }
            // A response has one answer.
            "n" => {}
            "reasoning_effort" => put(native, "reasoning", json!({"effort": value})),
            "verbosity" => inside(native, "text", "verbosity", value.clone()),
            "response_format" => inside(native, "text", "format", tools::flat(value, "json_schema")),
            "tools" => put(native, "tools", tools::of_responses(value)),
            "tool_choice" => put(native, "tool_choice", tools::choice_of_responses(value)),
            "model"
            | "temperature"
            | "top_p"
            | "top_logprobs"
            | "parallel_tool_calls"
            | "metadata"
            | "user"
            | "service_tier"
            | "prompt_cache_key"
            | "safety_identifier" => put(native, name, value.clone()),
            _ => put(chat, name, value.clone()),
        }
    }
}

/// The first value of a name counts, as in all defaults.
fn put(map: &mut Map<String, Json>, name: &str, value: Json) {
    map.entry(name).or_insert(value);
}

fn inside(map: &mut Map<String, Json>, outer: &str, inner: &str, value: Json) {
    if let Some(members) = map.entry(outer).or_insert_with(|| json!({})).as_object_mut() {
        put(members, inner, value);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn parameters_of_chats_get_their_names_in_responses() {
        let params = json!({
            "max_tokens": 5, "temperature": 0.5, "stop": ["x"], "seed": 1, "reasoning_effort": "low",
            "response_format": {"type": "json_schema", "json_schema": {"name": "n", "schema": {}}}, "verbosity": "low",
            "tools": [{"type": "function", "function": {"name": "f", "parameters": {}}}],
            "tool_choice": {"type": "function", "function": {"name": "f"}},
        });
        let Params { native, chat } = Params::of_chat(params.as_object().unwrap().iter());
        let expected = json!({
            "max_output_tokens": 5, "temperature": 0.5, "reasoning": {"effort": "low"},
            "text": {"format": {"type": "json_schema", "name": "n", "schema": {}}, "verbosity": "low"},
            "tools": [{"type": "function", "name": "f", "parameters": {}}],
            "tool_choice": {"type": "function", "name": "f"},
        });
        assert_eq!(Json::Object(native), expected);
        assert_eq!(Json::Object(chat), json!({"stop": ["x"], "seed": 1}));
    }
}
