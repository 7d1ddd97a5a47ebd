//! Settings: what they are called, what they are by default, and what they may be.
//!
//! A leaf: it borrows no type from what it configures. Later sources win: the defaults, the file
//! `ai-prompt-shell.toml`, the environment (`APS__SECTION__KEY`), the command line.

mod agents;
mod assistant;
mod listen;
mod llm;
mod load;
mod origins;
mod requests;
mod secrets;
mod section;
mod skills;
mod tools;

use std::path::PathBuf;

use serde::{Deserialize, Serialize};

use section::section;

pub use agents::Agents;
pub use assistant::Assistant;
pub use listen::Listen;
pub use llm::{Capabilities, Llm, Model, OnDisconnect, Protocol};
pub use load::{DEFAULT_FILE, SettingsError, load};
pub use requests::Requests;
pub use secrets::{Secret, Secrets};
pub use skills::{Duplicates, Skills, UnknownFormat};
pub use tools::{McpServer, Module, ToolFailure, Tools};

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
    /// Requests for values that fit a schema.
    pub requests: Requests,
    /// Sessions in steps.
    pub skills: Skills,
    /// What overrides the settings of agents.
    pub agents: Agents,
    /// What commands of models may do on the user's machine.
    pub assistant: Assistant,
    /// The log.
    pub log: Log,
}

section! {
    /// `[server]`
    pub struct Server in "server" {
        /// Where to listen: `HOST:PORT` (port 0 takes a free one), or `unix:PATH`.
        listen: Listen = Listen::Port { host: "127.0.0.1".into(), port: 8080 };
        /// Host names, beside the loopback ones and the address itself, under which clients may reach the service; `*` for any.
        hosts: Vec<String> = Vec::new();
        /// Web origins that may call the service from a browser.
        origins: Vec<String> = Vec::new();
        /// The longest request body, in bytes.
        body_limit_bytes: usize = 16 << 20, at_least 1;
        /// How long a request body may take to come, in milliseconds.
        body_timeout_ms: u64 = 60_000, at_least 1;
        /// How fast a request body must come, after its first seconds, in bytes per second.
        body_bytes_per_second: usize = 1_024, at_least 1;
        /// What bodies and answers under way may take of memory together, in bytes.
        memory_bytes: usize = 1 << 30, at_least 1;
        /// Threads that serve requests; 0 takes one per core.
        workers: usize = 0;
        /// The most connections at once.
        connections: usize = 10_000, at_least 1;
        /// How long a connection may stay open between two requests, in milliseconds.
        // Longer than clients keep idle connections (90 s in Go and in reqwest). Were it shorter, a request could be on its
        // way to a connection that is being closed, and fail.
        idle_timeout_ms: u64 = 100_000, at_least 1;
        /// How long a client may leave what it is sent unread, in milliseconds.
        send_timeout_ms: u32 = 60_000, at_least 1;
        /// How long requests under way may take to end when the service is told to stop, in milliseconds.
        stop_timeout_ms: u64 = 30_000, at_least 1;
    }
}

section! {
    /// `[store]`
    pub struct Store in "store" {
        /// `embedded:PATH`, `redis://…` or `rediss://…`.
        url: String = "embedded:data".into();
        /// What every key begins with.
        prefix: String = "shenma:".into();
        /// Seconds between two scans of a store that cannot push its changes.
        scan_seconds: u64 = 5, at_least 1;
        /// Seconds for which documents go on serving when more than half of their kind is gone from the store at once.
        keep_missing_seconds: u64 = 60, at_least 1;
    }
}

section! {
    /// `[packages]`
    pub struct Packages in "packages" {
        /// The folder whose sub-folders are packages; it may be absent.
        dir: PathBuf = "extensions".into();
        /// Whether the packages that ship inside the binary are loaded too.
        builtin: bool = true;
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

section! {
    /// `[render]`
    pub struct Render in "render" {
        /// The time for one render, in milliseconds.
        timeout_ms: u64 = 500, at_least 1;
        /// How many compiled prompts are kept.
        templates_cached: usize = 100, at_least 1;
        /// Steps of evaluation in one render.
        steps: u64 = 10_000_000, at_least 1;
        /// Depth of nested templates, macros and includes.
        recursion: usize = 1_000, at_least 1;
        /// Bytes of rendered text.
        output_bytes: usize = 4 << 20, at_least 1;
        /// Bytes of one template's source.
        source_bytes: usize = 256 << 10, at_least 1;
        /// Whether values may be missing, where a prompt does not say it.
        undefined: Undefined = Undefined::Strict;
        /// Calls of tools in one render.
        tool_calls: usize = 64;
        /// Renders too long for a serving thread that may wait for their turn.
        queue: usize = 256, at_least 1;
    }
}

/// What happens when a template needs a value that is not there.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Undefined {
    /// The render fails, and names all that is missing.
    #[default]
    Strict,
    /// The template goes on as its dialect does by itself: `<no value>` in Go, an empty text in Jinja.
    Lenient,
}

section! {
    /// `[log]`
    pub struct Log in "log" {
        /// What is logged: a level, or directives such as `info,ai_prompt_shell::catalog=debug`.
        level: String = "info,actix_server=warn".into();
        /// How lines look.
        format: LogFormat = LogFormat::Text;
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
