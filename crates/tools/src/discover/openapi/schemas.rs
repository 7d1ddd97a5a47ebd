//! Schemas of an OpenAPI document as JSON Schemas that stand alone: what they refer to becomes a definition.

use std::collections::VecDeque;

use serde_json::{Map, Value as Json, json};

use super::references::References;

/// How deep a schema may nest.
const DEPTH: usize = 50;

/// The most definitions of one tool.
const DEFINITIONS: usize = 300;

/// The most subschemas of one tool.
const SUBSCHEMAS: usize = 20_000;

/// Members whose values are schemas by names.
const BY_NAME: [&str; 4] = ["properties", "patternProperties", "$defs", "dependentSchemas"];

/// Members whose values are lists of schemas.
const LISTS: [&str; 4] = ["allOf", "anyOf", "oneOf", "prefixItems"];

/// Members whose values are schemas.
const SINGLE: [&str; 10] = [
    "items",
    "additionalProperties",
    "not",
    "if",
    "then",
    "else",
    "contains",
    "propertyNames",
    "unevaluatedProperties",
    "unevaluatedItems",
];

/// Members that say nothing about values.
const DROPPED: [&str; 9] = [
    "discriminator",
    "xml",
    "externalDocs",
    "example",
    "nullable",
    "readOnly",
    "writeOnly",
    "deprecated",
    "$recursiveAnchor",
];

/// Collects the schemas of one tool.
pub(super) struct Schemas<'a> {
    references: &'a References<'a>,
    is_old: bool,
    /// The references and the names of their definitions.
    names: Vec<(String, String)>,
    /// The names of definitions that are still to be written, and what they stand for.
    waiting: VecDeque<(String, &'a Json)>,
    /// The definition that is being written.
    definition: Option<String>,
    count: usize,
}

impl<'a> Schemas<'a> {
    pub(super) fn new(references: &'a References<'a>, is_old: bool) -> Schemas<'a> {
        Schemas {
            references,
            is_old,
            names: Vec::new(),
            waiting: VecDeque::new(),
            definition: None,
            count: 0,
        }
    }

    /// The definitions that the schemas so far refer to, and how many subschemas there are in all.
    ///
    /// # Errors
    /// Why one of them cannot be a JSON Schema.
    pub(super) fn definitions(mut self) -> Result<(Map<String, Json>, usize), String> {
        let mut definitions = Map::new();
        while let Some((name, target)) = self.waiting.pop_front() {
            self.definition = Some(name.clone());
            definitions.insert(name, self.schema(target)?);
        }
        Ok((definitions, self.count))
    }

    /// A schema as a JSON Schema.
    ///
    /// # Errors
    /// Why it cannot be one.
    pub(super) fn schema(&mut self, schema: &Json) -> Result<Json, String> {
        self.at_depth(schema, 0)
    }

    fn at_depth(&mut self, schema: &Json, depth: usize) -> Result<Json, String> {
        self.count += 1;
        if depth > DEPTH || self.count > SUBSCHEMAS {
            return Err("its schemas are too large, or nest too deep".to_owned());
        }
        let Some(members) = schema.as_object() else { return Ok(schema.clone()) };
        let mut converted = Map::new();
        for (name, member) in members {
            let member = match name.as_str() {
                // JSON Schema 2019-09 writes so that a schema contains itself.
                "$recursiveRef" => {
                    let outside = || "it has `$recursiveRef` outside of a named schema".to_owned();
                    let itself = self.definition.as_ref().ok_or_else(outside)?;
                    converted.insert("$ref".to_owned(), format!("#/$defs/{itself}").into());
                    continue;
                }
                "$ref" => self.reference(member.as_str().unwrap_or_default())?.into(),
                // In the older version, nothing counts beside a reference.
                _ if self.is_old && members.contains_key("$ref") => continue,
                name if DROPPED.contains(&name) => continue,
                name if name.starts_with("x-") => continue,
                "properties" => self.properties(member, depth)?.into(),
                name if BY_NAME.contains(&name) => self.by_name(member, depth)?.into(),
                name if LISTS.contains(&name) => {
                    let items = member.as_array().into_iter().flatten();
                    items.map(|item| self.at_depth(item, depth + 1)).collect::<Result<Vec<_>, _>>()?.into()
                }
                name if SINGLE.contains(&name) => self.at_depth(member, depth + 1)?,
                "required" => writable(members, member),
                _ => member.clone(),
            };
            converted.insert(name.clone(), member);
        }
        modernize(members, &mut converted);
        Ok(converted.into())
    }

    /// The properties of a request: those that only answers have are left out.
    fn properties(&mut self, members: &Json, depth: usize) -> Result<Map<String, Json>, String> {
        let members = members.as_object().into_iter().flatten().filter(|(_, member)| !is_read_only(member));
        members.map(|(name, member)| Ok((name.clone(), self.at_depth(member, depth + 1)?))).collect()
    }

    fn by_name(&mut self, members: &Json, depth: usize) -> Result<Map<String, Json>, String> {
        let members = members.as_object().into_iter().flatten();
        members.map(|(name, member)| Ok((name.clone(), self.at_depth(member, depth + 1)?))).collect()
    }

    /// The reference to a definition, which will be written.
    fn reference(&mut self, reference: &str) -> Result<String, String> {
        if let Some((_, name)) = self.names.iter().find(|(known, _)| known == reference) {
            return Ok(format!("#/$defs/{name}"));
        }
        if self.names.len() >= DEFINITIONS {
            return Err(format!("it refers to more than {DEFINITIONS} schemas"));
        }
        let target = self.references.target(reference)?;
        let last = super::segment(reference.rsplit('/').next().unwrap_or_default());
        let taken = |name: &str| self.names.iter().any(|(_, known)| known == name);
        let numbered = (2..).map(|number| format!("{last}_{number}"));
        let name =
            std::iter::once(last.clone()).chain(numbered).find(|name| !taken(name)).unwrap_or_default();
        self.names.push((reference.to_owned(), name.clone()));
        self.waiting.push_back((name.clone(), target));
        Ok(format!("#/$defs/{name}"))
    }
}

fn is_read_only(schema: &Json) -> bool {
    schema.get("readOnly") == Some(&Json::Bool(true))
}

/// The required members of a request.
fn writable(schema: &Map<String, Json>, required: &Json) -> Json {
    let is_writable = |name: &Json| {
        let member = name.as_str().and_then(|name| schema.get("properties")?.get(name));
        !member.is_some_and(is_read_only)
    };
    let names = required.as_array().into_iter().flatten().filter(|name| is_writable(name));
    Json::Array(names.cloned().collect())
}

/// What OpenAPI 3.0 writes otherwise than JSON Schema, and many documents of later versions still do.
fn modernize(old: &Map<String, Json>, schema: &mut Map<String, Json>) {
    for (exclusive, limit) in [("exclusiveMinimum", "minimum"), ("exclusiveMaximum", "maximum")] {
        match old.get(exclusive) {
            Some(Json::Bool(true)) => {
                schema.shift_remove(exclusive);
                if let Some(number) = schema.shift_remove(limit) {
                    schema.insert(exclusive.to_owned(), number);
                }
            }
            Some(Json::Bool(false)) => drop(schema.shift_remove(exclusive)),
            _ => {}
        }
    }
    if old.get("nullable") == Some(&Json::Bool(true)) {
        if let Some(kind @ Json::String(_)) = schema.get("type") {
            let kinds = json!([kind, "null"]);
            schema.insert("type".to_owned(), kinds);
        }
        if let Some(Json::Array(values)) = schema.get_mut("enum")
            && !values.contains(&Json::Null)
        {
            values.push(Json::Null);
        }
    }
}
