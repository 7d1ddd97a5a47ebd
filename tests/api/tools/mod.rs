//! Tools against real servers, over REST, gRPC and MCP: alone, and called by templates.

mod calls;
mod described;
mod grpc;
pub mod grpc_server;
mod imports;
mod mcp;
pub mod mcp_server;
mod render;
mod rest;
mod rest_places;
mod rest_server;
mod templates;
mod waves;
