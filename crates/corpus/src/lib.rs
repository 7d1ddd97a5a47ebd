//! Tests of both dialects: corpora of cases with the results of real Go and real Jinja2, and fuzz targets.
//!
//! - [`functions`]: the functions that the cases call; [`protocol`]: a case and its result
//! - [`jinja`]: a case of Jinja and its answer
//! - [`targets`]: properties that hold for any input

pub mod functions;
pub mod jinja;
pub mod protocol;
pub mod targets;
