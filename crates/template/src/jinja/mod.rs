//! Jinja, exactly as Jinja2 3.1.6 on Python 3.11 has it.
//!
//! A [`Template`] is compiled once and can be run many times, by many threads. A run has limits on steps, time, output, memory
//! and nesting, and reports all missing values in one error.
//!
//! # The modules
//!
//! - Parsing: `lex`, `cursor`, `parse`, `parse_expr` make the tree of `ast`; `symbols` and `resolve` give its names slots; `builtin` has the
//!   names of filters and tests; `library` holds a template's texts
//! - Running: `machine` is the state of a run; `exec`, `loops`, `modules` run statements; `eval`, `access`, `call`, `compare`, `ops`
//!   evaluate expressions
//! - Values: `val`, `dict`, `iter` are their kinds; `store` is their arena, `make` makes them; `parts` iterates over them; `print`,
//!   `json`, `pprint`, `format`, `convert` turn them into text and plain data; `context` has the names of a text
//! - Built-ins: `filters`, `filters_*`, `paths` (what `attribute=` names), `predicates` (tests), `methods` and `methods_*`
//! - Static analysis: `requires`
//!
//! # Differences from Jinja2
//!
//! - A missing value may be tested (`if`, `and`, `or`, `not`, `is`, `default`) and is false; a member of one is missing, too.
//! - All missing values come in one error: after the use of one, the run goes on as if an empty text stood there.
//! - A missing member inside of a list or object that is printed is an error; Jinja2 prints `Undefined`.
//! - A partial with a written name is read and parsed when the template is compiled, even if no run reaches it; only names that a
//!   condition chooses between, and those in lists, may be absent.
//! - A function is called although the data has a value of its name that cannot be called.
//! - Constants are not computed when the template is compiled: what fails there (`true.x or y`, `[]|min`) fails in the run, if
//!   it is reached, and an unknown filter is an error also where it would be left out (`1 or x|nope`, text after `extends`).
//! - In the name of a character (`"\N{NO-BREAK SPACE}"`), spaces, hyphens and underscores do not matter.
//! - There are no complex numbers (`(-1) ** x` with `x = 0.5`) and no generic types (`dict['x']`).
//! - Integers have at most 2^17 bits, and values that are printed or compared nest at most 500 levels.
//! - The `repr` of an object, such as a generator, has no address.
//! - Equal numbers are the same object (`is sameas`).
//! - Attributes whose names begin with `_` do not exist, and `list.sort` takes no `key`.
//! - `include … without context` inside of a block that is captured is captured with it; Jinja2 writes it past the block.
//! - What an imported text prints must be text also if nobody asks for it.
//! - `lipsum` is not there.

mod access;
mod ast;
mod builtin;
mod call;
mod compare;
mod context;
mod convert;
mod cursor;
mod dict;
mod error;
mod eval;
mod exec;
mod filters;
mod filters_lazy;
mod filters_list;
mod filters_order;
mod filters_text;
mod format;
mod iter;
mod json;
mod lex;
mod library;
mod loops;
mod machine;
mod make;
mod methods;
mod methods_bytes;
mod methods_list;
mod methods_str;
mod modules;
mod ops;
mod parse;
mod parse_expr;
mod parts;
mod paths;
mod pprint;
mod predicates;
mod print;
mod requires;
mod resolve;
mod store;
mod symbols;
mod template;
mod val;

#[cfg(test)]
mod tests;

pub use template::Template;
