//! What the fuzz targets run: the Go templates' room alone, so that it builds in seconds and all coverage is its own.

// The room and the corpus' functions name the crate that they belong to.
extern crate self as ai_prompt_shell;

#[path = "../../../src/value/mod.rs"]
pub mod value;

pub mod template;

#[path = "../../../examples/go_corpus/functions.rs"]
mod functions;
pub mod targets;
