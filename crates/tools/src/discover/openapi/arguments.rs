//! The parameters of an operation as the arguments of a tool.

use serde_json::{Map, Value as Json};

use super::operation::Operation;
use super::schemas::Schemas;
use super::{Api, segment};
use base::model::{ArgumentText, TextPart, header_fault};

/// The arguments of a tool, and where each of them goes.
#[derive(Default)]
pub(super) struct Arguments {
    /// The path, in which `{name}` is an argument.
    pub(super) path: String,
    pub(super) properties: Map<String, Json>,
    pub(super) required: Vec<String>,
    pub(super) query: Map<String, Json>,
    pub(super) headers: Map<String, Json>,
    /// `encoding` and `body` of the binding.
    pub(super) payload: Map<String, Json>,
    /// What was left out.
    pub(super) notes: Vec<String>,
}

impl Arguments {
    /// Adds an argument; gives its name, which templates can write if the operation's own is none.
    pub(super) fn add(&mut self, name: &str, schema: Json, required: bool) -> String {
        let legal = segment(name).replace('-', "_");
        let first = if legal.starts_with(|c: char| c.is_ascii_digit()) { format!("_{legal}") } else { legal };
        let numbered = (2..).map(|number| format!("{first}_{number}"));
        let mut names = std::iter::once(first.clone()).chain(numbered);
        let name = names.find(|name| !self.properties.contains_key(name)).unwrap_or_default();
        if required {
            self.required.push(name.clone());
        }
        self.properties.insert(name.clone(), schema);
        name
    }

    /// The JSON Schema of all arguments. Those that must be given come first, for calls by position.
    pub(super) fn schema(&self) -> Map<String, Json> {
        let (required, optional): (Vec<_>, Vec<_>) =
            self.properties.clone().into_iter().partition(|(name, _)| self.required.contains(name));
        let properties: Map<String, Json> = required.into_iter().chain(optional).collect();
        let mut schema = Map::new();
        schema.insert("type".to_owned(), "object".into());
        schema.insert("properties".to_owned(), properties.into());
        if !self.required.is_empty() {
            schema.insert("required".to_owned(), self.required.clone().into());
        }
        schema
    }
}

/// A parameter of an operation.
struct Parameter<'a> {
    name: &'a str,
    place: &'a str,
    required: bool,
    object: &'a Json,
}

impl Api<'_> {
    /// Adds the parameters of the operation and of its path.
    pub(super) fn parameters(
        &self,
        operation: &Operation<'_>,
        arguments: &mut Arguments,
        schemas: &mut Schemas<'_>,
    ) -> Result<(), String> {
        let mut in_path = Vec::new();
        for parameter in self.declared(operation)? {
            let title = format!("the {} parameter `{}`", parameter.place, parameter.name);
            if parameter.place == "header"
                && ["accept", "content-type", "authorization"]
                    .contains(&&*parameter.name.to_ascii_lowercase())
            {
                continue;
            }
            let taken = self.unfit(&parameter).map_or_else(|| self.described(&parameter, schemas), Err);
            match taken {
                Ok(schema) => {
                    let argument = arguments.add(parameter.name, schema, parameter.required);
                    let (name, text) = (parameter.name.to_owned(), format!("{{{argument}}}").into());
                    match parameter.place {
                        "path" => in_path.push((name, argument)),
                        "query" => drop(arguments.query.insert(name, text)),
                        _ => drop(arguments.headers.insert(name, text)),
                    }
                }
                Err(reason) if parameter.required => return Err(format!("{title} {reason}")),
                Err(reason) => arguments.notes.push(format!("without {title}: it {reason}")),
            }
        }
        arguments.path = path(operation.path, &in_path)?;
        Ok(())
    }

    /// All parameters; those of the operation replace those of its path.
    fn declared<'o>(&'o self, operation: &Operation<'o>) -> Result<Vec<Parameter<'o>>, String> {
        let mut found: Vec<Parameter<'o>> = Vec::new();
        for holder in [operation.item, operation.operation] {
            for object in holder.get("parameters").and_then(Json::as_array).into_iter().flatten() {
                let object = self.references.resolved(object)?;
                let text = |member: &str| object.get(member).and_then(Json::as_str);
                let (Some(name), Some(place)) = (text("name"), text("in")) else {
                    return Err("a parameter has no `name`, or no `in`".to_owned());
                };
                let required = place == "path" || object.get("required") == Some(&Json::Bool(true));
                found.retain(|other| (other.name, other.place) != (name, place));
                found.push(Parameter { name, place, required, object });
            }
        }
        Ok(found)
    }

    /// Why a parameter cannot be sent.
    fn unfit(&self, parameter: &Parameter<'_>) -> Option<String> {
        let object = parameter.object;
        let schema = object.get("schema").and_then(|schema| self.references.resolved(schema).ok());
        let text = |holder: Option<&Json>, member: &str| {
            holder.and_then(|holder| holder.get(member)?.as_str()).map(str::to_owned)
        };
        let kind = text(schema, "type").unwrap_or_default();
        let style = text(Some(object), "style");
        let explodes = object.get("explode") != Some(&Json::Bool(false));
        let fault = match (parameter.place, kind.as_str(), style.as_deref()) {
            ("cookie", ..) => "is a cookie, which tools do not send".to_owned(),
            _ if object.get("content").is_some() => "is written as a `content` of its own".to_owned(),
            ("header", ..) if header_fault(parameter.name).is_some() => {
                "is a header that the service and its settings alone may set".to_owned()
            }
            (_, "object", _) => "is an object".to_owned(),
            ("path", "array", _) => "is a list".to_owned(),
            ("path", _, Some(style)) if style != "simple" => format!("has the style `{style}`"),
            ("query", "array", Some(style)) if style != "form" => format!("has the style `{style}`"),
            ("query", "array", _) if !explodes => "is a list that is not to be exploded".to_owned(),
            ("path" | "query" | "header", ..) => return None,
            (place, ..) => format!("is in `{place}`, which OpenAPI 3 does not have"),
        };
        Some(fault)
    }

    fn described(&self, parameter: &Parameter<'_>, schemas: &mut Schemas<'_>) -> Result<Json, String> {
        let mut schema = match parameter.object.get("schema") {
            Some(schema) => schemas.schema(schema)?,
            None => Json::Object(Map::new()),
        };
        let description = parameter.object.get("description").filter(|text| text.is_string());
        if let (Some(members), Some(text)) = (schema.as_object_mut(), description) {
            members.insert("description".to_owned(), text.clone());
        }
        Ok(schema)
    }
}

/// The path with the names of arguments in place of those of its parameters.
fn path(path: &str, arguments: &[(String, String)]) -> Result<String, String> {
    let text = ArgumentText::parse(path).map_err(|error| error.to_string())?;
    let mut named = String::new();
    for part in text.parts() {
        match part {
            TextPart::Text(text) => named.push_str(text),
            TextPart::Argument(name) => {
                let found = arguments.iter().find(|(parameter, _)| parameter == name);
                let (_, argument) =
                    found.ok_or_else(|| format!("`{{{name}}}` in its path is no parameter of it"))?;
                named.push_str(&format!("{{{argument}}}"));
            }
        }
    }
    Ok(named)
}
