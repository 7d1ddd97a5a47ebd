//! `[tools]`: how tools are called, where modules are, and what only this service may know about them.

use std::collections::BTreeMap;
use std::fmt;

use serde::de::value::MapAccessDeserializer;
use serde::de::{self, MapAccess, Visitor};
use serde::{Deserialize, Deserializer, Serialize, Serializer};

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

/// Texts by name that are never shown, not even in an error about them. One that is written as `env:NAME` is the value of
/// that variable of the environment.
#[derive(Clone, Default, PartialEq, Eq, Deserialize)]
#[serde(from = "Table")]
pub struct Secrets(BTreeMap<String, String>);

impl Secrets {
    /// The names, and the texts themselves.
    pub fn reveal(&self) -> impl Iterator<Item = (&str, &str)> {
        self.0.iter().map(|(name, text)| (name.as_str(), text.as_str()))
    }

    /// Puts what `variable` knows in the place of `env:NAME`; returns the names, and the variables that it does not know.
    pub(super) fn resolve(&mut self, variable: impl Fn(&str) -> Option<String>) -> Vec<(String, String)> {
        let mut absent = Vec::new();
        for (name, text) in &mut self.0 {
            let Some(wanted) = text.strip_prefix("env:") else { continue };
            match variable(wanted) {
                Some(value) => *text = value,
                None => absent.push((name.clone(), wanted.to_owned())),
            }
        }
        absent
    }
}

impl fmt::Debug for Secrets {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_set().entries(self.0.keys()).finish()
    }
}

impl Serialize for Secrets {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.collect_map(self.0.keys().map(|name| (name, "[hidden]")))
    }
}

impl From<Table> for Secrets {
    fn from(Table::Texts(texts): Table) -> Secrets {
        Secrets(texts.into_iter().map(|(name, text)| (name, text.into())).collect())
    }
}

/// Without a tag, errors show what was expected and not what was there.
#[derive(Deserialize)]
#[serde(untagged, expecting = "expected a table of texts")]
enum Table {
    Texts(BTreeMap<String, Scalar>),
}

/// A text, or what the environment makes of one that looks like something else.
#[derive(Deserialize)]
#[serde(untagged)]
enum Scalar {
    Text(String),
    Number(i64),
    Truth(bool),
}

impl From<Scalar> for String {
    fn from(scalar: Scalar) -> String {
        match scalar {
            Scalar::Text(text) => text,
            Scalar::Number(number) => number.to_string(),
            Scalar::Truth(truth) => truth.to_string(),
        }
    }
}
