//! `[tools]`: how tools are called, where modules are, and what only this service may know about them.

use std::collections::BTreeMap;
use std::fmt;

use serde::de::value::MapAccessDeserializer;
use serde::de::{self, MapAccess, Visitor};
use serde::{Deserialize, Deserializer, Serialize};

use super::Secrets;
use super::section::section;

section! {
    /// `[tools]`
    pub struct Tools in "tools" {
        /// The time for one call, where a tool does not say otherwise, in milliseconds.
        timeout_ms: u64 = 400, at_least 1;
        /// The time for the start of one of `servers`, its handshake included, in milliseconds.
        start_timeout_ms: u64 = 10_000, at_least 1;
        /// The calls of one render that may run at once.
        parallel: usize = 16, at_least 1;
        /// The calls of one tool that may run at once.
        parallel_per_tool: usize = 256, at_least 1;
        /// What a failed call means for the prompt, where a prompt does not say it.
        on_failure: ToolFailure = ToolFailure::Default;
        /// The longest answer, in bytes.
        answer_bytes: usize = 4 << 20, at_least 1;
        /// Room for the answers of tools with `cacheSeconds`, in bytes.
        cache_bytes: usize = 64 << 20;
        /// The hosts that may be reached: names, `*.domain`, each with `:port` or without, addresses, networks. Empty: all but
        /// link-local and cloud metadata addresses.
        allowed_hosts: Vec<String> = Vec::new();
        /// `[tools.modules]`: base URLs and headers of modules.
        modules: BTreeMap<String, Module> = BTreeMap::new();
        /// `[tools.servers.NAME]`: MCP servers that run as child processes.
        servers: BTreeMap<String, McpServer> = BTreeMap::new();
    }
}

/// What a failed call of a tool means for the prompt whose template made it.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum ToolFailure {
    /// The tool's default, or nothing, stands in its place, and the answer has a warning.
    #[default]
    Default,
    /// The prompt is not rendered.
    Refuse,
}

/// One module: `NAME = "http://…"`, or `[tools.modules.NAME]`.
#[derive(Debug, Clone, Default, PartialEq, Serialize)]
pub struct Module {
    /// The base URL of its tools; the headers go there only.
    pub url: Option<String>,
    /// Headers of every request to its tools.
    pub headers: Secrets,
}

impl<'de> Deserialize<'de> for Module {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Module, D::Error> {
        #[derive(Deserialize)]
        #[serde(deny_unknown_fields)]
        struct Members {
            url: Option<String>,
            #[serde(default)]
            headers: Secrets,
        }

        struct ModuleVisitor;

        impl<'de> Visitor<'de> for ModuleVisitor {
            type Value = Module;

            fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str("a URL, or a table with `url` and `headers`")
            }

            fn visit_str<E: de::Error>(self, url: &str) -> Result<Module, E> {
                Ok(Module { url: Some(url.to_owned()), headers: Secrets::default() })
            }

            fn visit_map<A: MapAccess<'de>>(self, map: A) -> Result<Module, A::Error> {
                let Members { url, headers } = Members::deserialize(MapAccessDeserializer::new(map))?;
                Ok(Module { url, headers })
            }
        }

        deserializer.deserialize_any(ModuleVisitor)
    }
}

/// An MCP server that runs as a child process and is spoken to over its standard input and output.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct McpServer {
    /// The program.
    pub command: String,
    /// Its arguments.
    #[serde(default)]
    pub args: Vec<String>,
    /// Its environment, beside `PATH`, `HOME` and the like.
    #[serde(default)]
    pub env: Secrets,
}
