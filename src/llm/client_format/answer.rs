//! Writes answers of a model, whole or in events.

use bytes::Bytes;
use serde_json::{Value as Json, json};

use crate::llm::completion::{ToolCall, Usage};

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

/// One choice of an answer.
#[derive(Debug, Clone, Copy)]
pub struct AnswerChoice<'a> {
    /// What the model says; `None` if it refuses.
    pub text: Option<&'a str>,
    /// Why it refuses.
    pub refusal: Option<&'a str>,
    /// The calls of functions that it asks for.
    pub calls: &'a [ToolCall],
    /// Why it ends.
    pub finish_reason: &'a str,
}

impl AnswerChoice<'_> {
    fn whole(&self, index: usize) -> Json {
        let mut message = json!({"role": "assistant", "content": self.text, "refusal": self.refusal});
        if let (false, Some(members)) = (self.calls.is_empty(), message.as_object_mut()) {
            members.insert("tool_calls".to_owned(), self.calls.iter().map(call).collect());
        }
        json!({"index": index, "message": message, "logprobs": null, "finish_reason": self.finish_reason})
    }
}

fn call(ToolCall { id, name, arguments }: &ToolCall) -> Json {
    json!({"id": id, "type": "function", "function": {"name": name, "arguments": arguments}})
}

/// The piece of a stream that brings a call; it says which one of the message that is.
fn numbered((index, ToolCall { id, name, arguments }): (usize, &ToolCall)) -> Json {
    json!({"index": index, "id": id, "type": "function", "function": {"name": name, "arguments": arguments}})
}

/// The usage as clients read it: all three numbers, or none.
fn numbers(usage: &Usage) -> Option<Json> {
    let (prompt, completion) = (usage.prompt_tokens?, usage.completion_tokens?);
    let total = usage.total_tokens.or_else(|| prompt.checked_add(completion))?;
    Some(json!({"prompt_tokens": prompt, "completion_tokens": completion, "total_tokens": total}))
}

impl AnswerWriter<'_> {
    /// The whole answer, with these choices. A usage that is not known is left out.
    pub fn whole(&self, choices: &[AnswerChoice<'_>], usage: &Usage) -> Bytes {
        let choices: Vec<Json> =
            choices.iter().enumerate().map(|(index, choice)| choice.whole(index)).collect();
        let mut answer = json!({
            "id": self.id, "object": "chat.completion", "created": self.created, "model": self.model,
            "choices": choices,
        });
        add_usage(&mut answer, numbers(usage));
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
        let calls = choice.calls.iter().enumerate().map(numbered);
        events.extend(calls.map(|call| self.choice_event(&json!({"tool_calls": [call]}), None)));
        events.push(self.finish_event(choice.finish_reason));
        events
    }

    /// The event that ends the text.
    pub fn finish_event(&self, finish_reason: &str) -> Bytes {
        self.choice_event(&json!({}), Some(finish_reason))
    }

    /// The event that brings the usage, if that is known.
    pub fn usage_event(&self, usage: &Usage) -> Option<Bytes> {
        numbers(usage).map(|usage| self.event(&json!([]), Some(usage)))
    }

    fn choice_event(&self, delta: &Json, finish_reason: Option<&str>) -> Bytes {
        let choice = json!({"index": 0, "delta": delta, "logprobs": null, "finish_reason": finish_reason});
        self.event(&json!([choice]), None)
    }

    fn event(&self, choices: &Json, usage: Option<Json>) -> Bytes {
        let mut chunk = json!({
            "id": self.id, "object": "chat.completion.chunk", "created": self.created, "model": self.model,
            "choices": choices,
        });
        add_usage(&mut chunk, usage);
        format!("data: {chunk}\n\n").into()
    }
}

fn add_usage(answer: &mut Json, usage: Option<Json>) {
    if let (Some(usage), Some(members)) = (usage, answer.as_object_mut()) {
        members.insert("usage".to_owned(), usage);
    }
}
