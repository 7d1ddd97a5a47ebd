//! Messages as they come: a cheap look finds those that hold a content object, and only these are read.

use serde::Deserialize;
use serde::de::DeserializeOwned;
use serde_json::value::RawValue;
use serde_json::{Map, Value as Json};

use super::error::{ContentError, Faults};
use template::value::parse_json;

/// The types of content objects; the number is the priority, and objects of a higher one come first.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum Type {
    Text = 0,
    Data = 1,
    Input = 4,
    State = 5,
    Config = 80,
}

/// The name of each type.
pub(super) const TYPES: [(&str, Type); 5] = [
    ("config", Type::Config),
    ("state", Type::State),
    ("input", Type::Input),
    ("data", Type::Data),
    ("text", Type::Text),
];

/// One message of a list.
#[derive(Debug)]
pub(super) enum Message {
    /// Without a content object: nobody reads further.
    Plain(Box<RawValue>),
    /// With a content object, or itself one.
    Folded(Box<Object>),
}

/// A content object, and the message around it.
#[derive(Debug)]
pub(super) struct Object {
    /// Where the object is: a JSON Pointer.
    pub(super) path: String,
    /// The object's type.
    pub(super) kind: Type,
    /// The message around it, with null in the object's place; empty if the object stands by itself.
    pub(super) around: Map<String, Json>,
    /// The object's members but for `type`.
    members: Map<String, Json>,
}

/// As much of a message as is needed to see whether it holds a content object.
#[derive(Deserialize)]
struct Look<'m> {
    #[serde(borrow)]
    role: Option<&'m RawValue>,
    #[serde(borrow, rename = "type")]
    kind: Option<&'m RawValue>,
    #[serde(borrow)]
    content: Option<&'m RawValue>,
}

impl<'m> Look<'m> {
    fn at(message: &'m RawValue) -> Result<Look<'m>, String> {
        // The derived code would take a list for a struct.
        if !is_object(message) {
            return Err("a message must be an object".to_owned());
        }
        serde_json::from_str(message.get()).map_err(|error| error.to_string())
    }
}

/// A raw value has no white space before it.
fn is_object(json: &RawValue) -> bool {
    json.get().starts_with('{')
}

/// Whether the message tells the model how to behave.
pub(super) fn is_instruction(message: &RawValue) -> bool {
    let role = Look::at(message).ok().and_then(|look| look.role);
    role.is_some_and(|role| matches!(role.get(), r#""system""# | r#""developer""#))
}

impl Message {
    /// Reads the message at `index` of the list; nothing if it cannot be used.
    pub(super) fn read(index: usize, message: Box<RawValue>, faults: &mut Faults) -> Option<Message> {
        let path = || format!("/messages/{index}");
        match parts(&message) {
            Ok(None) => Some(Message::Plain(message)),
            Ok(Some((around, members))) => {
                let object = Object::new(path(), around, members, faults)?;
                Some(Message::Folded(Box::new(object)))
            }
            Err(fault) => {
                faults.add(path(), fault);
                None
            }
        }
    }

    /// Whether unfolding the message means to hold it against a schema.
    pub(super) fn is_to_be_checked(&self) -> bool {
        matches!(self, Message::Folded(object) if object.is_to_be_checked())
    }

    /// The type with which the message has its turn.
    pub(super) fn kind(&self) -> Type {
        match self {
            Message::Plain(_) => Type::Text,
            Message::Folded(object) => object.kind,
        }
    }
}

/// The message around a content object, which is empty if there is none around it, and the object.
type Parts = (Map<String, Json>, Map<String, Json>);

/// Takes a message that holds a content object to its parts; no parts if it holds none.
fn parts(message: &RawValue) -> Result<Option<Parts>, String> {
    let look = Look::at(message)?;
    match (look.role, look.content, look.kind) {
        (Some(_), Some(content), _) if is_object(content) => {
            let mut around = members(message)?;
            let Some(Json::Object(members)) = around.get_mut("content").map(Json::take) else {
                return Ok(None);
            };
            Ok(Some((around, members)))
        }
        (Some(_), ..) => Ok(None),
        (None, _, Some(_)) => Ok(Some((Map::new(), members(message)?))),
        (None, _, None) => Err("a message needs a `role`, or is a content object with a `type`".to_owned()),
    }
}

fn members(object: &RawValue) -> Result<Map<String, Json>, String> {
    parse_json(object.get().as_bytes()).map_err(|error| error.to_string())
}

impl Object {
    fn new(
        message: String,
        around: Map<String, Json>,
        mut members: Map<String, Json>,
        faults: &mut Faults,
    ) -> Option<Object> {
        let path = if around.is_empty() { message.clone() } else { format!("{message}/content") };
        let kind = kind(&path, members.shift_remove("type"), faults)?;
        if !matches!(around.get("role"), None | Some(Json::String(_))) {
            faults.add(format!("{message}/role"), "the role must be a string");
            return None;
        }
        Some(Object { path, kind, around, members })
    }

    /// Whether the object brings a schema that it is to be held against.
    pub(super) fn is_to_be_checked(&self) -> bool {
        self.kind == Type::Input && self.members.get("schema").is_some_and(|schema| !schema.is_null())
    }

    /// The role that the message names.
    pub(super) fn role(&self) -> Option<String> {
        Some(self.around.get("role")?.as_str()?.to_owned())
    }

    /// The members as the struct of the object's type; nothing if they do not fit.
    pub(super) fn take<T: DeserializeOwned>(&mut self, faults: &mut Faults) -> Option<T> {
        let members = Json::Object(std::mem::take(&mut self.members));
        let read = serde_path_to_error::deserialize(members);
        read.map_err(|error| {
            let path = match error.path().to_string().as_str() {
                "." => self.path.clone(),
                member => format!("{}/{}", self.path, member.replace('~', "~0").replace('/', "~1")),
            };
            faults.add(path, error.into_inner().to_string());
        })
        .ok()
    }

    /// As [`Object::take`], where nothing remains of the message: members that would be lost with it are faults.
    pub(super) fn take_alone<T: DeserializeOwned>(&mut self, faults: &mut Faults) -> Option<T> {
        for name in self.around.keys().filter(|name| !matches!(name.as_str(), "role" | "content")) {
            let message =
                format!("this type of content is moved out of its message, and `{name}` would be lost");
            faults.add(self.path.clone(), message);
        }
        self.take(faults)
    }
}

/// The type of the object at `path`; nothing if there is no such type.
fn kind(path: &str, named: Option<Json>, faults: &mut Faults) -> Option<Type> {
    let path = path.to_owned();
    let Some(Json::String(name)) = named else {
        faults.add(path, "a content object needs a `type`, which is a string");
        return None;
    };
    if let Some(&(_, kind)) = TYPES.iter().find(|(known, _)| *known == name) {
        return Some(kind);
    }
    faults.refuse(match name.as_str() {
        "tool" => ContentError::Tool { path },
        _ => ContentError::UnknownType { path, name },
    });
    None
}

#[cfg(test)]
mod tests {
    use super::*;

    /// What the message is taken for, and the faults in words.
    fn seen(text: &str) -> (Option<Message>, String) {
        let mut faults = Faults::default();
        let message = Message::read(2, RawValue::from_string(text.to_owned()).unwrap(), &mut faults);
        let fault = faults.finish().err();
        (message, fault.map(|error| error.to_string()).unwrap_or_default())
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
        for (folded, path) in [
            (r#"{"content": {"kind": "a", "type": "data"}, "role": "user"}"#, "/messages/2/content"),
            (r#"{"type": "data", "content": "no role"}"#, "/messages/2"),
            (r#"{"type": "data", "role": null}"#, "/messages/2"),
        ] {
            let (Some(Message::Folded(object)), _) = seen(folded) else { panic!("{folded}") };
            assert_eq!((object.path.as_str(), object.kind), (path, Type::Data));
        }
    }

    #[test]
    fn what_cannot_be_read_is_told_with_its_place() {
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
            let (message, fault) = seen(text);
            assert!(message.is_none(), "{text}");
            assert!(fault.contains(expected), "{text}: {fault}");
        }
    }

    #[test]
    fn the_types_are_listed_by_priority() {
        assert!(TYPES.is_sorted_by(|(_, higher), (_, lower)| higher > lower));
    }
}
