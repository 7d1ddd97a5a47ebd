//! Jinja, exactly as Jinja2 3.1.6 on Python 3.11 has it.

mod access;
mod ast;
mod builtin;
mod call;
mod compare;
mod context;
mod convert;
mod dict;
mod error;
mod eval;
mod exec;
mod filters;
mod filters_list;
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
mod pprint;
mod predicates;
mod print;
mod requires;
mod resolve;
mod store;
mod symbols;
mod template;
mod val;

pub use template::Template;

use error::SyntaxError;

/// Parses a text whose line breaks are `\n`.
pub(crate) fn parse(source: &str) -> Result<ast::Tree, SyntaxError> {
    resolve::resolve(parse::parse(&lex::tokens(source)?)?)
}
