//! Static analysis: what a template can touch.

use proptest::prelude::*;

use super::*;

/// The paths with a mark each: `?` for optional, `*` for dynamic.
fn paths(text: &str) -> Vec<String> {
    let requires = parsed(text).requires("t", &|name| name == "default");
    let mark = |need: Need| {
        format!(
            "{}{}{}",
            need.name,
            if need.optional { "?" } else { "" },
            if need.dynamic { "*" } else { "" }
        )
    };
    requires.paths.into_iter().map(mark).collect()
}

#[test]
fn paths_are_followed_through_everything_that_hands_values_on() {
    for (text, expected) in [
        ("{{.a.b}}{{.c}}", vec!["a.b", "c"]),
        ("{{range .a}}{{.b}}{{end}}", vec!["a", "a[].b?"]),
        ("{{range $i, $x := .a}}{{$x.b}}{{$i}}{{$.c}}{{end}}", vec!["a", "a[].b?", "c?"]),
        ("{{with .a}}{{.b}}{{else}}{{.c}}{{end}}", vec!["a.b?", "a?", "c?"]),
        ("{{if .a.b}}{{.c}}{{end}}", vec!["a.b?", "c?"]),
        ("{{$x := .a}}{{$x.b}}", vec!["a.b", "a?"]),
        ("{{$x := .a}}{{if .t}}{{$x = .b}}{{end}}{{$x.c}}", vec!["a.c", "a?", "b.c", "b?", "t?"]),
        ("{{(index .a 0).b}}{{index .m \"k\" \"l\"}}", vec!["a", "a[]", "a[].b", "m", "m.k.l"]),
        ("{{(index .m .k).b}}", vec!["k", "m*"]),
        ("{{or .a .b}}{{and .c .d}}", vec!["a?", "b?", "c", "d?"]),
        ("{{default 1 .a}}{{not .b}}{{.c | default 2}}{{default .d .e}}", vec!["a?", "b?", "c?", "d", "e?"]),
        ("{{.}}", vec![""]),
        ("{{say .}}{{range .a}}{{.}}{{end}}", vec!["", "a", "a[]?"]),
        ("{{define \"p\"}}{{.t}}{{$.u}}{{end}}{{template \"p\" .a}}", vec!["a.t", "a.u", "a?"]),
        ("{{block \"p\" .a}}{{.t}}{{end}}", vec!["a.t", "a?"]),
        ("{{define \"unused\"}}{{.t}}{{end}}{{.a}}", vec!["a"]),
        (
            "{{range .a}}{{$x := .}}{{range .b}}{{$x.c}}{{.d}}{{end}}{{end}}",
            vec!["a", "a[].b?", "a[].b[].d?", "a[].c?", "a[]?"],
        ),
    ] {
        let mut expected: Vec<String> = expected.into_iter().map(str::to_owned).collect();
        let mut found = paths(text);
        expected.sort();
        found.sort();
        assert_eq!(found, expected, "{text}");
    }
}

#[test]
fn functions_and_templates_that_others_must_supply_are_listed() {
    let set = parsed("{{say 1}}{{if .a}}{{list 1}}{{template \"x\"}}{{end}}{{template \"y\"}}");
    let requires = set.requires("t", &|_| false);
    let names =
        |needs: &[Need]| needs.iter().map(|need| (need.name.clone(), need.optional)).collect::<Vec<_>>();
    assert_eq!(names(&requires.functions), [("list".to_owned(), true), ("say".to_owned(), false)]);
    assert_eq!(names(&requires.templates), [("x".to_owned(), true), ("y".to_owned(), false)]);
    assert_eq!(set.undefined(), ["x", "y"]);
    assert_eq!(set.functions(), ["list", "say"]);
}

#[test]
fn templates_that_call_themselves_end_in_a_dynamic_path() {
    let found =
        paths(r#"{{define "n"}}{{.v}}{{range .kids}}{{template "n" .}}{{end}}{{end}}{{template "n" .tree}}"#);
    assert_eq!(found, ["tree?", "tree.kids", "tree.kids[]?*", "tree.v"]);
}

#[test]
fn a_variable_that_walks_a_list_ends_in_a_dynamic_path() {
    let found = paths("{{$x := .a}}{{range .b}}{{$x = $x.next}}{{end}}{{$x.v}}");
    assert_eq!(found, ["a*", "a.next?", "a.v", "b"]);
}

/// A path with all indexes taken away: `a[1].b` and `a[].b` are one.
fn plain(path: &str) -> String {
    let mut plain = String::new();
    let mut inside = false;
    for c in path.chars() {
        inside = (inside || c == '[') && c != ']';
        if !inside && c != ']' {
            plain.push(c);
        }
    }
    plain
}

fn is_covered(path: &str, listed: &[Need]) -> bool {
    let path = plain(path);
    listed
        .iter()
        .map(|need| plain(&need.name))
        .any(|need| need.is_empty() || path == need || path.starts_with(&format!("{need}.")))
}

fn any_operand() -> impl Strategy<Value = String> {
    prop::sample::select(vec![
        ".a",
        ".b",
        ".a.x",
        "$.a",
        "$.b.x",
        "$v",
        "$v.x",
        ".",
        "$",
        "(index .a \"x\")",
        "(index . \"b\").x",
        "(or .a .b)",
        "(and .b $v)",
        "(say .b)",
        "(default .a .b)",
        "(index $.a .b)",
    ])
    .prop_map(str::to_owned)
}

fn any_body() -> impl Strategy<Value = String> {
    let leaf = any_operand().prop_flat_map(|x| {
        prop::sample::select(vec![
            format!("{{{{{x}}}}}"),
            format!("{{{{$v = {x}}}}}"),
            format!("{{{{$v := {x}}}}}"),
            format!("{{{{template \"p\" {x}}}}}"),
            format!("{{{{template \"q\" {x}}}}}"),
        ])
    });
    leaf.prop_recursive(3, 24, 4, |inner| {
        (any_operand(), prop::collection::vec(inner, 1..4)).prop_flat_map(|(x, bodies)| {
            let body = bodies.concat();
            prop::sample::select(vec![
                body.clone(),
                format!("{{{{if {x}}}}}{body}{{{{end}}}}"),
                format!("{{{{if {x}}}}}{{{{else}}}}{body}{{{{end}}}}"),
                format!("{{{{with {x}}}}}{body}{{{{end}}}}"),
                format!("{{{{with $v := {x}}}}}{body}{{{{end}}}}"),
            ])
        })
    })
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(300))]

    #[test]
    fn whatever_a_run_misses_was_listed(body in any_body(), p in any_body(), data in prop::sample::select(vec![
        r#"{}"#, r#"{"a": {}}"#, r#"{"a": {"x": {"b": {}}}, "b": {}}"#, r#"{"b": {"x": {"a": {"x": {}}}}}"#,
    ])) {
        let text = format!("{{{{define \"p\"}}}}{{{{$v := .}}}}{p}{{{{end}}}}{{{{define \"q\"}}}}{{{{.b}}}}{{{{end}}}}{{{{$v := .}}}}{body}");
        let options = ExecOptions {
            missing_key: MissingKey::Strict,
            steps: 5_000,
            recursion: 20,
            output_bytes: 1 << 16,
            scratch_bytes: 1 << 20,
            ..ExecOptions::default()
        };
        if let Err(ExecError::Missing(missing)) = run(&text, data, &options).1 {
            let listed = parsed(&text).requires("t", &|name| name == "default").paths;
            for miss in missing {
                prop_assert!(is_covered(&miss.path, &listed), "{} is not in {listed:?} of {text}", miss.path);
            }
        }
    }
}
