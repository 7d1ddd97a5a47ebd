//! Messages as they are sent: a shallow parse finds those that hold a content object, and only these are parsed fully.

use serde::de::DeserializeOwned;
use serde::{Deserialize, Serialize};
use serde_json::value::{RawValue, to_raw_value};
use serde_json::{Map, Value as Json};

use super::error::{ContentError, ContentErrors};
use super::types::{ObjectType, Purpose, TYPES};
use base::schema::token;
use template::value::parse_json;

/// One message of a list.
#[derive(Debug)]
pub(super) enum Message {
    /// A message without a content object, which is not parsed further.
    Plain(Box<RawValue>),
    /// A message that holds a content object of a built-in type, or that is one.
    BuiltIn(ObjectType, Box<ContentObject>),
    /// The same for an object of another type, with its name.
    Custom(String, Box<ContentObject>),
}

/// A content object, and the message around it.
#[derive(Debug)]
pub(super) struct ContentObject {
    /// The JSON Pointer of the object.
    pub(super) path: String,
    /// The message around it, with null in the place of the object; empty if the object itself is the message.
    around: Map<String, Json>,
    /// The object's members except `type`.
    members: Map<String, Json>,
}

/// The members of a message that show whether it holds a content object.
#[derive(Deserialize)]
struct MessageOutline<'m> {
    #[serde(borrow)]
    role: Option<&'m RawValue>,
    #[serde(borrow, rename = "type")]
    kind: Option<&'m RawValue>,
    #[serde(borrow)]
    content: Option<&'m RawValue>,
}

impl<'m> MessageOutline<'m> {
    fn of(message: &'m RawValue) -> Result<MessageOutline<'m>, String> {
        // The derived code would also accept an array.
        if !is_object(message) {
            return Err("a message must be an object".to_owned());
        }
        serde_json::from_str(message.get()).map_err(|error| error.to_string())
    }
}

/// Whether the JSON is an object; a raw value has no white space at its beginning.
fn is_object(json: &RawValue) -> bool {
    json.get().starts_with('{')
}

/// Whether the message is an instruction to the model (a system or developer message).
pub(super) fn is_instruction(message: &RawValue) -> bool {
    let role = MessageOutline::of(message).ok().and_then(|outline| outline.role);
    role.is_some_and(|role| matches!(role.get(), r#""system""# | r#""developer""#))
}

impl Message {
    /// Parses a message at this path of a list; `None`, and an error is added, if it is not valid.
    pub(super) fn parse(
        purpose: Purpose,
        path: impl FnOnce() -> String,
        message: Box<RawValue>,
        errors: &mut ContentErrors,
    ) -> Option<Message> {
        match parts(&message) {
            Ok(None) => Some(Message::Plain(message)),
            Ok(Some((around, members))) => Message::with_object(purpose, path(), around, members, errors),
            Err(message) => {
                errors.add(path(), message);
                None
            }
        }
    }

    fn with_object(
        purpose: Purpose,
        message: String,
        around: Map<String, Json>,
        mut members: Map<String, Json>,
        errors: &mut ContentErrors,
    ) -> Option<Message> {
        let path = if around.is_empty() { message.clone() } else { format!("{message}/content") };
        let Some(Json::String(name)) = members.shift_remove("type") else {
            errors.add(path, "a content object needs a `type`, which is a string");
            return None;
        };
        if !matches!(around.get("role"), None | Some(Json::String(_))) {
            errors.add(format!("{message}/role"), "the role must be a string");
            return None;
        }
        let kind = TYPES.iter().find(|(known, _)| *known == name).map(|(_, kind)| *kind);
        if (kind, purpose) == (Some(ObjectType::Tool), Purpose::Chat) {
            errors.add_type_error(ContentError::Tool { path });
            return None;
        }
        let object = Box::new(ContentObject { path, around, members });
        Some(match kind {
            Some(kind) => Message::BuiltIn(kind, object),
            None => Message::Custom(name, object),
        })
    }

    /// Whether the message has a schema that it is to be checked against.
    pub(super) fn has_schema(&self) -> bool {
        match self {
            Message::BuiltIn(ObjectType::Input, object) => {
                object.members.get("schema").is_some_and(|schema| !schema.is_null())
            }
            _ => false,
        }
    }

    /// The type by which the message is ordered.
    pub(super) fn kind(&self) -> ObjectType {
        match self {
            Message::Plain(_) | Message::Custom(..) => ObjectType::Text,
            Message::BuiltIn(kind, _) => *kind,
        }
    }
}

/// The message around a content object (empty if the object itself is the message), and the members of the object.
type Parts = (Map<String, Json>, Map<String, Json>);

/// Splits a message that holds a content object into its parts; `None` if it holds none.
fn parts(message: &RawValue) -> Result<Option<Parts>, String> {
    let outline = MessageOutline::of(message)?;
    match (outline.role, outline.content, outline.kind) {
        (Some(_), Some(content), _) if is_object(content) => {
            let mut around = members(message)?;
            let Some(Json::Object(members)) = around.get_mut("content").map(Json::take) else {
                return Ok(None);
            };
            Ok(Some((around, members)))
        }
        (Some(_), ..) => Ok(None),
        (None, _, Some(_)) => Ok(Some((Map::new(), members(message)?))),
        (None, _, None) => {
            Err("a message needs a `role`, or must be a content object with a `type`".to_owned())
        }
    }
}

fn members(object: &RawValue) -> Result<Map<String, Json>, String> {
    parse_json(object.get().as_bytes()).map_err(|error| error.to_string())
}

impl ContentObject {
    /// The object's members except `type`.
    pub(super) fn members(&self) -> &Map<String, Json> {
        &self.members
    }

    /// The role of the message.
    pub(super) fn role(&self) -> Option<String> {
        Some(self.around.get("role")?.as_str()?.to_owned())
    }

    /// The members as a struct; `None`, and an error is added, if they do not fit.
    pub(super) fn take<T: DeserializeOwned>(&mut self, errors: &mut ContentErrors) -> Option<T> {
        let members = Json::Object(std::mem::take(&mut self.members));
        let read = serde_path_to_error::deserialize(members);
        read.map_err(|error| {
            let path = match error.path().to_string().as_str() {
                "." => self.path.clone(),
                member => format!("{}/{}", self.path, token(member)),
            };
            errors.add(path, error.into_inner().to_string());
        })
        .ok()
    }

    /// As [`ContentObject::take`], for types that remove the message.
    pub(super) fn take_alone<T: DeserializeOwned>(&mut self, errors: &mut ContentErrors) -> Option<T> {
        self.refuse_losses(errors);
        self.take(errors)
    }

    /// Adds an error for each member of the message that would be lost if the message were removed.
    pub(super) fn refuse_losses(&self, errors: &mut ContentErrors) {
        for name in self.around.keys().filter(|name| !matches!(name.as_str(), "role" | "content")) {
            let message =
                format!("content of this type is taken out of its message, so that `{name}` would be lost");
            errors.add(self.path.clone(), message);
        }
    }

    /// The message with a text in the place of the object.
    pub(super) fn with_text(self, text: String, errors: &mut ContentErrors) -> Option<Box<RawValue>> {
        let mut message = self.around;
        message.entry("role").or_insert_with(|| "user".into());
        message.insert("content".to_owned(), text.into());
        raw(&self.path, &message, errors)
    }
}

/// A message as it is sent; `None`, and an error is added, if it cannot be written.
pub(super) fn raw(path: &str, message: &impl Serialize, errors: &mut ContentErrors) -> Option<Box<RawValue>> {
    to_raw_value(message).map_err(|error| errors.add(path.to_owned(), error.to_string())).ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The parsed message, and the errors in words.
    fn seen(text: &str) -> (Option<Message>, String) {
        let mut errors = ContentErrors::default();
        let message = RawValue::from_string(text.to_owned()).unwrap();
        let message = Message::parse(Purpose::Chat, || "/messages/2".to_owned(), message, &mut errors);
        let error = errors.finish().err();
        (message, error.map(|error| error.to_string()).unwrap_or_default())
    }

    #[test]
    fn only_objects_as_content_and_objects_without_a_role_are_read() {
        for plain in [
            r#"{"role": "user", "content": "{\"type\": \"data\"}"}"#,
            r#"{"role": "user", "content": [{"type": "text", "text": "a"}]}"#,
            r#"{"role": "assistant", "content": null, "tool_calls": []}"#,
            r#"{"role": "assistant", "type": "message", "refusal": "no"}"#,
        ] {
            assert!(matches!(seen(plain), (Some(Message::Plain(_)), _)), "{plain}");
        }
        for (embedded, path) in [
            (r#"{"content": {"kind": "a", "type": "data"}, "role": "user"}"#, "/messages/2/content"),
            (r#"{"type": "data", "content": "no role"}"#, "/messages/2"),
            (r#"{"type": "data", "role": null}"#, "/messages/2"),
        ] {
            let (Some(Message::BuiltIn(kind, object)), _) = seen(embedded) else { panic!("{embedded}") };
            assert_eq!((object.path.as_str(), kind), (path, ObjectType::Data));
        }
    }

    #[test]
    fn an_error_names_its_place() {
        let deep = format!(r#"{{"type": "data", "data": {}1{}}}"#, "[".repeat(200), "]".repeat(200));
        for (text, expected) in [
            ("3", "/messages/2: a message must be an object"),
            (r#"["user", "text", "hi"]"#, "/messages/2: a message must be an object"),
            (r#"{"content": "hi"}"#, "/messages/2: a message needs a `role`"),
            (r#"{"role": "user", "content": {}}"#, "/messages/2/content: a content object needs a `type`"),
            (r#"{"type": 1}"#, "/messages/2: a content object needs a `type`"),
            (r#"{"role": 1, "content": {"type": "text"}}"#, "/messages/2/role: the role must be a string"),
            (r#"{"role": "a", "role": "b"}"#, "/messages/2: duplicate field `role`"),
            (r#"{"type": "data", "data": 1e999}"#, "/messages/2: number out of range"),
            (&deep, "/messages/2: recursion limit exceeded"),
            (
                r#"{"role": "user", "content": {"type": "tool"}}"#,
                "/messages/2/content: a `tool` object has no meaning",
            ),
        ] {
            let (message, error) = seen(text);
            assert!(message.is_none(), "{text}");
            assert!(error.contains(expected), "{text}: {error}");
        }
    }
}
