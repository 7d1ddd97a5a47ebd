//! Tests of the Go dialect: a corpus of cases with the results of real Go, and fuzz targets.
//!
//! - [`functions`]: the functions that the cases call; [`protocol`]: a case and its result
//! - [`targets`]: properties that hold for any input

pub mod functions;
pub mod protocol;
pub mod targets;
