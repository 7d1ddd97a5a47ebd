//! What the measurements share.
//!
//! - [`cases`]: the workload; [`ours`], [`ours_jinja`], [`go`], [`jinja`]: the engines on it
//! - [`bare_prompt`]: the workload's prompt, rendered by bare minijinja
//! - [`statistics`]: medians, percentiles and ratios

pub mod bare_prompt;
pub mod cases;
pub mod go;
pub mod jinja;
pub mod ours;
pub mod ours_jinja;
pub mod statistics;

/// What a measurement ends with: nothing, or why it could not be made.
pub type Outcome<T = ()> = Result<T, Box<dyn std::error::Error + Send + Sync>>;
