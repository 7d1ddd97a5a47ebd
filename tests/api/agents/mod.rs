//! Agents over HTTP and on the command line.

mod replay;
mod session_files;
