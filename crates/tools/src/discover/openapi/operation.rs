//! One operation of an OpenAPI document as a tool.

use serde_json::{Map, Value as Json};

use super::arguments::Arguments;
use super::schemas::Schemas;
use super::{Api, segment};
use crate::discover::Draft;

/// An operation where it stands in the document.
pub(super) struct Operation<'a> {
    pub(super) path: &'a str,
    pub(super) method: &'a str,
    /// The item of the path, with what all its operations share.
    pub(super) item: &'a Json,
    pub(super) operation: &'a Json,
}

impl Operation<'_> {
    /// The operation as people call it: `GET /users/{id}`.
    pub(super) fn title(&self) -> String {
        format!("{} {}", self.method.to_uppercase(), self.path)
    }

    /// The name of the tool: the operation's own, or its method and path.
    fn subject(&self) -> String {
        match self.operation.get("operationId").and_then(Json::as_str).map(segment) {
            Some(id) if !id.is_empty() => id,
            _ => segment(&format!("{} {}", self.method, self.path)),
        }
    }

    fn description(&self) -> Option<String> {
        let text = |name: &str| self.operation.get(name).and_then(Json::as_str).map(str::trim);
        match (text("summary"), text("description")) {
            (Some(summary), Some(more)) if !more.is_empty() && !more.starts_with(summary) => {
                Some(format!("{summary}\n\n{more}"))
            }
            (summary, more) => more.filter(|more| !more.is_empty()).or(summary).map(str::to_owned),
        }
    }
}

impl Api<'_> {
    /// The tool of an operation.
    ///
    /// # Errors
    /// Why it cannot be one.
    pub(super) fn draft(&self, operation: &Operation<'_>) -> Result<Draft, String> {
        let method = operation.method.to_uppercase();
        if !["GET", "POST", "PUT", "PATCH", "DELETE"].contains(&&*method) {
            return Err(format!("tools cannot send {method}"));
        }
        let mut schemas = Schemas::new(&self.references, self.is_old);
        let mut arguments = Arguments::default();
        self.parameters(operation, &mut arguments, &mut schemas)?;
        self.payload(operation, &mut arguments, &mut schemas)?;
        let mut parameters = arguments.schema();
        let (definitions, count) = schemas.definitions()?;
        self.spend(count)?;
        if !definitions.is_empty() {
            parameters.insert("$defs".to_owned(), definitions.into());
        }
        let mut binding = Map::new();
        binding.insert("url".to_owned(), format!("{}{}", self.base, arguments.path).into());
        binding.insert("method".to_owned(), method.into());
        for (name, texts) in [("query", arguments.query), ("headers", arguments.headers)] {
            if !texts.is_empty() {
                binding.insert(name.to_owned(), texts.into());
            }
        }
        binding.extend(arguments.payload);
        Ok(Draft {
            module: self.module.clone(),
            name: operation.title(),
            subject: operation.subject(),
            description: operation.description(),
            parameters: parameters.into(),
            kind: "restful",
            binding: binding.into(),
            notes: arguments.notes,
        })
    }
}
