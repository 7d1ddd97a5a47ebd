//! Strict mode: what counts as missing and what does not, and how it is named.

use super::*;

const DATA: &str = r#"{"variables": {"docs": [{"title": "A"}, {"note": "x"}], "nil": null, "name": "Ann"},
    "vscode": {"lang": "go"}}"#;

fn strict(text: &str) -> (String, Vec<String>) {
    let options = ExecOptions { missing_key: MissingKey::Strict, ..ExecOptions::default() };
    let (out, result) = run(text, DATA, &options);
    match result {
        Ok(()) => (out, Vec::new()),
        Err(ExecError::Missing(missing)) => (out, missing.into_iter().map(|missing| missing.path).collect()),
        Err(error) => panic!("{text}: {error}"),
    }
}

fn misses(text: &str) -> Vec<String> {
    strict(text).1
}

#[test]
fn all_missing_paths_of_a_run_are_named_once_and_sorted() {
    let (out, missing) =
        strict("{{.zed}}-{{.variables.nope}}-{{.zed}}-{{.variables.a.b.c}}-{{.variables.name}}");
    assert_eq!(out, "----Ann");
    assert_eq!(missing, ["variables.a.b.c", "variables.nope", "zed"]);
}

#[test]
fn paths_lead_from_the_root_through_loops_dots_and_variables() {
    assert_eq!(misses("{{range .variables.docs}}{{.title}}{{end}}"), ["variables.docs[1].title"]);
    assert_eq!(misses("{{with .vscode}}{{.rules}}{{$.vscode.x}}{{end}}"), ["vscode.rules", "vscode.x"]);
    assert_eq!(misses("{{$v := .variables}}{{$x := $v.nope}}{{$x}}"), ["variables.nope"]);
    assert_eq!(
        misses(r#"{{define "p"}}{{.note}}{{end}}{{template "p" index .variables.docs 0}}"#),
        ["variables.docs[0].note"]
    );
}

#[test]
fn the_place_of_a_miss_is_where_it_was_needed_first() {
    let options = ExecOptions { missing_key: MissingKey::Strict, ..ExecOptions::default() };
    let (_, result) = run("a\n  {{.nope}}{{.nope}}", "{}", &options);
    let Err(ExecError::Missing(missing)) = result else { panic!("{result:?}") };
    assert_eq!((missing[0].place.line, missing[0].place.column, &*missing[0].place.template), (2, 4, "t"));
}

#[test]
fn each_of_several_missing_arguments_has_its_own_place() {
    let options = ExecOptions { missing_key: MissingKey::Strict, ..ExecOptions::default() };
    let text = "{{say .a 1 .b}}\n{{.c.d}}{{say .e.f}}\n{{.g | say}}{{range .h}}{{end}}{{index .i 0}}";
    let Err(ExecError::Missing(missing)) = run(text, "{}", &options).1 else { panic!("{text}") };
    let places: Vec<_> =
        missing.iter().map(|miss| (miss.path.as_str(), miss.place.line, miss.place.column)).collect();
    assert_eq!(
        places,
        [("a", 1, 6), ("b", 1, 11), ("c.d", 2, 2), ("e.f", 2, 14), ("g", 3, 7), ("h", 3, 20), ("i", 3, 39),]
    );
}

#[test]
fn tests_of_truth_are_free_at_any_depth() {
    for text in [
        "{{if .a.b.c}}x{{end}}",
        "{{with .a.b}}x{{else}}{{end}}",
        "{{if and .a .b}}x{{end}}",
        "{{if or .a.b .c}}x{{end}}",
        "{{if not .a.b}}{{end}}",
        "{{default 1 .a.b.c}}",
        "{{.a.b | default 1}}",
        "{{$x := .nope}}",
        "{{or .nope .variables.name}}",
        "{{if .variables.docs}}{{if (index .variables.docs 1).title}}x{{end}}{{end}}",
        r#"{{if index .variables "nope"}}x{{end}}"#,
    ] {
        assert_eq!(misses(text), [""; 0], "{text}");
    }
}

#[test]
fn printing_iterating_passing_indexing_and_comparing_are_uses() {
    for text in [
        "{{.nope}}",
        "{{range .nope}}x{{end}}",
        "{{say .nope}}",
        "{{default .nope 1}}",
        "{{.nope | say}}",
        r#"{{printf "%v" .nope}}"#,
        "{{len .nope}}",
        "{{index .nope 0}}",
        r#"{{index . "nope"}}"#,
        "{{eq .nope 1}}",
        "{{lt .nope 1}}",
        "{{and .nope 1}}",
        "{{or .other .nope}}",
    ] {
        assert_eq!(misses(text), ["nope"], "{text}");
    }
}

#[test]
fn what_comes_of_a_missing_argument_is_not_reported_again() {
    assert_eq!(misses("{{$x := say .nope}}{{$x}}{{$x.y}}{{len $x}}{{if eq .nope 1}}yes{{end}}"), ["nope"]);
}

#[test]
fn what_lacks_in_a_function_s_result_is_not_taken_for_data() {
    assert_eq!(misses(r#"{{(object "a" 1).nope.x}}"#), ["(an expression).nope.x"]);
    assert_eq!(misses("{{with plain .vscode}}{{.nope}}{{end}}"), ["vscode.nope"]);
    assert_eq!(misses(r#"{{with plain (object "a" 1)}}{{.nope}}{{end}}"#), ["(an expression).nope"]);
}

#[test]
fn null_is_a_value() {
    let (out, missing) =
        strict("{{.variables.nil}}|{{say .variables.nil}}|{{range .variables.nil}}{{else}}e{{end}}");
    assert_eq!((out.as_str(), missing.len()), ("<no value>|<nil>|e", 0));
    let options = ExecOptions { missing_key: MissingKey::Strict, ..ExecOptions::default() };
    let error = run("{{.variables.nil.x}}", DATA, &options).1.unwrap_err();
    assert!(error.to_string().ends_with("nil pointer evaluating interface {}.x"), "{error}");
}

#[test]
fn an_error_after_a_miss_gives_way_to_the_miss() {
    assert_eq!(misses("{{.nope}}{{.variables.name.x}}"), ["nope"]);
}
