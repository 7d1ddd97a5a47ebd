//! Parameters of models, by the names that OpenAI's API gives them.

use serde_json::{Map, Value as Json};

use super::fields::{NOT_READ, is_reference};

/// The parameters that are numbers, and may be written as texts.
const NUMBERS: [&str; 15] = [
    "temperature",
    "top_p",
    "top_k",
    "min_p",
    "max_tokens",
    "max_completion_tokens",
    "max_output_tokens",
    "presence_penalty",
    "frequency_penalty",
    "repetition_penalty",
    "n",
    "best_of",
    "seed",
    "top_logprobs",
    "timeout",
];

/// Adds a model's parameters to `params`.
pub fn add_params(params: &mut Map<String, Json>, given: &Json, what: &str, left_out: &mut Vec<String>) {
    let Json::Object(members) = given else {
        match given {
            Json::Null => {}
            _ if is_reference(given) => left_out.push(format!("{what} ({NOT_READ})")),
            _ => left_out.push(format!("{what} (not an object)")),
        }
        return;
    };
    for (name, value) in members {
        if name == "additionalProperties" {
            add_params(params, value, &format!("{what}.{name}"), left_out);
        } else if is_reference(value) {
            left_out.push(format!("{what}.{name} ({NOT_READ})"));
        } else if !value.is_null() {
            let name = snake(name);
            let number = number(value).filter(|_| NUMBERS.contains(&name.as_str()));
            params.insert(name, number.unwrap_or_else(|| value.clone()));
        }
    }
}

/// The name of a parameter in OpenAI's API.
fn snake(name: &str) -> String {
    match name {
        "maxOutputTokens" | "maxTokens" => "max_tokens".to_owned(),
        "stopSequences" => "stop".to_owned(),
        "allowMultipleToolCalls" => "parallel_tool_calls".to_owned(),
        _ => name.chars().fold(String::new(), |mut out, c| {
            if c.is_ascii_uppercase() {
                out.push('_');
            }
            out.push(c.to_ascii_lowercase());
            out
        }),
    }
}

/// A number that is written as a text.
fn number(value: &Json) -> Option<Json> {
    let text = value.as_str()?;
    let whole = text.parse::<i64>().ok().map(Json::from);
    whole.or_else(|| text.parse::<f64>().ok().filter(|n| n.is_finite()).map(Json::from))
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    #[test]
    fn parameters_get_openai_s_names_and_references_are_left_out() {
        let (mut params, mut out) = (Map::new(), Vec::new());
        let given = json!({"maxOutputTokens": "256", "topP": 0.5, "api_key": "${env:KEY}", "additionalProperties": {"seed": 1}});
        add_params(&mut params, &given, "options", &mut out);
        assert_eq!(Json::Object(params), json!({"max_tokens": 256, "top_p": 0.5, "seed": 1}));
        add_params(&mut Map::new(), &json!("${file:p.json}"), "model.parameters", &mut out);
        assert_eq!(out, ["options.api_key", "model.parameters"].map(|what| format!("{what} ({NOT_READ})")));
    }

    #[test]
    fn only_parameters_that_are_numbers_become_numbers() {
        let (mut params, mut out) = (Map::new(), Vec::new());
        let given = json!({"stopSequences": "42", "user": "0012", "temperature": "0.5", "seed": "x"});
        add_params(&mut params, &given, "options", &mut out);
        assert_eq!(
            Json::Object(params),
            json!({"stop": "42", "user": "0012", "temperature": 0.5, "seed": "x"})
        );
    }
}
