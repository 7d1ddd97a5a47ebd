//! Go's `text/template`, with exactly the behaviour of Go 1.27 for data from JSON.
//!
//! A [`Set`] holds named templates. It is parsed once and can be executed many times, by many threads:
//!
//! ```
//! use ai_prompt_template::go::{ExecOptions, NoFunctions, ParseOptions, Set};
//! use ai_prompt_template::value::from_json;
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
//! The whole language is implemented: pipelines, variables, `if`, `with`, `range` with `break` and `continue`, `define`,
//! `template` and `block`, white space trimming, every form of literal, the built-in functions, and all verbs of
//! `printf`. The data have the types that Go's `encoding/json` gives them: every number is a `float64`. Strings are bytes,
//! so the output may be any bytes, too.
//!
//! # Errors
//!
//! Messages and positions are the same as Go's, and the output up to an error is kept:
//!
//! ```
//! # use ai_prompt_template::go::{ExecOptions, NoFunctions, ParseOptions, Set};
//! # use ai_prompt_template::value::from_json;
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
//! assert_eq!(out, b"n = ");
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```
//!
//! # Several texts
//!
//! Texts that are parsed into one set can call one another's templates. As in Go, a later definition replaces an earlier
//! one, but an empty one does not. [`Set::undefined`] lists the templates that are called but not defined yet.
//!
//! ```
//! # use ai_prompt_template::go::{ExecOptions, NoFunctions, ParseOptions, Set};
//! # use ai_prompt_template::value::Value;
//! let mut set = Set::new();
//! set.parse("page", r#"{{template "head" .}}, {{block "body" .}}nothing{{end}}"#, &ParseOptions::default())?;
//! assert_eq!(set.undefined(), ["head"]);
//! set.parse("parts", r#"{{define "head"}}# {{.}}{{end}}{{define "body"}}text{{end}}"#, &ParseOptions::default())?;
//! assert_eq!(set.names(), ["body", "head", "page", "parts"]);
//!
//! let mut out = Vec::new();
//! set.execute("page", &Value::from("Title"), &NoFunctions, &ExecOptions::default(), &mut out)?;
//! assert_eq!(out, b"# Title, text");
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```
//!
//! # Functions
//!
//! [`Functions`] adds functions to the built-in ones. Their names must be known when a text is parsed, their signatures
//! when it is executed. Wrong arguments end the run with Go's message before a function is called. A function makes its
//! result with the [`Context`] of the run:
//!
//! ```
//! # use ai_prompt_template::go::*;
//! # use ai_prompt_template::value::{Value, from_json};
//! struct Mine;
//!
//! impl Functions for Mine {
//!     fn signature(&self, name: &str) -> Option<Signature> {
//!         match name {
//!             // shout(string) string
//!             "shout" => Some(Signature {
//!                 params: &[Type::String], result: Type::String, variadic: None, takes_missing: Missing::None, takes_gaps: false,
//!             }),
//!             // Anything in, anything out.
//!             "pair" => Some(Signature::ANY),
//!             _ => None,
//!         }
//!     }
//!
//!     fn call<'a>(&self, name: &str, args: &[Val<'a>], context: &Context<'a>) -> Outcome<'a> {
//!         match (name, args) {
//!             ("shout", [text]) => {
//!                 let bytes = text.as_bytes().unwrap_or_default();
//!                 Outcome::Value(context.bytes([bytes, b"!"].concat()))
//!             }
//!             ("pair", [key, value]) => Outcome::Value(context.map(vec![(context.printed(&[*key]), *value)])),
//!             _ => Outcome::Error("wants two arguments".to_owned()),
//!         }
//!     }
//! }
//!
//! let known = |name: &str| Mine.signature(name).is_some();
//! let run = |text: &str| {
//!     let mut set = Set::new();
//!     set.parse("t", text, &ParseOptions::new(&known)).map_err(|error| error.to_string())?;
//!     let mut out = Vec::new();
//!     let data = Value::from("hey");
//!     set.execute("t", &data, &Mine, &ExecOptions::default(), &mut out).map_err(|error| error.to_string())?;
//!     Ok::<_, String>(String::from_utf8_lossy(&out).into_owned())
//! };
//! assert_eq!(run(r#"{{shout .}} {{(pair "k" .).k}} {{pair 1 2.5}}"#)?, "hey! hey map[1:2.5]");
//! assert_eq!(
//!     run("{{shout 1}}").unwrap_err(),
//!     r#"template: t:1:8: executing "t" at <1>: expected string; found 1"#
//! );
//! assert_eq!(
//!     run("{{pair 1}}").unwrap_err(),
//!     r#"template: t:1:2: executing "t" at <pair 1>: error calling pair: wants two arguments"#
//! );
//! # Ok::<(), String>(())
//! ```
//!
//! A function may also return that its result is not known yet ([`Outcome::Pending`]). The run then goes on as far as it
//! can without the result, so that further calls are found, and ends with [`ExecError::Pending`]:
//!
//! ```
//! # use ai_prompt_template::go::*;
//! # use ai_prompt_template::value::Value;
//! struct Later(std::cell::Cell<usize>);
//!
//! impl Functions for Later {
//!     fn signature(&self, name: &str) -> Option<Signature> {
//!         (name == "fetch").then_some(Signature::ANY)
//!     }
//!
//!     fn call<'a>(&self, _: &str, _: &[Val<'a>], _: &Context<'a>) -> Outcome<'a> {
//!         self.0.set(self.0.get() + 1);
//!         Outcome::Pending(self.0.get())
//!     }
//! }
//!
//! let run = |text: &str| {
//!     let mut set = Set::new();
//!     set.parse("t", text, &ParseOptions::new(&|name| name == "fetch"))?;
//!     let functions = Later(0.into());
//!     let result = set.execute("t", &Value::Null, &functions, &ExecOptions::default(), &mut Vec::new());
//!     Ok::<_, ParseError>((result, functions.0.get()))
//! };
//! assert_eq!(run("{{fetch 1}} and {{fetch 2}}")?, (Err(ExecError::Pending { needed: None }), 2));
//! assert_eq!(run("{{if fetch 1}}x{{end}}{{fetch 2}}")?, (Err(ExecError::Pending { needed: Some(1) }), 1));
//! # Ok::<(), ParseError>(())
//! ```
//!
//! # Missing values
//!
//! [`MissingKey`] has Go's three modes and a fourth: [`MissingKey::Strict`] prints nothing for a missing value, goes on, and
//! at the end reports all missing values, each with the place that needed it first. Tests of truth (`if`, `with`, `and`,
//! `or`, `not`) do not need a value, and neither do the arguments that a function
//! [takes if they are missing](Signature::takes_missing), as `default` takes its last one.
//!
//! A missing value is placed where its operand begins, while Go's own messages keep Go's positions. What is missing below
//! the result of a function is reported as `(an expression).name`. A path names at most 32 members below the last value
//! that is there.
//!
//! ```
//! # use ai_prompt_template::go::*;
//! # use ai_prompt_template::value::from_json;
//! let mut set = Set::new();
//! let text = "{{.user.name}} {{.user.mail}}\n{{range .docs}}{{.title}}{{end}}{{if .debug}}debug{{end}}";
//! set.parse("t", text, &ParseOptions::default())?;
//! let data = from_json(br#"{"user": {"name": "Ann"}, "docs": [{"title": "A"}, {}]}"#)?;
//! let options = ExecOptions { missing_key: MissingKey::Strict, ..ExecOptions::default() };
//! let Err(ExecError::Missing(missing)) = set.execute("t", &data, &NoFunctions, &options, &mut Vec::new()) else {
//!     panic!("something is missing");
//! };
//! let shown: Vec<_> = missing.iter().map(|m| format!("{} at {}:{}", m.path, m.place.line, m.place.column)).collect();
//! assert_eq!(shown, ["docs[1].title at 2:17", "user.mail at 1:17"]);
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```
//!
//! # What a template needs
//!
//! [`Set::requires`] finds what a template may use without running it. It follows variables, `with`, `range` and calls of
//! other templates:
//!
//! ```
//! # use ai_prompt_template::go::*;
//! let mut set = Set::new();
//! let text = r#"{{define "doc"}}{{.title}}{{if .stale}} (old){{end}}{{end}}
//! {{range $d := .docs}}{{template "doc" $d}}{{end}}{{fetch .query}}{{template "footer"}}"#;
//! set.parse("t", text, &ParseOptions::new(&|name| name == "fetch"))?;
//! let requires = set.requires("t", &|_| ArgumentUse::Needed);
//!
//! let names = |needs: &[Need]| needs.iter().map(|need| need.name.clone()).collect::<Vec<_>>();
//! assert_eq!(names(&requires.paths), ["docs", "docs[]", "docs[].stale", "docs[].title", "query"]);
//! assert_eq!(names(&requires.functions), ["fetch"]);
//! assert_eq!(names(&requires.templates), ["footer"]);
//! assert!(!requires.paths[0].optional && requires.paths[2].optional, "a run can succeed without `stale`");
//! # Ok::<(), ParseError>(())
//! ```
//!
//! # Limits
//!
//! Limits make it safe to run untrusted templates: [`ParseOptions`] bounds nesting; [`ExecOptions`] bounds steps, depth of
//! calls, output, memory and time.
//!
//! ```
//! # use ai_prompt_template::go::*;
//! # use ai_prompt_template::value::Value;
//! let mut set = Set::new();
//! set.parse("t", "{{range 1000000000}}x{{end}}", &ParseOptions::default())?;
//! let options = ExecOptions { steps: 1_000, ..ExecOptions::default() };
//! let mut out = Vec::new();
//! let result = set.execute("t", &Value::Null, &NoFunctions, &options, &mut out);
//! assert_eq!(result, Err(ExecError::Steps { limit: 1_000 }));
//! assert!(out.len() < 1_000);
//! # Ok::<(), ParseError>(())
//! ```
//!
//! Neither parsing nor execution recurses for blocks, `else if` chains or calls of templates. Only pipelines in parentheses
//! recurse, as deep as [`ParseOptions::max_nesting`] allows. All values that a run makes count against its memory until it
//! ends; the lists and maps among them may nest 500 deep.
//!
//! # Differences from Go
//!
//! * Values have no struct fields, channels or functions, since JSON has none, and only times ([`time`]) have methods.
//! * Custom delimiters and `Option` are not supported; [`ExecOptions::missing_key`] replaces the only option.
//! * Where Go has no limit, there is one that can be set. Go's limit of 100,000 nested calls is
//!   [`ExecOptions::recursion`]; its default is 1,000.
//! * Template names are text: invalid UTF-8 in them becomes U+FFFD. In Go, the name is part of the format of messages, so
//!   that a `%` in it garbles them; here it does so in nearly the same way.
//!
//! # The modules
//!
//! - Parsing: `token`, `lex`, `parse`, `parse_list`, `parse_pipe`, `number`, `quote`; the syntax tree is in `ast`, sets of
//!   trees are in `set`, and `walk` visits their nodes
//! - Execution: `exec` runs statements, with `range` for loops; `eval`, `invoke`, `call` and
//!   `builtins` (`index`, `compare`, `escape`) evaluate expressions
//! - Values: `val`; `context` and `lists` make them in the arena `store`, `fmt` prints them; [`time`] has moments and durations; `unicode` and `case` classify and convert characters
//! - Errors: `error`, `report`
//! - Static analysis: `requires`, `requires_call`
//!
//! Outside this module, only `value`, `run` (steps, time, missing values), `analysis` and `ranges` are used.

mod ast;
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
mod lists;
mod number;
mod parse;
mod parse_list;
mod parse_options;
mod parse_pipe;
mod quote;
mod range;
mod report;
mod requires;
mod requires_call;
mod set;
mod store;
pub mod time;
mod token;
mod unicode;
mod unicode_tables;
mod val;
mod walk;

#[cfg(test)]
mod tests;

pub use crate::analysis::{Need, Requirements};
pub use call::{ArgumentUse, Functions, Missing, NoFunctions, Outcome, Signature, Type};
pub use case::{to_lower, to_upper};
pub use context::Context;
pub use error::{ExecError, MissingValue, ParseError, Place};
pub use exec::{ExecOptions, MissingKey};
pub use parse_options::{ParseOptions, UnknownFunctions};
pub use set::Set;
pub use val::Val;

// What the functions of sprig use, too.
#[cfg(feature = "jinja")]
pub(crate) use case::{to_lower_char, to_upper_char};
#[cfg(feature = "jinja")]
pub(crate) use fmt::lossy;
#[cfg(feature = "jinja")]
pub(crate) use index::slice;
#[cfg(feature = "jinja")]
pub(crate) use number::{parse_float, underscores_separate_digits};
#[cfg(feature = "jinja")]
pub(crate) use quote::{can_backquote, push_quoted};
#[cfg(feature = "jinja")]
pub(crate) use unicode::{Runes, is_letter, is_word};
