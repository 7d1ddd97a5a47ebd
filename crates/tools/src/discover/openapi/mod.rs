//! The operations of an OpenAPI document (3.0 and 3.1) as REST tools.
//!
//! - `operation`: one operation; `arguments`: its parameters; `payload`: its body
//! - `references`: local references; `schemas`: schemas of both versions as JSON Schemas

mod arguments;
mod operation;
mod payload;
mod references;
mod schemas;

use std::cell::Cell;

use serde_json::Value as Json;
use url::Url;

use self::operation::Operation;
use self::references::References;
use super::{Discovery, LeftOut, finished, segment};
use crate::error::ToolError;

/// The most operations of one document.
const OPERATIONS: usize = 2_000;

/// The most subschemas of all operations together.
const SUBSCHEMAS: usize = 500_000;

const METHODS: [&str; 8] = ["get", "put", "post", "delete", "patch", "head", "options", "trace"];

/// An OpenAPI document.
struct Api<'a> {
    references: References<'a>,
    /// Whether its schemas are those of OpenAPI 3.0, which are not quite JSON Schemas.
    is_old: bool,
    module: String,
    /// What paths continue; empty if the settings say it.
    base: String,
    /// How many subschemas the operations so far have.
    spent: Cell<usize>,
}

/// Reads a document that was found at `read_at`. `has_base` says whether the settings have a base URL for a module.
///
/// # Errors
/// [`ToolError::Unusable`] if it is not OpenAPI 3.
pub(super) fn read(
    document: &Json,
    read_at: Option<&str>,
    module: Option<&str>,
    has_base: impl Fn(&str) -> bool,
) -> Result<Discovery, ToolError> {
    let unusable = |message: &str| ToolError::Unusable { message: message.to_owned() };
    let version = document.get("openapi").and_then(Json::as_str).unwrap_or_default();
    if !version.starts_with("3.") {
        return Err(unusable(match document.get("swagger") {
            Some(_) => "the document is Swagger 2.0; convert it to OpenAPI 3 first",
            None => "the document is not OpenAPI 3: it has no `openapi: 3.…`",
        }));
    }
    let title = document.pointer("/info/title").and_then(Json::as_str).unwrap_or_default();
    let named = segment(&title.to_lowercase());
    let module = module.map_or(if named.is_empty() { "api".to_owned() } else { named }, str::to_owned);
    let mut notes = Vec::new();
    let base = if has_base(&module) { String::new() } else { base_of(document, read_at).unwrap_or_default() };
    if base.is_empty() && !has_base(&module) {
        notes.push(format!(
            "the document does not say where the API is: set tools.modules.{module}.url, or the environ modules.{module}"
        ));
    }
    notes.extend(credentials(document, &module));
    let references = References::new(document);
    let api = Api { references, is_old: version.starts_with("3.0"), module, base, spent: Cell::new(0) };
    let (mut drafts, mut left_out) = (Vec::new(), Vec::new());
    for operation in api.operations(document, &mut left_out) {
        if drafts.len() + left_out.len() >= OPERATIONS {
            return Err(unusable(&format!("the document has more than {OPERATIONS} operations")));
        }
        match api.draft(&operation) {
            Ok(draft) => drafts.push(draft),
            Err(reason) => left_out.push(LeftOut { name: operation.title(), reason }),
        }
    }
    let mut discovery = finished(drafts, left_out);
    discovery.notes = notes;
    Ok(discovery)
}

impl<'a> Api<'a> {
    /// Counts subschemas, whose number bounds the work for one document.
    fn spend(&self, count: usize) -> Result<(), String> {
        self.spent.set(self.spent.get().saturating_add(count));
        match self.spent.get() > SUBSCHEMAS {
            true => Err(format!("the operations together have more than {SUBSCHEMAS} schemas")),
            false => Ok(()),
        }
    }

    fn operations(&self, document: &'a Json, left_out: &mut Vec<LeftOut>) -> Vec<Operation<'a>> {
        let paths = document.get("paths").and_then(Json::as_object).into_iter().flatten();
        let mut found = Vec::new();
        for (path, item) in paths.filter(|(path, _)| path.starts_with('/')) {
            match self.references.resolved(item) {
                Ok(item) => found.extend(METHODS.iter().filter_map(|method| {
                    Some(Operation { path, method, item, operation: item.get(method)? })
                })),
                Err(reason) => left_out.push(LeftOut { name: path.clone(), reason }),
            }
        }
        found
    }
}

/// The URL of the first server: absolute, or continuing the one where the document was read.
fn base_of(document: &Json, read_at: Option<&str>) -> Option<String> {
    let server = document.pointer("/servers/0");
    let mut url = server.and_then(|server| server.get("url")?.as_str()).unwrap_or("/").to_owned();
    let variables = server.and_then(|server| server.get("variables")?.as_object());
    for (name, variable) in variables.into_iter().flatten() {
        let default = variable.get("default").and_then(Json::as_str).unwrap_or_default();
        url = url.replace(&format!("{{{name}}}"), default);
    }
    let read_at = read_at.and_then(|read_at| Url::parse(read_at).ok());
    let url = match Url::parse(&url) {
        Ok(url) => url,
        Err(_) => read_at?.join(&url).ok()?,
    };
    let is_web = matches!(url.scheme(), "http" | "https") && url.has_host();
    is_web.then(|| url.as_str().trim_end_matches('/').to_owned())
}

/// What the operator has to set, if the API wants credentials.
fn credentials(document: &Json, module: &str) -> Option<String> {
    let schemes = document.pointer("/components/securitySchemes")?.as_object()?;
    let headers = schemes.values().filter_map(|scheme| match scheme.get("in").and_then(Json::as_str) {
        Some("header") => scheme.get("name")?.as_str().map(str::to_owned),
        None => Some("Authorization".to_owned()),
        Some(_) => None,
    });
    let mut headers: Vec<String> = headers.collect();
    headers.sort();
    headers.dedup();
    (!headers.is_empty()).then(|| {
        format!(
            "the API may want credentials: set {} in tools.modules.{module}.headers",
            headers.join(" or ")
        )
    })
}
