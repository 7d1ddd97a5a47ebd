//! The dialogue of a skill: the model answers each step with one directive, the client carries it out, and tells the result.
//!
//! Everything here is pure: texts and states in, texts and states out. Who asks the model, and where a dialogue is kept, is the
//! service's concern.
//!
//! - [`Directive`]: what the model wants; `answer`: reads it from the text of an answer
//! - `output`: cleans what a command has written, for the model
//! - `space`: what counts as white space in both

mod answer;
mod directive;
mod output;
mod space;

pub use answer::{Answer, AnswerError, UnknownFormat, read};
pub use directive::Directive;
pub use output::{Cleaning, Duplicates, clean};
