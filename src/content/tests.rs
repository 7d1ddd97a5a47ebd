//! Lists of messages as a whole, with texts that stand for those of prompts.

use std::sync::Arc;

use base::schema::Violation;
use proptest::prelude::*;
use serde_json::json;

use super::custom::CUSTOM_MAX;
use super::pipeline::{KINDS_MAX, SCHEMAS_MAX};
use super::*;

/// A conversation whose blocks are told in short.
fn told(list: MessageList) -> Result<Conversation, ContentError> {
    let draft = list.expand()?;
    let text = |block: &DataBlock| {
        let input = if block.is_input { " (input)" } else { "" };
        let description = block.description.iter().map(|text| format!(" {text}"));
        let schema = block.schema.iter().map(|schema| format!(" {schema}"));
        let more: String = description.chain(schema).collect();
        format!("{}{input}{more}: {}", block.kind, block.data)
    };
    let texts = draft.blocks().iter().map(text).collect();
    draft.with_texts(texts)
}

fn expand(messages: Vec<Box<RawValue>>) -> Result<Conversation, ContentError> {
    told(MessageList::of_chat(messages))
}

fn list(messages: &[&str]) -> Vec<Box<RawValue>> {
    messages.iter().map(|text| RawValue::from_string((*text).to_owned()).unwrap()).collect()
}

/// The conversation, each message as its role and content.
fn expanded(messages: &[&str]) -> (Vec<(String, String)>, Json) {
    let conversation = expand(list(messages)).unwrap();
    let member = |json: &Json, name: &str| json[name].as_str().unwrap().to_owned();
    let shown = |message: &RawValue| {
        let json: Json = serde_json::from_str(message.get()).unwrap();
        (member(&json, "role"), member(&json, "content"))
    };
    (conversation.messages.iter().map(|message| shown(message)).collect(), Json::Object(conversation.config))
}

fn violations(messages: &[&str]) -> Vec<String> {
    let Err(ContentError::Invalid { violations }) = expand(list(messages)) else { panic!("no violations") };
    violations.iter().map(Violation::to_string).collect()
}

#[test]
fn instructions_come_first_then_data_by_priority_then_the_rest() {
    let (messages, config) = expanded(&[
        r#"{"type": "data", "kind": "shop", "data": 1}"#,
        r#"{"role": "system", "content": "Be brief."}"#,
        r#"{"role": "system", "content": {"type": "text", "text": "Be kind."}}"#,
        r#"{"role": "user", "content": "a"}"#,
        r#"{"type": "input", "input": {"q": 1}}"#,
        r#"{"type": "config", "config": {"model": "m", "temperature": 0}}"#,
        r#"{"type": "text", "text": "b"}"#,
        r#"{"role": "system", "content": "late"}"#,
        r#"{"role": "system", "content": {"type": "state", "state": {"n": 1}}}"#,
        r#"{"role": "user", "content": {"type": "config", "config": {"model": null}}}"#,
    ]);
    let expected = [
        ("system", "Be brief."),
        ("system", "Be kind."),
        ("system", "state: {\"n\":1}"),
        ("user", "input (input): {\"q\":1}"),
        ("user", "shop: 1"),
        ("user", "a"),
        ("user", "b"),
        ("system", "late"),
    ];
    assert_eq!(messages, expected.map(|(role, content)| (role.to_owned(), content.to_owned())));
    assert_eq!(config.to_string(), r#"{"model":null,"temperature":0}"#);
}

#[test]
fn state_is_data_of_its_kind_and_comes_before_such_data() {
    let (messages, _) = expanded(&[
        r#"{"type": "data", "kind": "state", "data": {"a": {"x": 2}}, "description": "d"}"#,
        r#"{"type": "state", "state": {"b": 0, "a": {"x": 1, "y": 1}}, "schema": true}"#,
    ]);
    let text = r#"state d true: {"b":0,"a":{"x":2,"y":1}}"#;
    assert_eq!(messages, [("user".to_owned(), text.to_owned())]);
}

#[test]
fn a_text_object_becomes_the_text_of_its_message_which_keeps_its_members() {
    let text = r#"{"name":"ann","content":{"type":"text","text":"half \ud83d"},"role":"user"}"#;
    let conversation = expand(list(&[text])).unwrap();
    let expected = "{\"name\":\"ann\",\"content\":\"half \u{fffd}\",\"role\":\"user\"}";
    assert_eq!(conversation.messages[0].get(), expected);
}

#[test]
fn a_hostile_schema_costs_little() {
    let levels = (0..40).map(|at| {
        let next = at + 1;
        format!(r##""d{at}": {{"allOf": [{{"$ref": "#/$defs/d{next}"}}, {{"$ref": "#/$defs/d{next}"}}]}}"##)
    });
    let levels: Vec<String> = levels.collect();
    let doubling = format!(
        r##"{{"type": "input", "input": {{}}, "schema": {{"$ref": "#/$defs/d0", "$defs": {{{}, "d40": false}}}}}}"##,
        levels.join(", ")
    );
    let found = violations(&[&doubling]);
    assert!(
        found[0].starts_with("/messages/0/schema: not a valid JSON Schema: its subschema at /$defs/d"),
        "{found:?}"
    );
    let many = vec![r#"{"type":"string"}"#; 3_000].join(",");
    let product = format!(
        r#"{{"type": "input", "input": {{"n": [{many}]}}, "schema": {{"properties": {{"n": {{"items": {{"allOf": [{many}]}}}}}}}}}}"#
    );
    let found = violations(&[&product]);
    assert!(
        found[0].starts_with("/messages/0/input: checking it against its schema could take"),
        "{found:?}"
    );
}

#[test]
fn everything_that_is_wrong_is_named_at_once() {
    let found = violations(&[
        "null",
        r#"{"role": "user", "content": {"type": "input", "input": {"n": "x", "m": [1, "y"]}, "schema": {"properties":
            {"n": {"type": "integer"}, "m": {"items": {"type": "integer"}}}, "required": ["z"]}}}"#,
        r#"{"type": "input", "input": {}, "schema": {"type": 5}}"#,
        r#"{"type": "data", "kind": 5, "data": 1}"#,
        r#"{"type": "data", "kind": "a"}"#,
        r#"{"type": "state", "state": {}, "she/ma": {}}"#,
        r#"{"type": "config", "config": []}"#,
        r#"{"role": "assistant", "tool_calls": [], "content": {"type": "state", "state": {}}}"#,
        r#"{"role": "user", "content": {"type": "text"}}"#,
    ]);
    let expected = [
        "/messages/0: a message must be",
        "/messages/6/config: invalid type: sequence",
        "/messages/5/she~1ma: unknown field",
        "/messages/7/content: content of this type",
        "/messages/1/content/input: \"z\"",
        "/messages/1/content/input/m/1: ",
        "/messages/1/content/input/n: ",
        "/messages/2/schema: not a valid JSON Schema",
        "/messages/3/kind: invalid type: integer",
        "/messages/4: missing field `data`",
        "/messages/8/content: missing field `text`",
    ];
    assert_eq!(found.len(), expected.len(), "{found:#?}");
    for (found, expected) in found.iter().zip(expected) {
        assert!(found.starts_with(expected), "{found}: {expected}");
    }
}

#[test]
fn the_schemas_of_inputs_are_bounded() {
    let input = r#"{"type": "input", "input": {}, "schema": true}"#;
    assert!(expand(list(&[input; SCHEMAS_MAX])).is_ok());
    let found = violations(&[input; SCHEMAS_MAX + 1]);
    assert_eq!(found, ["/messages/32/schema: at most 32 inputs can have a schema"]);
}

#[test]
fn ten_thousand_objects_of_one_kind_merge_into_one() {
    let texts: Vec<String> = (0..10_000)
        .map(|n| {
            json!({"type": "data", "kind": "k", "data": {"last": n, format!("m{n}"): {"n": n}}}).to_string()
        })
        .collect();
    let (messages, _) = expanded(&texts.iter().map(String::as_str).collect::<Vec<_>>());
    assert_eq!(messages.len(), 1);
    assert!(messages[0].1.contains(r#"{"last":9999,"m0":{"n":0},"m1":{"n":1},"#));
    assert!(messages[0].1.ends_with("\"m9999\":{\"n\":9999}}"));
}

/// The text of a JSON value other than an object, which parsing and writing would change.
fn any_content() -> impl Strategy<Value = String> {
    let number = r"-?(0|[1-9][0-9]{0,30})(\.[0-9]{1,3})?([eE][+-]?[0-9]{1,2})?";
    let leaf = prop_oneof![Just("null".to_owned()), number, r#""[a-z{\[]{0,9}(\\u00e9|\\ud83d)?""#];
    leaf.prop_recursive(3, 16, 3, |inner| {
        prop::collection::vec(inner, 0..3).prop_map(|items| format!("[ {{\"z\":0}},[ {}]]", items.join(" ,")))
    })
}

fn any_plain() -> impl Strategy<Value = String> {
    let role = prop::sample::select(vec!["system", "developer", "user", "assistant", "tool"]);
    let other = prop::sample::select(vec!["a", "name", "type", "tool_calls"]);
    (role, any_content(), other, any_content(), any::<bool>()).prop_map(
        |(role, content, other, value, first)| {
            let other = format!("\"{other}\" :{value}");
            match first {
                true => format!("{{{other}, \"role\":\"{role}\",\n\"content\": {content}}}"),
                false => format!("{{ \"content\":{content},\"role\": \"{role}\" ,{other} }}"),
            }
        },
    )
}

proptest! {
    #[test]
    fn a_list_without_content_objects_is_not_touched(texts in prop::collection::vec(any_plain(), 0..8)) {
        let messages = list(&texts.iter().map(String::as_str).collect::<Vec<_>>());
        let places = |messages: &[Box<RawValue>]| messages.iter().map(|m| m.get().as_ptr()).collect::<Vec<_>>();
        let before = places(&messages);
        let conversation = expand(messages).unwrap();
        prop_assert_eq!(places(&conversation.messages), before);
        let after: Vec<&str> = conversation.messages.iter().map(|message| message.get()).collect();
        prop_assert_eq!(after, texts);
        prop_assert!(conversation.config.is_empty());
    }
}

#[test]
fn tools_of_a_request_change_its_schema_and_leave_no_message() {
    let schema = json!({"type": "integer"});
    let context = list(&[
        r#"{"role": "user", "content": "a"}"#,
        r#"{"type": "tool", "tool": {"x": {"title": "first"}, "y": {}}}"#,
        r#"{"role": "user", "content": {"type": "tool", "tool": {"x": {"title": "last"}}}}"#,
    ]);
    let conversation = told(MessageList::of_request(context, Some(Arc::new(schema.clone())))).unwrap();
    assert_eq!(conversation.messages.len(), 1);
    let changed = conversation.schema.unwrap();
    assert_eq!(changed["properties"]["output"]["anyOf"][0], schema);
    let calls = changed["properties"]["calls"]["items"]["anyOf"].as_array().unwrap();
    assert_eq!(calls[0]["title"], "last");
    assert_eq!(calls[1]["properties"]["_tool"]["const"], "y");

    let without = told(MessageList::of_request(
        list(&[r#"{"role": "user", "content": "a"}"#]),
        Some(Arc::new(schema.clone())),
    ));
    assert_eq!(without.unwrap().schema, None);
}

#[test]
fn wrong_tools_and_all_else_of_a_request_are_named_by_their_place_in_its_context() {
    let context = list(&[
        "3",
        r#"{"type": "tool", "tool": {"a/b": {"type": "array"}, "c": true}}"#,
        r#"{"type": "tool", "tool": {}}"#,
        r#"{"type": "tool", "tools": {}}"#,
        r#"{"role": "user", "name": "n", "content": {"type": "tool", "tool": {"x": {}}}}"#,
    ]);
    let Err(ContentError::Invalid { violations }) = told(MessageList::of_request(context, None)) else {
        panic!("no violations")
    };
    let found: Vec<&str> = violations.iter().map(|violation| violation.path.as_str()).collect();
    let expected = [
        "/context/0",
        "/context/1/tool/a~1b/type",
        "/context/1/tool/c",
        "/context/2/tool",
        "/context/3/tools",
        "/context/4/content",
    ];
    assert_eq!(found, expected);
    let error = expand(list(&[r#"{"type": "tool", "tool": {"x": {}}}"#])).unwrap_err();
    assert_eq!(error, ContentError::Tool { path: "/messages/0".to_owned() });
}

#[test]
fn objects_of_other_types_are_replaced_where_they_are() {
    let messages = list(&[
        r#"{"role": "user", "content": "a"}"#,
        r#"{"role": "assistant", "name": "n", "content": {"type": "bug", "n": 1}}"#,
        r#"{"type": "bug", "n": 2.5}"#,
        r#"{"role": "user", "content": {"type": "list"}}"#,
        r#"{"type": "text", "text": "z"}"#,
    ]);
    let mut list_of_chat = MessageList::of_chat(messages);
    let objects: Vec<String> = list_of_chat
        .custom()
        .map(|object| format!("{} {} {}", object.path, object.name, json!(object.members)))
        .collect();
    assert_eq!(
        objects,
        [r#"/messages/1/content bug {"n":1}"#, r#"/messages/2 bug {"n":2.5}"#, "/messages/3/content list {}"]
    );
    let rendered = list(&[
        r#"{"role": "user", "content": "first"}"#,
        r#"{"type": "state", "state": {"n": 1}}"#,
        r#"{"role": "assistant", "content": "last"}"#,
    ]);
    list_of_chat.replace(vec![
        Replacement::Text("one".to_owned()),
        Replacement::Text("two".to_owned()),
        Replacement::Messages(rendered),
    ]);
    let conversation = told(list_of_chat).unwrap();
    let found: Vec<&str> = conversation.messages.iter().map(|message| message.get()).collect();
    let expected = [
        r#"{"role":"user","content":"state: {\"n\":1}"}"#,
        r#"{"role": "user", "content": "a"}"#,
        r#"{"role":"assistant","name":"n","content":"one"}"#,
        r#"{"role":"user","content":"two"}"#,
        r#"{"role": "user", "content": "first"}"#,
        r#"{"role": "assistant", "content": "last"}"#,
        r#"{"role":"user","content":"z"}"#,
    ];
    assert_eq!(found, expected);
}

#[test]
fn what_objects_of_other_types_cannot_do_is_an_error() {
    let bug = r#"{"role": "user", "name": "n", "content": {"type": "bug"}}"#;
    let replaced = |inner: &str| {
        let mut messages = MessageList::of_chat(list(&[bug]));
        messages.replace(vec![Replacement::Messages(list(&[inner]))]);
        told(messages).unwrap_err().to_string()
    };
    let lost = replaced(r#"{"role": "user", "content": "x"}"#);
    assert!(lost.contains("/messages/0/content: content of this type is taken out of its message"), "{lost}");
    let nested = replaced(r#"{"type": "bug"}"#);
    assert!(nested.contains("the type `bug` is rendered to an object of the type `bug`"), "{nested}");
    let wrong = replaced(r#"{"type": "state"}"#);
    assert!(wrong.contains("/messages/0/content: missing field `state`"), "{wrong}");

    let error = expand(list(&[r#"{"type": "dat"}"#])).unwrap_err().to_string();
    let expected =
        "/messages/0: there is no content type `dat`; the known ones are config, state, input, data, text";
    assert_eq!(error, expected);
    let mut of_request = MessageList::of_request(list(&[bug, r#"{"type": "smell"}"#]), None);
    of_request.refuse_unknown(|name| name == "bug", &["bug".to_owned()]);
    assert!(!of_request.is_sound());
    let error = told(of_request).unwrap_err().to_string();
    let expected = "/context/1: there is no content type `smell`; the known ones are tool, config, state, input, data, text, bug";
    assert_eq!(error, expected);

    let mut many = MessageList::of_chat(list(&[bug; CUSTOM_MAX + 1]));
    many.refuse_unknown(|_| true, &[]);
    let error = told(many).unwrap_err().to_string();
    assert!(error.contains("/messages/64/content: at most 64 objects"), "{error}");
}

#[test]
fn the_kinds_of_data_are_bounded() {
    let object = |n: usize| json!({"type": "data", "kind": n.to_string(), "data": n}).to_string();
    let texts: Vec<String> = (0..KINDS_MAX + 2).chain([0]).map(object).collect();
    let texts: Vec<&str> = texts.iter().map(String::as_str).collect();
    assert!(expand(list(&texts[..KINDS_MAX])).is_ok());
    assert_eq!(violations(&texts), ["/messages/1000: at most 1000 kinds of data can be shown"]);
}
