#![doc = include_str!("../README.md")]

#[cfg_attr(feature = "jinja", allow(dead_code, reason = "the machine that calls it is being built"))]
mod analysis;
#[cfg(feature = "jinja")]
mod contract;
#[cfg(feature = "jinja")]
mod dispatch;
pub mod go;
#[cfg(feature = "jinja")]
mod go_prompt;
#[cfg(feature = "jinja")]
pub mod jinja;
#[cfg(feature = "jinja")]
mod jinja2;
#[cfg(feature = "jinja")]
#[allow(dead_code, reason = "the machine that calls it is being built")]
mod python;
#[cfg(feature = "jinja")]
mod requirements;
#[cfg(feature = "jinja")]
mod service_functions;
pub mod value;

#[cfg(feature = "jinja")]
pub use contract::*;
#[cfg(feature = "jinja")]
pub use dispatch::{Surroundings, Template, detect};
