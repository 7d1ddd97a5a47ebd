//! `[tools]`: how tools are called, where modules are, and what only this service may know about them.

use std::collections::BTreeMap;
use std::fmt;

use serde::{Deserialize, Serialize, Serializer};

/// `[tools]`
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct Tools {
    /// The time for one call, where a tool does not say otherwise, in milliseconds.
    pub timeout_ms: u64,
    /// The calls of one render that may run at once.
    pub parallel: usize,
    /// The calls of one tool that may run at once.
    pub parallel_per_tool: usize,
    /// The longest answer, in bytes.
    pub answer_bytes: usize,
    /// Room for the answers of tools with `cacheSeconds`, in bytes.
    pub cache_bytes: usize,
    /// The hosts that may be reached: names, `*.domain`, each with `:port` or without, addresses, networks. Empty: all but
    /// link-local and cloud metadata addresses.
    pub allowed_hosts: Vec<String>,
    /// `[tools.modules]`: base URLs and headers of modules.
    pub modules: BTreeMap<String, Module>,
    /// `[tools.servers.NAME]`: MCP servers that run as child processes.
    pub servers: BTreeMap<String, McpServer>,
}

impl Default for Tools {
    fn default() -> Tools {
        Tools {
            timeout_ms: 400,
            parallel: 16,
            parallel_per_tool: 256,
            answer_bytes: 4 << 20,
            cache_bytes: 64 << 20,
            allowed_hosts: Vec::new(),
            modules: BTreeMap::new(),
            servers: BTreeMap::new(),
        }
    }
}

/// One module: `NAME = "http://…"`, or `[tools.modules.NAME]`.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
#[serde(from = "Written")]
pub struct Module {
    /// The base URL of its tools; the headers go there only.
    pub url: Option<String>,
    /// Headers of every request to its tools.
    pub headers: BTreeMap<String, Secret>,
}

#[derive(Deserialize)]
#[serde(untagged)]
enum Written {
    Url(String),
    Table(Table),
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Table {
    url: Option<String>,
    #[serde(default)]
    headers: BTreeMap<String, Secret>,
}

impl From<Written> for Module {
    fn from(written: Written) -> Module {
        match written {
            Written::Url(url) => Module { url: Some(url), headers: BTreeMap::new() },
            Written::Table(Table { url, headers }) => Module { url, headers },
        }
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
    pub env: BTreeMap<String, Secret>,
}

/// A text that is never shown. Written as `env:NAME`, it is the value of that variable of the environment.
#[derive(Clone, Default, PartialEq, Eq, Deserialize)]
#[serde(transparent)]
pub struct Secret(String);

impl Secret {
    /// The text itself.
    pub fn reveal(&self) -> &str {
        &self.0
    }

    /// The name of the variable that holds the text, if the settings name one.
    pub(super) fn variable(&self) -> Option<&str> {
        self.0.strip_prefix("env:")
    }

    pub(super) fn resolve(&mut self, text: String) {
        self.0 = text;
    }
}

impl fmt::Debug for Secret {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("[hidden]")
    }
}

impl Serialize for Secret {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.serialize_str("[hidden]")
    }
}
