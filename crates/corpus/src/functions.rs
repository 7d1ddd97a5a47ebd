//! The functions that the cases of the corpus call.

use template::go::{Context, Functions, Missing, Outcome, Signature, Type, Val, to_upper};
use template::value::from_json;

/// All functions that the README of the corpus describes.
pub struct CorpusFunctions;

const fn typed(params: &'static [Type], variadic: Option<Type>, result: Type) -> Signature {
    Signature { params, variadic, result, takes_missing: Missing::None, takes_gaps: false }
}

impl Functions for CorpusFunctions {
    fn signature(&self, name: &str) -> Option<Signature> {
        const STRINGS: &[Type] = &[Type::String, Type::String];
        const STRING: &[Type] = &[Type::String];
        const ANY: &[Type] = &[Type::Any];
        Some(match name {
            "echo" | "fail" | "obj" | "list" | "nothing" | "num" | "yes" | "no" | "empty" | "boom"
            | "boomerr" => Signature::ANY,
            "upper" | "oneArg" | "valueString" => typed(STRING, None, Type::String),
            "contains" => typed(STRINGS, None, Type::Bool),
            "twoArgs" => typed(STRINGS, None, Type::String),
            "json" | "typeOf" => typed(ANY, None, Type::String),
            "ident" => typed(ANY, None, Type::Any),
            "currentDate" => typed(&[], Some(Type::String), Type::String),
            "zeroArgs" => typed(&[], None, Type::String),
            "dddArg" => typed(&[Type::Int], Some(Type::String), Type::String),
            "add" => typed(&[], Some(Type::Int), Type::Int),
            "returnInt" => typed(&[], None, Type::Int),
            "mapOfThree" => typed(&[], None, Type::Any),
            "makemap" => typed(&[], Some(Type::String), Type::Reflect),
            "die" => typed(&[], None, Type::Bool),
            _ => return None,
        })
    }

    fn call<'a>(&self, name: &str, args: &[Val<'a>], context: &Context<'a>) -> Outcome<'a> {
        let first = args.first().copied().unwrap_or(Val::nil());
        Outcome::Value(match name {
            "echo" => context.bytes(joined(args, context)),
            "fail" | "boom" | "boomerr" => {
                return Outcome::Error(format!(
                    "{name}: {}",
                    String::from_utf8_lossy(&joined(args, context))
                ));
            }
            "die" => return Outcome::Error("die".into()),
            "obj" => object(args, context),
            "list" => context.list(args.to_vec()),
            "nothing" => Val::nil(),
            "num" => Val::float(args.len() as f64),
            "yes" => Val::bool(true),
            "no" => Val::bool(false),
            "empty" => context.map(Vec::new()),
            "ident" => first,
            "typeOf" => context.text(if first.is_nil() { "<nil>" } else { first.type_name() }),
            "json" => context.bytes(context.json(&first, true).unwrap_or_default()),
            "add" => Val::int(args.iter().filter_map(Val::as_int).fold(0, i64::wrapping_add)),
            "returnInt" => Val::int(7),
            "mapOfThree" => context.map_of(Type::Int, vec![(b"three".to_vec(), Val::int(3))]),
            "makemap" if !args.len().is_multiple_of(2) => return Outcome::Error("bad makemap".into()),
            "makemap" => context.map_of(Type::String, args.chunks(2).filter_map(pair).collect()),
            _ => return on_strings(name, args, context),
        })
    }
}

fn pair<'a>(pair: &[Val<'a>]) -> Option<(Vec<u8>, Val<'a>)> {
    match pair {
        [key, value] => Some((key.as_bytes()?.to_vec(), *value)),
        _ => None,
    }
}

/// The functions with string arguments, which may be any bytes.
fn on_strings<'a>(name: &str, args: &[Val<'a>], context: &Context<'a>) -> Outcome<'a> {
    let text = |at: usize| args.get(at).and_then(Val::as_bytes).unwrap_or_default();
    let result = match name {
        "upper" => to_upper(text(0)),
        "contains" => return Outcome::Value(Val::bool(contains(text(0), text(1)))),
        "currentDate" => b"2025-01-02".to_vec(),
        "zeroArgs" => b"zeroArgs".to_vec(),
        "oneArg" => [b"oneArg=", text(0)].concat(),
        "twoArgs" => [b"twoArgs=", text(0), text(1)].concat(),
        "valueString" => b"value is ignored".to_vec(),
        "dddArg" => {
            let number = args.first().and_then(Val::as_int).unwrap_or(0).to_string();
            let rest: Vec<&[u8]> = (1..args.len()).map(text).collect();
            [number.as_bytes(), b" [", &rest.join(&b' '), b"]\n"].concat()
        }
        _ => return Outcome::Error(format!("no function {name}")),
    };
    Outcome::Value(context.bytes(result))
}

fn contains(text: &[u8], part: &[u8]) -> bool {
    part.is_empty() || text.windows(part.len()).any(|window| window == part)
}

/// The arguments, each printed by itself, joined by commas.
fn joined<'a>(args: &[Val<'a>], context: &Context<'a>) -> Vec<u8> {
    args.iter().map(|arg| context.printed(&[*arg])).collect::<Vec<_>>().join(&b',')
}

fn object<'a>(args: &[Val<'a>], context: &Context<'a>) -> Val<'a> {
    let inner = br#"{"b": "AB", "n": 1.5, "list": [1, "two", null, true], "nil": null}"#;
    let inner = from_json(inner).map_or(Val::nil(), |inner| context.value(inner));
    context.map(vec![
        (b"a".to_vec(), inner),
        (b"s".to_vec(), Val::text("str")),
        (b"t".to_vec(), Val::bool(true)),
        (b"args".to_vec(), context.list(args.to_vec())),
    ])
}
