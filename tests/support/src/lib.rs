//! What the tests of the service share: the service itself, servers around it, and its log.

pub mod app;
pub mod gigachat;
pub mod log;
pub mod mcp_tools;
pub mod process;
pub mod proxy;
pub mod redis;
pub mod terminal;
pub mod tls;
pub mod upstream;
