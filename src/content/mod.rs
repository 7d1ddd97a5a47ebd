//! Content objects in messages (`state`, `input`, `data`, …): a pipeline that expands them into plain messages.
//!
//! - `object`: finds the messages with content objects; the types of objects and their priorities
//! - `pipeline`: one handler for each type
//! - `block`: the data of one kind, merged and written as text
//! - `error`: the errors

mod block;
mod error;
mod object;
mod pipeline;

use std::cmp::Reverse;

use serde_json::value::RawValue;
use serde_json::{Map, Value as Json};

pub use error::ContentError;
use object::Message;
use pipeline::Pipeline;

/// The messages for a model, with content objects expanded.
#[derive(Debug, Default)]
pub struct Conversation {
    /// The messages; those without a content object are unchanged, byte for byte.
    pub messages: Vec<Box<RawValue>>,
    /// The members of all `config` objects; later objects override earlier ones.
    pub config: Map<String, Json>,
}

/// A list of messages that may hold content objects.
#[derive(Debug)]
pub struct MessageList {
    messages: Vec<Message>,
    pipeline: Pipeline,
}

impl MessageList {
    /// Finds the content objects of `messages`.
    pub fn parse(messages: Vec<Box<RawValue>>) -> MessageList {
        let mut pipeline = Pipeline::default();
        let parse = |(index, message)| Message::parse(index, message, &mut pipeline.errors);
        let messages: Vec<Message> = messages.into_iter().enumerate().filter_map(parse).collect();
        pipeline.inputs = messages.iter().filter(|message| message.has_schema()).count() as u64;
        MessageList { messages, pipeline }
    }

    /// Whether messages contain schemas that have to be checked, which is work for the pool.
    pub fn has_schemas(&self) -> bool {
        self.pipeline.inputs > 0
    }

    /// Expands the content objects.
    ///
    /// Instructions (the system and developer messages at the beginning of the list) come first, then one message for each
    /// kind of data, then the other messages in their order. A list without content objects is unchanged.
    ///
    /// # Errors
    /// [`ContentError`], which names all violations at once.
    pub fn expand(mut self) -> Result<Conversation, ContentError> {
        self.messages.sort_by_key(|message| Reverse(message.kind()));
        for message in self.messages {
            self.pipeline.take(message);
        }
        self.pipeline.finish()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use base::schema::Violation;
    use pipeline::{INPUT, SCHEMAS_MAX};
    use proptest::prelude::*;
    use serde_json::json;

    fn expand(messages: Vec<Box<RawValue>>) -> Result<Conversation, ContentError> {
        MessageList::parse(messages).expand()
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
        (
            conversation.messages.iter().map(|message| shown(message)).collect(),
            Json::Object(conversation.config),
        )
    }

    fn violations(messages: &[&str]) -> Vec<String> {
        let Err(ContentError::Invalid { violations }) = expand(list(messages)) else {
            panic!("no violations")
        };
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
        let input = format!("### input\n\n{INPUT}\n\n```json\n{{\"q\":1}}\n```");
        let expected = [
            ("system", "Be brief."),
            ("system", "Be kind."),
            ("system", "### state\n\n```json\n{\"n\":1}\n```"),
            ("user", &input),
            ("user", "### shop\n\n```json\n1\n```"),
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
        let text = "### state\n\nd\n\n```json\n{\"b\":0,\"a\":{\"x\":2,\"y\":1}}\n```\n\nJSON Schema:\n\n```json\ntrue\n```";
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
            format!(
                r##""d{at}": {{"allOf": [{{"$ref": "#/$defs/d{next}"}}, {{"$ref": "#/$defs/d{next}"}}]}}"##
            )
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
                json!({"type": "data", "kind": "k", "data": {"last": n, format!("m{n}"): {"n": n}}})
                    .to_string()
            })
            .collect();
        let (messages, _) = expanded(&texts.iter().map(String::as_str).collect::<Vec<_>>());
        assert_eq!(messages.len(), 1);
        assert!(messages[0].1.contains(r#"{"last":9999,"m0":{"n":0},"m1":{"n":1},"#));
        assert!(messages[0].1.ends_with("\"m9999\":{\"n\":9999}}\n```"));
    }

    /// The text of a JSON value other than an object, which parsing and writing would change.
    fn any_content() -> impl Strategy<Value = String> {
        let number = r"-?(0|[1-9][0-9]{0,30})(\.[0-9]{1,3})?([eE][+-]?[0-9]{1,2})?";
        let leaf = prop_oneof![Just("null".to_owned()), number, r#""[a-z{\[]{0,9}(\\u00e9|\\ud83d)?""#];
        leaf.prop_recursive(3, 16, 3, |inner| {
            prop::collection::vec(inner, 0..3)
                .prop_map(|items| format!("[ {{\"z\":0}},[ {}]]", items.join(" ,")))
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
}
