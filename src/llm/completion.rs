//! An answer to a chat, read: what our own loops over a model work with.

use serde::Serialize;

/// A model's answer to a chat.
///
/// It was read from what real servers send, and is regular where they are not; what they left out is empty or `None`.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Completion {
    /// The choices in their order: at least one, more if the request asked for them.
    pub choices: Vec<Choice>,
    /// What it cost.
    pub usage: Usage,
}

/// One of the answers that a model offers.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Choice {
    /// What the model says; empty if it says nothing, as is usual beside calls of tools.
    pub text: String,
    /// The calls of tools that it asks for, in its order.
    pub tool_calls: Vec<ToolCall>,
    /// Its words when it refuses to answer.
    pub refusal: Option<String>,
    /// Why it stopped; `None` if the server does not say so.
    pub finish_reason: Option<FinishReason>,
}

/// A call of a tool that a model asks for.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ToolCall {
    /// What the tool's result has to refer to. Where the server gives none, `call_0`, `call_1`, … by its place.
    pub id: String,
    /// The name of the tool, never empty.
    pub name: String,
    /// The arguments as the model wrote them: usually the text of a JSON object, but it may be any text. `{}` where there are
    /// none.
    pub arguments: String,
}

/// Why a model stopped.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum FinishReason {
    /// The answer is complete.
    Stop,
    /// It reached the limit of tokens; the text may end in the middle of a word, and arguments in the middle of their JSON.
    Length,
    /// It waits for results of tools.
    ToolCalls,
    /// A filter of the provider cut it.
    ContentFilter,
    /// What else the server says, in its words.
    Other(String),
}

impl FinishReason {
    /// The reason that a server gives; `None` if it is empty.
    pub fn read(value: String) -> Option<FinishReason> {
        Some(match value.as_str() {
            "" => return None,
            "stop" => FinishReason::Stop,
            "length" => FinishReason::Length,
            "tool_calls" | "function_call" => FinishReason::ToolCalls,
            "content_filter" => FinishReason::ContentFilter,
            _ => FinishReason::Other(value),
        })
    }
}

/// What an answer cost, as far as the server says so.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize)]
pub struct Usage {
    /// Tokens of the request.
    pub prompt_tokens: Option<u64>,
    /// Tokens of the answer.
    pub completion_tokens: Option<u64>,
    /// Tokens in all.
    pub total_tokens: Option<u64>,
}

impl Usage {
    /// What both cost together; unknown where it is unknown for one of them.
    pub fn plus(self, other: Usage) -> Usage {
        let sum = |one: Option<u64>, other: Option<u64>| one?.checked_add(other?);
        Usage {
            prompt_tokens: sum(self.prompt_tokens, other.prompt_tokens),
            completion_tokens: sum(self.completion_tokens, other.completion_tokens),
            total_tokens: sum(self.total_tokens, other.total_tokens),
        }
    }
}
