//! Each limit ends a run that would not end by itself, on a small stack.

use std::time::{Duration, Instant};

use proptest::prelude::*;

use super::*;

/// Runs `work` on a thread with 2 MiB of stack.
fn on_a_small_stack(work: impl FnOnce() + Send + 'static) {
    std::thread::Builder::new().stack_size(2 << 20).spawn(work).unwrap().join().unwrap();
}

fn error(text: &str, options: ExecOptions) -> ExecError {
    run(text, r#"{"s": "0123456789", "a": [1, 2, 3]}"#, &options).1.unwrap_err()
}

fn parse_error(text: &str) -> String {
    Set::new().parse("t", text, &ParseOptions::new(&is_test_function)).unwrap_err().to_string()
}

#[test]
fn a_loop_without_end_uses_up_its_steps() {
    let options = ExecOptions { steps: 10_000, ..ExecOptions::default() };
    assert_eq!(error("{{range 1000000000000}}{{end}}", options), ExecError::Steps { limit: 10_000 });
    assert_eq!(
        error(r#"{{define "f"}}{{template "f"}}{{end}}{{range 100000}}x{{end}}"#, options),
        ExecError::Steps { limit: 10_000 }
    );
}

#[test]
fn the_deadline_ends_a_loop() {
    let deadline = Some(Instant::now() + Duration::from_millis(5));
    let options = ExecOptions { steps: u64::MAX, deadline, ..ExecOptions::default() };
    assert_eq!(error("{{range 1000000000000}}{{end}}", options), ExecError::Deadline);
}

#[test]
fn output_stops_exactly_at_its_limit() {
    for text in ["{{range 1000}}text{{end}}", "{{range 1000}}{{.}}{{end}}", "{{range 1000}}{{$.s}}{{end}}"] {
        let options = ExecOptions { output_bytes: 101, ..ExecOptions::default() };
        let (out, result) = run(text, r#"{"s": "0123456789"}"#, &options);
        assert_eq!((out.len(), result), (101, Err(ExecError::Output { limit: 101 })), "{text}");
    }
}

#[test]
fn values_made_on_the_way_are_limited() {
    let options = ExecOptions { scratch_bytes: 1 << 20, ..ExecOptions::default() };
    for text in [
        r#"{{$x := .s}}{{range 64}}{{$x = printf "%s%s" $x $x}}{{end}}"#,
        "{{$x := .s}}{{range 64}}{{$x = print $x $x}}{{end}}",
        "{{$x := .s}}{{range 64}}{{$x = html $x $x}}{{end}}",
        "{{$x := .s}}{{range 64}}{{$x = say $x $x}}{{end}}",
        "{{$x := .s}}{{range 64}}{{$x = list $x $x}}{{end}}{{print $x}}",
        "{{$x := .s}}{{range 64}}{{$x = list $x $x}}{{end}}{{plain $x}}",
        r#"{{range 64}}{{$x := printf "%1000000d" 1}}{{end}}"#,
    ] {
        assert_eq!(error(text, options), ExecError::Scratch { limit: 1 << 20 }, "{text}");
    }
}

#[test]
fn values_that_nest_too_deep_say_so() {
    let nested = "{{$x := .s}}{{range 100000}}{{$x = list $x}}{{end}}";
    let error = error(nested, ExecOptions::default());
    let ExecError::Failed { message, .. } = error else { panic!("{error}") };
    assert!(message.ends_with("the values nest more than 500 deep, or contain themselves"), "{message}");
}

#[test]
fn messages_of_functions_are_cut() {
    let quoted = "{{eq $.m $.m}}";
    let data = format!("{{\"m\": {{\"a\": \"{}\"}}}}", "é".repeat(100_000));
    let Err(ExecError::Failed { message, .. }) = run(quoted, &data, &ExecOptions::default()).1 else {
        panic!()
    };
    assert!(message.len() < 5_000 && message.ends_with("bytes more)"), "{}", message.len());
    let Err(ExecError::Failed { message, .. }) = run(quoted, r#"{"m": {"a": 1}}"#, &ExecOptions::default()).1
    else {
        panic!()
    };
    assert!(
        message.ends_with("non-comparable type map[a:%!s(float64=1)]: map[string]interface {}"),
        "{message}"
    );
}

#[test]
fn values_that_are_not_there_are_limited() {
    let strict =
        ExecOptions { missing_key: MissingKey::Strict, scratch_bytes: 1 << 20, ..ExecOptions::default() };
    for text in [
        "{{range 1000000}}{{if $.nope}}{{end}}{{end}}".to_owned(),
        format!("{{{{range 1000000}}}}{{{{if $.nope{}}}}}{{{{end}}}}{{{{end}}}}", ".a".repeat(1_000)),
    ] {
        assert_eq!(run(&text, "{}", &strict).1, Err(ExecError::Scratch { limit: 1 << 20 }));
    }
    let name = "b".repeat(2_000);
    let text = format!("{{{{$x := .a}}}}{{{{range 100}}}}{{{{$x = $x.{name}}}}}{{{{$x}}}}{{{{end}}}}");
    assert_eq!(run(&text, "{}", &strict).1, Err(ExecError::Scratch { limit: 1 << 20 }));
    let Err(ExecError::Missing(missing)) = run(&text.replace(&name, "b"), "{}", &strict).1 else { panic!() };
    assert!(missing.len() < 40, "a path ends after 32 names");
}

#[test]
fn loops_over_maps_take_memory_only_while_they_run() {
    let members: Vec<String> = (0..1_000).map(|n| format!("\"k{n}\": 1")).collect();
    let data = format!("{{\"m\": {{{}}}}}", members.join(", "));
    let limited = ExecOptions { scratch_bytes: 1 << 20, ..ExecOptions::default() };
    let again = "{{range 500}}{{range $.m}}{{end}}{{range $.m}}{{break}}{{end}}{{end}}done";
    assert_eq!(run(again, &data, &limited), ("done".to_owned(), Ok(())));
    let nested = r#"{{define "d"}}{{range .}}{{template "d" $}}{{end}}{{end}}{{template "d" .m}}"#;
    assert_eq!(run(nested, &data, &limited).1, Err(ExecError::Scratch { limit: 1 << 20 }));
}

#[test]
fn templates_that_call_themselves_end_with_gos_words() {
    on_a_small_stack(|| {
        let text = r#"{{define "f"}}{{if true}}{{range 1}}{{with 1}}{{template "f" .}}{{end}}{{end}}{{end}}{{end}}{{template "f"}}"#;
        let error = error(text, ExecOptions::default());
        let ExecError::Recursion { message, limit: 1000, .. } = error else { panic!("{error}") };
        let words = r#"<{{template "f" .}}>: exceeded maximum template depth (1000)"#;
        assert!(message.ends_with(words), "{message}");
    });
}

#[test]
fn deep_nesting_is_parsed_and_run_or_refused_on_a_small_stack() {
    on_a_small_stack(|| {
        for (open, close, depth, good) in [
            ("(", ")", 9_999, true),
            ("(", ")", 10_001, false),
            ("(print ", ")", 299, true),
            ("(print ", ")", 10_000, false),
            ("(1|print|print ", ")", 299, true),
            ("(and 1 ", ")", 299, true),
            ("(say 1 | list ", ").x", 20_000, false),
        ] {
            let text = format!("{{{{{}1{}}}}}", open.repeat(depth), close.repeat(depth));
            match good {
                true => assert_eq!(run(&text, "null", &ExecOptions::default()).1, Ok(()), "{open}"),
                false => assert_eq!(parse_error(&text), "template: t:1: max expression depth exceeded"),
            }
        }
    });
}

#[test]
fn deep_blocks_are_run_or_refused_on_a_small_stack() {
    on_a_small_stack(|| {
        for (open, close) in [
            ("{{if true}}", "{{end}}"),
            ("{{with 1}}", "{{end}}"),
            ("{{range 1}}", "{{end}}"),
            ("{{if false}}{{else}}", "{{end}}"),
            ("{{block \"b\" .}}", "{{end}}"),
        ] {
            let text = |depth| format!("{}x{}", open.repeat(depth), close.repeat(depth));
            assert_eq!(parse_error(&text(10_000)), "template: t:1: max block depth exceeded");
            let unique = !open.contains("block");
            if unique {
                let (out, result) = run(&text(999), "null", &ExecOptions::default());
                assert_eq!((out.as_str(), result), ("x", Ok(())), "{open}");
                parsed(&text(999)).requires("t", &|_| ArgumentUse::Needed);
            }
        }
        let chain =
            |length| format!("{{{{if 0}}}}{}{{{{else}}}}x{{{{end}}}}", "{{else if 0}}".repeat(length));
        assert_eq!(run(&chain(900), "null", &ExecOptions::default()).0, "x");
        assert_eq!(parse_error(&chain(10_000)), "template: t:1: max block depth exceeded");
    });
}

#[test]
fn deep_data_print_on_a_small_stack() {
    on_a_small_stack(|| {
        let (open, close) = ("[".repeat(120), "]".repeat(120));
        let (out, result) = run("{{.}}", &format!("{open}{close}"), &ExecOptions::default());
        assert_eq!((out, result), (format!("{open}{close}"), Ok(())));
        let text = "{{$x := .}}{{range 490}}{{$x = list $x}}{{end}}{{$x}}";
        assert_eq!(run(text, "1", &ExecOptions::default()).0.len(), 981);
    });
}

/// Texts that are valid templates, or almost valid.
fn any_template() -> impl Strategy<Value = String> {
    let piece = prop_oneof![
        prop::sample::select(vec![
            "{{",
            "}}",
            "{{-",
            " -}}",
            "{{/*",
            "*/}}",
            "(",
            ")",
            "|",
            ":=",
            "=",
            ",",
            " ",
            "\n",
            "$",
            "$x",
            "$i",
            ".",
            ".a",
            ".b",
            ".s",
            ".nil",
            "if ",
            "else ",
            "else if ",
            "else with ",
            "end",
            "range ",
            "with ",
            "define ",
            "block ",
            "template ",
            "break",
            "continue",
            "nil",
            "true",
            "false",
            "\"f\"",
            "`r`",
            "'c'",
            "1",
            "-2",
            "1.5",
            "1e3",
            "0x1p-2",
            "1i",
            "9999999999999999999",
            "print ",
            "printf ",
            "\"%v\" ",
            "\"%6.2f|%-5s|%+q|%[2]*x\" ",
            "len ",
            "index ",
            "slice ",
            "html ",
            "js ",
            "urlquery ",
            "and ",
            "or ",
            "not ",
            "eq ",
            "lt ",
            "le ",
            "call ",
            "say ",
            "list ",
            "default ",
            "{{end}}",
            "{{else}}",
            "{{if .a}}",
            "{{range .a}}",
            "{{range $i, $x := .m}}",
            "{{with $x := .s}}",
            "{{.}}",
            "é",
            "世",
            "\u{feff}",
        ])
        .prop_map(str::to_owned),
        "[ -~\u{0}-\u{ff}]{0,4}",
    ];
    prop::collection::vec(piece, 0..40).prop_map(|pieces| pieces.concat())
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(300))]

    #[test]
    fn no_text_makes_the_parser_or_the_executor_panic(text in any_template(), strict in any::<bool>()) {
        let mut set = Set::new();
        let options = ParseOptions { unknown: UnknownFunctions::AcceptWithArgument, ..ParseOptions::new(&is_test_function) };
        if set.parse("t", &text, &options).is_ok() {
            let data = br#"{"a": [1, "two", null, {"b": []}], "b": true, "s": "h\u00e9", "nil": null, "m": {"x": 1}}"#;
            let data = from_json(data).unwrap();
            let missing_key = if strict { MissingKey::Strict } else { MissingKey::Default };
            let limits = ExecOptions { missing_key, steps: 10_000, scratch_bytes: 1 << 20, output_bytes: 1 << 16, ..ExecOptions::default() };
            let _ = set.execute("t", &data, &TestFunctions, &limits, &mut Vec::new());
            set.requires("t", &|name| if name == "default" { ArgumentUse::LastTested } else { ArgumentUse::Needed });
        }
    }
}
