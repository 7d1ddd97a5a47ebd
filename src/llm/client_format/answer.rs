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

/// A call of a function.
#[derive(Debug, Clone, Copy)]
pub struct CallChoice<'a> {
    /// What its result refers to.
    pub id: &'a str,
    /// The function.
    pub name: &'a str,
    /// The JSON of its arguments.
    pub arguments: &'a str,
}

impl CallChoice<'_> {
    fn json(&self) -> Json {
        let function = json!({"name": self.name, "arguments": self.arguments});
        json!({"index": 0, "id": self.id, "type": "function", "function": function})
    }
}

/// One choice of an answer.
#[derive(Debug, Clone, Copy)]
pub struct AnswerChoice<'a> {
    /// What the model says; `None` if it refuses.
    pub text: Option<&'a str>,
    /// Why it refuses.
    pub refusal: Option<&'a str>,
    /// The function that it calls.
    pub call: Option<CallChoice<'a>>,
    /// Why it ends.
    pub finish_reason: &'a str,
}

impl AnswerChoice<'_> {
    fn whole(&self, index: usize) -> Json {
        let mut message = json!({"role": "assistant", "content": self.text, "refusal": self.refusal});
        if let (Some(call), Some(members)) = (self.call, message.as_object_mut()) {
            members.insert("tool_calls".to_owned(), json!([call.json()]));
        }
        json!({"index": index, "message": message, "logprobs": null, "finish_reason": self.finish_reason})
    }
}

impl AnswerWriter<'_> {
    /// The whole answer, with these choices.
    pub fn whole(&self, choices: &[AnswerChoice<'_>], usage: &Usage) -> Bytes {
        let choices: Vec<Json> =
            choices.iter().enumerate().map(|(index, choice)| choice.whole(index)).collect();
        let answer = json!({
            "id": self.id, "object": "chat.completion", "created": self.created, "model": self.model,
            "choices": choices, "usage": usage,
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

    /// The events that bring a choice and end it.
    pub fn choice_events(&self, choice: &AnswerChoice<'_>) -> Vec<Bytes> {
        let mut events: Vec<Bytes> = Vec::new();
        events.extend(choice.text.map(|text| self.text_event(text)));
        events.extend(choice.refusal.map(|refusal| self.choice_event(&json!({"refusal": refusal}), None)));
        events.extend(choice.call.map(|call| self.choice_event(&json!({"tool_calls": [call.json()]}), None)));
        events.push(self.finish_event(choice.finish_reason));
        events
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
