//! Pending results, and gaps.

use super::*;

fn outcome(text: &str) -> (String, Result<(), ExecError>) {
    run(text, r#"{"s": "x"}"#, &ExecOptions::default())
}

#[test]
fn printing_a_result_that_is_not_known_lets_the_run_go_on() {
    for text in ["{{later}}|{{later 1}}|{{.s}}", "{{$x := later}}||{{.s}}"] {
        assert_eq!(outcome(text).0, "||x", "{text}");
    }
    for text in ["{{later}}", "{{$x := later}}"] {
        assert_eq!(outcome(text).1, Err(ExecError::Pending { needed: None }), "{text}");
    }
}

#[test]
fn any_other_use_of_a_result_that_is_not_known_stops_the_run() {
    for text in [
        "{{if later}}{{end}}",
        "{{with later}}{{end}}",
        "{{range later}}{{end}}",
        "{{say later}}",
        "{{later | say}}",
        "{{later.x}}",
        "{{(later).x}}",
        "{{and later 1}}",
        "{{not later}}",
        "{{eq later 1}}",
        "{{$x := later}}{{$x}}",
        r#"{{define "p"}}{{.}}{{end}}{{template "p" later}}"#,
        r#"{{define "p"}}{{.x}}{{end}}{{template "p" later}}"#,
        r#"{{define "p"}}{{say .}}{{end}}{{template "p" later}}"#,
    ] {
        let (out, result) = outcome(&format!("{text}more"));
        assert!(out.is_empty(), "{text}: {out}");
        assert!(matches!(result, Err(ExecError::Pending { needed: Some(_) })), "{text}: {result:?}");
    }
}

#[test]
fn a_gap_prints_nothing_and_is_false() {
    let text = "[{{gap}}{{gap.x.y}}{{if gap}}x{{end}}{{say gap}}{{range gap}}x{{else}}e{{end}}]";
    assert_eq!(outcome(text), ("[e]".into(), Ok(())));
    // A function that takes any text gets an empty one.
    let text = r#"{{printf "<%s>" gap}}{{print "a" gap}}{{len gap}}{{eq gap ""}}{{ne gap "x"}}[{{eq gap 1}}{{lt gap 1}}{{index gap 0}}]"#;
    assert_eq!(outcome(text), ("<>a0truetrue[]".into(), Ok(())));
}
