//! A conversation that only lacks the texts of its data.

use serde_json::value::RawValue;
use serde_json::{Map, Value as Json};

use super::Conversation;
use super::block::DataBlock;
use super::error::{ContentError, ContentErrors};
use super::object::{is_instruction, raw};
use super::tools::PlacedSchema;

/// A conversation in which the texts of blocks of data are still missing.
#[derive(Debug)]
pub struct Draft {
    pub(super) blocks: Vec<DataBlock>,
    /// The messages that are not data.
    pub(super) rest: Vec<Box<RawValue>>,
    pub(super) config: Map<String, Json>,
    pub(super) schema: Option<Json>,
    pub(super) tools: Vec<PlacedSchema>,
}

impl Draft {
    /// The blocks of data, in the order in which they are shown.
    pub fn blocks(&self) -> &[DataBlock] {
        &self.blocks
    }

    /// The conversation with these texts, one for each block.
    ///
    /// # Errors
    /// [`ContentError`] if a message cannot be written.
    pub fn with_texts(self, texts: Vec<String>) -> Result<Conversation, ContentError> {
        let mut errors = ContentErrors::default();
        let blocks = self.blocks.into_iter().zip(texts).filter_map(|(block, text)| {
            let path = block.path.clone();
            raw(&path, &block.into_message(text), &mut errors)
        });
        let blocks: Vec<_> = blocks.collect();
        errors.finish()?;
        let mut messages = self.rest;
        if !blocks.is_empty() {
            let opening = messages.iter().take_while(|message| is_instruction(message)).count();
            messages.splice(opening..opening, blocks);
        }
        Ok(Conversation { messages, config: self.config, schema: self.schema, tools: self.tools })
    }
}
