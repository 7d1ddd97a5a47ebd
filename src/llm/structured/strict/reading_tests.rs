//! What answers are read as, in ambiguous and in hostile cases.

use serde_json::{Value as Json, json};

use super::StrictSchema;
use super::tests::{of_members, read, strict};
use template::value::{Value, from_json};

#[test]
fn answers_without_such_nulls_are_not_copied() {
    let schema = of_members(
        json!({"x": {"type": ["string", "null"]}, "y": {"type": "array", "items": {"type": "null"}}}),
    );
    for answer in [json!({"x": "a", "y": []}), json!({"x": null, "y": [null]}), json!([null]), json!(null)] {
        let answer = Value::from(&answer);
        let read = strict(&schema).read_back(&answer);
        assert_eq!(read, answer);
        if let (Value::Map(read), Value::Map(answer)) = (&read, &answer) {
            assert!(std::sync::Arc::ptr_eq(read, answer));
        }
    }
}

#[test]
fn the_branch_that_was_meant_tells_which_nulls_are_removed() {
    let text = json!({"type": "string"});
    let maybe = json!({"type": ["string", "null"]});
    let branches = json!([
        {"type": "object", "properties": {"a": text, "b": text}},
        {"type": "object", "properties": {"a": text, "b": text, "c": maybe}},
        {"type": "object", "properties": {"a": {"const": "k"}, "d": text, "e": text}, "required": ["a"]},
        {"type": "object", "properties": {"a": {"const": "m"}, "d": text, "e": maybe}, "required": ["a"]},
        {"type": "array", "items": {"anyOf": [{"type": "object", "properties": {"x": text}}, {"type": "null"}]}},
        {"type": "null"},
    ]);
    let schema = of_members(json!({"u": {"anyOf": branches}}));
    for (answer, expected) in [
        (json!(null), json!(null)),
        (json!({"a": null, "b": "x"}), json!({"b": "x"})),
        (json!({"a": null, "b": null, "c": null}), json!({"c": null})),
        (json!({"a": "k", "d": null, "e": null}), json!({"a": "k"})),
        (json!({"a": "m", "d": null, "e": null}), json!({"a": "m", "e": null})),
        (json!([null, {"x": null}, {"x": "y"}]), json!([null, {}, {"x": "y"}])),
        // These are in no strict form.
        (json!({"a": "n", "d": null, "e": 5}), json!({"a": "n", "d": null, "e": 5})),
        (json!({"z": null}), json!({"z": null})),
        (json!("text"), json!("text")),
    ] {
        assert_eq!(read(&schema, &json!({"u": answer})), json!({"u": expected}), "{answer}");
    }
}

#[test]
fn a_null_that_one_branch_allows_stays_if_the_answer_fits_that_branch() {
    let short = json!({"type": "object", "properties": {"a": {"type": "string", "maxLength": 2}, "b": {"type": "string"}}});
    let open =
        json!({"type": "object", "properties": {"a": {"type": "string"}, "b": {"type": ["string", "null"]}}});
    for branches in [json!([short, open]), json!([open, short])] {
        let schema = of_members(json!({"u": {"anyOf": branches}}));
        for answer in ["ab", "abc"] {
            let answer = json!({"u": {"a": answer, "b": null}});
            assert_eq!(read(&schema, &answer), answer);
        }
    }
    let schema = of_members(
        json!({"u": {"anyOf": [short, {"type": "object", "properties": {"a": {"type": "integer"}, "b": {"type": "null"}}}]}}),
    );
    assert_eq!(read(&schema, &json!({"u": {"a": "ab", "b": null}})), json!({"u": {"a": "ab"}}));
    assert_eq!(read(&schema, &json!({"u": {"a": 1, "b": null}})), json!({"u": {"a": 1, "b": null}}));
}

#[test]
fn a_branch_that_the_answer_does_not_fit_was_not_meant() {
    let text = json!({"type": "string"});
    let member = |name: &str, schema: Json| {
        let mut branch = of_members(json!({"b": text, "c": {"type": ["string", "null"]}}));
        branch["properties"][name] = schema;
        branch["required"] = json!([name]);
        branch
    };
    let n = json!({"anyOf": [{"type": ["integer", "string"]}, {"type": "array", "items": text}]});
    let other = of_members(json!({"n": n, "b": text, "c": text, "d": text}));
    for (branch, n) in [
        (member("a", text.clone()), json!("x")),
        (member("n", json!({"type": "integer", "maximum": 5})), json!(6)),
        (member("n", json!({"type": "array", "items": text, "minItems": 2})), json!(["x"])),
        (member("n", json!({"enum": [1, 2]})), json!(3)),
    ] {
        let schema = of_members(json!({"u": {"anyOf": [branch, other]}}));
        assert_eq!(
            read(&schema, &json!({"u": {"n": n, "b": null, "c": null}})),
            json!({"u": {"n": n}}),
            "{schema}"
        );
    }
}

#[test]
fn null_is_no_value_of_what_exactly_one_branch_must_accept() {
    let texts = json!([{"type": ["string", "null"]}, {"type": "null"}]);
    for (keyword, expected) in [("oneOf", json!({})), ("anyOf", json!({"x": null}))] {
        let schema = of_members(json!({"x": {keyword: texts}, "y": {"type": "string"}}));
        assert_eq!(read(&schema, &json!({"x": null, "y": null})), expected);
    }
}

/// Each value fits all branches as far as one level tells; only the innermost tells them apart.
#[test]
fn ambiguous_unions_are_read_however_deep() {
    let branch = |leaf: &str| json!({"type": "object", "properties": {"next": {"$ref": "#/$defs/u"}, "leaf": {"type": leaf}, "o": {"type": "string"}}});
    let mut schema = of_members(json!({"u": {"$ref": "#/$defs/u"}}));
    schema["$defs"] = json!({"u": {"anyOf": [branch("integer"), branch("boolean"), branch("string")]}});
    let nested = |leaf: Json, empty: Json| {
        let inner = json!({"next": null, "leaf": leaf, "o": null});
        let outer = |inner: Json, _| json!({"next": inner, "leaf": null, "o": null});
        (inner, outer, empty)
    };
    let (inner, outer, _) = nested(json!("x"), json!({}));
    let answer = json!({"u": (0..100).fold(inner, outer)});
    let expected = json!({"u": (0..100).fold(json!({"leaf": "x"}), |inner, _| json!({"next": inner}))});
    assert_eq!(read(&schema, &answer), expected);
}

#[test]
fn what_would_take_too_many_steps_stays_as_it_is() {
    let branches: Vec<Json> = (0..900)
        .map(|number| json!({"type": "object", "properties": {"n": {"const": number}, "o": {"type": "string"}}, "required": ["n"]}))
        .collect();
    let mut schema =
        of_members(json!({"list": {"type": "array", "items": {"anyOf": branches}}, "o": {"type": "string"}}));
    schema["required"] = json!(["list"]);
    let items = |item: Json| vec![item; 2_000];
    let item = json!({"n": 5, "o": null});
    let read = read(&schema, &json!({"list": items(item.clone()), "o": null}));
    let list = read["list"].as_array().unwrap();
    assert_eq!((list.len(), &list[0], &list[1_999]), (2_000, &json!({"n": 5}), &item));
}

#[test]
fn deep_answers_and_long_chains_of_references_end() {
    let links = |count: usize| {
        let mut schema = of_members(json!({"x": {"$ref": "#/$defs/d0"}}));
        for number in 0..count {
            schema["$defs"][format!("d{number}")] = json!({"anyOf": [{"$ref": format!("#/$defs/d{}", number + 1)}, {"$ref": format!("#/$defs/d{}", number + 1)}]});
        }
        schema["$defs"][format!("d{count}")] =
            json!({"type": "object", "properties": {"x": {"$ref": "#/$defs/d0"}, "y": {"type": "null"}}});
        schema
    };
    assert!(StrictSchema::of(&links(5_000)).is_none());
    let text = format!("{}null{}", "{\"x\":".repeat(120), "}".repeat(120));
    let answer = from_json(text.as_bytes()).unwrap();
    let read = strict(&links(6)).read_back(&answer);
    assert!(read.to_json().to_string().starts_with("{\"x\":{\"x\":"));
    let cyclic = json!({"type": "object", "properties": {"x": {"$ref": "#/$defs/a"}},
        "$defs": {"a": {"$ref": "#/$defs/b"}, "b": {"anyOf": [{"$ref": "#/$defs/a"}]}}});
    assert!(StrictSchema::of(&cyclic).is_none());
}
