//! Schemas of 40 shapes, each through every strategy.

use serde_json::{Value as Json, json};

use ai_prompt_shell::llm::structured::OutputSchema;
use base::schema::{Effort, Schema};

use super::{Ability, asked_for, asked_schema, declared, request, saying, solution, start};
use support::upstream::{Seen, json as reply_json};

fn object(properties: Json, required: Json) -> Json {
    json!({"type": "object", "properties": properties, "required": required})
}

/// Each with a value that fits.
fn shapes() -> Vec<(Json, Json)> {
    let text = || json!({"type": "string"});
    let tree = json!({
        "type": "object", "required": ["name"],
        "properties": {"name": {"type": "string"}, "children": {"type": "array", "items": {"$ref": "#"}}},
    });
    let list = json!({
        "$ref": "#/$defs/node",
        "$defs": {"node": {"type": "object", "required": ["v"], "properties": {"v": {"type": "integer"}, "next": {"$ref": "#/$defs/node"}}}},
    });
    let either = json!([
        {"type": "object", "required": ["kind", "r"], "properties": {"kind": {"const": "circle"}, "r": {"type": "number"}}},
        {"type": "object", "required": ["kind"], "properties": {"kind": {"const": "square"}, "side": {"type": "number"}}},
    ]);
    vec![
        // Scalars, lists and alternatives at the-root.
        (text(), json!("x")),
        (json!({"type": "integer", "minimum": 3}), json!(3)),
        (json!({"type": "number", "exclusiveMaximum": 1}), json!(0.25)),
        (json!({"type": "boolean"}), json!(true)),
        (json!({"type": "null"}), json!(null)),
        (json!({"enum": ["low", "high"]}), json!("high")),
        (json!({"const": 7}), json!(7)),
        (json!({"type": ["string", "null"]}), json!(null)),
        (json!({"type": "array", "items": {"type": "string"}}), json!(["a", "b"])),
        (
            json!({"type": "array", "items": {"type": "array", "items": {"type": "integer"}}}),
            json!([[1], [], [2, 3]]),
        ),
        (json!({"type": "array", "prefixItems": [{"type": "string"}, {"type": "integer"}]}), json!(["a", 1])),
        (
            json!({"type": "array", "items": object(json!({"a": text()}), json!([])), "minItems": 1}),
            json!([{}, {"a": "x"}]),
        ),
        (json!({"anyOf": [text(), {"type": "integer"}]}), json!(5)),
        (json!({"oneOf": either}), json!({"kind": "square"})),
        (list.clone(), json!({"v": 1, "next": {"v": 2}})),
        (json!({}), json!({"any": ["thing"]})),
        (json!(true), json!("thing")),
        // Objects.
        (object(json!({"a": text(), "b": text()}), json!(["a"])), json!({"a": "x"})),
        (object(json!({"a": text(), "b": text()}), json!([])), json!({})),
        (object(json!({"a": {"type": ["string", "null"]}}), json!(["a"])), json!({"a": null})),
        (
            object(
                json!({"o": object(json!({"p": object(json!({"q": text()}), json!([]))}), json!(["p"]))}),
                json!(["o"]),
            ),
            json!({"o": {"p": {}}}),
        ),
        (json!({"type": "object"}), json!({"open": {"map": 1}})),
        (json!({"type": "object", "additionalProperties": {"type": "integer"}}), json!({"a": 1, "b": 2})),
        (
            json!({"type": "object", "properties": {"a": text()}, "additionalProperties": true}),
            json!({"z": [], "a": "x"}),
        ),
        (json!({"type": "object", "patternProperties": {"^x-": {"type": "integer"}}}), json!({"x-1": 1})),
        (json!({"type": "object", "properties": {}, "additionalProperties": false}), json!({})),
        (
            object(
                json!({"größe": text(), "имя": text(), "名前": text(), "a b/c~d": text()}),
                json!(["имя"]),
            ),
            json!({"имя": "я", "名前": "x"}),
        ),
        (object(json!({"e": {"enum": ["a", null, 3]}}), json!([])), json!({"e": null})),
        (object(json!({"e": {"type": "string", "enum": ["a", "b"]}}), json!([])), json!({"e": "b"})),
        (
            object(
                json!({"when": {"type": "string", "format": "date-time"}, "mail": {"type": "string", "format": "email"}}),
                json!(["when"]),
            ),
            json!({"when": "2026-01-31T10:00:00Z"}),
        ),
        (
            object(
                json!({"s": {"type": "string", "minLength": 2, "maxLength": 3, "pattern": "^a+$"}}),
                json!(["s"]),
            ),
            json!({"s": "aa"}),
        ),
        (
            object(
                json!({"l": {"type": "array", "items": text(), "uniqueItems": true, "maxItems": 2}}),
                json!(["l"]),
            ),
            json!({"l": ["a", "b"]}),
        ),
        (
            object(json!({"shape": {"oneOf": either}}), json!(["shape"])),
            json!({"shape": {"kind": "circle", "r": 1.5}}),
        ),
        (object(json!({"x": {"anyOf": [text(), {"type": "null"}]}}), json!([])), json!({"x": null})),
        (tree, json!({"name": "a", "children": [{"name": "b"}, {"name": "c", "children": []}]})),
        (
            json!({
                "type": "object", "required": ["owner"],
                "properties": {"owner": {"$ref": "#/definitions/person"}, "deputy": {"$ref": "#/definitions/person"}},
                "definitions": {"person": object(json!({"name": text(), "age": {"type": "integer"}}), json!(["name"]))},
            }),
            json!({"owner": {"name": "a"}}),
        ),
        (
            json!({
                "type": "object", "required": ["p"], "properties": {"p": {"allOf": [{"$ref": "#/$defs/P"}], "description": "d"}},
                "$defs": {"P": object(json!({"n": text()}), json!([]))},
            }),
            json!({"p": {}}),
        ),
        (
            object(json!({"a": text(), "same": {"$ref": "#/properties/a"}}), json!(["same"])),
            json!({"same": "x"}),
        ),
        (
            object(json!({"a": {"type": "integer", "default": 5, "examples": [1]}}), json!([])),
            json!({"a": 1}),
        ),
        (
            json!({"$schema": "http://json-schema.org/draft-07/schema#", "type": "object", "properties": {"a": {"type": "array", "items": [{"type": "string"}]}}}),
            json!({"a": ["x"]}),
        ),
        (
            json!({"type": "object", "properties": {"k": text(), "v": text()}, "if": {"properties": {"k": {"const": "x"}}}, "then": {"required": ["v"]}, "required": ["k"]}),
            json!({"k": "x", "v": "y"}),
        ),
        (
            json!({"type": "object", "properties": {"value": text()}, "required": ["value"]}),
            json!({"value": "a member of the name of the wrapper"}),
        ),
        (
            json!({"anyOf": [object(json!({"value": {"type": "integer"}}), json!(["value"])), text()]}),
            json!({"value": 1}),
        ),
    ]
}

/// What a model in strict mode writes for a value: null for every member that is absent.
fn strict_form(schema: &Json, root: &Json, value: &Json) -> Json {
    if let Some(pointer) = schema["$ref"].as_str() {
        let target = root.pointer(pointer.trim_start_matches('#')).unwrap();
        return strict_form(target, root, value);
    }
    if let Some(branches) = schema["anyOf"].as_array() {
        let forms = branches.iter().map(|branch| (branch, strict_form(branch, root, value)));
        return forms.into_iter().find(|(branch, form)| fits(branch, root, form)).expect("a branch").1;
    }
    match value {
        Json::Object(members) => match schema["properties"].as_object() {
            Some(properties) => properties
                .iter()
                .map(|(name, property)| {
                    let member = members.get(name);
                    (name.clone(), member.map_or(Json::Null, |member| strict_form(property, root, member)))
                })
                .collect(),
            None => value.clone(),
        },
        Json::Array(items) => items.iter().map(|item| strict_form(&schema["items"], root, item)).collect(),
        scalar => scalar.clone(),
    }
}

fn fits(schema: &Json, root: &Json, value: &Json) -> bool {
    let at_root = |schema: &Json| -> Json {
        serde_json::from_str(&schema.to_string().replace("\"$ref\":\"#\"", "\"$ref\":\"#/$defs/the-root\""))
            .unwrap()
    };
    let mut schema = at_root(schema);
    if let Some(members) = schema.as_object_mut() {
        let mut definitions = at_root(&root.get("$defs").cloned().unwrap_or_else(|| json!({})));
        definitions["the-root"] = at_root(root);
        members.insert("$defs".into(), definitions);
    }
    Schema::compile(&schema).unwrap().violations(&value.into(), Effort::POOL).is_empty()
}

/// What a model answers for the value of a shape, whose number is the last message.
fn answer(seen: &Seen) -> Vec<support::upstream::Act> {
    let body = seen.json();
    let number = body["messages"].as_array().unwrap().last().unwrap()["content"].as_str().unwrap().to_owned();
    let (schema, value) = shapes().swap_remove(number.parse().unwrap());
    let asked = asked_schema(&body);
    let is_wrapped = OutputSchema::new(schema).unwrap().wrapper().is_some();
    let value = if is_wrapped { json!({"value": value}) } else { value };
    let is_strict = body["response_format"]["json_schema"]["strict"] == true;
    let value = if is_strict { strict_form(&asked, &asked, &value) } else { value };
    assert!(
        Schema::compile(&asked).unwrap().violations(&(&value).into(), Effort::POOL).is_empty(),
        "{asked}: {value}"
    );
    reply_json(200, saying(&body, &value.to_string()))
}

#[actix_web::test]
async fn every_shape_comes_back_through_every_strategy() {
    let shapes = shapes();
    assert!(shapes.len() >= 40);
    let mut strict = 0;
    for ability in [Ability::JsonSchema, Ability::Tools, Ability::JsonObject] {
        let (app, upstream) = start(answer, |llm| llm.models = vec![declared("m", ability)]).await;
        for (number, (schema, value)) in shapes.iter().enumerate() {
            let body = json!({
                "context": [{"role": "user", "content": number.to_string()}], "model": "m", "schema": schema, "max_repairs": 0,
            });
            let answer = request(&app, body).await;
            assert_eq!(answer.status, 200, "{ability:?} {schema}: {answer:?}");
            assert_eq!(solution(&answer).to_string(), value.to_string(), "{ability:?} {schema}");
            let sent = upstream.seen().last().unwrap().json();
            assert_eq!(asked_for(&sent), ability);
            assert_eq!(asked_schema(&sent)["type"], "object", "{sent}");
            strict += usize::from(sent["response_format"]["json_schema"]["strict"] == true);
        }
    }
    assert!(strict >= 25, "{strict} of {} schemas could be asked for in strict mode", shapes.len());
}

#[actix_web::test]
async fn an_answer_without_the_wrapper_is_taken_if_it_fits() {
    let (app, _upstream) = start(
        |seen| reply_json(200, saying(&seen.json(), "[1,2]")),
        |llm| llm.models = vec![declared("m", Ability::Tools)],
    )
    .await;
    let schema = json!({"type": "array", "items": {"type": "integer"}});
    let body = json!({"context": [{"role": "user", "content": "q"}], "model": "m", "schema": schema});
    assert_eq!(solution(&request(&app, body).await), &json!([1, 2]));
}
