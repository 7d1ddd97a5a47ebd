//! What the Go dialect is held against: cases that real Go answered, and arbitrary input.
//!
//! - [`functions`]: the functions that the cases call; [`protocol`]: a case and its answer
//! - [`targets`]: what must hold for any input

pub mod functions;
pub mod protocol;
pub mod targets;
