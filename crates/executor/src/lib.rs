//! Runs one command on the user's machine: a program with arguments, never a shell.
//!
//! Whether a command may run is not decided here. This crate sees to it that what runs cannot do more than its arguments say:
//!
//! - [`scrubbed`]: the environment without secrets, and without what makes programs start other programs
//! - [`clean_path`]: where programs are searched; nothing relative, nothing of the workspace
//! - [`Executor`]: starts a command in a process group of its own, reads both outputs, ends it after a time limit with all
//!   that it has started
//! - [`Supervision`]: what whoever runs a command does meanwhile: feeds it, watches what it writes, stops it
//! - [`Output`]: the end of what a command wrote, as clean text
//! - [`Sandbox`]: what the kernel refused the command: writing, connections, changes of other processes; [`offered`] says what
//!   this kernel can do
//!
//! All of it works on Linux. Elsewhere commands run without a sandbox, and the outcome says so.

mod clean;
mod environment;
mod executor;
mod lookup;
mod outcome;
mod output;
mod running;
mod sandbox;
mod supervision;
mod tree;

pub use environment::{Environment, scrubbed};
pub use executor::{Executor, Invocation, Limits};
pub use lookup::{clean_path, find_program};
pub use outcome::{Outcome, RunError};
pub use output::Output;
pub use sandbox::{Level, Offered, Sandbox, offered};
pub use supervision::{Supervision, Watcher};
