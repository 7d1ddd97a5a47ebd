//! The pipeline: each type of content object has one handler, which changes what the conversation becomes.

use serde::{Deserialize, Serialize};
use serde_json::value::{RawValue, to_raw_value};
use serde_json::{Map, Value as Json};

use super::block::{Blocks, Data};
use super::error::Faults;
use super::object::{Message, Object, Type, is_instruction};
use super::{ContentError, Conversation};
use base::schema::{Effort, Schema, Violation};

/// What the handlers of the types have made so far.
#[derive(Debug, Default)]
pub(super) struct Pipeline {
    config: Map<String, Json>,
    blocks: Blocks,
    rest: Vec<Box<RawValue>>,
    /// How many inputs have a schema in all: they share the time for checking them.
    pub(super) inputs: u64,
    /// How many inputs had a schema.
    schemas: usize,
    pub(super) faults: Faults,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Config {
    config: Map<String, Json>,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct State {
    state: Map<String, Json>,
    schema: Option<Json>,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Input {
    input: Map<String, Json>,
    schema: Option<Json>,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Text {
    text: String,
}

/// How a model is to take an `input`.
pub(super) const INPUT: &str = "Take this input as a structured prompt: its members say what is asked.";

/// The most inputs of one list that are held against a schema: a short schema can take milliseconds to compile.
pub(super) const SCHEMAS_MAX: usize = 32;

impl Pipeline {
    /// Hands the message to the handler of its type.
    pub(super) fn take(&mut self, message: Message) {
        match message {
            Message::Plain(message) => self.rest.push(message),
            Message::Folded(object) => match object.kind {
                Type::Config => self.config(*object),
                Type::State => self.state(*object),
                Type::Input => self.input(*object),
                Type::Data => self.data(*object),
                Type::Text => self.text(*object),
            },
        }
    }

    fn config(&mut self, mut object: Object) {
        if let Some(Config { config }) = object.take_alone(&mut self.faults) {
            self.config.extend(config);
        }
    }

    fn state(&mut self, mut object: Object) {
        if let Some(State { state, schema }) = object.take_alone(&mut self.faults) {
            let data =
                Data { kind: "state".to_owned(), data: Json::Object(state), description: None, schema };
            self.blocks.add(object.role(), data);
        }
    }

    fn input(&mut self, mut object: Object) {
        if let Some(Input { input, schema }) = object.take_alone(&mut self.faults) {
            let data = Json::Object(input);
            if let Some(schema) = &schema {
                self.validate(&object.path, &data, schema);
            }
            let description = Some(INPUT.to_owned());
            self.blocks.add(object.role(), Data { kind: "input".to_owned(), data, description, schema });
        }
    }

    /// Holds an input against its schema; violations are told from the object at `path`.
    ///
    /// The schema is a stranger's: it may make much of little. Each check is bounded by itself, and their number here.
    fn validate(&mut self, path: &str, input: &Json, schema: &Json) {
        self.schemas += 1;
        if self.schemas > SCHEMAS_MAX {
            return self
                .faults
                .add(format!("{path}/schema"), format!("at most {SCHEMAS_MAX} inputs can have a schema"));
        }
        match Schema::compile(schema) {
            Ok(schema) => schema
                .violations(&input.into(), Effort::POOL.shared_by(self.inputs))
                .into_iter()
                .for_each(|violation| {
                    let path = format!("{path}/input{}", violation.path);
                    self.faults.add_violation(Violation { path, ..violation });
                }),
            Err(error) => self.faults.add(format!("{path}/schema"), error.to_string()),
        }
    }

    fn data(&mut self, mut object: Object) {
        if let Some(data) = object.take_alone(&mut self.faults) {
            self.blocks.add(object.role(), data);
        }
    }

    fn text(&mut self, mut object: Object) {
        if let Some(Text { text }) = object.take(&mut self.faults) {
            let mut message = object.around;
            message.entry("role").or_insert_with(|| "user".into());
            message.insert("content".to_owned(), text.into());
            self.rest.extend(raw(&message, &mut self.faults));
        }
    }

    /// The conversation, if nothing was wrong.
    pub(super) fn finish(mut self) -> Result<Conversation, ContentError> {
        let blocks: Vec<_> =
            self.blocks.into_messages().filter_map(|message| raw(&message, &mut self.faults)).collect();
        self.faults.finish()?;
        let mut messages = self.rest;
        if !blocks.is_empty() {
            let opening = messages.iter().take_while(|message| is_instruction(message)).count();
            messages.splice(opening..opening, blocks);
        }
        Ok(Conversation { messages, config: self.config })
    }
}

fn raw(message: &impl Serialize, faults: &mut Faults) -> Option<Box<RawValue>> {
    to_raw_value(message).map_err(|error| faults.add("/messages".to_owned(), error.to_string())).ok()
}
