//! The tools that an MCP server lists, kept with its session for a minute.

use std::sync::Arc;
use std::time::{Duration, Instant};

use rmcp::ServiceError;
use rmcp::model::{ErrorCode, PaginatedRequestParams};
use serde_json::Value;
use tokio::sync::Mutex;

use super::error::{self, McpError, unreadable};
use super::session::Session;

/// How long a list is used.
const TTL: Duration = Duration::from_secs(60);

/// The most tools of one server.
const TOOLS: usize = 2_000;

/// The most pages of a list.
const PAGES: usize = 200;

/// What a server says about itself.
#[derive(Debug)]
pub struct Listing {
    /// The name of the server.
    pub server: Option<String>,
    /// Its tools.
    pub tools: Vec<ListedTool>,
}

/// A tool in the words of its server.
#[derive(Debug)]
pub struct ListedTool {
    /// Its name.
    pub name: String,
    /// What it does, for people and models.
    pub description: Option<String>,
    /// The JSON Schema of its arguments.
    pub schema: Value,
}

/// The list of one session; asked for by one caller at a time.
#[derive(Default)]
pub(super) struct KeptListing {
    kept: Mutex<Option<(Instant, Arc<Listing>)>>,
}

impl Session {
    /// The tools of the server; an empty list if it does not list any.
    pub(super) async fn tools(&self) -> Result<Arc<Listing>, McpError> {
        let mut kept = self.listing.kept.lock().await;
        if let Some((since, listing)) = kept.as_ref()
            && since.elapsed() < TTL
        {
            return Ok(listing.clone());
        }
        let listing = Arc::new(self.ask_for_tools().await?);
        *kept = Some((Instant::now(), listing.clone()));
        Ok(listing)
    }

    async fn ask_for_tools(&self) -> Result<Listing, McpError> {
        let server = self.service.peer_info().and_then(|info| Some(info.server_info.as_ref()?.name.clone()));
        let mut tools = Vec::new();
        let mut cursor = None;
        for _ in 0..PAGES {
            let next = PaginatedRequestParams::default().with_cursor(cursor);
            let page = match self.service.list_tools(Some(next)).await {
                Err(ServiceError::McpError(error)) if error.code == ErrorCode::METHOD_NOT_FOUND => {
                    return Ok(Listing { server, tools });
                }
                page => page.map_err(error::of_call)?,
            };
            tools.extend(page.tools.into_iter().map(|tool| ListedTool {
                name: tool.name.into_owned(),
                description: tool.description.map(|text| text.into_owned()).or(tool.title),
                schema: Value::Object(Arc::unwrap_or_clone(tool.input_schema)),
            }));
            if tools.len() > TOOLS {
                break;
            }
            cursor = page.next_cursor;
            if cursor.is_none() {
                return Ok(Listing { server, tools });
            }
        }
        Err(unreadable(&format!("it lists more than {TOOLS} tools, or {PAGES} pages of them")).into())
    }
}
