//! Tools against real servers: REST, gRPC, MCP; alone, and called by templates.

#![cfg(test)]

#[path = "../common/app.rs"]
mod app;

mod grpc;
mod grpc_server;
mod render;
mod rest;
mod rest_server;
mod templates;
mod waves;
