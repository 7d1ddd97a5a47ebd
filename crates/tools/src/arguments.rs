//! Turns the arguments of a call in a template into the object that the tool takes.

use std::collections::HashSet;

use serde_json::Value as Json;

use super::error::ToolError;
use base::model::with_defaults;
use base::schema::{Effort, InvalidSchema, Schema, in_words};
use template::Arguments;
use template::value::{Map, SmolStr, Value};

/// A tool's `parameters`, compiled.
#[derive(Debug)]
pub(super) struct Parameters {
    /// The names in `properties`, in the order of the document: the n-th positional argument goes to the n-th name.
    names: Vec<SmolStr>,
    schema: Option<(Json, Schema)>,
}

impl Parameters {
    /// Compiles the `parameters` of a tool's document.
    ///
    /// # Errors
    /// If they are not a valid JSON Schema.
    pub fn new(document: Option<&Json>) -> Result<Parameters, InvalidSchema> {
        let properties = document.and_then(|schema| schema.get("properties")?.as_object());
        let names = properties.into_iter().flat_map(|members| members.keys().map(SmolStr::new)).collect();
        let schema = document.map(|schema| Ok((schema.clone(), Schema::compile(schema)?))).transpose()?;
        Ok(Parameters { names, schema })
    }

    /// The arguments as one object: by name, with defaults filled in, and checked against the schema.
    ///
    /// A single positional object is taken for the arguments themselves. If the tool has one parameter at most and
    /// the object does not fit as such, it is taken for the value of that parameter.
    ///
    /// # Errors
    /// [`ToolError::Arguments`] if there are too many, one is given twice, or they do not fit the schema;
    /// [`ToolError::Effort`] if the check would take more than `effort`.
    pub fn bind(&self, arguments: &Arguments, effort: Effort) -> Result<Value, ToolError> {
        let Arguments { positional, named } = arguments;
        match (positional.as_slice(), named.as_slice()) {
            ([object @ Value::Map(_)], []) if self.names.len() > 1 => self.check(object.clone(), effort),
            ([object @ Value::Map(_)], []) => match self.check(object.clone(), effort) {
                Err(ToolError::Arguments { .. }) => self.check(self.object(positional, named)?, effort),
                done => done,
            },
            _ => self.object(positional, named).and_then(|object| self.check(object, effort)),
        }
    }

    fn object(&self, positional: &[Value], named: &[(String, Value)]) -> Result<Value, ToolError> {
        if positional.len() > self.names.len() {
            let (most, given) = (self.names.len(), positional.len());
            let message = format!("the tool takes at most {most} positional arguments, but got {given}");
            return Err(ToolError::Arguments { message });
        }
        let mut members: Vec<(SmolStr, Value)> =
            self.names.iter().cloned().zip(positional.iter().cloned()).collect();
        let mut given: HashSet<SmolStr> = members.iter().map(|(name, _)| name.clone()).collect();
        for (name, value) in named {
            if !given.insert(SmolStr::new(name)) {
                return Err(ToolError::Arguments { message: format!("`{name}` is given twice") });
            }
            members.push((SmolStr::new(name), value.clone()));
        }
        Ok(Value::from(Map::from_entries(members)))
    }

    fn check(&self, object: Value, effort: Effort) -> Result<Value, ToolError> {
        let Some((document, schema)) = &self.schema else { return Ok(object) };
        let object = with_defaults(document, object);
        match schema.check(&object, effort) {
            Ok(violations) if violations.is_empty() => Ok(object),
            Ok(violations) => Err(ToolError::Arguments { message: in_words(&violations) }),
            Err(too_long) => Err(ToolError::Effort { message: too_long.to_string() }),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    fn bind(schema: Json, positional: Json, named: Json) -> Result<Json, String> {
        let parameters = Parameters::new(Some(&schema)).unwrap();
        let positional: Vec<Value> =
            positional.as_array().unwrap().iter().map(|value| Value::from(value.clone())).collect();
        let named: Vec<(String, Value)> = named
            .as_object()
            .unwrap()
            .iter()
            .map(|(name, value)| (name.clone(), Value::from(value.clone())))
            .collect();
        parameters
            .bind(&Arguments { positional, named }, Effort::SERVING)
            .map(|bound| bound.to_json())
            .map_err(|error| error.to_string())
    }

    #[test]
    fn arguments_find_their_names() {
        let two =
            json!({"properties": {"text": {"type": "string"}, "to": {"type": "string", "default": "en"}}});
        let one = json!({"properties": {"text": {}}, "additionalProperties": false});
        for (schema, positional, named, bound) in [
            (&two, json!(["a", "b"]), json!({}), json!({"text": "a", "to": "b"})),
            (&two, json!(["a"]), json!({}), json!({"text": "a", "to": "en"})),
            (&two, json!(["a"]), json!({"to": "fr"}), json!({"text": "a", "to": "fr"})),
            (&two, json!([{"to": "fr"}]), json!({}), json!({"to": "fr"})),
            (&two, json!([]), json!({}), json!({"to": "en"})),
            (&one, json!([{"text": 1}]), json!({}), json!({"text": 1})),
            (&one, json!([{"other": 1}]), json!({}), json!({"text": {"other": 1}})),
        ] {
            let result = bind(schema.clone(), positional.clone(), named.clone());
            assert_eq!(result, Ok(bound), "{positional} {named}");
        }
    }

    #[test]
    fn arguments_that_do_not_fit_are_refused_and_not_repeated() {
        let schema = json!({"properties": {"text": {"type": "string"}}, "required": ["text"]});
        for (positional, named, message) in [
            (json!(["a", "b"]), json!({}), "at most 1 positional arguments, but got 2"),
            (json!(["a"]), json!({"text": "b"}), "`text` is given twice"),
            (json!([1234567]), json!({}), "string"),
            (json!([]), json!({}), "required"),
            (json!([{"other": 1}]), json!({}), "/text"),
        ] {
            let error = bind(schema.clone(), positional.clone(), named).unwrap_err();
            assert!(error.contains(message) && !error.contains("1234567"), "{positional}: {error}");
        }
    }
}
