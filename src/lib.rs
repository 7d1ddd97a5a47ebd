//! AI-Prompt-Shell: a service that turns prompt templates into finished prompts.

pub mod error;
pub mod store;
pub mod template;
pub mod value;
