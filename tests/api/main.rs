//! The service as its users see it: over HTTP, and on the command line.

#![cfg(test)]

#[path = "../common/app.rs"]
mod app;
#[path = "../common/log.rs"]
mod log;
#[path = "../common/process.rs"]
mod process;
#[path = "../common/proxy.rs"]
mod proxy;
#[path = "../common/redis.rs"]
mod redis_server;
#[path = "../common/upstream.rs"]
mod upstream;

mod catalog;
mod chat;
mod commands;
mod errors;
mod floods;
mod full_disk;
mod hostile;
mod logging;
mod packages;
mod render;
mod schemas;
mod signals;
mod starting;
mod stores;
mod stores_moved;
mod tools;
mod writes;
