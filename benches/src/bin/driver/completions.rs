//! What the model server answers: a completion, whole and as the events of a stream.

/// The model of the answers, which come at once.
pub const INSTANT: &str = "bench";
/// The model whose streams are sent in one piece.
pub const BURST: &str = "burst";
/// The model whose answers are a value that fits a schema.
pub const VALUE: &str = "value";
/// The chunks of a stream that is sent at once.
pub const CHUNKS: usize = 20;
/// The event that ends a stream.
pub const DONE: &str = "data: [DONE]\n\n";

/// A `chat.completion` of about 600 bytes.
pub fn whole() -> String {
    of(&"Restart the router once more after the update [doc-1001]. ".repeat(5))
}

/// A `chat.completion` with this content, which has nothing to escape.
pub fn of(content: &str) -> String {
    format!(
        concat!(
            r#"{{"id":"chatcmpl-bench","object":"chat.completion","created":1735689600,"model":"bench","#,
            r#""choices":[{{"index":0,"message":{{"role":"assistant","content":"{content}","refusal":null}},"#,
            r#""logprobs":null,"finish_reason":"stop"}}],"#,
            r#""usage":{{"prompt_tokens":620,"completion_tokens":65,"total_tokens":685}}}}"#,
        ),
        content = content
    )
}

/// One event of a stream: its content is its number, so that their order can be seen.
pub fn chunk(number: usize) -> String {
    part(&format!("{number} "))
}

/// One event of a stream with this content, which has nothing to escape.
pub fn part(content: &str) -> String {
    format!(
        concat!(
            r#"data: {{"id":"chatcmpl-bench","object":"chat.completion.chunk","created":1735689600,"model":"bench","#,
            r#""choices":[{{"index":0,"delta":{{"content":"{content}"}},"finish_reason":null}}]}}"#,
            "\n\n",
        ),
        content = content
    )
}

/// All of a stream of so many chunks.
pub fn stream(chunks: usize) -> String {
    (0..chunks).map(chunk).chain([DONE.to_owned()]).collect()
}
