//! The tools of the MCP servers of the tests.

use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

use rmcp::RoleServer;
use rmcp::handler::server::ServerHandler;
use rmcp::model::{
    CallToolRequestParams, CallToolResponse, CallToolResult, ContentBlock, ErrorCode, ErrorData,
    Implementation, ListToolsResult, PaginatedRequestParams, Resource, ResourceContents, ServerCapabilities,
    ServerConfig, Tool,
};
use rmcp::service::RequestContext;
use serde_json::{Value, json};

/// The tools, and what was done with them.
#[derive(Clone, Default)]
pub struct Tools {
    pub calls: Arc<AtomicUsize>,
    pub lists: Arc<AtomicUsize>,
    pub slow: Arc<AtomicUsize>,
    pub cancelled: Arc<AtomicUsize>,
}

impl ServerHandler for Tools {
    fn get_info(&self) -> ServerConfig {
        let capabilities = ServerCapabilities::builder().enable_tools().build();
        ServerConfig::new(capabilities).with_server_info(Implementation::new("test", "1"))
    }

    /// Some of the tools, on two pages.
    async fn list_tools(
        &self,
        page: Option<PaginatedRequestParams>,
        _: RequestContext<RoleServer>,
    ) -> Result<ListToolsResult, ErrorData> {
        self.lists.fetch_add(1, Ordering::SeqCst);
        let tool = |name: &'static str, about: &'static str, schema: Value| {
            Tool::new(name, about, Arc::new(schema.as_object().unwrap().clone()))
        };
        let mut result = ListToolsResult::default();
        if page.and_then(|page| page.cursor).is_none() {
            let schema = json!({
                "type": "object",
                "properties": {"b": {"type": "integer"}, "a": {"type": "integer", "default": 10}},
                "required": ["b"],
            });
            result.tools = vec![tool("add", "Adds two numbers", schema)];
            result.next_cursor = Some("more".to_owned());
        } else {
            let text = json!({"type": "object", "properties": {"text": {"type": "string"}}});
            let broken = json!({"type": "object", "properties": {"x": {"$ref": "#/nowhere"}}});
            result.tools = vec![tool("echo", "Says it again", text), tool("meta", "Cannot be read", broken)];
        }
        Ok(result)
    }

    async fn call_tool(
        &self,
        call: CallToolRequestParams,
        context: RequestContext<RoleServer>,
    ) -> Result<CallToolResponse, ErrorData> {
        self.calls.fetch_add(1, Ordering::SeqCst);
        let arguments = Value::Object(call.arguments.unwrap_or_default());
        let result = match &*call.name {
            "slow" => self.slow(&context).await,
            "ask" => ask(&context).await,
            "counts" => CallToolResult::structured(json!({
                "slow": self.slow.load(Ordering::SeqCst), "cancelled": self.cancelled.load(Ordering::SeqCst)
            })),
            name => at_once(name, &arguments, &context)?,
        };
        Ok(CallToolResponse::Complete(result))
    }
}

impl Tools {
    /// Ends when it is cancelled, and not before.
    async fn slow(&self, context: &RequestContext<RoleServer>) -> CallToolResult {
        self.slow.fetch_add(1, Ordering::SeqCst);
        context.ct.cancelled().await;
        self.cancelled.fetch_add(1, Ordering::SeqCst);
        text("cancelled")
    }
}

/// Asks the client for what only some clients have, and says what it answers.
#[expect(deprecated, reason = "the requests are old ones")]
async fn ask(context: &RequestContext<RoleServer>) -> CallToolResult {
    let roots = context.peer.list_roots().await;
    text(&roots.map_or_else(|error| error.to_string(), |_| "roots".into()))
}

fn at_once(
    name: &str,
    arguments: &Value,
    context: &RequestContext<RoleServer>,
) -> Result<CallToolResult, ErrorData> {
    Ok(match name {
        "echo" => match arguments["text"].as_str() {
            Some(said) => text(said),
            None => return Err(ErrorData::invalid_params("there is no text", None)),
        },
        "add" => CallToolResult::structured(json!({
            "sum": arguments["a"].as_i64().unwrap_or(0) + arguments["b"].as_i64().unwrap_or(0)
        })),
        "lines" => CallToolResult::success(vec![part("one"), resource("a", "two"), part("three")]),
        "fail" => CallToolResult::error(vec![part(arguments["why"].as_str().unwrap_or("it failed"))]),
        "big" => text(&"x".repeat(arguments["bytes"].as_u64().unwrap_or(0) as usize)),
        "image" => CallToolResult::success(vec![image()]),
        "sound" => {
            CallToolResult::success(vec![ContentBlock::audio("BBBB".to_owned(), "audio/wav".to_owned())])
        }
        "resource" => CallToolResult::success(vec![resource("a", "the text")]),
        "blob" => CallToolResult::success(vec![blob()]),
        "link" => CallToolResult::success(vec![link()]),
        "mixture" => CallToolResult::success(vec![
            part("one"),
            image(),
            part("two"),
            resource("b", "3"),
            blob(),
            link(),
        ]),
        "wrapped" => CallToolResult::structured(json!({"result": arguments["value"]})),
        "structured" => CallToolResult::structured(arguments["value"].clone()),
        "nothing" => CallToolResult::success(vec![]),
        "meta" => CallToolResult::structured(serde_json::to_value(&context.meta).unwrap()),
        "environment" => {
            let all = std::env::vars().map(|(name, value)| (name, Value::String(value)));
            CallToolResult::structured(Value::Object(all.collect()))
        }
        "pid" => CallToolResult::structured(json!(std::process::id())),
        "exit" => std::process::exit(3),
        other => {
            return Err(ErrorData::new(ErrorCode::METHOD_NOT_FOUND, format!("no tool {other}"), None));
        }
    })
}

fn text(said: &str) -> CallToolResult {
    CallToolResult::success(vec![part(said)])
}

fn part(said: &str) -> ContentBlock {
    ContentBlock::text(said.to_owned())
}

fn image() -> ContentBlock {
    ContentBlock::image("AAAA".to_owned(), "image/png".to_owned())
}

fn resource(name: &str, text: &str) -> ContentBlock {
    let contents = ResourceContents::text(text, format!("memo://{name}"));
    ContentBlock::resource(contents.with_mime_type("text/markdown"))
}

fn blob() -> ContentBlock {
    let contents = ResourceContents::blob("CCCC", "memo://blob");
    ContentBlock::resource(contents.with_mime_type("application/pdf"))
}

fn link() -> ContentBlock {
    ContentBlock::resource_link(Resource::new("memo://link", "Link").with_mime_type("text/csv"))
}
