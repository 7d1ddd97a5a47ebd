//! The tests of the executor, with real processes.

#![cfg(target_os = "linux")]
#![cfg(test)]

mod common;
mod git;
mod harmless;
mod repository;
mod run;
mod sandbox;
mod supervision;
