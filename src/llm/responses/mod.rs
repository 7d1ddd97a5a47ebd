//! OpenAI's Responses API (<https://platform.openai.com/docs/api-reference/responses>) for our clients, whatever the upstream
//! offers: one that has it gets the request as it is, all others are asked for a chat completion.
//!
//! - `request`: a request, also as a chat completion's; `input`: its items as messages of a chat; `items`: the messages of a prompt as
//!   items; `tools`, `params`: function tools and parameters in both formats; `kept`: the latest items, to which requests may refer
//! - `translate`: a chat completion's answer as a response, whole or in events; `response`: the object; `output`: its items and
//!   the events that tell of them; `json_end`: where arguments are whole

mod input;
mod items;
mod json_end;
mod kept;
mod output;
mod params;
mod request;
mod response;
mod tools;
mod translate;

pub use kept::KeptItems;
pub use params::Params;
pub use request::{ResponseRequest, Turn, refuse_state};
pub use translate::{ResponseWriter, error_event};
