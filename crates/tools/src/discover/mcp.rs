//! The tools of an MCP server.

use serde_json::json;

use super::{Discovery, Draft, finished, segment};
use crate::Tools;
use crate::error::ToolError;
use crate::mcp::Endpoint;
use crate::offload::offload;

impl Tools {
    /// The tools of the server at `url`, or else of the `server` of the settings.
    pub(super) async fn discover_mcp(
        &self,
        url: Option<&str>,
        server: Option<&str>,
        module: Option<&str>,
    ) -> Result<Discovery, ToolError> {
        let target = url.map(|url| self.modules.target(module.unwrap_or_default(), url, None)).transpose()?;
        if let Some(target) = &target {
            self.gate.check(&target.url)?;
        }
        let endpoint = match &target {
            Some(target) => Endpoint::Http { url: &target.url, headers: &target.headers },
            None => Endpoint::Server(server.unwrap_or_default()),
        };
        let listing = self.mcp.tools(endpoint).await?;
        let name = module.or(server).or(listing.server.as_deref()).map(segment).unwrap_or_default();
        let module = if name.is_empty() { "mcp".to_owned() } else { name };
        let drafts = listing.tools.iter().map(|tool| Draft {
            module: module.clone(),
            name: tool.name.clone(),
            subject: segment(&tool.name),
            description: tool.description.clone(),
            parameters: tool.schema.clone(),
            kind: "mcp",
            binding: match (url, server) {
                (Some(url), _) => json!({"url": url, "tool": tool.name}),
                (None, server) => json!({"server": server, "tool": tool.name}),
            },
            notes: Vec::new(),
        });
        let drafts = drafts.collect();
        offload(move || Ok(finished(drafts, Vec::new()))).await
    }
}
