//! The arguments of `tool import`. Doc comments here are its help.

use clap::{Args, ValueEnum};

/// Options of `tool import`.
#[derive(Debug, Args)]
pub struct ToolImport {
    /// What the source is
    pub kind: SourceKind,
    /// mcp: a URL, or the name of a server in the settings; grpc: a URL; openapi: a file or a URL
    pub source: String,
    /// The tools to store, by their names; * is any text (can be repeated)
    #[arg(long, value_name = "NAME,…", value_delimiter = ',')]
    pub only: Vec<String>,
    /// Store all tools
    #[arg(long, conflicts_with = "only")]
    pub all: bool,
    /// List the tools and store nothing (the default without --only and --all)
    #[arg(long)]
    pub list: bool,
    /// Store nothing, but say what would be created and updated
    #[arg(long)]
    pub dry_run: bool,
    /// The module of the tools [default: by the name of the source]
    #[arg(long, value_name = "NAME")]
    pub module: Option<String>,
    /// Print the result as JSON
    #[arg(long)]
    pub json: bool,
}

/// A kind of sources of tools.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub enum SourceKind {
    /// An MCP server
    Mcp,
    /// An OpenAPI document, 3.0 or 3.1, in JSON or YAML
    Openapi,
    /// A gRPC server with reflection
    Grpc,
}
