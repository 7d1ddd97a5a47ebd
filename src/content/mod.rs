//! Content objects in messages (`state`, `input`, `data`, …): a pipeline that expands them into plain messages.
//!
//! The module knows no prompts. Where one is needed, it gives out what is to be rendered and takes the result: objects of types that
//! are not built in ([`MessageList::custom`]), and blocks of data ([`Draft::blocks`]).
//!
//! - `types`: the built-in types and their priorities; `object`: finds the messages with content objects
//! - `custom`: objects of other types, and what is put in their place
//! - `pipeline`: one handler for each built-in type
//! - `tools`: the schema of a solution that may call tools
//! - `block`: the data of one kind, merged
//! - `draft`: a conversation that only lacks the texts of its data
//! - `error`: the errors

mod block;
mod custom;
mod draft;
mod error;
mod object;
mod pipeline;
#[cfg(test)]
mod tests;
mod tools;
mod types;

use std::cmp::Reverse;
use std::sync::Arc;

use serde_json::value::RawValue;
use serde_json::{Map, Value as Json};

pub use block::DataBlock;
pub use custom::{CustomObject, Replacement};
pub use draft::Draft;
pub use error::ContentError;
use object::Message;
use pipeline::Pipeline;
pub use tools::PlacedSchema;
use types::Purpose;

/// The messages for a model, with content objects expanded.
#[derive(Debug, Default)]
pub struct Conversation {
    /// The messages; those without a content object are unchanged, byte for byte.
    pub messages: Vec<Box<RawValue>>,
    /// The members of all `config` objects; later objects override earlier ones.
    pub config: Map<String, Json>,
    /// The schema of the solution in the place of the one that was handed in, if `tool` objects changed it.
    pub schema: Option<Json>,
    /// The schemas of the tools in it.
    pub tools: Vec<PlacedSchema>,
}

/// A list of messages that may hold content objects.
#[derive(Debug)]
pub struct MessageList {
    purpose: Purpose,
    messages: Vec<Message>,
    pipeline: Pipeline,
}

impl MessageList {
    /// Finds the content objects among the messages of a chat, which has no schema, and so cannot have tools among them.
    pub fn of_chat(messages: Vec<Box<RawValue>>) -> MessageList {
        MessageList::parse(Purpose::Chat, messages, None)
    }

    /// Finds the content objects in the context of a structured request for a solution of this schema.
    pub fn of_request(context: Vec<Box<RawValue>>, schema: Option<Arc<Json>>) -> MessageList {
        MessageList::parse(Purpose::Request, context, schema)
    }

    fn parse(purpose: Purpose, messages: Vec<Box<RawValue>>, schema: Option<Arc<Json>>) -> MessageList {
        let mut pipeline = Pipeline::for_schema(schema);
        let parse = |(index, message)| {
            let path = || format!("{}/{index}", purpose.path());
            Message::parse(purpose, path, message, &mut pipeline.errors)
        };
        let messages: Vec<Message> = messages.into_iter().enumerate().filter_map(parse).collect();
        custom::check_number(&messages, &mut pipeline.errors);
        MessageList { purpose, messages, pipeline }
    }

    /// Whether messages contain schemas that have to be checked, which is work for the pool.
    pub fn has_schemas(&self) -> bool {
        self.messages.iter().any(Message::has_schema)
    }

    /// Expands the content objects.
    ///
    /// Instructions (the system and developer messages at the beginning of the list) come first, then one message for each
    /// kind of data, then the other messages in their order. A list without content objects is unchanged.
    ///
    /// # Errors
    /// [`ContentError`], which names all violations at once.
    pub fn expand(mut self) -> Result<Draft, ContentError> {
        self.pipeline.inputs = self.messages.iter().filter(|message| message.has_schema()).count() as u64;
        self.messages.sort_by_key(|message| Reverse(message.kind()));
        for message in self.messages {
            self.pipeline.take(self.purpose, message);
        }
        self.pipeline.finish()
    }
}
