//! The rendered messages of a prompt: they serialize straight from the document and the rendered texts, without a copy.

use std::cell::RefCell;
use std::slice::Iter;
use std::sync::Arc;

use serde::ser::{SerializeMap, SerializeSeq};
use serde::{Serialize, Serializer};
use serde_json::Value as Json;
use serde_json::value::{RawValue, to_raw_value};

use super::{Body, Prompt};

/// The rendered messages of a prompt; they serialize as a list.
#[derive(Debug, Clone, PartialEq)]
pub struct Messages {
    list: List,
    texts: Vec<String>,
}

/// The messages, with empty strings in the place of the texts.
#[derive(Debug, Clone, PartialEq)]
enum List {
    /// Those of a prompt.
    Prompt(Arc<Prompt>),
    /// Those that a text parts into.
    Parted(Vec<Json>),
}

impl Messages {
    /// The messages of `prompt` with the rendered `texts`, which have the order of [`Body::texts`].
    pub fn new(prompt: &Arc<Prompt>, texts: Vec<String>) -> Messages {
        Messages { list: List::Prompt(prompt.clone()), texts }
    }

    /// Messages with these texts as their `content`: the members of each but that, and its text.
    pub fn parted(messages: Vec<(serde_json::Map<String, Json>, String)>) -> Messages {
        let mut list = Vec::with_capacity(messages.len());
        let mut texts = Vec::with_capacity(messages.len());
        for (mut members, text) in messages {
            members.insert("content".to_owned(), Json::String(String::new()));
            list.push(Json::Object(members));
            texts.push(text);
        }
        Messages { list: List::Parted(list), texts }
    }

    /// The messages, each serialized to JSON.
    ///
    /// # Errors
    /// Those of `serde_json`.
    pub fn to_raw(&self) -> Result<Vec<Box<RawValue>>, serde_json::Error> {
        let texts = RefCell::new(self.texts.iter());
        self.skeleton().iter().map(|message| to_raw_value(&Message(message, &texts))).collect()
    }

    fn skeleton(&self) -> &[Json] {
        match &self.list {
            List::Parted(messages) => messages,
            List::Prompt(prompt) => match &prompt.body {
                Body::Messages { skeleton, .. } => skeleton,
                Body::Text(_) => &[],
            },
        }
    }

    /// The length of all rendered texts together, in bytes.
    pub fn text_bytes(&self) -> usize {
        self.texts.iter().map(String::len).sum()
    }
}

/// The rendered texts that have not been serialized yet.
type RemainingTexts<'t> = RefCell<Iter<'t, String>>;

/// One message of the document, with the texts for the strings below `content`.
struct Message<'m, 't>(&'m Json, &'m RemainingTexts<'t>);

/// A part of `content`; each string in it is a placeholder for the next text.
struct Content<'m, 't>(&'m Json, &'m RemainingTexts<'t>);

impl Serialize for Messages {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let messages = self.skeleton();
        let texts = RefCell::new(self.texts.iter());
        let mut list = serializer.serialize_seq(Some(messages.len()))?;
        messages.iter().try_for_each(|message| list.serialize_element(&Message(message, &texts)))?;
        list.end()
    }
}

impl Serialize for Message<'_, '_> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let Json::Object(members) = self.0 else { return self.0.serialize(serializer) };
        let mut map = serializer.serialize_map(Some(members.len()))?;
        for (name, member) in members {
            match name.as_str() {
                "content" => map.serialize_entry(name, &Content(member, self.1))?,
                _ => map.serialize_entry(name, member)?,
            }
        }
        map.end()
    }
}

impl Serialize for Content<'_, '_> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        match self.0 {
            Json::String(_) => {
                serializer.serialize_str(self.1.borrow_mut().next().map_or("", String::as_str))
            }
            Json::Array(items) => serializer.collect_seq(items.iter().map(|item| Content(item, self.1))),
            Json::Object(members) => {
                serializer.collect_map(members.iter().map(|(name, member)| (name, Content(member, self.1))))
            }
            other => other.serialize(serializer),
        }
    }
}
