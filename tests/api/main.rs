//! The service as its users see it: over HTTP, and on the command line.

#![cfg(test)]

#[path = "../common/app.rs"]
mod app;
#[path = "../common/redis.rs"]
mod redis_server;

mod catalog;
mod commands;
mod errors;
mod hostile;
mod packages;
mod render;
mod stores;
mod tools;
mod writes;
