//! Tool documents from what servers and API descriptions say about themselves.
//!
//! - `mcp`, `grpc`: the tools of an MCP server, the methods of a gRPC server
//! - `openapi`: the operations of an OpenAPI document
//! - `update`: a new document over a stored one

mod grpc;
mod mcp;
mod openapi;
mod update;

use std::collections::BTreeSet;
use std::time::Duration;

use serde::Serialize;
use serde_json::{Map, Value as Json};

pub use update::updated;

use super::Tools;
use super::error::ToolError;
use super::offload::offload;
use super::prepared::{CallDefaults, PreparedTool};
use base::caller::Caller;
use base::model::{DocumentKind, Id, Tool};
use base::schema::{self, Effort};
use template::value::Value;

/// How long a server may take to say what it has; a launcher may have to install it first.
const LIMIT: Duration = Duration::from_secs(60);

/// The most bytes that all documents of one discovery may have.
const BYTES_MAX: usize = 32 << 20;

/// Where to look for tools.
#[derive(Debug, Clone, PartialEq)]
pub enum Source {
    /// An MCP server at a URL.
    McpUrl(String),
    /// An MCP server of the settings.
    McpServer(String),
    /// A gRPC server with reflection, at a URL.
    Grpc(String),
    /// An OpenAPI document.
    OpenApi {
        /// The document.
        document: Json,
        /// The URL where it was read, which relative URLs of servers continue.
        read_at: Option<String>,
    },
}

/// What was found.
#[derive(Debug, Default, Serialize)]
pub struct Discovery {
    /// The tools, in the order of the source.
    pub tools: Vec<FoundTool>,
    /// What cannot be a tool.
    pub left_out: Vec<LeftOut>,
    /// What the operator has to do.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub notes: Vec<String>,
}

/// A tool that was found.
#[derive(Debug, Serialize)]
pub struct FoundTool {
    /// The id of the document.
    pub id: Id,
    /// What the source calls it.
    pub name: String,
    /// The document, which has passed the checks of a write.
    pub document: Json,
    /// What the source has beyond it.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub notes: Vec<String>,
}

/// Something that cannot be a tool.
#[derive(Debug, Serialize)]
pub struct LeftOut {
    /// What the source calls it.
    pub name: String,
    /// Why it cannot.
    pub reason: String,
}

/// A tool in the making.
struct Draft {
    module: String,
    /// What the source calls it.
    name: String,
    /// The rest of its id after the module.
    subject: String,
    description: Option<String>,
    parameters: Json,
    /// The `type`, which is also the member of the binding.
    kind: &'static str,
    binding: Json,
    notes: Vec<String>,
}

impl Tools {
    /// The tools of a source, as documents of `module`; without one, of a module with the source's name.
    ///
    /// The headers of the settings for `module` are sent to servers.
    ///
    /// # Errors
    /// As those of calls; [`ToolError::Unusable`] for a document that is no OpenAPI, and a module that cannot be one.
    pub async fn discover(
        &self,
        caller: &Caller,
        source: Source,
        module: Option<&str>,
    ) -> Result<Discovery, ToolError> {
        if let Some(name) = module.filter(|name| segment(name) != **name) {
            let message = format!("`{name}` cannot be a module: write letters, digits, `_` and `-`");
            return Err(ToolError::Unusable { message });
        }
        let looking = async {
            match source {
                Source::McpUrl(url) => self.discover_mcp(Some(&url), None, module).await,
                Source::McpServer(name) => self.discover_mcp(None, Some(&name), module).await,
                Source::Grpc(url) => self.discover_grpc(caller, &url, module).await,
                Source::OpenApi { document, read_at } => {
                    let (module, bases) = (module.map(str::to_owned), self.modules.with_base());
                    let has_base = move |module: &str| bases.iter().any(|name| name == module);
                    offload(move || openapi::read(&document, read_at.as_deref(), module.as_deref(), has_base))
                        .await
                }
            }
        };
        let found = tokio::time::timeout(LIMIT, Box::pin(looking)).await;
        let found = found.unwrap_or(Err(ToolError::Timeout { milliseconds: LIMIT.as_millis() }));
        found.map_err(|error| error.redacted(&self.secrets))
    }
}

/// Makes documents of drafts; those that a write would refuse are left out.
fn finished(drafts: Vec<Draft>, left_out: Vec<LeftOut>) -> Discovery {
    let mut discovery = Discovery { left_out, ..Discovery::default() };
    let (mut ids, mut functions, mut bytes) = (BTreeSet::new(), BTreeSet::new(), 0);
    for draft in drafts {
        let (name, notes) = (draft.name.clone(), draft.notes.clone());
        let made = draft.document().and_then(|(id, document)| {
            let tool = Tool::from_document(id.clone(), document);
            bytes += tool.document.to_string().len();
            if bytes > BYTES_MAX {
                return Err(format!("all tools together would have more than {BYTES_MAX} bytes"));
            }
            if !ids.insert(id.clone()) || !functions.insert(tool.function.clone()) {
                return Err(format!(
                    "another tool is called `{id}` already, or `{}` in templates",
                    tool.function
                ));
            }
            check(&tool)?;
            Ok(FoundTool { id, name: name.clone(), document: tool.document, notes })
        });
        match made {
            Ok(tool) => discovery.tools.push(tool),
            Err(reason) => discovery.left_out.push(LeftOut { name, reason }),
        }
    }
    discovery
}

/// Checks a document as a write does.
fn check(tool: &Tool) -> Result<(), String> {
    let own = schema::document(DocumentKind::Tool).and_then(|document| document.schema.as_ref());
    let violations =
        own.map(|own| own.violations(&Value::from(&tool.document), Effort::SERVING)).unwrap_or_default();
    if !violations.is_empty() {
        return Err(schema::in_words(&violations));
    }
    let defaults = CallDefaults { timeout: LIMIT, parallel_calls: 1 };
    match PreparedTool::new(&std::sync::Arc::new(tool.clone()), 0, defaults) {
        Ok(_) => Ok(()),
        Err(ToolError::Unusable { message }) => Err(message),
        Err(error) => Err(error.to_string()),
    }
}

impl Draft {
    fn document(self) -> Result<(Id, Json), String> {
        let id =
            Id::parse(&format!("{}.{}", self.module, self.subject)).map_err(|error| error.to_string())?;
        let mut document = Map::new();
        document.insert("name".to_owned(), self.subject.into());
        document.insert("module".to_owned(), self.module.into());
        document.insert("type".to_owned(), self.kind.into());
        if let Some(description) = self.description.filter(|text| !text.trim().is_empty()) {
            document.insert("description".to_owned(), description.trim().into());
        }
        document.insert("parameters".to_owned(), self.parameters);
        document.insert(self.kind.to_owned(), self.binding);
        Ok((id, document.into()))
    }
}

/// The text as a segment of an id: each run of other characters becomes a `_`, none at the ends.
fn segment(text: &str) -> String {
    let parts = text.split(|c: char| !(c.is_ascii_alphanumeric() || c == '_' || c == '-'));
    parts.filter(|part| !part.is_empty()).collect::<Vec<_>>().join("_")
}
