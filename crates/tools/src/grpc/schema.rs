//! Message types as JSON Schemas, in the canonical JSON mapping.
//!
//! A schema says no more than the mapping does: numbers may be texts, and enums numbers. A message that is used inside of
//! another one is a definition, so that recursive types have schemas, too.

use std::collections::VecDeque;

use prost_reflect::{EnumDescriptor, FieldDescriptor, Kind, MessageDescriptor};
use serde_json::{Map, Value as Json, json};

/// The most messages that are described in one schema; further ones are any objects.
const DEFINITIONS: usize = 100;

/// The most fields and enum values in one schema; of what comes later, the names are left out.
const ENTRIES: usize = 2_000;

/// The schema of a message.
pub(super) fn of_message(message: &MessageDescriptor) -> Json {
    let mut schemas = Schemas::default();
    let mut schema = match well_known(message) {
        Some(schema) => schema,
        None => schemas.members(message),
    };
    let mut definitions = Map::new();
    while let Some(next) = schemas.waiting.pop_front() {
        definitions.insert(next.full_name().to_owned(), schemas.members(&next));
    }
    if let (false, Some(members)) = (definitions.is_empty(), schema.as_object_mut()) {
        members.insert("$defs".to_owned(), definitions.into());
    }
    // Arguments are an object, whatever the message is.
    if schema.get("type").and_then(Json::as_str) != Some("object") {
        schema = json!({"type": "object"});
    }
    schema
}

#[derive(Default)]
struct Schemas {
    /// The names of the messages that have definitions.
    known: Vec<String>,
    /// Those whose definitions are still to be written.
    waiting: VecDeque<MessageDescriptor>,
    entries: usize,
}

impl Schemas {
    /// The schema of a message by its fields, in the order of its source.
    fn members(&mut self, message: &MessageDescriptor) -> Json {
        let mut properties = Map::new();
        let mut required = Vec::new();
        for field in message.descriptor_proto().field.iter().map(|field| field.name()) {
            let Some(field) = message.get_field_by_name(field) else { continue };
            self.entries += 1;
            if self.entries > ENTRIES {
                break;
            }
            let name = field.json_name().to_owned();
            if field.is_required() {
                required.push(name.clone());
            }
            properties.insert(name, self.field(&field));
        }
        match required.is_empty() {
            true => json!({"type": "object", "properties": properties}),
            false => json!({"type": "object", "properties": properties, "required": required}),
        }
    }

    fn field(&mut self, field: &FieldDescriptor) -> Json {
        match field.kind() {
            Kind::Message(entry) if field.is_map() => {
                let value = self.kind(entry.map_entry_value_field().kind());
                json!({"type": "object", "additionalProperties": value})
            }
            kind if field.is_list() => json!({"type": "array", "items": self.kind(kind)}),
            kind => self.kind(kind),
        }
    }

    fn kind(&mut self, kind: Kind) -> Json {
        match kind {
            Kind::Double | Kind::Float => json!({"type": ["number", "string"]}),
            Kind::Bool => json!({"type": "boolean"}),
            Kind::String => json!({"type": "string"}),
            Kind::Bytes => json!({"type": "string", "contentEncoding": "base64"}),
            Kind::Message(message) => well_known(&message).unwrap_or_else(|| self.reference(message)),
            Kind::Enum(names) => self.names(&names),
            _ => json!({"type": ["integer", "string"]}),
        }
    }

    fn reference(&mut self, message: MessageDescriptor) -> Json {
        let name = message.full_name().to_owned();
        if !self.known.contains(&name) {
            if self.known.len() >= DEFINITIONS {
                return json!({"type": "object"});
            }
            self.known.push(name.clone());
            self.waiting.push_back(message);
        }
        json!({"$ref": format!("#/$defs/{name}")})
    }

    fn names(&mut self, kind: &EnumDescriptor) -> Json {
        self.entries += kind.values().len();
        if kind.full_name() == "google.protobuf.NullValue" {
            return json!({});
        }
        if self.entries > ENTRIES {
            return json!({"type": ["string", "integer"]});
        }
        let names: Vec<String> = kind.values().map(|value| value.name().to_owned()).collect();
        json!({"anyOf": [{"enum": names}, {"type": "integer"}]})
    }
}

/// The schemas of Google's types with a JSON form of their own.
fn well_known(message: &MessageDescriptor) -> Option<Json> {
    Some(match message.full_name().strip_prefix("google.protobuf.")? {
        "Timestamp" => json!({"type": "string", "format": "date-time"}),
        "Duration" => json!({"type": "string", "description": "seconds, such as 1.5s"}),
        "FieldMask" => json!({"type": "string"}),
        "Struct" | "Empty" => json!({"type": "object"}),
        "Any" => json!({"type": "object", "required": ["@type"]}),
        "ListValue" => json!({"type": "array"}),
        "Value" => json!({}),
        "StringValue" | "BytesValue" => json!({"type": ["string", "null"]}),
        "BoolValue" => json!({"type": ["boolean", "null"]}),
        "DoubleValue" | "FloatValue" => json!({"type": ["number", "string", "null"]}),
        "Int32Value" | "Int64Value" | "UInt32Value" | "UInt64Value" => {
            json!({"type": ["integer", "string", "null"]})
        }
        _ => return None,
    })
}
