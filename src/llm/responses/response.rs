//! The response object: what the request said, and the model's output so far.

use std::time::{SystemTime, UNIX_EPOCH};

use serde_json::{Map, Value as Json, json};

use super::request::ResponseRequest;
use base::random::random;
use template::value::RawObject;

/// The members of a response that repeat the request, with their values where the request says nothing.
const REPEATED: [(&str, &str); 18] = [
    ("instructions", "null"),
    ("max_output_tokens", "null"),
    ("max_tool_calls", "null"),
    ("parallel_tool_calls", "true"),
    ("previous_response_id", "null"),
    ("prompt_cache_key", "null"),
    ("reasoning", r#"{"effort": null, "summary": null}"#),
    ("safety_identifier", "null"),
    ("service_tier", r#""default""#),
    ("temperature", "1.0"),
    ("text", r#"{"format": {"type": "text"}}"#),
    ("tool_choice", r#""auto""#),
    ("tools", "[]"),
    ("top_logprobs", "0"),
    ("top_p", "1.0"),
    ("truncation", r#""disabled""#),
    ("user", "null"),
    ("metadata", "{}"),
];

/// A response, still without an answer.
#[derive(Debug, Clone)]
pub struct Response {
    id: String,
    /// The part that all ids of items have: nobody can guess it, since requests may refer to items by their ids.
    item_ids: String,
    created: u64,
    model: String,
    repeated: Map<String, Json>,
}

/// How a response ended, or that it did not yet.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Status {
    /// The model still answers.
    InProgress,
    /// The answer is whole.
    Completed,
    /// The answer was cut off; why, as the Responses API says it.
    Incomplete(&'static str),
}

impl Status {
    /// The value of `status`.
    pub fn name(self) -> &'static str {
        match self {
            Status::InProgress => "in_progress",
            Status::Completed => "completed",
            Status::Incomplete(_) => "incomplete",
        }
    }

    /// How an answer ended, by its `finish_reason` in a chat completion.
    pub fn of_finish_reason(reason: &str) -> Status {
        match reason {
            "length" => Status::Incomplete("max_output_tokens"),
            "content_filter" => Status::Incomplete("content_filter"),
            _ => Status::Completed,
        }
    }
}

impl Response {
    /// The response to `request`, whose id is not known yet.
    pub fn to(request: &ResponseRequest) -> Response {
        let repeated = REPEATED.iter().map(|(name, absent)| {
            let said = request
                .payload
                .get(name)
                .map(serde_json::value::RawValue::get)
                .filter(|said| *said != "null");
            ((*name).to_owned(), serde_json::from_str(said.unwrap_or(absent)).unwrap_or_default())
        });
        let [id, item_ids] = [(); 2].map(|()| format!("{:032x}", random()));
        let model = request.payload.find("model").unwrap_or_default();
        Response { id, item_ids, created: 0, model, repeated: repeated.collect() }
    }

    /// Takes id, time and model from the first chunk of a chat completion, or from the whole, as far as they are there.
    pub fn begin(&mut self, chunk: &RawObject) {
        let text = |name: &str| chunk.find::<String>(name).filter(|text| !text.is_empty());
        if let Some(id) = text("id") {
            self.id = id.strip_prefix("chatcmpl-").unwrap_or(&id).to_owned();
        }
        if let Some(model) = text("model") {
            self.model = model;
        }
        let now = || SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default().as_secs();
        self.created = chunk.find("created").unwrap_or_else(now);
    }

    /// The id of the item at this place of the output; `kind` begins the id.
    pub fn item_id(&self, kind: &str, place: usize) -> String {
        format!("{kind}_{}_{place}", self.item_ids)
    }

    /// The object with this output.
    pub fn object(&self, status: Status, output: Vec<Json>, usage: Option<&Json>) -> Json {
        let details = match status {
            Status::Incomplete(reason) => json!({"reason": reason}),
            _ => Json::Null,
        };
        let mut object = json!({
            "id": format!("resp_{}", self.id), "object": "response", "created_at": self.created, "status": status.name(),
            "background": false, "error": null, "incomplete_details": details, "model": self.model, "output": output,
            "store": false, "usage": usage.map(usage_of_response),
        });
        if let Some(members) = object.as_object_mut() {
            members.extend(self.repeated.clone());
        }
        object
    }
}

/// The usage of a chat completion under the names of the Responses API.
fn usage_of_response(usage: &Json) -> Json {
    let count = |path: &str| usage.pointer(path).and_then(Json::as_u64).unwrap_or_default();
    let (input, output) = (count("/prompt_tokens"), count("/completion_tokens"));
    let total = usage.get("total_tokens").and_then(Json::as_u64).unwrap_or(input.saturating_add(output));
    json!({
        "input_tokens": input,
        "input_tokens_details": {
            "cached_tokens": count("/prompt_tokens_details/cached_tokens"), "cache_write_tokens": 0,
        },
        "output_tokens": output,
        "output_tokens_details": {"reasoning_tokens": count("/completion_tokens_details/reasoning_tokens")},
        "total_tokens": total,
    })
}
