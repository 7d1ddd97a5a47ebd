//! The pipeline: each type of content object has one handler, which contributes to the conversation.

use std::collections::HashMap;
use std::sync::Arc;

use serde::Deserialize;
use serde_json::value::RawValue;
use serde_json::{Map, Value as Json};

use super::block::{Blocks, Data};
use super::custom::unknown;
use super::error::ContentErrors;
use super::object::{ContentObject, Message};
use super::tools::{PlacedSchema, fault, with_tools};
use super::types::{ObjectType, Purpose};
use super::{ContentError, Draft};
use base::schema::{Effort, Schema, token};

/// The state of the pipeline: what the handlers have contributed so far.
#[derive(Debug, Default)]
pub(super) struct Pipeline {
    config: Map<String, Json>,
    /// The schema that was handed in.
    schema: Option<Arc<Json>>,
    /// The schemas of tools, by name.
    tools: Map<String, Json>,
    /// Where they stand, by name.
    places: HashMap<String, String>,
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
struct ToolMembers {
    tool: Map<String, Json>,
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

/// The largest number of inputs with a schema in one list: even a short schema can take milliseconds to compile.
pub(super) const SCHEMAS_MAX: usize = 32;

/// The largest number of kinds of data in one list: the block of each is rendered by a prompt.
pub(super) const KINDS_MAX: usize = 1_000;

impl Pipeline {
    /// A pipeline that nothing has passed yet, for a solution of this schema.
    pub(super) fn for_schema(schema: Option<Arc<Json>>) -> Pipeline {
        Pipeline { schema, ..Pipeline::default() }
    }

    /// Passes the message to the handler of its type.
    pub(super) fn take(&mut self, purpose: Purpose, message: Message) {
        match message {
            Message::Plain(message) => self.rest.push(message),
            Message::BuiltIn(ObjectType::Tool, object) => self.tool(*object),
            Message::BuiltIn(ObjectType::Config, object) => self.config(*object),
            Message::BuiltIn(ObjectType::State, object) => self.state(*object),
            Message::BuiltIn(ObjectType::Input, object) => self.input(*object),
            Message::BuiltIn(ObjectType::Data, object) => self.data(*object),
            Message::BuiltIn(ObjectType::Text, object) => self.text(*object),
            Message::Custom(name, object) => {
                // Its type was not looked up, because something else is wrong, or nobody knows such types.
                if self.errors.is_empty() {
                    self.errors.add_type_error(unknown(purpose, &name, &object, &[]));
                }
            }
        }
    }

    fn tool(&mut self, mut object: ContentObject) {
        let Some(ToolMembers { tool }) = object.take_alone(&mut self.errors) else { return };
        let path = format!("{}/tool", object.path);
        if tool.is_empty() {
            self.errors
                .add(path.clone(), "must have a tool, which is a name and the schema of its parameters");
        }
        for (name, schema) in tool {
            if let Some((place, message)) = fault(&schema) {
                self.errors.add(format!("{path}/{}{place}", token(&name)), message);
            }
            self.places.insert(name.clone(), format!("{path}/{}", token(&name)));
            self.tools.insert(name, schema);
        }
    }

    fn config(&mut self, mut object: ContentObject) {
        if let Some(ConfigMembers { config }) = object.take_alone(&mut self.errors) {
            self.config.extend(config);
        }
    }

    fn state(&mut self, mut object: ContentObject) {
        if let Some(StateMembers { state, schema }) = object.take_alone(&mut self.errors) {
            let (kind, data) = ("state".to_owned(), Json::Object(state));
            self.block(&object, Data { kind, data, description: None, schema, is_input: false });
        }
    }

    fn input(&mut self, mut object: ContentObject) {
        if let Some(InputMembers { input, schema }) = object.take_alone(&mut self.errors) {
            let (kind, data) = ("input".to_owned(), Json::Object(input));
            if let Some(schema) = &schema {
                self.validate(&object.path, &data, schema);
            }
            self.block(&object, Data { kind, data, description: None, schema, is_input: true });
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
                .for_each(|violation| self.errors.add_violation(violation.below(&format!("{path}/input")))),
            Err(error) => self.errors.add(format!("{path}/schema"), error.to_string()),
        }
    }

    fn data(&mut self, mut object: ContentObject) {
        if let Some(data) = object.take_alone(&mut self.errors) {
            self.block(&object, data);
        }
    }

    fn block(&mut self, object: &ContentObject, data: Data) {
        let before = self.blocks.len();
        self.blocks.add(&object.path, object.role(), data);
        if before == KINDS_MAX && self.blocks.len() > KINDS_MAX {
            self.errors.add(object.path.clone(), format!("at most {KINDS_MAX} kinds of data can be shown"));
        }
    }

    fn text(&mut self, mut object: ContentObject) {
        if let Some(TextMembers { text }) = object.take(&mut self.errors) {
            self.rest.extend(object.with_text(text, &mut self.errors));
        }
    }

    /// The conversation, whose blocks of data have no texts yet.
    ///
    /// # Errors
    /// [`ContentError`], which names everything that was wrong.
    pub(super) fn finish(self) -> Result<Draft, ContentError> {
        self.errors.finish()?;
        let has_tools = !self.tools.is_empty();
        let schema = has_tools.then(|| with_tools(&self.tools, self.schema.as_deref()));
        let mut places = self.places;
        let tools = self.tools.into_iter();
        let tools = tools
            .map(|(name, schema)| PlacedSchema { path: places.remove(&name).unwrap_or_default(), schema });
        let tools = tools.collect();
        Ok(Draft { blocks: self.blocks.into_list(), rest: self.rest, config: self.config, schema, tools })
    }
}
