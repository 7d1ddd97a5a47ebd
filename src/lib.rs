//! AI-Prompt-Shell: a service that turns prompt templates into finished prompts.

pub mod error;
pub mod template;
pub mod value;
pub mod store;
