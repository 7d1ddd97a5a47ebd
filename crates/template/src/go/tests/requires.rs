//! Static analysis: what a template may use.

use super::*;

/// The paths with a mark each: `?` for optional, `*` for dynamic.
fn paths(text: &str) -> Vec<String> {
    let requires = parsed(text)
        .requires("t", &|name| if name == "default" { ArgumentUse::LastTested } else { ArgumentUse::Needed });
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
        ("{{$x := .a}}{{if .t}}{{$x = .b}}{{end}}{{$x.c}}", vec!["a.c?", "a?", "b.c?", "b?", "t?"]),
        ("{{(index .a 0).b}}{{index .m \"k\" \"l\"}}", vec!["a", "a[].b", "a[]?", "m", "m.k.l"]),
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
fn what_is_used_as_a_whole_is_told_from_what_is_only_looked_at() {
    let text =
        "{{range .a}}{{.b}}{{end}}{{if .c}}{{end}}{{.d}}{{len .e}}{{not .f}}{{$x := .g}}{{index .h 0}}";
    let listed = parsed(text).requires("t", &|_| ArgumentUse::Needed).paths;
    let named = |whole| {
        let needs = listed.iter().filter(|need| need.whole == whole);
        needs.map(|need| need.name.as_str()).collect::<Vec<_>>()
    };
    assert_eq!(named(true), ["a[].b", "d", "e", "h[]"]);
    assert_eq!(named(false), ["a", "c", "f", "g", "h"]);
}

#[test]
fn what_another_value_may_stand_for_is_optional() {
    for (text, expected) in [
        ("{{if index .m \"k\"}}x{{end}}", vec!["m", "m.k?"]),
        ("{{$x := .a}}{{$x = 1}}{{$x}}", vec!["a?"]),
        ("{{$ = .a}}{{$.b}}", vec!["?*", "a?", "b?"]),
        ("{{range .l}}{{$.x}}{{$ = .y}}{{end}}", vec!["?*", "l", "l[].y?", "x?"]),
        ("{{$x := 1}}{{range $x = .a}}{{end}}{{$x.b}}", vec!["a", "a.b?", "a[].b?"]),
        (
            r#"{{define "p"}}{{$v := .x}}{{$v.y}}{{end}}{{template "p" .a}}{{if .t}}{{template "p" .b}}{{end}}"#,
            vec!["a.x.y?", "a.x?", "a?", "b.x.y?", "b.x?", "b?", "t?"],
        ),
    ] {
        let mut found = paths(text);
        found.sort();
        assert_eq!(found, expected, "{text}");
    }
}

#[test]
fn what_would_take_too_long_to_follow_may_be_anything() {
    let long = ".a".repeat(31);
    let assigned: String = (0..190).map(|at| format!("{{{{$x = .b{at}{long}}}}}")).collect();
    let text =
        format!("{{{{$x := .c}}}}{assigned}{{{{$x{}}}}}{}", ".a".repeat(50_000), "{{$x.a}}".repeat(2_000));
    assert!(paths(&text).iter().any(|path| path.starts_with('?')), "the root is listed");
}

#[test]
fn handing_all_of_the_data_on_touches_none_of_it() {
    for (text, expected) in [
        (r#"{{define "p"}}{{.a}}{{end}}{{template "p" .}}"#, "a"),
        (r#"{{block "p" $}}{{.a}}{{end}}"#, "a"),
        ("{{$x := .}}{{$x.a}}", "a"),
        (r#"{{index . "a" "b"}}"#, "a.b"),
    ] {
        assert_eq!(paths(text), [expected], "{text}");
    }
}

#[test]
fn functions_and_templates_that_others_must_supply_are_listed() {
    let set = parsed("{{say 1}}{{if .a}}{{list 1}}{{template \"x\"}}{{end}}{{template \"y\"}}");
    let requires = set.requires("t", &|_| ArgumentUse::Needed);
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
    assert_eq!(found, ["a?*", "a.next?", "a.v?", "b"]);
}
