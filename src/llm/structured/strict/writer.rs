//! Writes the strict form of a document.

use std::collections::{HashSet, VecDeque};

use serde_json::{Map, Value as Json, json};

use super::builder::Sources;
use super::definitions::{Definitions, meant_by};
use super::graph::{Form, Node, NodeId, Object};
use super::limits;
use super::nullable::nullable;
use super::types::Types;
use template::value::Value;

/// The formats of strings that strict mode knows.
const FORMATS: [&str; 9] =
    ["date-time", "time", "date", "duration", "email", "hostname", "ipv4", "ipv6", "uuid"];

/// How deep subschemas may stand in each other; no parsed document reaches it.
const DEPTH_MAX: usize = 128;

/// The strict form of a document; `None` if it exceeds the limits.
pub(super) fn strict_form(sources: &Sources) -> Option<Json> {
    let definitions = Definitions::of(sources);
    let mut writer = Writer { sources, definitions, waiting: VecDeque::new(), met: HashSet::new() };
    let mut root = writer.written(sources.graph.root, 0)?;
    let mut definitions = Map::new();
    while let Some(id) = writer.waiting.pop_front() {
        let name = writer.definitions.name(id)?.to_owned();
        definitions.insert(name, Json::Object(writer.written(id, 0)?));
    }
    if !definitions.is_empty() {
        root.insert("$defs".to_owned(), Json::Object(definitions));
    }
    let root = Json::Object(root);
    limits::are_kept(&root).then_some(root)
}

struct Writer<'a> {
    sources: &'a Sources<'a>,
    definitions: Definitions,
    /// The definitions that are still to be written.
    waiting: VecDeque<NodeId>,
    /// The definitions that were referred to.
    met: HashSet<NodeId>,
}

impl<'a> Writer<'a> {
    /// A subschema where it stands in another one: itself, or a reference to its definition.
    fn placed(&mut self, id: NodeId, depth: usize) -> Option<Map<String, Json>> {
        let id = meant_by(self.sources, id);
        let reference = match self.definitions.name(id) {
            _ if id == self.sources.graph.root => "#".to_owned(),
            Some(name) => format!("#/$defs/{name}"),
            None => return self.written(id, depth),
        };
        if id != self.sources.graph.root && self.met.insert(id) {
            self.waiting.push_back(id);
        }
        Some(Map::from_iter([("$ref".to_owned(), Json::from(reference))]))
    }

    /// A subschema itself.
    fn written(&mut self, id: NodeId, depth: usize) -> Option<Map<String, Json>> {
        let sources = self.sources;
        let (node, keywords) = (sources.graph.node(id)?, sources.keywords.get(id)?);
        if depth > DEPTH_MAX {
            return None;
        }
        let mut schema = Map::new();
        for (name, json) in keywords.iter() {
            if let Some((name, json)) = self.keyword(node, name, json, depth + 1)? {
                add(node, &mut schema, name, json);
            }
        }
        close(node, &mut schema);
        Some(schema)
    }

    /// What stands for a keyword; `Some(None)` if nothing does.
    fn keyword(
        &mut self,
        node: &'a Node,
        name: &'a str,
        json: &Json,
        depth: usize,
    ) -> Option<Option<(&'a str, Json)>> {
        let written = match (name, &node.form) {
            ("title" | "description", _) => json.is_string().then(|| json.clone()),
            ("$ref", Form::Reference(target)) => {
                return Some(Some(("anyOf", json!([self.placed(*target, depth)?]))));
            }
            ("anyOf" | "oneOf", Form::Union { branches, .. }) => {
                return Some(Some(("anyOf", self.union(branches, depth)?)));
            }
            (_, Form::Reference(_) | Form::Union { .. }) => None,
            ("type", _) => Some(node.types.to_json()),
            ("enum" | "const", _) => return Some(values(node, name)),
            ("properties", Form::Object(object)) => Some(self.properties(object, json, depth)?),
            ("items", Form::Array(items)) => Some(Json::Object(self.placed(*items, depth)?)),
            _ => is_known(name, json, node.types).then(|| json.clone()),
        };
        Some(written.map(|json| (name, json)))
    }

    fn union(&mut self, branches: &[NodeId], depth: usize) -> Option<Json> {
        branches.iter().map(|&branch| self.placed(branch, depth).map(Json::Object)).collect()
    }

    /// The members in their order; null stands for those that may be absent.
    fn properties(&mut self, object: &Object, original: &Json, depth: usize) -> Option<Json> {
        let mut properties = Map::new();
        for name in original.as_object()?.keys() {
            let member = object.members.get(name)?;
            let needs_null = !member.is_required && !self.sources.graph.node(member.node)?.accepts_null;
            let schema = self.placed(member.node, depth)?;
            let schema = if needs_null { nullable(schema) } else { schema };
            properties.insert(name.clone(), Json::Object(schema));
        }
        Some(Json::Object(properties))
    }
}

/// Adds a keyword. Values are listed by `enum` or `const`, and come after their type.
fn add(node: &Node, schema: &mut Map<String, Json>, name: &str, json: Json) {
    if matches!(name, "enum" | "const") {
        if schema.contains_key("enum") || schema.contains_key("const") {
            return;
        }
        schema.entry("type").or_insert_with(|| node.types.to_json());
    }
    schema.insert(name.to_owned(), json);
}

/// Adds what strict mode asks of every object, and the type of what only lists its values.
fn close(node: &Node, schema: &mut Map<String, Json>) {
    let names = |properties: &Json| properties.as_object().map(|all| all.keys().cloned().collect::<Vec<_>>());
    if let Some(names) = schema.get("properties").and_then(names) {
        schema.insert("required".to_owned(), Json::from(names));
        schema.insert("additionalProperties".to_owned(), Json::Bool(false));
    } else if matches!(node.form, Form::Scalar) {
        schema.entry("type").or_insert_with(|| node.types.to_json());
    }
}

/// The values that a subschema lists, under the keyword that lists them.
fn values<'n>(node: &Node, name: &'n str) -> Option<(&'n str, Json)> {
    match (node.values.as_deref()?, name) {
        ([value], "const") => Some(("const", value.to_json())),
        (values, _) => Some(("enum", values.iter().map(Value::to_json).collect())),
    }
}

/// Whether strict mode knows a keyword, which constrains a value of these types.
fn is_known(name: &str, json: &Json, types: Types) -> bool {
    match name {
        "pattern" => types.has(Types::STRING) && json.as_str().is_some_and(is_regular),
        "format" => types.has(Types::STRING) && json.as_str().is_some_and(|format| FORMATS.contains(&format)),
        "multipleOf" | "minimum" | "exclusiveMinimum" | "maximum" | "exclusiveMaximum" => {
            types.has(Types::NUMBERS) && json.is_number()
        }
        "minItems" | "maxItems" => types.has(Types::ARRAY) && json.is_u64(),
        _ => false,
    }
}

/// Whether a pattern looks like a regular expression without looking around, references to groups and other extensions, which
/// strict mode refuses.
fn is_regular(pattern: &str) -> bool {
    let refers =
        pattern.split('\\').skip(1).any(|rest| rest.starts_with(|c: char| matches!(c, '1'..='9' | 'k')));
    !refers && pattern.split("(?").skip(1).all(|rest| rest.starts_with(':'))
}
