//! Go's built-in functions.

use super::call::{Missing, Signature, Type};
use super::compare;
use super::context::Context;
use super::escape;
use super::fmt::Printer;
use super::index::{index, length, slice};
use super::val::{V, Val};

/// A built-in function.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Builtin {
    And,
    Call,
    Eq,
    Ge,
    Gt,
    Html,
    Index,
    Js,
    Le,
    Len,
    Lt,
    Ne,
    Not,
    Or,
    Print,
    Printf,
    Println,
    Slice,
    UrlQuery,
}

const fn takes(params: &'static [Type], variadic: Option<Type>) -> Signature {
    Signature { params, variadic, result: Type::Reflect, takes_missing: Missing::None, takes_gaps: false }
}

impl Builtin {
    /// The built-in function of that name.
    pub(super) fn named(name: &str) -> Option<Builtin> {
        Some(match name {
            "and" => Builtin::And,
            "call" => Builtin::Call,
            "eq" => Builtin::Eq,
            "ge" => Builtin::Ge,
            "gt" => Builtin::Gt,
            "html" => Builtin::Html,
            "index" => Builtin::Index,
            "js" => Builtin::Js,
            "le" => Builtin::Le,
            "len" => Builtin::Len,
            "lt" => Builtin::Lt,
            "ne" => Builtin::Ne,
            "not" => Builtin::Not,
            "or" => Builtin::Or,
            "print" => Builtin::Print,
            "printf" => Builtin::Printf,
            "println" => Builtin::Println,
            "slice" => Builtin::Slice,
            "urlquery" => Builtin::UrlQuery,
            _ => return None,
        })
    }

    pub(super) fn signature(self) -> Signature {
        const ONE: &[Type] = &[Type::Reflect];
        const TWO: &[Type] = &[Type::Reflect, Type::Reflect];
        match self {
            Builtin::And | Builtin::Or | Builtin::Call | Builtin::Index | Builtin::Slice | Builtin::Eq => {
                takes(ONE, Some(Type::Reflect))
            }
            Builtin::Len => Signature { takes_gaps: true, ..takes(ONE, None) },
            Builtin::Not => Signature { takes_missing: Missing::Last, ..takes(ONE, None) },
            Builtin::Ne | Builtin::Lt | Builtin::Le | Builtin::Gt | Builtin::Ge => takes(TWO, None),
            Builtin::Printf => Signature { takes_gaps: true, ..takes(&[Type::String], Some(Type::Any)) },
            Builtin::Print | Builtin::Println | Builtin::Html | Builtin::Js | Builtin::UrlQuery => {
                Signature { takes_gaps: true, ..takes(&[], Some(Type::Any)) }
            }
        }
    }
}

/// Calls a built-in function other than `and` and `or`, which evaluate their arguments lazily.
///
/// `callee` is the source text of the first argument, for the error messages of `call`.
pub(super) fn call<'a>(
    builtin: Builtin,
    args: &[Val<'a>],
    callee: impl FnOnce() -> String,
    context: &Context<'a>,
) -> Result<Val<'a>, String> {
    let first = args.first().copied().unwrap_or(Val::NONE);
    let rest = args.get(1..).unwrap_or_default();
    Ok(match builtin {
        Builtin::And | Builtin::Or | Builtin::Call => return Err(not_a_function(first, &callee())),
        Builtin::Index => return index(first, rest, context),
        Builtin::Slice => return slice(first, rest, context),
        Builtin::Len => Val::int(length(first)? as i64),
        Builtin::Not => Val::bool(!first.is_true()),
        Builtin::Eq => Val::bool(compare::eq(first, rest)?),
        Builtin::Ne => Val::bool(!compare::eq(first, rest)?),
        Builtin::Lt => Val::bool(compare::lt(first, second(args))?),
        Builtin::Le => Val::bool(compare::le(first, second(args))?),
        Builtin::Gt => Val::bool(!compare::le(first, second(args))?),
        Builtin::Ge => Val::bool(!compare::lt(first, second(args))?),
        Builtin::Print => printed(context, |printer| printer.print(args)),
        Builtin::Println => printed(context, |printer| printer.println(args)),
        Builtin::Printf => {
            let format = first.as_bytes().unwrap_or_default();
            printed(context, |printer| printer.printf(format, rest))
        }
        Builtin::Html => escaped(args, escape::html, context),
        Builtin::Js => escaped(args, escape::js, context),
        Builtin::UrlQuery => escaped(args, escape::url_query, context),
    })
}

fn second<'a>(args: &[Val<'a>]) -> Val<'a> {
    args.get(1).copied().unwrap_or(Val::NONE)
}

/// The error of `call`: no value is a function, so every call is an error.
fn not_a_function(value: Val<'_>, callee: &str) -> String {
    match value.unboxed() {
        Val { v: V::None, .. } => "call of nil".into(),
        value => format!("non-function {callee} of type {}", value.type_name()),
    }
}

/// The output of `print` as a string value.
fn printed<'a>(context: &Context<'a>, print: impl FnOnce(&mut Printer<'_>)) -> Val<'a> {
    context.bytes(context.print_with(print))
}

/// Prints the arguments as one text, and escapes it.
fn escaped<'a>(args: &[Val<'a>], escape: fn(&[u8], &mut Vec<u8>), context: &Context<'a>) -> Val<'a> {
    let shown: Vec<Val<'a>> =
        args.iter().map(|arg| if arg.is_nil() { Val::text("<no value>") } else { *arg }).collect();
    let text = context.printed(&shown);
    let mut out = Vec::with_capacity(text.len());
    escape(&text, &mut out);
    context.bytes(out)
}
