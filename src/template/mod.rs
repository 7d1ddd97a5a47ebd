//! Prompt templates in two dialects: compile, analyse, render within limits.
//!
//! [`go`] is our own implementation of Go's `text/template`; [`jinja`] wraps `minijinja`. Both read
//! the same [`Value`](crate::value::Value) tree and answer in the types of this file, so that
//! nothing outside has to know which dialect a prompt is written in.

mod contract;
mod dispatch;
pub mod go;
mod go_prompt;
pub mod jinja;
mod service_functions;

pub use contract::*;
pub use dispatch::{Around, Template, detect};
