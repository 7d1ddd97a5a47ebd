//! The body of an operation: the members of an object become arguments of their own, any other body is one argument.

use serde_json::{Map, Value as Json};

use super::Api;
use super::arguments::Arguments;
use super::operation::Operation;
use super::schemas::Schemas;
use base::encoding::media_type;

/// How deep schemas may be composed of others.
const DEPTH: usize = 20;

const FORM: &str = "application/x-www-form-urlencoded";

/// The members of an object.
#[derive(Default)]
struct Members<'a> {
    properties: Vec<(&'a str, &'a Json)>,
    required: Vec<&'a str>,
}

impl Api<'_> {
    /// Adds the body of the operation.
    pub(super) fn payload(
        &self,
        operation: &Operation<'_>,
        arguments: &mut Arguments,
        schemas: &mut Schemas<'_>,
    ) -> Result<(), String> {
        let sends = !matches!(operation.method, "get" | "delete");
        let Some(body) = operation.operation.get("requestBody") else {
            if sends {
                arguments.payload.insert("encoding".to_owned(), "none".into());
            }
            return Ok(());
        };
        let body = self.references.resolved(body)?;
        let required = body.get("required") == Some(&Json::Bool(true));
        if operation.method == "get" {
            return match required {
                true => Err("it is a GET with a body".to_owned()),
                false => Ok(()),
            };
        }
        let (encoding, schema) = content(body)?;
        if encoding == "form" {
            arguments.payload.insert("encoding".to_owned(), "form".into());
        }
        let members = self.members(schema, DEPTH).filter(|members| {
            let is_free = |(name, _): &(&str, &Json)| !arguments.properties.contains_key(*name);
            sends && members.properties.iter().all(is_free) && (required || members.required.is_empty())
        });
        match members {
            Some(members) => add_members(&members, arguments, schemas),
            None => {
                let name = arguments.add("body", schemas.schema(schema)?, required);
                arguments.payload.insert("body".to_owned(), format!("{{{name}}}").into());
                Ok(())
            }
        }
    }

    /// The members of a schema that is an object and nothing else.
    fn members<'s>(&'s self, schema: &'s Json, depth: usize) -> Option<Members<'s>> {
        let depth = depth.checked_sub(1)?;
        let schema = self.references.resolved(schema).ok()?.as_object()?;
        let is_plain = !["anyOf", "oneOf", "not", "if", "patternProperties"]
            .iter()
            .any(|member| schema.contains_key(*member));
        let is_open = schema.get("additionalProperties").is_some_and(|more| *more != Json::Bool(false));
        let kind = schema.get("type").and_then(Json::as_str);
        if !is_plain || is_open || kind.is_some_and(|kind| kind != "object") {
            return None;
        }
        let mut members = Members::default();
        for part in schema.get("allOf").and_then(Json::as_array).into_iter().flatten() {
            let part = self.members(part, depth)?;
            members.properties.extend(part.properties);
            members.required.extend(part.required);
        }
        let own = schema.get("properties").and_then(Json::as_object).into_iter().flatten();
        let own = own.filter(|(_, member)| member.get("readOnly") != Some(&Json::Bool(true)));
        members.properties.extend(own.map(|(name, member)| (name.as_str(), member)));
        let required = schema.get("required").and_then(Json::as_array).into_iter().flatten();
        members.required.extend(required.filter_map(Json::as_str));
        (!members.properties.is_empty()).then_some(members)
    }
}

/// The members under their own names.
fn add_members(
    members: &Members<'_>,
    arguments: &mut Arguments,
    schemas: &mut Schemas<'_>,
) -> Result<(), String> {
    for &(name, schema) in &members.properties {
        let schema = schemas.schema(schema)?;
        arguments.properties.insert(name.to_owned(), schema);
        if members.required.contains(&name) && !arguments.required.iter().any(|known| known == name) {
            arguments.required.push(name.to_owned());
        }
    }
    Ok(())
}

/// How the body is written, and its schema.
fn content(body: &Json) -> Result<(&'static str, &Json), String> {
    const ANY: &Json = &Json::Bool(true);
    let empty = Map::new();
    let content = body.get("content").and_then(Json::as_object).unwrap_or(&empty);
    let find = |wanted: &[&str]| {
        let found =
            content.iter().find(|(kind, _)| wanted.contains(&&*media_type(kind).to_ascii_lowercase()));
        found.map(|(kind, _)| kind.clone())
    };
    let (encoding, kind) = match (find(&["application/json", "*/*"]), find(&[FORM])) {
        (Some(kind), _) => ("json", kind),
        (None, Some(kind)) => ("form", kind),
        (None, None) => {
            let kinds: Vec<&str> = content.keys().map(String::as_str).collect();
            return Err(format!("its body is {}; tools send JSON and forms", kinds.join(" or ")));
        }
    };
    let schema = body.get("content").and_then(|content| content.get(&kind)?.get("schema"));
    Ok((encoding, schema.unwrap_or(ANY)))
}
