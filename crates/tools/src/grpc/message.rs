//! Converts JSON to protobuf messages and back, by the canonical JSON mapping.

use std::io;

use prost_reflect::prost::Message;
use prost_reflect::prost::bytes::Bytes;
use prost_reflect::{DynamicMessage, MessageDescriptor, SerializeOptions};
use serde_json::Value as Json;
use serde_path_to_error::{Deserializer, Track};

use super::error::catch_panic;
use crate::error::ToolError;
use base::outbound::excerpt;

/// How deep arguments may nest; the protobuf decoders of servers have the same limit.
const DEPTH: usize = 100;

/// Fields with default values are written too, so that templates find them.
const WITH_DEFAULTS: SerializeOptions = SerializeOptions::new().skip_default_fields(false);

/// Encodes an object as a message of type `kind`.
pub(super) fn encode(kind: MessageDescriptor, object: &Json) -> Result<Bytes, ToolError> {
    if nests_deeper(object, DEPTH) {
        return Err(ToolError::Arguments { message: format!("they nest deeper than {DEPTH}") });
    }
    catch_panic(|| {
        let mut track = Track::new();
        let message = DynamicMessage::deserialize(kind, Deserializer::new(object, &mut track));
        match message {
            Ok(message) => Ok(Bytes::from(message.encode_to_vec())),
            Err(error) => Err(mismatch(&track.path().to_string(), &error.to_string())),
        }
    })
}

fn nests_deeper(value: &Json, depth: usize) -> bool {
    let Some(depth) = depth.checked_sub(1) else { return true };
    match value {
        Json::Array(items) => items.iter().any(|item| nests_deeper(item, depth)),
        Json::Object(members) => members.values().any(|member| nests_deeper(member, depth)),
        _ => false,
    }
}

/// The error for arguments that do not fit: where, and what was expected, without repeating the value.
fn mismatch(path: &str, error: &str) -> ToolError {
    let why = match error.rsplit_once(", expected ") {
        _ if error.starts_with("unrecognized enum value") => "the enum has no such value".to_owned(),
        Some((_, expected)) => format!("expected {expected}"),
        None => error.to_owned(),
    };
    let message = if path == "." { why } else { format!("`{path}`: {why}") };
    ToolError::Arguments { message: excerpt(&message) }
}

/// Decodes a message of type `kind` to JSON, whose text may have at most `limit` bytes.
pub(super) fn decode(kind: MessageDescriptor, encoded: Bytes, limit: usize) -> Result<Json, ToolError> {
    catch_panic(|| {
        let message =
            DynamicMessage::decode(kind, encoded).map_err(|error| unreadable(&error.to_string()))?;
        let mut text = BoundedText { bytes: Vec::new(), limit };
        let mut serializer = serde_json::Serializer::new(&mut text);
        let written = message.serialize_with_options(&mut serializer, &WITH_DEFAULTS);
        written.map_err(|error| match error.is_io() {
            true => ToolError::Answer { message: format!("it is longer than {limit} bytes as JSON") },
            false => unreadable(&error.to_string()),
        })?;
        let mut json: Json =
            serde_json::from_slice(&text.bytes).map_err(|error| unreadable(&error.to_string()))?;
        // Protobuf maps have no order; sorting makes equal answers equal.
        json.sort_all_objects();
        Ok(json)
    })
}

fn unreadable(why: &str) -> ToolError {
    ToolError::Answer { message: excerpt(&format!("it cannot be decoded: {why}")) }
}

/// A buffer with a limit: a message of few bytes can have very many fields with default values.
struct BoundedText {
    bytes: Vec<u8>,
    limit: usize,
}

impl io::Write for BoundedText {
    fn write(&mut self, more: &[u8]) -> io::Result<usize> {
        if self.bytes.len() + more.len() > self.limit {
            return Err(io::ErrorKind::FileTooLarge.into());
        }
        self.bytes.extend_from_slice(more);
        Ok(more.len())
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}
