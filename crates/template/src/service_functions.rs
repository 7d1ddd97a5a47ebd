//! The functions that prompts have besides Go's own: some of sprig's, with its order of arguments, and the tools.
//!
//! `toJson` sorts keys and writes numbers as Go does, but does not escape `<`, `>` and `&`, since prompts are not HTML. All
//! numbers of the data are floats in Go templates; whole numbers reach tools as integers.

use super::contract::{ARGUMENT_BYTES, Arguments, CallResult, Functions};
use super::go::{self, Context, Outcome, Signature, Type, Val};
use crate::value::from_json;

/// A signature that accepts anything; a gap is passed as an empty text.
const ANY: Signature = Signature { takes_gaps: true, ..Signature::ANY };

const fn takes(params: &'static [Type]) -> Signature {
    Signature { params, variadic: None, ..ANY }
}

/// The functions with their names.
const FUNCTIONS: [(&str, Signature); 11] = [
    ("toJson", takes(&[Type::Any])),
    ("fromJson", Signature { takes_gaps: false, ..takes(&[Type::String]) }),
    ("dict", ANY),
    ("list", ANY),
    ("default", Signature { takes_missing: true, ..takes(&[Type::Any, Type::Any]) }),
    ("join", Signature { takes_gaps: false, ..takes(&[Type::String, Type::Any]) }),
    ("split", takes(&[Type::String, Type::String])),
    ("trim", takes(&[Type::String])),
    ("upper", takes(&[Type::String])),
    ("lower", takes(&[Type::String])),
    ("indent", takes(&[Type::Any, Type::String])),
];

/// Whether there is a function of this name here.
pub fn is_service_function(name: &str) -> bool {
    signature(name).is_some()
}

/// Whether a function accepts a missing value as its last argument.
pub fn takes_missing(name: &str) -> bool {
    signature(name).is_some_and(|signature| signature.takes_missing)
}

fn signature(name: &str) -> Option<Signature> {
    FUNCTIONS.iter().find(|(known, _)| *known == name).map(|(_, signature)| *signature)
}

/// The functions here and the tools behind [`Functions`], for the Go dialect.
pub struct ServiceFunctions<'t>(pub &'t dyn Functions);

impl go::Functions for ServiceFunctions<'_> {
    fn signature(&self, name: &str) -> Option<Signature> {
        signature(name).or_else(|| self.0.contains(name).then_some(Signature::ANY))
    }

    fn call<'a>(&self, name: &str, args: &[Val<'a>], context: &Context<'a>) -> Outcome<'a> {
        match (name, args) {
            ("toJson", [value]) => to_json(value, context),
            ("fromJson", [text]) => from_text(text, context),
            ("dict", _) => dict(args, context),
            ("list", _) => Outcome::Value(context.list(args.to_vec())),
            ("default", [default, value]) => Outcome::Value(if is_blank(value) { *default } else { *value }),
            ("join", [separator, list]) => join(separator, list, context),
            ("split", [separator, text]) => split(separator, text, context),
            ("trim", [text]) => Outcome::Value(context.bytes(trimmed(bytes_of(text)))),
            ("upper", [text]) => Outcome::Value(context.bytes(go::to_upper(bytes_of(text)))),
            ("lower", [text]) => Outcome::Value(context.bytes(go::to_lower(bytes_of(text)))),
            ("indent", [count, text]) => indent(count, text, context),
            _ => self.call_tool(name, args, context),
        }
    }
}

impl ServiceFunctions<'_> {
    fn call_tool<'a>(&self, name: &str, args: &[Val<'a>], context: &Context<'a>) -> Outcome<'a> {
        let arguments = Arguments {
            positional: args.iter().map(|arg| context.to_value(arg)).collect(),
            named: Vec::new(),
        };
        // The callee reads all arguments, which takes time that the clock must see.
        context.work(arguments.bytes_up_to(ARGUMENT_BYTES));
        match self.0.call(name, arguments) {
            CallResult::Value(value) => Outcome::Value(context.value(value)),
            CallResult::Gap => Outcome::Gap,
            CallResult::Pending(call) => Outcome::Pending(call),
            CallResult::Denied(message) => Outcome::Error(message),
        }
    }
}

fn bytes_of<'a>(value: &Val<'a>) -> &'a [u8] {
    value.as_bytes().unwrap_or_default()
}

fn text_of<'a>(value: &Val<'a>) -> std::borrow::Cow<'a, str> {
    String::from_utf8_lossy(bytes_of(value))
}

/// Whether `default` replaces the value: it is missing, null, or an empty text.
fn is_blank(value: &Val<'_>) -> bool {
    value.is_nil() || value.as_bytes().is_some_and(<[u8]>::is_empty)
}

/// The bytes without white space at both ends: Unicode's if they are UTF-8, else ASCII's only.
fn trimmed(bytes: &[u8]) -> &[u8] {
    std::str::from_utf8(bytes).map_or(bytes.trim_ascii(), |text| text.trim().as_bytes())
}

fn to_json<'a>(value: &Val<'a>, context: &Context<'a>) -> Outcome<'a> {
    match context.json(value, false) {
        Ok(json) => Outcome::Value(context.bytes(json)),
        Err(message) => Outcome::Error(message),
    }
}

fn from_text<'a>(text: &Val<'a>, context: &Context<'a>) -> Outcome<'a> {
    match from_json(bytes_of(text)) {
        Ok(value) => Outcome::Value(context.value(value)),
        Err(error) => Outcome::Error(format!("not valid JSON: {error}")),
    }
}

fn dict<'a>(args: &[Val<'a>], context: &Context<'a>) -> Outcome<'a> {
    if !args.len().is_multiple_of(2) {
        return Outcome::Error("needs pairs of a key and a value".to_owned());
    }
    let mut entries = Vec::with_capacity(args.len() / 2);
    for pair in args.chunks_exact(2) {
        let [key, value] = pair else { continue };
        match key.as_bytes() {
            Some(key) => entries.push((key.to_vec(), *value)),
            None => return Outcome::Error("keys must be strings".to_owned()),
        }
    }
    Outcome::Value(context.map(entries))
}

fn join<'a>(separator: &Val<'a>, list: &Val<'a>, context: &Context<'a>) -> Outcome<'a> {
    let Some(len) = list.len().filter(|_| list.as_bytes().is_none()) else {
        return Outcome::Error("can only join a list".to_owned());
    };
    let mut joined: Vec<u8> = Vec::new();
    for at in 0..len {
        if at > 0 {
            joined.extend_from_slice(bytes_of(separator));
        }
        joined.extend(list.item(at).map(|item| context.printed(&[item])).unwrap_or_default());
        if joined.len() > context.scratch_left() {
            break;
        }
    }
    // If the text is too long for the run, the context ends the run.
    Outcome::Value(context.bytes(joined))
}

fn split<'a>(separator: &Val<'a>, text: &Val<'a>, context: &Context<'a>) -> Outcome<'a> {
    let (separator, text) = (text_of(separator), text_of(text));
    let parts: Vec<Val<'a>> = match separator.as_ref() {
        "" => text.chars().map(|c| context.text(c)).collect(),
        separator => text.split(separator).map(|part| context.text(part)).collect(),
    };
    Outcome::Value(context.list(parts))
}

fn indent<'a>(count: &Val<'a>, text: &Val<'a>, context: &Context<'a>) -> Outcome<'a> {
    let whole = |count: f64| (count >= 0.0 && count.fract() == 0.0).then_some(count as usize);
    let int = count.as_int().and_then(|count| usize::try_from(count).ok());
    let count = int.or_else(|| count.as_float().and_then(whole));
    let Some(count) = count else {
        return Outcome::Error("needs a whole number of spaces".to_owned());
    };
    let text = bytes_of(text);
    let lines = text.split(|b| *b == b'\n');
    let grown = lines.clone().count().saturating_mul(count).saturating_add(text.len());
    if grown > context.scratch_left() {
        return Outcome::Error(format!(
            "the result would have {grown} bytes, which is more than a render may use"
        ));
    }
    let pad = vec![b' '; count];
    let indented: Vec<Vec<u8>> = lines.map(|line| [pad.as_slice(), line].concat()).collect();
    Outcome::Value(context.bytes(indented.join(&b'\n')))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::value::{Map, SmolStr, Value};

    struct NoTools;

    impl Functions for NoTools {
        fn contains(&self, _: &str) -> bool {
            false
        }

        fn call(&self, _: &str, _: Arguments) -> CallResult {
            CallResult::Gap
        }
    }

    fn run(template: &str) -> Result<String, String> {
        let mut set = go::Set::new();
        let known = is_service_function;
        set.parse("t", template, &go::ParseOptions::new(&known)).map_err(|e| e.to_string())?;
        let data = Value::from(
            [("s", Value::from("a,b")), ("e", Value::from("")), ("n", Value::Null), ("z", Value::Int(0))]
                .map(|(key, value)| (SmolStr::new(key), value))
                .into_iter()
                .collect::<Map>(),
        );
        let options = go::ExecOptions { missing_key: go::MissingKey::Strict, ..Default::default() };
        let mut out = Vec::new();
        set.execute("t", &data, &ServiceFunctions(&NoTools), &options, &mut out)
            .map_err(|e| e.to_string())?;
        Ok(String::from_utf8_lossy(&out).into_owned())
    }

    #[test]
    fn each_function_does_what_its_model_in_sprig_does() {
        for (template, expected) in [
            (r#"{{toJson (dict "b" 1 "a" (list "x" .n 1.5))}}"#, r#"{"a":["x",null,1.5],"b":1}"#),
            (r#"{{toJson 1e20}} {{toJson "<&>"}}"#, r#"100000000000000000000 "<&>""#),
            (r#"{{(fromJson "{\"a\":[1,2]}").a}}"#, "[1 2]"),
            (
                r#"{{default "d" .nope}}{{default "d" .n}}{{default "d" .e}}{{default "d" .s}}{{default "d" .z}}"#,
                "ddda,b0",
            ),
            (r#"{{.nope.deep | default "d"}}"#, "d"),
            (r#"{{join "-" (split "," .s)}} {{join ", " (list 1 2.5 "x")}}"#, "a-b 1, 2.5, x"),
            (r#"{{trim "  x\n"}}|{{upper "straße"}}|{{lower "ÀB"}}"#, "x|STRAßE|àb"),
            ("{{indent 2 \"a\\nb\"}}", "  a\n  b"),
        ] {
            assert_eq!(run(template).as_deref(), Ok(expected), "{template}");
        }
    }

    #[test]
    fn wrong_arguments_are_errors_that_name_the_function() {
        for template in [
            r#"{{dict "a"}}"#,
            r#"{{dict 1 2}}"#,
            r#"{{join "," 1}}"#,
            r#"{{fromJson "{"}}"#,
            r#"{{indent -1 "x"}}"#,
        ] {
            let error = run(template).unwrap_err();
            assert!(error.contains("error calling"), "{template}: {error}");
        }
    }
}
