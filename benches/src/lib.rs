//! What the measurements share.
//!
//! - [`cases`]: the workload; [`ours`], [`ours_jinja`], [`go`], [`jinja`]: the engines on it
//! - [`bare_prompt`]: the workload's prompt, rendered by bare minijinja
//! - [`statistics`]: medians, percentiles and ratios; [`megabytes`]: texts of 1 MB, and times on them

pub mod bare_prompt;
pub mod cases;
pub mod go;
pub mod jinja;
pub mod megabytes;
pub mod ours;
pub mod ours_jinja;
pub mod statistics;

/// What a measurement ends with: nothing, or why it could not be made.
pub type Outcome<T = ()> = Result<T, Box<dyn std::error::Error + Send + Sync>>;

/// The number of rounds: that of `--rounds N`, or `default`.
///
/// # Errors
/// When the program's arguments are others; it says how to use `program`.
pub fn rounds(program: &str, default: usize) -> Outcome<usize> {
    let usage = || format!("usage: {program} [--rounds N]");
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    match arguments.iter().map(String::as_str).collect::<Vec<_>>().as_slice() {
        [] => Ok(default),
        ["--rounds", rounds] => Ok(rounds.parse::<usize>().map_err(|_| usage())?.max(1)),
        _ => Err(usage().into()),
    }
}
