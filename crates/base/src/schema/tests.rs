//! Checks that hostile schemas and values are refused in time, and that harmless ones that look similar are not.

use std::time::{Duration, Instant};

use proptest::prelude::*;
use serde_json::{Map, Value as Json, json};

use super::*;
use template::value::Value;

/// How long a check of 10 ms may take on a busy machine, in a debug build.
const SOON: Duration = Duration::from_secs(20);

/// Definitions `d0` to `d{levels}`: `level` makes each from a reference to the next one; the last is `end`.
fn chain(levels: usize, end: &Json, level: impl Fn(&Json) -> Json) -> Json {
    let mut defs = Map::new();
    for at in 0..levels {
        let next = json!({"$ref": format!("#/$defs/d{}", at + 1)});
        defs.insert(format!("d{at}"), level(&next));
    }
    defs.insert(format!("d{levels}"), end.clone());
    json!({"$ref": "#/$defs/d0", "$defs": defs})
}

/// Objects nested `depth` deep, each in the member `member`.
fn nested(depth: usize, member: &str) -> Json {
    (0..depth).fold(json!({}), |inner, _| json!({member: inner}))
}

/// The violations, or the error of the schema, as text; on a stack and within a time like those of the pool.
fn outcome(schema: &Json, value: &Json) -> String {
    let (schema, value) = (schema.clone(), Value::from(value));
    let work = move || {
        let began = Instant::now();
        let schema = Schema::compile(&schema);
        let compiled = began.elapsed();
        let outcome = match schema {
            Err(error) => error.to_string(),
            Ok(schema) => in_words(&schema.violations(&value, Effort::POOL)),
        };
        if std::env::var_os("SHOW").is_some() {
            println!(
                "  {compiled:?} {:?} {}",
                began.elapsed() - compiled,
                outcome.chars().take(150).collect::<String>()
            );
        }
        assert!(began.elapsed() < SOON, "{:?}", began.elapsed());
        outcome
    };
    std::thread::Builder::new().stack_size(256 << 20).spawn(work).unwrap().join().unwrap()
}

/// Schemas whose references double the cost at each level.
fn doubling() -> Vec<(&'static str, Json)> {
    let all = |keyword: &'static str| move |next: &Json| json!({keyword: [next, next]});
    let strings = json!({"type": "string"});
    vec![
        ("anyOf", chain(60, &strings, all("anyOf"))),
        ("allOf", chain(60, &strings, all("allOf"))),
        ("oneOf", chain(60, &strings, all("oneOf"))),
        ("allOf of true", chain(60, &json!(true), all("allOf"))),
        ("not", chain(60, &strings, |next| json!({"not": {"anyOf": [next, {"not": next}]}}))),
        ("if", chain(60, &strings, |next| json!({"if": next, "then": next, "else": next}))),
        ("dependentSchemas", chain(60, &strings, |next| json!({"dependentSchemas": {"a": next, "b": next}}))),
        (
            "dependencies",
            chain(
                60,
                &strings,
                |next| json!({"dependencies": {"a": next, "b": next}, "$schema": "http://json-schema.org/draft-07/schema#"}),
            ),
        ),
        ("ref and allOf", chain(60, &strings, |next| json!({"$ref": next["$ref"], "allOf": [next]}))),
        (
            "unevaluatedProperties",
            chain(60, &strings, |next| json!({"allOf": [next], "unevaluatedProperties": false})),
        ),
        (
            "unevaluatedItems",
            chain(
                60,
                &json!({"prefixItems": [true]}),
                |next| json!({"anyOf": [next], "unevaluatedItems": false}),
            ),
        ),
        (
            "unevaluated around a doubling",
            json!({"unevaluatedProperties": false, "$ref": "#/$defs/d0", "$defs": chain(60, &strings, all("anyOf"))["$defs"]}),
        ),
        (
            "propertyNames",
            json!({"propertyNames": chain(60, &strings, all("anyOf"))["$defs"]["d0"], "$defs": chain(60, &strings, all("anyOf"))["$defs"]}),
        ),
        (
            "contains",
            json!({"contains": {"$ref": "#/$defs/d0"}, "$defs": chain(60, &strings, all("oneOf"))["$defs"]}),
        ),
        (
            "dynamicRef",
            json!({"$dynamicRef": "#d0", "$defs": (0..60).map(|at| (format!("d{at}"), json!({
                "$dynamicAnchor": format!("d{at}"),
                "anyOf": [{"$dynamicRef": format!("#d{}", at + 1)}, {"$dynamicRef": format!("#d{}", at + 1)}]
            }))).chain([("d60".to_owned(), json!({"$dynamicAnchor": "d60", "type": "string"}))]).collect::<Map<_, _>>()}),
        ),
        (
            "anchors",
            json!({"$ref": "#d0", "$defs": (0..60).map(|at| (format!("d{at}"), json!({
                "$anchor": format!("d{at}"), "anyOf": [{"$ref": format!("#d{}", at + 1)}, {"$ref": format!("#d{}", at + 1)}]
            }))).chain([("d60".to_owned(), json!({"$anchor": "d60", "type": "string"}))]).collect::<Map<_, _>>()}),
        ),
        (
            "ids",
            json!({"$id": "https://a.example/r", "$ref": "d0", "$defs": (0..60).map(|at| (format!("d{at}"), json!({
                "$id": format!("https://a.example/d{at}"), "anyOf": [{"$ref": format!("d{}", at + 1)}, {"$ref": format!("d{}", at + 1)}]
            }))).chain([("d60".to_owned(), json!({"$id": "https://a.example/d60", "type": "string"}))]).collect::<Map<_, _>>()}),
        ),
    ]
}

#[test]
fn schemas_that_multiply_in_place_are_refused_with_the_place() {
    for (name, schema) in doubling() {
        if std::env::var_os("SHOW").is_some() {
            println!("{name}");
        }
        let found = outcome(&schema, &json!({"a": 1, "b": 2}));
        assert!(found.contains("can take"), "{name}: {found}");
    }
}

#[test]
fn schemas_that_apply_themselves_to_the_same_value_are_refused() {
    for schema in [
        json!({"$ref": "#"}),
        json!({"anyOf": [{"type": "string"}, {"$ref": "#"}]}),
        json!({"$ref": "#/$defs/a", "$defs": {"a": {"not": {"$ref": "#/$defs/b"}}, "b": {"allOf": [{"$ref": "#/$defs/a"}]}}}),
        json!({"$dynamicAnchor": "n", "allOf": [{"$dynamicRef": "#n"}]}),
        json!({"$schema": "https://json-schema.org/draft/2019-09/schema", "if": {"$recursiveRef": "#"}}),
    ] {
        let found = outcome(&schema, &json!("x"));
        assert!(found.contains("applies itself to the same value"), "{schema}: {found}");
    }
}

/// Schemas with values for which they take too long, while the schema alone is acceptable.
fn multiplying() -> Vec<(&'static str, Json, Json)> {
    let deep = nested(100, "a");
    let recursive = |keyword: &str| json!({"properties": {"a": {keyword: [{"$ref": "#"}, {"$ref": "#"}]}}, "maxProperties": 5});
    let text = "ab".repeat(500_000);
    let lists = json!((0..20_000).map(|n| json!([n, "x"])).collect::<Vec<_>>());
    let hard = |pattern: &str| json!({"pattern": pattern});
    vec![
        ("anyOf in properties", recursive("anyOf"), deep.clone()),
        ("allOf in properties", recursive("allOf"), deep.clone()),
        ("oneOf in properties", recursive("oneOf"), deep.clone()),
        (
            "two ways to the same member",
            json!({"properties": {"a": {"$ref": "#"}}, "patternProperties": {"a": {"$ref": "#"}}}),
            deep.clone(),
        ),
        (
            "additionalProperties",
            json!({"additionalProperties": {"anyOf": [{"$ref": "#"}, {"$ref": "#"}]}, "minProperties": 3}),
            deep.clone(),
        ),
        (
            "unevaluatedProperties",
            json!({"$defs": {"n": {"anyOf": [{"type": "string"}, {"properties": {"b": true}}], "unevaluatedProperties": {"anyOf": [{"$ref": "#/$defs/n"}, {"$ref": "#/$defs/n"}]}}}, "$ref": "#/$defs/n"}),
            deep.clone(),
        ),
        (
            "recursive unevaluated",
            json!({"allOf": [{"unevaluatedProperties": {"$ref": "#"}}], "unevaluatedProperties": {"$ref": "#"}}),
            deep.clone(),
        ),
        (
            "if in properties",
            json!({"properties": {"a": {"if": {"$ref": "#"}, "then": {"$ref": "#"}}}}),
            deep.clone(),
        ),
        (
            "dynamicRef",
            json!({"$dynamicAnchor": "n", "properties": {"a": {"allOf": [{"$dynamicRef": "#n"}, {"$dynamicRef": "#n"}]}}}),
            deep.clone(),
        ),
        (
            "recursiveRef",
            json!({"$schema": "https://json-schema.org/draft/2019-09/schema", "$recursiveAnchor": true, "properties": {"a": {"allOf": [{"$recursiveRef": "#"}, {"$recursiveRef": "#"}]}}}),
            deep.clone(),
        ),
        (
            "items",
            json!({"items": {"allOf": [{"$ref": "#"}, {"$ref": "#"}]}}),
            (0..100).fold(json!(1), |inner, _| json!([inner])),
        ),
        (
            "contains",
            json!({"contains": {"allOf": [{"$ref": "#"}, {"$ref": "#"}]}, "minContains": 2}),
            (0..100).fold(json!(1), |inner, _| json!([inner])),
        ),
        (
            "prefixItems",
            json!({"prefixItems": [{"anyOf": [{"$ref": "#"}, {"$ref": "#"}]}], "minItems": 2}),
            (0..100).fold(json!(1), |inner, _| json!([inner])),
        ),
        (
            "many alternatives for many items",
            json!({"items": {"allOf": vec![json!({"type": "array"}); 1_000]}}),
            lists.clone(),
        ),
        (
            "uniqueItems in all depths",
            json!({"items": {"$ref": "#"}, "uniqueItems": true, "allOf": vec![json!({"uniqueItems": true}); 200]}),
            lists.clone(),
        ),
        (
            "a large enum for many items",
            json!({"items": {"enum": (0..20_000).collect::<Vec<_>>()}}),
            lists.clone(),
        ),
        ("a pattern that goes back", hard("^(?=a)(a|b|ab)*c$"), json!(text)),
        ("a pattern that counts", hard("^(a?b?){900}c$"), json!(text)),
        (
            "a pattern for many names",
            json!({"patternProperties": {"^(?!b)(a+)+$": false}}),
            (0..2_000).map(|n| (format!("{}{n}", "a".repeat(100)), json!(1))).collect::<Map<_, _>>().into(),
        ),
        ("a backreference", hard(r"^(a*)*\1$"), json!("a".repeat(100_000))),
    ]
}

#[test]
fn values_that_a_schema_makes_too_much_of_are_not_checked() {
    for (name, schema, value) in multiplying() {
        if std::env::var_os("SHOW").is_some() {
            println!("{name}");
        }
        let found = outcome(&schema, &value);
        assert!(found.contains("could take more than"), "{name}: {found}");
    }
}

#[test]
fn what_is_large_or_deep_and_harmless_is_checked() {
    let tree = json!({"type": "object", "properties": {"name": {"type": "string"}, "children": {"type": "array", "items": {"$ref": "#"}}}, "required": ["name"]});
    let leaf = json!({"name": "a", "children": []});
    let wide = json!({"name": "r", "children": vec![json!({"name": "b", "children": vec![leaf; 20]}); 200]});
    let rows = json!((0..20_000).map(|n| json!({"id": n, "name": format!("row {n}")})).collect::<Vec<_>>());
    let table = json!({"items": {"properties": {"id": {"type": "integer"}, "name": {"type": "string", "minLength": 1}}, "required": ["id"]}});
    for (name, schema, value) in [
        ("a tree", tree.clone(), wide),
        ("a deep tree", json!({"properties": {"a": {"$ref": "#"}}}), nested(120, "a")),
        ("a table", table, rows),
        ("a chain", chain(900, &json!({"type": "object"}), |next| next.clone()), json!({})),
        (
            "an unevaluated chain",
            chain(
                400,
                &json!({"properties": {"a": true}}),
                |next| json!({"$ref": next["$ref"], "description": "x"}),
            ),
            json!({"a": 1}),
        ),
        ("unique numbers", json!({"uniqueItems": true}), json!((0..50_000).collect::<Vec<_>>())),
        ("a password", json!({"pattern": r"^(?=.*[a-z])(?=.*\d).{8,64}$"}), json!("correct horse 4 battery")),
        (
            "an address",
            json!({"pattern": r"^[^@\s]+@[^@\s]+\.[a-z]{2,}$"}),
            json!("somebody@somewhere.example"),
        ),
        (
            "a long text",
            json!({"type": "string", "minLength": 1, "pattern": "^[^<>]*$"}),
            json!("a text ".repeat(20_000)),
        ),
        ("the schema of schemas", json!({"$ref": "https://json-schema.org/draft/2020-12/schema"}), tree),
        (
            "the schema of prompts",
            json!({"$ref": "https://ai-prompt-shell.dev/schemas/prompt.json"}),
            json!({"prompt": "x"}),
        ),
    ] {
        if std::env::var_os("SHOW").is_some() {
            println!("{name}");
        }
        let found = outcome(&schema, &value);
        assert_eq!(found, "", "{name}");
    }
}

#[test]
fn schemas_that_are_too_large_to_compile_are_refused() {
    let many = |schema: Json| json!({"anyOf": vec![schema; 6_000]});
    let patterns: Vec<Json> = (0..2_000).map(|n| json!({"pattern": format!("^a{n}[a-z]+$")})).collect();
    for (name, schema, word) in [
        ("subschemas", many(json!({"type": "string"})), "subschemas"),
        ("values", json!({"enum": (0..60_000).collect::<Vec<_>>()}), "values"),
        ("patterns", json!({"anyOf": patterns}), "patterns"),
        ("a pattern", json!({"pattern": "(((a{100}){100}){100}){100}"}), "patterns"),
        ("a long chain", chain(4_000, &json!(true), |next| json!({"$ref": next["$ref"]})), "one another"),
        (
            "long names",
            json!({"properties": {"n".repeat(100_000): {"properties": (0..1_000).map(|n| (n.to_string(), json!(true))).collect::<Map<_, _>>()}}}),
            "names",
        ),
        ("an open bracket", json!({"pattern": "(".repeat(40_000)}), ""),
    ] {
        if std::env::var_os("SHOW").is_some() {
            println!("{name}");
        }
        let found = outcome(&schema, &json!("x"));
        assert!(!found.is_empty() && found.contains(word), "{name}: {found}");
    }
}

#[test]
fn what_would_fill_the_memory_with_places_is_told_in_one_sentence() {
    let schema = json!({"additionalProperties": {"items": {"type": "string"}}});
    let mut value = json!({"x": [1, 2]});
    let found = outcome(&schema, &value);
    assert!(found.starts_with("/x/0: ") && found.contains("/x/1: "), "{found}");
    value["n".repeat(1_000_000)] = json!((0..20_000).collect::<Vec<_>>());
    let found = outcome(&schema, &value);
    assert!(found.starts_with("does not fit its schema; listing"), "{found}");
}

/// Small values of all kinds, which often fit the schemas below.
fn any_value() -> impl Strategy<Value = Json> {
    let leaf = prop_oneof![
        Just(json!(null)),
        any::<bool>().prop_map(Json::from),
        (-3..3_i64).prop_map(Json::from),
        Just(json!(u64::MAX)),
        prop::sample::select(vec![0.0, -0.0, 1.0, 1.5, 1e19, 1e300]).prop_map(Json::from),
        prop::sample::select(vec!["", "a", "abc", "1", "\u{e9}\u{1f600}", "2020-01-01"]).prop_map(Json::from),
    ];
    leaf.prop_recursive(3, 40, 6, |inner| {
        let name = prop::sample::select(vec!["a", "b", "c", "\u{e9}"]);
        prop_oneof![
            prop::collection::vec(inner.clone(), 0..6).prop_map(Json::from),
            prop::collection::vec((name, inner), 0..5).prop_map(|members| members
                .into_iter()
                .map(|(name, value)| (name.to_owned(), value))
                .collect()),
        ]
    })
}

/// Schemas that together use every keyword.
fn of_every_keyword() -> Vec<Json> {
    let draft_4 = "http://json-schema.org/draft-04/schema#";
    vec![
        json!({"type": "object", "required": ["a"], "properties": {"a": {"type": "integer"}, "b": {"type": ["string", "null"]}}}),
        json!({"additionalProperties": false, "patternProperties": {"^[ab]$": {"minimum": 0}}, "properties": {"c": {}}}),
        json!({"propertyNames": {"maxLength": 1, "pattern": "^[a-c]"}, "minProperties": 1, "maxProperties": 2}),
        json!({"items": {"exclusiveMinimum": -2, "maximum": 1.5}, "minItems": 1, "maxItems": 3, "uniqueItems": true}),
        json!({"prefixItems": [{"type": "number"}, {"type": "boolean"}], "items": false}),
        json!({"contains": {"const": 1}, "minContains": 1, "maxContains": 2}),
        json!({"enum": [1, "abc", [], {}, [1.0, {"a": 0}], null, 1e300]}),
        json!({"const": {"a": 1, "b": [true]}}),
        json!({"minLength": 1, "maxLength": 2, "pattern": "a|1|\u{e9}", "multipleOf": 0.5}),
        json!({"anyOf": [{"type": "string"}, {"items": {"$ref": "#"}, "type": "array"}], "not": {"const": "a"}}),
        json!({"oneOf": [{"type": "number"}, {"type": "integer"}, {"type": "array"}]}),
        json!({"allOf": [{"properties": {"a": true}}], "unevaluatedProperties": false, "unevaluatedItems": false}),
        json!({"if": {"required": ["a"]}, "then": {"required": ["b"]}, "else": {"type": "array"}}),
        json!({"dependentRequired": {"a": ["b"]}, "dependentSchemas": {"b": {"maxProperties": 2}}}),
        json!({"additionalProperties": {"$ref": "#"}, "items": {"$ref": "#"}, "type": ["object", "array", "integer"]}),
        json!({"$dynamicAnchor": "n", "items": {"$dynamicRef": "#n"}, "format": "date", "type": ["array", "string"]}),
        json!({"$schema": draft_4, "type": ["integer", "object"], "additionalProperties": {"type": "integer"}}),
        json!({"$schema": draft_4, "items": [{"type": "string"}], "additionalItems": false, "dependencies": {"a": ["c"]}}),
    ]
}

/// Schemas, each compiled for our values, and for the validator's own JSON type.
static COMPILED: LazyLock<Vec<(Json, Schema, jsonschema::Validator)>> = LazyLock::new(|| {
    let compiled = |schema: Json| {
        let reference = jsonschema::options().build(&schema).unwrap();
        let ours = Schema::compile(&schema).unwrap();
        (schema, ours, reference)
    };
    of_every_keyword().into_iter().map(compiled).collect()
});

proptest! {
    #[test]
    fn our_values_are_judged_as_the_validator_judges_its_own(value in any_value()) {
        for (schema, ours, reference) in COMPILED.iter() {
            let mut expected: Vec<Violation> = reference.iter_errors(&value).map(Violation::from).collect();
            expected.sort();
            expected.dedup();
            prop_assert_eq!(ours.check(&Value::from(&value), Effort::POOL), Ok(expected), "{}", schema);
        }
    }
}

#[test]
fn every_schema_is_broken_by_something() {
    let values = [
        json!({}),
        json!(0.25),
        json!("zz"),
        json!([true, true, 1, 1, 1]),
        json!({"a": "x", "zz": [0.25], "b": 1}),
    ];
    for (schema, compiled, _) in COMPILED.iter() {
        let broken = |value: &Json| !compiled.violations(&Value::from(value), Effort::POOL).is_empty();
        assert!(values.iter().any(broken), "{schema}");
    }
}

#[test]
fn messages_do_not_repeat_long_values_and_schemas() {
    let long = "é".repeat(1_000);
    let message = |schema: Json| outcome(&schema, &json!(long));
    let constant = message(json!({"const": format!("{long}x")}));
    assert!(constant.contains("must be \"éé") && constant.len() < 300, "{constant}");
    let not = message(json!({"not": {"const": long}}));
    assert!(not.contains("must not fit the schema {\"const\"") && not.len() < 300, "{not}");
    assert!(message(json!({"const": 1})).contains("must be 1"));
}

#[test]
fn a_type_that_does_not_exist_is_told_as_such() {
    let schema = json!({"properties": {"a": {"type": "text"}}});
    let error = Schema::compile(&schema).err().unwrap();
    let violations = violations_of_schema(&schema, &error);
    assert_eq!(violations.len(), 1, "{violations:?}");
    assert_eq!(violations[0].path, "/properties/a/type");
    assert!(violations[0].message.starts_with("must be a JSON type"), "{violations:?}");
}

#[test]
fn nothing_is_fetched_and_that_is_told() {
    let far = json!({"properties": {"a": {"$ref": "http://schemas.invalid/a"}}});
    let error = Schema::compile(&far).err().unwrap().to_string();
    assert!(error.contains("`http://schemas.invalid/a`, and nothing is fetched"), "{error}");
}
