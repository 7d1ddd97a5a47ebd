//! AI-Prompt-Shell: a service that turns prompt templates into finished prompts.
//!
//! The modules in reading order, from the foundation up; each names only modules above it in this list
//! (`ARCHITECTURE.md` has the picture and the rules).

pub mod settings;
pub mod telemetry;

pub mod formats;
pub mod store;

pub mod catalog;
pub mod llm;
pub mod content;

pub mod render;
pub mod toolbox;

pub mod structured;

pub mod chat;
pub mod requests;
pub mod sessions;

pub mod agents;
pub mod skills;

pub mod app;

pub mod http;
pub mod cli;
