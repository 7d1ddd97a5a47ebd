//! Messages as they are sent: a shallow parse finds those that hold a content object, and only these are parsed fully.

use serde::Deserialize;
use serde::de::DeserializeOwned;
use serde_json::value::RawValue;
use serde_json::{Map, Value as Json};

use super::error::{ContentError, ContentErrors};
use template::value::parse_json;

/// The types of content objects. The number is the priority: objects with a higher one are handled first.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum ObjectType {
    Text = 0,
    Data = 1,
    Input = 4,
    State = 5,
    Config = 80,
}

/// The name of each type.
pub(super) const TYPES: [(&str, ObjectType); 5] = [
    ("config", ObjectType::Config),
    ("state", ObjectType::State),
    ("input", ObjectType::Input),
    ("data", ObjectType::Data),
    ("text", ObjectType::Text),
];

/// One message of a list.
#[derive(Debug)]
pub(super) enum Message {
    /// A message without a content object, which is not parsed further.
    Plain(Box<RawValue>),
    /// A message that holds a content object, or that is one.
    WithObject(Box<ContentObject>),
}

/// A content object, and the message around it.
#[derive(Debug)]
pub(super) struct ContentObject {
    /// The JSON Pointer of the object.
    pub(super) path: String,
    /// The value of its member `type`.
    pub(super) kind: ObjectType,
    /// The message around it, with null in the place of the object; empty if the object itself is the message.
    pub(super) around: Map<String, Json>,
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
    /// Parses the message at `index` of the list; `None`, and an error is added, if it is not valid.
    pub(super) fn parse(index: usize, message: Box<RawValue>, errors: &mut ContentErrors) -> Option<Message> {
        let path = || format!("/messages/{index}");
        match parts(&message) {
            Ok(None) => Some(Message::Plain(message)),
            Ok(Some((around, members))) => {
                let object = ContentObject::new(path(), around, members, errors)?;
                Some(Message::WithObject(Box::new(object)))
            }
            Err(message) => {
                errors.add(path(), message);
                None
            }
        }
    }

    /// Whether the message has a schema that is to be checked.
    pub(super) fn has_schema(&self) -> bool {
        matches!(self, Message::WithObject(object) if object.has_schema())
    }

    /// The type by which the message is ordered.
    pub(super) fn kind(&self) -> ObjectType {
        match self {
            Message::Plain(_) => ObjectType::Text,
            Message::WithObject(object) => object.kind,
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
    fn new(
        message: String,
        around: Map<String, Json>,
        mut members: Map<String, Json>,
        errors: &mut ContentErrors,
    ) -> Option<ContentObject> {
        let path = if around.is_empty() { message.clone() } else { format!("{message}/content") };
        let kind = kind(&path, members.shift_remove("type"), errors)?;
        if !matches!(around.get("role"), None | Some(Json::String(_))) {
            errors.add(format!("{message}/role"), "the role must be a string");
            return None;
        }
        Some(ContentObject { path, kind, around, members })
    }

    /// Whether the object has a schema that it is to be checked against.
    pub(super) fn has_schema(&self) -> bool {
        self.kind == ObjectType::Input && self.members.get("schema").is_some_and(|schema| !schema.is_null())
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
                member => format!("{}/{}", self.path, member.replace('~', "~0").replace('/', "~1")),
            };
            errors.add(path, error.into_inner().to_string());
        })
        .ok()
    }

    /// As [`ContentObject::take`], for types that remove the message: other members of the message would be lost, and are
    /// errors.
    pub(super) fn take_alone<T: DeserializeOwned>(&mut self, errors: &mut ContentErrors) -> Option<T> {
        for name in self.around.keys().filter(|name| !matches!(name.as_str(), "role" | "content")) {
            let message =
                format!("content of this type is taken out of its message, so that `{name}` would be lost");
            errors.add(self.path.clone(), message);
        }
        self.take(errors)
    }
}

/// The type of the object at `path`; `None`, and an error is added, if there is no such type.
fn kind(path: &str, named: Option<Json>, errors: &mut ContentErrors) -> Option<ObjectType> {
    let path = path.to_owned();
    let Some(Json::String(name)) = named else {
        errors.add(path, "a content object needs a `type`, which is a string");
        return None;
    };
    if let Some(&(_, kind)) = TYPES.iter().find(|(known, _)| *known == name) {
        return Some(kind);
    }
    errors.add_type_error(match name.as_str() {
        "tool" => ContentError::Tool { path },
        _ => ContentError::UnknownType { path, name, known: TYPES.map(|(name, _)| name).to_vec() },
    });
    None
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The parsed message, and the errors in words.
    fn seen(text: &str) -> (Option<Message>, String) {
        let mut errors = ContentErrors::default();
        let message = Message::parse(2, RawValue::from_string(text.to_owned()).unwrap(), &mut errors);
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
            let (Some(Message::WithObject(object)), _) = seen(embedded) else { panic!("{embedded}") };
            assert_eq!((object.path.as_str(), object.kind), (path, ObjectType::Data));
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
                r#"{"type": "dat"}"#,
                "/messages/2: there is no content type `dat`; the known ones are config, state, input, data, text",
            ),
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

    #[test]
    fn the_types_are_listed_by_priority() {
        assert!(TYPES.is_sorted_by(|(_, higher), (_, lower)| higher > lower));
    }
}
