//! Content objects of types that are not built in. Whoever knows their types has them rendered, and puts that in their place.

use serde_json::value::RawValue;
use serde_json::{Map, Value as Json};

use super::MessageList;
use super::error::{ContentError, ContentErrors};
use super::object::{ContentObject, Message};
use super::types::Purpose;

/// The largest number of such objects in one list: each of them is rendered by a prompt.
pub(super) const CUSTOM_MAX: usize = 64;

/// A content object of a type that is not built in.
#[derive(Debug)]
pub struct CustomObject<'l> {
    /// The JSON Pointer of the object.
    pub path: &'l str,
    /// The type.
    pub name: &'l str,
    /// The members except `type`.
    pub members: &'l Map<String, Json>,
}

/// What stands in the place of such an object.
#[derive(Debug)]
pub enum Replacement {
    /// The text of its message.
    Text(String),
    /// Messages in the place of its own. They may hold content objects of built-in types.
    Messages(Vec<Box<RawValue>>),
}

impl MessageList {
    /// Whether there are objects of types that are not built in.
    pub fn has_custom(&self) -> bool {
        self.custom().next().is_some()
    }

    /// The objects of types that are not built in, in their order.
    pub fn custom(&self) -> impl Iterator<Item = CustomObject<'_>> {
        self.messages.iter().filter_map(|message| match message {
            Message::Custom(name, object) => {
                Some(CustomObject { path: &object.path, name, members: object.members() })
            }
            _ => None,
        })
    }

    /// Refuses the objects of types that do not exist; `known` are the names of those that do, beside the built-in ones.
    pub fn refuse_unknown(&mut self, exists: impl Fn(&str) -> bool, known: &[String]) {
        let (purpose, errors) = (self.purpose, &mut self.pipeline.errors);
        self.messages.retain(|message| match message {
            Message::Custom(name, object) if !exists(name) => {
                errors.add_type_error(unknown(purpose, name, object, known));
                false
            }
            _ => true,
        });
    }

    /// Whether nothing wrong has been found so far.
    pub fn is_sound(&self) -> bool {
        self.pipeline.errors.is_empty()
    }

    /// Puts a replacement in the place of each object of [`MessageList::custom`], in the same order.
    pub fn replace(&mut self, replacements: Vec<Replacement>) {
        let mut replacements = replacements.into_iter();
        for message in std::mem::take(&mut self.messages) {
            match message {
                Message::Custom(name, object) => match replacements.next() {
                    Some(by) => self.messages.extend(replaced(
                        self.purpose,
                        &name,
                        *object,
                        by,
                        &mut self.pipeline.errors,
                    )),
                    None => self.messages.push(Message::Custom(name, object)),
                },
                other => self.messages.push(other),
            }
        }
    }
}

/// Adds an error for the first object of such a type that is too many.
pub(super) fn check_number(messages: &[Message], errors: &mut ContentErrors) {
    let mut custom = messages.iter().filter_map(|message| match message {
        Message::Custom(_, object) => Some(object),
        _ => None,
    });
    if let Some(object) = custom.nth(CUSTOM_MAX) {
        let message = format!("at most {CUSTOM_MAX} objects can have types that prompts render");
        errors.add(object.path.clone(), message);
    }
}

/// The error of an object whose type does not exist.
pub(super) fn unknown(
    purpose: Purpose,
    name: &str,
    object: &ContentObject,
    known: &[String],
) -> ContentError {
    let known = purpose.types().map(str::to_owned).chain(known.iter().cloned());
    ContentError::UnknownType { path: object.path.clone(), name: name.to_owned(), known: known.collect() }
}

/// The messages in the place of an object's own. The paths of all errors in them are that of the object, which the client sent.
fn replaced(
    purpose: Purpose,
    name: &str,
    object: ContentObject,
    by: Replacement,
    errors: &mut ContentErrors,
) -> Vec<Message> {
    let messages = match by {
        Replacement::Text(text) => {
            return object.with_text(text, errors).map(Message::Plain).into_iter().collect();
        }
        Replacement::Messages(messages) => messages,
    };
    object.refuse_losses(errors);
    let mut read = Vec::with_capacity(messages.len());
    for message in messages {
        match Message::parse(purpose, || object.path.clone(), message, errors) {
            Some(Message::Custom(inner, _)) => {
                let message =
                    format!("is rendered to an object of the type `{inner}`, which is not built in");
                errors.add(object.path.clone(), format!("the type `{name}` {message}"));
            }
            message => read.extend(message),
        }
    }
    read
}
