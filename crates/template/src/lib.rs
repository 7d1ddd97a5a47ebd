#![doc = include_str!("../README.md")]

mod analysis;
#[cfg(feature = "jinja")]
mod contract;
#[cfg(feature = "jinja")]
mod dispatch;
#[cfg(feature = "jinja")]
mod functions;
pub mod go;
#[cfg(feature = "jinja")]
mod go_prompt;
#[cfg(feature = "jinja")]
pub mod jinja;
#[cfg(feature = "jinja")]
mod mustache;
#[cfg(feature = "jinja")]
mod python;
mod ranges;
#[cfg(feature = "jinja")]
mod requirements;
mod run;
pub mod value;

#[cfg(feature = "jinja")]
pub use contract::*;
#[cfg(feature = "jinja")]
pub use dispatch::{Surroundings, Template, detect};
