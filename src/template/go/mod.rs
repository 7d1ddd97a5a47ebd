//! Go's `text/template`, exactly as Go 1.27 behaves on data that come from JSON.
//!
//! A [`Set`] holds named templates. It is parsed once and can be executed many times, by many threads:
//!
//! ```
//! use ai_prompt_shell::template::go::{ExecOptions, NoFunctions, ParseOptions, Set};
//! use ai_prompt_shell::value::from_json;
//!
//! let mut set = Set::new();
//! set.parse("greeting", "Hello{{range .names}}, {{.}}{{end}}!", &ParseOptions::default())?;
//!
//! let data = from_json(br#"{"names": ["Ann", "Bob"]}"#)?;
//! let mut out = Vec::new();
//! set.execute("greeting", &data, &NoFunctions, &ExecOptions::default(), &mut out)?;
//! assert_eq!(out, b"Hello, Ann, Bob!");
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```
//!
//! Texts, error messages and positions are Go's own:
//!
//! ```
//! # use ai_prompt_shell::template::go::{ExecOptions, NoFunctions, ParseOptions, Set};
//! # use ai_prompt_shell::value::from_json;
//! let mut set = Set::new();
//! let error = set.parse("t", "{{nofunc}}", &ParseOptions::default()).unwrap_err();
//! assert_eq!(error.to_string(), r#"template: t:1: function "nofunc" not defined"#);
//!
//! set.parse("t", "n = {{.n.x}}", &ParseOptions::default())?;
//! let data = from_json(br#"{"n": 1e6}"#)?;
//! let mut out = Vec::new();
//! let error = set.execute("t", &data, &NoFunctions, &ExecOptions::default(), &mut out).unwrap_err();
//! assert_eq!(
//!     error.to_string(),
//!     r#"template: t:1:8: executing "t" at <.n.x>: can't evaluate field x in type interface {}"#
//! );
//! assert_eq!(out, b"n = ", "what was printed before the error is there");
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```
//!
//! # Functions
//!
//! [`Functions`] adds functions to the built-in ones. Which names exist must be known when a text is parsed, and what
//! they take when it is executed:
//!
//! ```
//! # use ai_prompt_shell::template::go::*;
//! # use ai_prompt_shell::value::Value;
//! struct Shout;
//!
//! impl Functions for Shout {
//!     fn signature(&self, name: &str) -> Option<Signature> {
//!         let shout = Signature {
//!             params: &[Type::String], variadic: None, result: Type::String, takes_missing: false,
//!         };
//!         (name == "shout").then_some(shout)
//!     }
//!
//!     fn call<'a>(&self, _: &str, args: &[Val<'a>], context: &Context<'a>) -> Outcome<'a> {
//!         let bytes = args.first().and_then(Val::as_bytes).unwrap_or_default();
//!         Outcome::Value(context.bytes([bytes, b"!"].concat()))
//!     }
//! }
//!
//! let mut set = Set::new();
//! set.parse("t", "{{shout .}}", &ParseOptions::new(&|name| name == "shout"))?;
//! let mut out = Vec::new();
//! set.execute("t", &Value::from("hey"), &Shout, &ExecOptions::default(), &mut out)?;
//! assert_eq!(out, b"hey!");
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```
//!
//! # What is not Go's
//!
//! * A run can be limited ([`ExecOptions`]): steps, depth of calls, output, memory, time.
//! * [`MissingKey::Strict`] goes on after values that are not there, and reports all of them at the end.
//! * [`Set::requires`] says what a template can touch, without running it.
//! * A function may answer that its result is not known yet ([`Outcome::Pending`]).
//!
//! Neither parsing nor execution recurses on blocks, `else if` chains or calls of templates; pipelines in parentheses
//! nest as deeply as [`ParseOptions::max_nesting`] allows. Values do not know methods, fields of structs, channels or
//! functions, since JSON has none.

mod ast;
mod budget;
mod builtins;
mod call;
mod case;
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
mod needs;
mod number;
mod parse;
mod parse_list;
mod parse_pipe;
mod quote;
mod range;
mod report;
mod requires;
mod requires_call;
mod requires_path;
mod set;
mod unicode;
mod unicode_tables;
mod val;
mod walk;

#[cfg(test)]
mod tests;

pub use call::{Functions, NoFunctions, Outcome, Signature, Type};
pub use case::{to_lower, to_upper};
pub use context::Context;
pub use error::{ExecError, Missing, ParseError, Place};
pub use exec::{ExecOptions, MissingKey};
pub use needs::{Need, Requires};
pub use set::{ParseOptions, Set, Unknown};
pub use val::Val;
