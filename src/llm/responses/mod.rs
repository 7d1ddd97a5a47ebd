//! OpenAI's Responses API (<https://platform.openai.com/docs/api-reference/responses>) for our clients, whatever the upstream
//! offers: one that has it gets the request as it is, all others are asked for a chat completion.
//!
//! - `request`: a request, also as a chat completion's; `kept`: the latest items, to which requests may refer; `input`: its items and the messages of a chat, each as the other;
//!   `tools`: the same for function tools
//! - `translate`: a chat completion's answer as a response, whole or in events; `response`: the object; `output`: its items and
//!   the events that tell of them

mod input;
mod kept;
mod output;
mod request;
mod response;
mod tools;
mod translate;

pub use kept::KeptItems;
pub use request::{Params, ResponseRequest, Turn, refuse_state};
pub use translate::{ResponseWriter, error_event};
