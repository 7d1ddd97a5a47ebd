//! An answer to a chat, read: what our own loops over a model work with.

use serde::Serialize;

/// A model's answer to a chat.
///
/// It was read from what real servers send, and is regular where they are not; what they left out is empty or `None`. If a
/// server gave several choices, it is the first.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Completion {
    /// What the model says; empty if it says nothing, as is usual beside calls of tools.
    pub text: String,
    /// The calls of tools that it asks for, in its order.
    pub tool_calls: Vec<ToolCall>,
    /// Its words when it refuses to answer.
    pub refusal: Option<String>,
    /// Why it stopped; `None` if the server does not say so.
    pub finish_reason: Option<FinishReason>,
    /// What it cost.
    pub usage: Usage,
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
