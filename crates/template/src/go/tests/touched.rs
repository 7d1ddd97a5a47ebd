//! Static analysis against execution: the analysis lists whatever a run uses.

use proptest::prelude::*;
use serde_json::{Value as Json, json};

use super::*;
use crate::value::Value;

/// The steps of a path: keys, and `[]` for any element or member.
fn steps(path: &str) -> Vec<String> {
    let apart = path.replace('[', ".[");
    apart.split('.').filter(|step| !step.is_empty()).map(str::to_owned).collect()
}

/// Whether a listed path names the place.
fn names(path: &[String], place: &[String]) -> bool {
    path.len() == place.len()
        && path.iter().zip(place).all(|(step, of_place)| step == of_place || step == "[]")
}

/// Whether a place is listed: itself or a part of it, or something that it is in and that is used as a whole. Where
/// only `members` change, it is enough that what holds the place is looked at.
fn is_listed(place: &str, listed: &[Need], members: bool) -> bool {
    let place = steps(place);
    listed.iter().any(|need| {
        let path = steps(&need.name);
        let common = path.len().min(place.len());
        let enough = path.len() >= place.len()
            || need.whole
            || need.dynamic
            || (members && path.len() + 1 == place.len());
        enough && names(&path[..common], &place[..common])
    })
}

/// An operand; never the whole data, which would cover everything.
fn any_operand() -> impl Strategy<Value = String> {
    let paths = vec![".a", ".b", ".x", ".a.x", ".x.b.a", "$.a", "$.b.x", "$v", "$v.x", "$v.a.b"];
    let calls = vec![
        "(index .a \"x\")",
        "(index . \"b\").x",
        "(index .b 0)",
        "(index .x 1).a",
        "(slice .a 1)",
        "(or .a .b)",
        "(and .b $v)",
        "(or $v.x (and .a .b.x) .x)",
        "(say .b)",
        "(len .a)",
        "(eq .a .b)",
        "(lt .a.x 2.0)",
        "(not .x)",
        "(default .a .b)",
        "(index $.a .b)",
        "(index . .x)",
        "(list .a .x)",
        "(.a | printf \"%v\")",
        "(plain .x)",
    ];
    prop_oneof![3 => prop::sample::select(paths), 1 => prop::sample::select(calls)].prop_map(str::to_owned)
}

/// Statements; `BLOCK` is replaced by a different name in each block.
fn any_body() -> impl Strategy<Value = String> {
    let leaf = any_operand().prop_flat_map(|x| {
        prop::sample::select(vec![
            format!("{{{{{x}}}}}"),
            format!("{{{{$v = {x}}}}}"),
            format!("{{{{$v := {x}}}}}"),
            format!("{{{{template \"p\" {x}}}}}"),
            format!("{{{{template \"q\" {x}}}}}"),
            "{{template \"p\" .}}{{template \"q\" $}}".to_owned(),
            "{{template \"p\"}}".to_owned(),
        ])
    });
    leaf.prop_recursive(3, 8, 2, |inner| {
        (any_operand(), prop::collection::vec(inner, 1..3)).prop_flat_map(|(x, bodies)| {
            let body = bodies.concat();
            prop::sample::select(vec![
                body.clone(),
                format!("{{{{if {x}}}}}{body}{{{{end}}}}"),
                format!("{{{{if {x}}}}}{{{{else}}}}{body}{{{{end}}}}"),
                format!("{{{{if .a}}}}{{{{else if {x}}}}}{body}{{{{end}}}}"),
                format!("{{{{with {x}}}}}{body}{{{{end}}}}"),
                format!("{{{{with $v := {x}}}}}{body}{{{{end}}}}"),
                format!("{{{{with .b}}}}{{{{else with {x}}}}}{body}{{{{end}}}}"),
                format!("{{{{range {x}}}}}{body}{{{{end}}}}"),
                format!("{{{{range {x}}}}}{body}{{{{break}}}}{{{{else}}}}{body}{{{{end}}}}"),
                format!("{{{{range $v := {x}}}}}{body}{{{{end}}}}"),
                format!(
                    "{{{{range $i, $v := {x}}}}}{{{{if $i}}}}{{{{continue}}}}{{{{end}}}}{body}{{{{end}}}}"
                ),
                format!("{{{{range $v = {x}}}}}{body}{{{{end}}}}"),
                format!("{{{{block \"BLOCK\" {x}}}}}{{{{$v := .a}}}}{body}{{{{end}}}}"),
                format!("{{{{block \"BLOCK\" .}}}}{{{{$v := $.b}}}}{body}{{{{end}}}}"),
                format!("{{{{$w := .}}}}{body}{{{{$w.x}}}}"),
            ])
        })
    })
}

/// A text with the templates `p` and `q`, which its statements call.
fn any_text() -> impl Strategy<Value = String> {
    (any_body(), any_body()).prop_map(|(body, p)| {
        let q = "{{.b}}{{range .a}}{{.x}}{{end}}";
        let text = format!(
            "{{{{define \"p\"}}}}{{{{$v := .x}}}}{p}{{{{end}}}}{{{{define \"q\"}}}}{q}{{{{end}}}}{{{{$v := .a}}}}{body}"
        );
        let mut parts = text.split("BLOCK");
        let first = parts.next().unwrap_or_default().to_owned();
        parts.enumerate().fold(first, |text, (at, part)| format!("{text}block{at}{part}"))
    })
}

/// Data with deep paths of `a`, `b` and `x`.
fn any_data() -> impl Strategy<Value = Json> {
    let leaf = prop::sample::select(vec![
        json!(null),
        json!(true),
        json!(false),
        json!(0),
        json!(2.5),
        json!(""),
        json!("a"),
        json!("x"),
        json!([]),
        json!({}),
    ]);
    let inner = prop_oneof![1 => leaf.clone(), 3 => object_of(leaf)].boxed();
    let list = prop::collection::vec(inner.clone(), 1..3).prop_map(Json::from);
    object_of(prop_oneof![2 => inner.clone(), 2 => object_of(inner), 2 => list])
}

/// An object with some of the members.
fn object_of(value: impl Strategy<Value = Json>) -> impl Strategy<Value = Json> {
    let present = prop::bool::weighted(0.9);
    prop::collection::vec((present, value), 3).prop_map(|members| {
        let named = ["a", "b", "x"].into_iter().zip(members);
        named.filter(|(_, (present, _))| *present).map(|(key, (_, value))| (key.to_owned(), value)).collect()
    })
}

/// The JSON pointers of all places below the root.
fn places(data: &Json, pointer: &str, found: &mut Vec<String>) {
    let mut visit = |step: String, value: &Json| {
        let pointer = format!("{pointer}/{step}");
        places(value, &pointer, found);
        found.push(pointer);
    };
    match data {
        Json::Array(items) => items.iter().enumerate().for_each(|(at, item)| visit(at.to_string(), item)),
        Json::Object(members) => members.iter().for_each(|(key, value)| visit(key.clone(), value)),
        _ => {}
    }
}

/// The pointer as the analysis writes paths.
fn path_of(pointer: &str) -> String {
    let steps = pointer.split('/').skip(1);
    let mut path = String::new();
    for step in steps {
        match step.parse::<usize>() {
            Ok(at) => path.push_str(&format!("[{at}]")),
            Err(_) if path.is_empty() => path.push_str(step),
            Err(_) => path.push_str(&format!(".{step}")),
        }
    }
    path
}

/// The data with another value at a place, or without the value.
fn changed(data: &Json, pointer: &str, other: Option<Json>) -> Option<Json> {
    let mut data = data.clone();
    match other {
        Some(other) => *data.pointer_mut(pointer)? = other,
        None => {
            let (parent, key) = pointer.rsplit_once('/')?;
            data.pointer_mut(parent)?.as_object_mut()?.remove(key)?;
        }
    }
    Some(data)
}

fn options(missing_key: MissingKey) -> ExecOptions {
    ExecOptions {
        missing_key,
        steps: 5_000,
        recursion: 20,
        output_bytes: 1 << 16,
        scratch_bytes: 1 << 20,
        ..ExecOptions::default()
    }
}

fn outcome(set: &Set, data: &Json, missing_key: MissingKey) -> (Vec<u8>, Result<(), ExecError>) {
    let mut out = Vec::new();
    let data = Value::from(data.clone());
    let result = set.execute("t", &data, &TestFunctions, &options(missing_key), &mut out);
    (out, result)
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(250))]

    #[test]
    fn a_place_whose_change_changes_a_run_was_listed(text in any_text(), data in any_data()) {
        let set = parsed(&text);
        let listed = set.requires("t", &|name| if name == "default" { ArgumentUse::LastTested } else { ArgumentUse::Needed }).paths;
        let mut pointers = Vec::new();
        places(&data, "", &mut pointers);
        for missing_key in [MissingKey::Default, MissingKey::Error, MissingKey::Strict] {
            let usual = outcome(&set, &data, missing_key);
            for pointer in &pointers {
                let others = [None, Some(json!("?")), Some(json!(null)), Some(json!({"x": "?"})), Some(json!(["?", 7]))];
                for other in others {
                    let removed = other.is_none();
                    let Some(data) = changed(&data, pointer, other) else { continue };
                    let path = path_of(pointer);
                    prop_assert!(
                        is_listed(&path, &listed, removed) || outcome(&set, &data, missing_key) == usual,
                        "{} is not in {:?} of {}", path, listed, text
                    );
                }
            }
        }
    }

    #[test]
    fn a_run_that_succeeds_had_all_that_is_not_optional(text in any_text(), data in any_data()) {
        let set = parsed(&text);
        if outcome(&set, &data, MissingKey::Strict).1.is_ok() {
            let listed = set.requires("t", &|name| if name == "default" { ArgumentUse::LastTested } else { ArgumentUse::Needed }).paths;
            let certain = |need: &&Need| !need.optional && !need.dynamic && !need.name.contains('[');
            for need in listed.iter().filter(certain) {
                let pointer: String = steps(&need.name).iter().map(|step| format!("/{step}")).collect();
                prop_assert!(data.pointer(&pointer).is_some(), "{} is optional in {} with {}", need.name, text, data);
            }
        }
    }

    #[test]
    fn whatever_a_run_misses_was_listed(text in any_text(), data in any_data()) {
        let set = parsed(&text);
        if let Err(ExecError::Missing(missing)) = outcome(&set, &data, MissingKey::Strict).1 {
            let listed = set.requires("t", &|name| if name == "default" { ArgumentUse::LastTested } else { ArgumentUse::Needed }).paths;
            for miss in missing.iter().filter(|miss| !miss.path.starts_with("(an expression)")) {
                prop_assert!(is_listed(&miss.path, &listed, false), "{} is not in {:?} of {}", miss.path, listed, text);
            }
        }
    }
}
