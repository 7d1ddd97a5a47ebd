//! Lists of messages with content objects, made messages for a model: objects of types that are not built in, and blocks of data, are
//! rendered by prompts.

use std::sync::Arc;
use std::time::Instant;

use serde_json::Value as Json;

use super::own::{DATA, INPUT};
use super::{Content, RenderError, Renderer, Warning};
use crate::catalog::Snapshot;
use crate::content::{ContentError, Conversation, CustomObject, DataBlock, MessageList, Replacement};
use base::caller::Caller;
use base::error::{Kind, Kinded};
use base::model::Id;
use base::schema::Violation;
use template::value::{Map, SmolStr, Value};

/// The prompt `content.T` renders content objects of the type `T`.
const FOLDER: &str = "content";

/// How many of their names an error lists.
const NAMED_MAX: usize = 50;

/// After this many blocks, other work of the thread has its turn.
const BLOCKS_AT_ONCE: usize = 16;

/// Messages for a model.
#[derive(Debug)]
pub struct Expansion {
    /// The messages, with what the content objects say about the request.
    pub conversation: Conversation,
    /// The warnings about tool calls that failed.
    pub warnings: Vec<Warning>,
}

/// The error of content objects that cannot be expanded.
#[derive(Debug, thiserror::Error)]
pub enum ExpandError {
    /// They are not valid.
    #[error(transparent)]
    Content(#[from] ContentError),
    /// A prompt that renders one cannot be rendered.
    #[error(transparent)]
    Render(#[from] RenderError),
}

impl Kinded for ExpandError {
    fn kind(&self) -> Kind {
        match self {
            ExpandError::Content(error) => error.kind(),
            ExpandError::Render(error) => error.kind(),
        }
    }
}

/// A content object that a prompt renders.
struct Rendering {
    prompt: Id,
    path: String,
    variables: Value,
}

impl Renderer {
    /// Expands the content objects of a list of messages. A list without any costs next to nothing.
    ///
    /// # Errors
    /// [`ExpandError`].
    pub async fn expand(&self, caller: &Caller, mut list: MessageList) -> Result<Expansion, ExpandError> {
        let snapshot = self.catalog.snapshot();
        // Boxed, so that the futures of chats without content objects stay small.
        let warnings = match list.has_custom() {
            true => Box::pin(self.render_custom(caller, &snapshot, &mut list)).await?,
            false => Vec::new(),
        };
        let draft = match list.has_schemas() {
            true => self.run_on_json(move || list.expand()).await?,
            false => list.expand(),
        }?;
        let texts = match draft.blocks() {
            [] => Vec::new(),
            blocks => Box::pin(self.texts_of(caller, &snapshot, blocks)).await?,
        };
        Ok(Expansion { conversation: draft.with_texts(texts)?, warnings })
    }

    /// Renders the objects of types that are not built in, and puts the results in their places; only if the list is sound so
    /// far, because prompts may call tools.
    async fn render_custom(
        &self,
        caller: &Caller,
        snapshot: &Arc<Snapshot>,
        list: &mut MessageList,
    ) -> Result<Vec<Warning>, ExpandError> {
        let objects: Option<Vec<Rendering>> =
            list.custom().map(|object| Rendering::of(&object, snapshot)).collect();
        let Some(objects) = objects else {
            let not_loaded = self.catalog.store_state().not_loaded().map(RenderError::from);
            list.refuse_unknown(|name| prompt_for(name, snapshot).is_some(), &names(snapshot));
            return not_loaded.map_or(Ok(Vec::new()), |error| Err(error.into()));
        };
        let mut warnings = Vec::new();
        if list.is_sound() {
            let mut replacements = Vec::with_capacity(objects.len());
            for Rendering { prompt, path, variables } in objects {
                let rendered = self.render_object(caller, snapshot, prompt, variables).await;
                let (replacement, more) = rendered.map_err(|error| error.at(path))?;
                replacements.push(replacement);
                warnings.extend(more);
            }
            list.replace(replacements);
        }
        Ok(warnings)
    }

    async fn render_object(
        &self,
        caller: &Caller,
        snapshot: &Arc<Snapshot>,
        prompt: Id,
        variables: Value,
    ) -> Result<(Replacement, Vec<Warning>), RenderError> {
        let ticket = self.ticket_of(prompt, snapshot.clone());
        let rendered = self.render_admitted(caller, ticket, Some(variables)).await?;
        let replacement = match rendered.content {
            Content::Text(text) => Replacement::Text(text),
            Content::Messages(messages) => {
                let unwritable = |error: serde_json::Error| RenderError::Failed {
                    message: format!("its messages cannot be written: {error}"),
                    position: None,
                };
                Replacement::Messages(messages.to_raw().map_err(unwritable)?)
            }
        };
        Ok((replacement, rendered.warnings))
    }

    /// The texts of blocks of data. All of them share the time limit of one render.
    async fn texts_of(
        &self,
        caller: &Caller,
        snapshot: &Arc<Snapshot>,
        blocks: &[DataBlock],
    ) -> Result<Vec<String>, ExpandError> {
        let started = Instant::now();
        let mut texts = Vec::with_capacity(blocks.len());
        for (at, block) in blocks.iter().enumerate() {
            if at % BLOCKS_AT_ONCE == BLOCKS_AT_ONCE - 1 {
                tokio::task::yield_now().await;
            }
            let description = match (&block.description, block.is_input) {
                (Some(description), _) => description.clone(),
                (None, true) => {
                    self.own_text_of(caller, snapshot, INPUT, Value::from(Map::default()), started).await?
                }
                (None, false) => String::new(),
            };
            let variables = self.variables_of(block, description)?;
            let text = self.own_text_of(caller, snapshot, DATA, variables, started).await;
            texts.push(text.map_err(|error| error.at(block.path.clone()))?);
        }
        Ok(texts)
    }

    /// The variables of the text of a block. JSON is a text in them, so that numbers stay as they are. It is compact: indentation
    /// would multiply the size of nested data without use to a model, and a single line cannot end a fence around it.
    fn variables_of(&self, block: &DataBlock, description: String) -> Result<Value, ContentError> {
        let schema = block.schema.as_ref().map_or_else(String::new, Json::to_string);
        let data = block.data.to_string();
        let (bytes, limit) = (data.len() + schema.len(), self.options.limits.output_bytes);
        if bytes > limit {
            let message = format!(
                "the data of its kind are {bytes} bytes of JSON; at most {limit} (render.output_bytes) can be shown"
            );
            let violation = Violation { path: block.path.clone(), message, missing: None };
            return Err(ContentError::Invalid { violations: vec![violation] });
        }
        let members = [
            ("kind", block.kind.as_str()),
            ("data", &data),
            ("description", &description),
            ("schema", &schema),
        ];
        let members = members.map(|(name, text)| (SmolStr::new(name), Value::from(text)));
        Ok(Value::from(members.into_iter().collect::<Map>()))
    }
}

impl Rendering {
    /// `None` if the type of the object does not exist.
    fn of(object: &CustomObject<'_>, snapshot: &Snapshot) -> Option<Rendering> {
        let members = object.members.iter().map(|(name, value)| (SmolStr::new(name), Value::from(value)));
        Some(Rendering {
            prompt: prompt_for(object.name, snapshot)?,
            path: object.path.to_owned(),
            variables: Value::from(members.collect::<Map>()),
        })
    }
}

/// The prompt that renders content objects of a type, if it exists.
fn prompt_for(name: &str, snapshot: &Snapshot) -> Option<Id> {
    let id = Id::parse(FOLDER).and_then(|folder| folder.child(name)).ok()?;
    snapshot.prompt(&id).map(|entry| entry.id.clone())
}

/// The types for which there are prompts: the first ones, if they are many.
fn names(snapshot: &Snapshot) -> Vec<String> {
    let ids = snapshot.documents.prompts.iter().map(|(id, _)| id.as_str());
    let names = ids.filter_map(|id| id.strip_prefix(FOLDER)?.strip_prefix('.'));
    names.take(NAMED_MAX).map(str::to_owned).collect()
}
