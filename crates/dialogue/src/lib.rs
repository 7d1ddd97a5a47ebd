//! The dialogue of a skill: the model answers each step with one directive, the client carries it out, and tells the result.
//!
//! Everything here is pure: texts and states in, texts and states out. Who asks the model, and where a dialogue is kept, is the
//! service's concern.
//!
//! - [`Directive`]: what the model wants; `answer`: reads it from the text of an answer
//! - [`Dialogue`]: the turns so far, and its state; [`Asking`]: the model thinks; `history`: what of it the model is sent
//! - `texts`: what the model is told; `system`: the system message; `arguments`: positional arguments in the body of a skill
//! - `output`: cleans what a command has written, for the model
//! - `space`: what counts as white space

mod answer;
mod arguments;
mod dialogue;
mod directive;
mod history;
mod output;
mod space;
mod system;
mod texts;

pub use answer::{Answer, AnswerError, UnknownFormat, read};
pub use arguments::with_arguments;
pub use dialogue::{Asking, Dialogue, Event, Next, Refusal, State};
pub use directive::Directive;
pub use history::{History, Message, Role};
pub use output::{Cleaning, Duplicates, clean};
pub use system::{Os, system};
pub use texts::{CommandResult, start};
