//! What the parts of the service share: plain data, validation, and limits on memory and processor time.
//!
//! - [`error`]: the kinds of errors; [`encoding`]: media types and percent-encoding
//! - [`caller`]: the client of a request, with its trace and time limit
//! - [`model`]: the documents of the catalog
//! - [`schema`]: validation by JSON Schema, within bounded time
//! - [`memory`], [`pool`]: budgets of memory and of processor time
//! - [`outbound`]: what all calls to other services share
//! - [`events`]: a decoder of event streams (server-sent events)
//! - [`random`]: random numbers
//! - [`masking`]: masks secrets in texts for language models

pub mod caller;
pub mod encoding;
pub mod error;
pub mod events;
pub mod masking;
pub mod memory;
pub mod model;
pub mod outbound;
pub mod pool;
pub mod random;
pub mod schema;
