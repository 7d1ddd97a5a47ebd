//! Settings: what they are called, what they are by default, and what they may be.
//!
//! A leaf: it borrows no type from what it configures. Later sources win: the defaults, the file
//! `ai-prompt-shell.toml`, the environment (`APS__SECTION__KEY`), the command line.

mod llm;
mod load;
mod secrets;
mod tools;

use std::net::SocketAddr;
use std::path::PathBuf;

use serde::{Deserialize, Serialize};

pub use llm::{Capabilities, Llm, Model, OnDisconnect};
pub use load::{DEFAULT_FILE, SettingsError, load};
pub use secrets::{Secret, Secrets};
pub use tools::{McpServer, Module, Tools};

/// All settings.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct Settings {
    /// The HTTP server.
    pub server: Server,
    /// Where documents are kept.
    pub store: Store,
    /// The folder of packages.
    pub packages: Packages,
    /// What holds for extensions.
    pub extensions: Extensions,
    /// How prompts are rendered, and the limits.
    pub render: Render,
    /// How tools are called.
    pub tools: Tools,
    /// The models that answer.
    pub llm: Llm,
    /// The log.
    pub log: Log,
}

/// `[server]`
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct Server {
    /// The address to listen on; port 0 takes a free one.
    pub listen: SocketAddr,
    /// Host names, beside the loopback ones and the address itself, under which clients may reach the service; `*` for any.
    pub hosts: Vec<String>,
    /// Web origins that may call the service from a browser.
    pub origins: Vec<String>,
    /// The longest request body, in bytes.
    pub body_limit_bytes: usize,
    /// How long a request body may take to come, in milliseconds.
    pub body_timeout_ms: u64,
    /// How fast a request body must come, after its first seconds, in bytes per second.
    pub body_bytes_per_second: usize,
    /// What bodies and answers under way may take of memory together, in bytes.
    pub memory_bytes: usize,
    /// Threads that serve requests; 0 takes one per core.
    pub workers: usize,
    /// The most connections at once.
    pub connections: usize,
    /// How long a connection may stay open between two requests, in milliseconds.
    pub idle_timeout_ms: u64,
    /// How long a client may leave what it is sent unread, in milliseconds.
    pub send_timeout_ms: u32,
    /// How long requests under way may take to end when the service is told to stop, in milliseconds.
    pub stop_timeout_ms: u64,
}

impl Default for Server {
    fn default() -> Server {
        Server {
            listen: SocketAddr::from(([127, 0, 0, 1], 8080)),
            hosts: Vec::new(),
            origins: Vec::new(),
            body_limit_bytes: 16 << 20,
            body_timeout_ms: 60_000,
            body_bytes_per_second: 1_024,
            memory_bytes: 1 << 30,
            workers: 0,
            connections: 10_000,
            // Longer than clients keep idle connections (90 s in Go and in reqwest). Were it shorter, a request could be on its
            // way to a connection that is being closed, and fail.
            idle_timeout_ms: 100_000,
            send_timeout_ms: 60_000,
            stop_timeout_ms: 30_000,
        }
    }
}

/// `[store]`
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct Store {
    /// `embedded:PATH`, `redis://…` or `rediss://…`.
    pub url: String,
    /// What every key begins with.
    pub prefix: String,
    /// Seconds between two scans of a store that cannot push its changes.
    pub scan_seconds: u64,
    /// Seconds for which documents go on serving when more than half of their kind is gone from the store at once.
    pub keep_missing_seconds: u64,
}

impl Default for Store {
    fn default() -> Store {
        Store {
            url: "embedded:data".into(),
            prefix: "shenma:".into(),
            scan_seconds: 5,
            keep_missing_seconds: 60,
        }
    }
}

/// `[packages]`
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct Packages {
    /// The folder whose sub-folders are packages; it may be absent.
    pub dir: PathBuf,
    /// Whether the packages that ship inside the binary are loaded too.
    pub builtin: bool,
}

impl Default for Packages {
    fn default() -> Packages {
        Packages { dir: "extensions".into(), builtin: true }
    }
}

/// `[extensions]`
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct Extensions {
    /// What an unmet dependence or engine requirement means.
    pub dependences: Dependences,
}

/// What an unmet dependence means.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Dependences {
    /// It is listed as a problem.
    #[default]
    Report,
    /// With `failStrategy: abort` the extension is unavailable.
    Enforce,
}

/// `[render]`
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct Render {
    /// The time for one render, in milliseconds.
    pub timeout_ms: u64,
    /// How many compiled prompts are kept.
    pub templates_cached: usize,
    /// Steps of evaluation in one render.
    pub steps: u64,
    /// Depth of nested templates, macros and includes.
    pub recursion: usize,
    /// Bytes of rendered text.
    pub output_bytes: usize,
    /// Bytes of one template's source.
    pub source_bytes: usize,
    /// Calls of tools in one render.
    pub tool_calls: usize,
    /// Renders too long for a serving thread that may wait for their turn.
    pub queue: usize,
}

impl Default for Render {
    fn default() -> Render {
        Render {
            timeout_ms: 500,
            templates_cached: 100,
            steps: 10_000_000,
            recursion: 1_000,
            output_bytes: 4 << 20,
            source_bytes: 256 << 10,
            tool_calls: 64,
            queue: 256,
        }
    }
}

/// `[log]`
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct Log {
    /// What is logged: a level, or directives such as `info,ai_prompt_shell::catalog=debug`.
    pub level: String,
    /// How lines look.
    pub format: LogFormat,
}

impl Default for Log {
    fn default() -> Log {
        Log { level: "info,actix_server=warn".into(), format: LogFormat::Text }
    }
}

/// How log lines look.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum LogFormat {
    /// For people.
    #[default]
    Text,
    /// One JSON object a line.
    Json,
}
