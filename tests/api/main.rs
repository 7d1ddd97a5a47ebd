//! The service as its users see it: over HTTP, and on the command line.

#![cfg(test)]

mod agents;
mod ai;
mod catalog;
mod chat;
mod commands;
mod doors;
mod errors;
mod floods;
mod full_disk;
mod hostile;
mod logging;
mod names;
mod package_files;
mod packages;
mod prompt_files;
mod prompt_formats;
mod prompt_imports;
mod render;
mod requests;
mod sessions;
mod routes;
mod schemas;
mod signals;
mod skills;
mod starting;
mod stores;
mod stores_moved;
mod tools;
mod writes;
