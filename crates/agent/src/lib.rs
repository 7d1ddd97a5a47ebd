//! An agent that is defined as data: a line of the user is classified, a model chooses a tool for it, the choice is checked, and the tool
//! is called.
//!
//! Everything here is pure: documents, texts and answers in, texts and tasks out. Who asks the model, calls the tools and keeps a
//! conversation, is the service's concern.
//!
//! - [`Agent`]: a document, compiled; `reader`: reads it, and names all that is wrong; [`Settings`]: its settings, with what overrides
//!   them
//! - `outcome`: what is said when a step begins or ends, and what follows; `text`: the templates of all texts; `scene`: what they see
//! - `tool`: a tool of the agent; `checks`: whether its arguments can be used
//! - [`Conversation`]: the steps as a state machine, from an [`Event`] to [`Note`]s and the next [`Task`]
//! - [`History`]: the messages so far, and which of them a model is sent; `relevance`: a model's answer in words

mod checks;
mod compiled;
mod conversation;
mod history;
mod outcome;
mod reader;
mod relevance;
mod scene;
mod settings;
mod step;
mod text;
mod tool;

pub use compiled::{Agent, Prompts};
pub use conversation::{
    Conversation, Event, Failure, FailureKind, Moved, Note, OutOfTurn, Said, Task, ToolCall,
};
pub use history::{History, Message, Role};
pub use outcome::Level;
pub use settings::{Overrides, Settings, override_name};
pub use step::Step;
pub use tool::AgentTool;
