//! Writes answers of a model, whole or in events.

use bytes::Bytes;
use serde_json::{Value as Json, json};

use crate::llm::completion::Usage;

/// The event that ends a stream.
pub const DONE: &str = "data: [DONE]\n\n";

/// Writes one answer.
#[derive(Debug)]
pub struct AnswerWriter<'a> {
    /// Its id.
    pub id: &'a str,
    /// The model that gives it.
    pub model: &'a str,
    /// When it was made, in seconds since 1970.
    pub created: u64,
}

impl AnswerWriter<'_> {
    /// The whole answer, which ends with `finish_reason`.
    pub fn whole(&self, text: &str, finish_reason: &str, usage: &Usage) -> Bytes {
        let message = json!({"role": "assistant", "content": text, "refusal": null});
        let choice =
            json!({"index": 0, "message": message, "logprobs": null, "finish_reason": finish_reason});
        let answer = json!({
            "id": self.id, "object": "chat.completion", "created": self.created, "model": self.model,
            "choices": [choice], "usage": usage,
        });
        answer.to_string().into()
    }

    /// The first event of a stream.
    pub fn first_event(&self) -> Bytes {
        self.choice_event(&json!({"role": "assistant", "content": ""}), None)
    }

    /// An event that brings a piece of the text.
    pub fn text_event(&self, text: &str) -> Bytes {
        self.choice_event(&json!({"content": text}), None)
    }

    /// The event that ends the text.
    pub fn finish_event(&self, finish_reason: &str) -> Bytes {
        self.choice_event(&json!({}), Some(finish_reason))
    }

    /// The event that brings the usage.
    pub fn usage_event(&self, usage: &Usage) -> Bytes {
        self.event(&json!([]), Some(usage))
    }

    fn choice_event(&self, delta: &Json, finish_reason: Option<&str>) -> Bytes {
        let choice = json!({"index": 0, "delta": delta, "logprobs": null, "finish_reason": finish_reason});
        self.event(&json!([choice]), None)
    }

    fn event(&self, choices: &Json, usage: Option<&Usage>) -> Bytes {
        let mut chunk = json!({
            "id": self.id, "object": "chat.completion.chunk", "created": self.created, "model": self.model,
            "choices": choices,
        });
        if let (Some(usage), Some(members)) = (usage, chunk.as_object_mut()) {
            members.insert("usage".to_owned(), json!(usage));
        }
        format!("data: {chunk}\n\n").into()
    }
}
