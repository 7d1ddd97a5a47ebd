//! The pipeline: each type of content object has one handler, which contributes to the conversation.

use serde::{Deserialize, Serialize};
use serde_json::value::{RawValue, to_raw_value};
use serde_json::{Map, Value as Json};

use super::block::{Blocks, Data};
use super::error::ContentErrors;
use super::object::{ContentObject, Message, ObjectType, is_instruction};
use super::{ContentError, Conversation};
use base::schema::{Effort, Schema, Violation};

/// The state of the pipeline: what the handlers have contributed so far.
#[derive(Debug, Default)]
pub(super) struct Pipeline {
    config: Map<String, Json>,
    blocks: Blocks,
    /// The messages that are not data.
    rest: Vec<Box<RawValue>>,
    /// The number of all inputs with a schema, which share the time for checking them.
    pub(super) inputs: u64,
    /// The number of inputs with a schema so far.
    schemas: usize,
    pub(super) errors: ContentErrors,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct ConfigMembers {
    config: Map<String, Json>,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct StateMembers {
    state: Map<String, Json>,
    schema: Option<Json>,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct InputMembers {
    input: Map<String, Json>,
    schema: Option<Json>,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct TextMembers {
    text: String,
}

/// The description of an `input` block, which tells the model how to use it.
pub(super) const INPUT: &str = "Take this input as a structured prompt: its members say what is asked.";

/// The largest number of inputs with a schema in one list: even a short schema can take milliseconds to compile.
pub(super) const SCHEMAS_MAX: usize = 32;

impl Pipeline {
    /// Passes the message to the handler of its type.
    pub(super) fn take(&mut self, message: Message) {
        match message {
            Message::Plain(message) => self.rest.push(message),
            Message::WithObject(object) => match object.kind {
                ObjectType::Config => self.config(*object),
                ObjectType::State => self.state(*object),
                ObjectType::Input => self.input(*object),
                ObjectType::Data => self.data(*object),
                ObjectType::Text => self.text(*object),
            },
        }
    }

    fn config(&mut self, mut object: ContentObject) {
        if let Some(ConfigMembers { config }) = object.take_alone(&mut self.errors) {
            self.config.extend(config);
        }
    }

    fn state(&mut self, mut object: ContentObject) {
        if let Some(StateMembers { state, schema }) = object.take_alone(&mut self.errors) {
            let data =
                Data { kind: "state".to_owned(), data: Json::Object(state), description: None, schema };
            self.blocks.add(object.role(), data);
        }
    }

    fn input(&mut self, mut object: ContentObject) {
        if let Some(InputMembers { input, schema }) = object.take_alone(&mut self.errors) {
            let data = Json::Object(input);
            if let Some(schema) = &schema {
                self.validate(&object.path, &data, schema);
            }
            let description = Some(INPUT.to_owned());
            self.blocks.add(object.role(), Data { kind: "input".to_owned(), data, description, schema });
        }
    }

    /// Checks an input against its schema; the paths of violations begin at the object at `path`.
    ///
    /// The schema comes from the client and may be expensive to check. Each check has a limit of its own; their number is
    /// limited here.
    fn validate(&mut self, path: &str, input: &Json, schema: &Json) {
        self.schemas += 1;
        if self.schemas > SCHEMAS_MAX {
            return self
                .errors
                .add(format!("{path}/schema"), format!("at most {SCHEMAS_MAX} inputs can have a schema"));
        }
        match Schema::compile(schema) {
            Ok(schema) => schema
                .violations(&input.into(), Effort::POOL.shared_by(self.inputs))
                .into_iter()
                .for_each(|violation| {
                    let path = format!("{path}/input{}", violation.path);
                    self.errors.add_violation(Violation { path, ..violation });
                }),
            Err(error) => self.errors.add(format!("{path}/schema"), error.to_string()),
        }
    }

    fn data(&mut self, mut object: ContentObject) {
        if let Some(data) = object.take_alone(&mut self.errors) {
            self.blocks.add(object.role(), data);
        }
    }

    fn text(&mut self, mut object: ContentObject) {
        if let Some(TextMembers { text }) = object.take(&mut self.errors) {
            let mut message = object.around;
            message.entry("role").or_insert_with(|| "user".into());
            message.insert("content".to_owned(), text.into());
            self.rest.extend(raw(&message, &mut self.errors));
        }
    }

    /// The conversation.
    ///
    /// # Errors
    /// [`ContentError`], which names everything that was wrong.
    pub(super) fn finish(mut self) -> Result<Conversation, ContentError> {
        let blocks: Vec<_> =
            self.blocks.into_messages().filter_map(|message| raw(&message, &mut self.errors)).collect();
        self.errors.finish()?;
        let mut messages = self.rest;
        if !blocks.is_empty() {
            let opening = messages.iter().take_while(|message| is_instruction(message)).count();
            messages.splice(opening..opening, blocks);
        }
        Ok(Conversation { messages, config: self.config })
    }
}

fn raw(message: &impl Serialize, errors: &mut ContentErrors) -> Option<Box<RawValue>> {
    to_raw_value(message).map_err(|error| errors.add("/messages".to_owned(), error.to_string())).ok()
}
