//! What the parts of the service share; plain data, and what bounds them.
//!
//! - [`error`]: what kind of failure an error is; [`encoding`]: what stands around the texts of HTTP
//! - [`caller`]: the one who asks
//! - [`model`]: the documents of the catalog
//! - [`schema`]: JSON Schema, with every violation and a bound on the work
//! - [`memory`], [`pool`]: budgets of memory and of processor time
//! - [`outbound`]: what calls of other services have in common
//! - [`events`]: a decoder of event streams (server-sent events)

pub mod caller;
pub mod encoding;
pub mod error;
pub mod events;
pub mod memory;
pub mod model;
pub mod outbound;
pub mod pool;
pub mod schema;
