//! Tests of both dialects: corpora of cases with the results of real Go and real Jinja2; and fuzz targets, of the policy and
//! the dialogue too.
//!
//! - [`functions`]: the functions that the cases call; [`protocol`]: a case and its result
//! - [`jinja`]: a case of Jinja and its answer
//! - [`targets`]: properties of Go's templates that hold for any input; [`jinja_targets`]: those of Jinja's;
//!   [`policy_targets`]: those of the risk policy; [`dialogue_targets`]: those of answers and outputs

pub mod dialogue_targets;
pub mod functions;
pub mod jinja;
pub mod jinja_targets;
pub mod policy_targets;
pub mod protocol;
pub mod targets;
