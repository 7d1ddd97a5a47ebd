//! `[requests]`: values that fit a schema, and the ideas that are kept of them.

use super::section::section;

section! {
    /// `[requests]`
    pub struct Requests in "requests" {
        /// How often an answer that does not fit is sent back, where a request does not say it.
        max_repairs: usize = 2, at_most 5;
        /// The time for one request with all of its attempts, in milliseconds.
        timeout_ms: u64 = 120_000, at_least 1;
        /// Whether OpenAI's `response_format` (JSON Schemas, JSON mode) and calls of one function that have to be made are offered for
        /// models that do not have them.
        emulate: bool = true;
        /// Whether context, schema and solution of each request are kept as an idea.
        keep_ideas: bool = true;
        /// How long ideas are kept, in seconds.
        ideas_ttl_seconds: u64 = 2_592_000, at_least 1;
        /// The requests of one batch that are under way at once.
        batch_parallel: usize = 8, at_least 1;
    }
}
