//! Tests that run templates; what the corpus covers is not repeated here.

mod limits;
mod pending;
mod requires;
mod strict;
mod touched;

use super::*;
use crate::value::from_json;

/// `default`, which takes missing values, and `say`, which joins its arguments.
struct TestFunctions;

impl Functions for TestFunctions {
    fn signature(&self, name: &str) -> Option<Signature> {
        match name {
            "default" => Some(Signature { takes_missing: Missing::Last, ..Signature::ANY }),
            "say" | "list" | "object" | "plain" | "later" | "gap" => Some(Signature::ANY),
            _ => None,
        }
    }

    fn call<'a>(&self, name: &str, args: &[Val<'a>], context: &Context<'a>) -> Outcome<'a> {
        match (name, args) {
            ("default", [fallback, value]) => {
                Outcome::Value(if value.is_true() { *value } else { *fallback })
            }
            ("list", items) => Outcome::Value(context.list(items.to_vec())),
            ("object", [key, value]) => {
                Outcome::Value(context.map(vec![(key.as_bytes().unwrap_or_default().to_vec(), *value)]))
            }
            ("plain", [value]) => Outcome::Value(context.value(context.to_value(value))),
            ("later", args) => Outcome::Pending(args.len()),
            ("gap", _) => Outcome::Gap,
            _ => Outcome::Value(
                context.bytes(args.iter().map(|arg| context.printed(&[*arg])).collect::<Vec<_>>().concat()),
            ),
        }
    }
}

fn is_test_function(name: &str) -> bool {
    TestFunctions.signature(name).is_some()
}

fn parsed(text: &str) -> Set {
    let mut set = Set::new();
    set.parse("t", text, &ParseOptions::new(&is_test_function)).unwrap();
    set
}

fn run(text: &str, data: &str, options: &ExecOptions) -> (String, Result<(), ExecError>) {
    let mut out = Vec::new();
    let data = from_json(data.as_bytes()).unwrap();
    let result = parsed(text).execute("t", &data, &TestFunctions, options, &mut out);
    (String::from_utf8_lossy(&out).into_owned(), result)
}

#[test]
fn break_in_the_else_of_a_loop_leaves_that_loop_only() {
    let data = r#"{"l": [1, 2, 3], "e": []}"#;
    for (text, expected) in [
        ("{{range .l}}a{{range $.e}}{{else}}{{break}}x{{end}}b{{end}}", "ababab"),
        ("{{range .l}}a{{range $.e}}{{else}}{{with 1}}{{break}}{{end}}x{{end}}b{{end}}", "ababab"),
        ("{{range .l}}a{{range $.e}}{{else}}{{continue}}x{{end}}b{{end}}", "aaa"),
        ("{{range .l}}a{{range $.e}}{{else}}x{{end}}{{break}}{{end}}", "ax"),
        ("{{range .l}}{{range $.l}}{{range $.e}}{{else}}{{break}}{{end}}{{.}}{{break}}{{end}}{{end}}", "111"),
        (
            "{{range $i, $x := .l}}{{range $j, $y := $.e}}{{else}}{{$z := 1}}{{break}}{{end}}{{$x}}{{end}}",
            "123",
        ),
        ("{{range .l}}{{if eq . 2.0}}{{continue}}{{end}}{{.}}{{end}}", "13"),
    ] {
        assert_eq!(run(text, data, &ExecOptions::default()), (expected.to_owned(), Ok(())), "{text}");
    }
}

#[test]
fn an_operand_in_parentheses_is_shown_as_in_go() {
    for (text, end) in [
        ("{{((1)) 2}}", "<((1)) 2>: can't give argument to non-function (1)"),
        ("{{1 | ((.s))}}", "can't give argument to non-function (.s)"),
        ("{{(.s) 1}}", "can't give argument to non-function .s"),
        ("{{call ((1))}}", "error calling call: non-function (1) of type int"),
        ("{{call (((.)))}}", "non-function ((.)) of type map[string]interface {}"),
    ] {
        let error = run(text, r#"{"s": "x"}"#, &ExecOptions::default()).1.unwrap_err().to_string();
        assert!(error.ends_with(end), "{text}: {error}");
    }
}
