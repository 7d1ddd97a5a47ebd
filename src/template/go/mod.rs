//! Go text/template.

mod arena;
mod ast;
mod builtins;
mod call;
mod compare;
mod context;
mod error;
mod escape;
mod eval;
mod exec;
mod fmt;
mod index;
mod invoke;
mod lex;
mod missing;
mod number;
mod parse;
mod parse_list;
mod parse_pipe;
mod quote;
mod set;
mod unicode;
mod unicode_tables;
mod val;

pub use call::{Functions, NoFunctions, Outcome, Signature, Type};
pub use context::Context;
pub use error::{ExecError, Missing, ParseError, Place};
pub use exec::{ExecOptions, MissingKey};
pub use set::{ParseOptions, Set, Unknown};
pub use val::Val;
