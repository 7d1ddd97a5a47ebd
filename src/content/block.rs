//! Data blocks: all `data` objects of one kind are merged into one block of text.

use std::collections::HashMap;

use serde::{Deserialize, Serialize};
use serde_json::Value as Json;

/// The members of a `data` object; `state` and `input` objects are converted to it.
#[derive(Debug, Clone, PartialEq, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct Data {
    pub(super) kind: String,
    pub(super) data: Json,
    pub(super) description: Option<String>,
    pub(super) schema: Option<Json>,
}

/// All data of one kind, and the role of the message that shows it.
#[derive(Debug)]
struct Block {
    role: Option<String>,
    data: Data,
}

/// The blocks, in the order in which their kinds first occurred.
#[derive(Debug, Default)]
pub(super) struct Blocks {
    blocks: Vec<Block>,
    /// The index of each kind in `blocks`.
    places: HashMap<String, usize>,
}

/// A message with a text.
#[derive(Debug, Serialize)]
pub(super) struct TextMessage {
    role: String,
    content: String,
}

impl Blocks {
    /// Adds data, which is merged into earlier data of the same kind.
    pub(super) fn add(&mut self, role: Option<String>, data: Data) {
        let known = self.places.get(&data.kind).and_then(|&place| self.blocks.get_mut(place));
        match known {
            Some(block) => block.merge(role, data),
            None => {
                self.places.insert(data.kind.clone(), self.blocks.len());
                self.blocks.push(Block { role, data });
            }
        }
    }

    /// One message for each kind.
    pub(super) fn into_messages(self) -> impl Iterator<Item = TextMessage> {
        self.blocks.into_iter().map(Block::into_message)
    }
}

impl Block {
    fn merge(&mut self, role: Option<String>, later: Data) {
        self.role = role.or(self.role.take());
        self.data.description = later.description.or(self.data.description.take());
        self.data.schema = later.schema.or(self.data.schema.take());
        merge(&mut self.data.data, later.data);
    }

    fn into_message(self) -> TextMessage {
        TextMessage { content: self.data.text(), role: self.role.unwrap_or_else(|| "user".to_owned()) }
    }
}

/// Merges objects recursively by member, and keeps the order of members; any other value is replaced.
fn merge(into: &mut Json, later: Json) {
    match (into, later) {
        (Json::Object(members), Json::Object(later)) => {
            for (name, value) in later {
                match members.get_mut(&name) {
                    Some(member) => merge(member, value),
                    None => {
                        members.insert(name, value);
                    }
                }
            }
        }
        (into, later) => *into = later,
    }
}

impl Data {
    /// The text of the block. The JSON is compact: indentation would multiply the size of nested data without use to a model.
    fn text(&self) -> String {
        let mut text = format!("### {}\n\n", self.kind);
        if let Some(description) = &self.description {
            text += &format!("{description}\n\n");
        }
        text += &fenced(&self.data);
        if let Some(schema) = &self.schema {
            text += &format!("\n\nJSON Schema:\n\n{}", fenced(schema));
        }
        text
    }
}

/// JSON in a fenced code block. It is a single line, so that no string in it can end the fence.
fn fenced(json: &Json) -> String {
    format!("```json\n{json}\n```")
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;
    use serde_json::json;

    fn data(kind: &str, data: Json) -> Data {
        Data { kind: kind.to_owned(), data, description: None, schema: None }
    }

    fn text_of(blocks: Blocks) -> String {
        blocks.into_messages().map(|message| message.content).collect()
    }

    #[test]
    fn a_block_shows_what_the_data_are_the_data_and_their_schema() {
        let whole = Data {
            description: Some("What is on the shelf.".to_owned()),
            schema: Some(json!({"type": "object"})),
            ..data("stock", json!({"b": 1.0, "a": ["```\n```"]}))
        };
        let mut blocks = Blocks::default();
        blocks.add(None, whole);
        let expected = concat!(
            "### stock\n\nWhat is on the shelf.\n\n",
            "```json\n{\"b\":1.0,\"a\":[\"```\\n```\"]}\n```\n\n",
            "JSON Schema:\n\n```json\n{\"type\":\"object\"}\n```"
        );
        assert_eq!(text_of(blocks), expected);
    }

    #[test]
    fn the_later_role_description_and_schema_win_and_absent_ones_change_nothing() {
        let mut blocks = Blocks::default();
        let described = |text: &str| Data { description: Some(text.to_owned()), ..data("a", json!(1)) };
        blocks.add(Some("user".to_owned()), described("first"));
        blocks.add(Some("system".to_owned()), Data { schema: Some(json!(true)), ..described("second") });
        blocks.add(None, data("a", json!(2)));
        let message = blocks.into_messages().next().unwrap();
        assert_eq!(message.role, "system");
        let expected = "### a\n\nsecond\n\n```json\n2\n```\n\nJSON Schema:\n\n```json\ntrue\n```";
        assert_eq!(message.content, expected);
    }

    /// A naive model of merging, on copies.
    fn merged(first: &Json, later: &Json) -> Json {
        let (Json::Object(first), Json::Object(later)) = (first, later) else { return later.clone() };
        let old = first.iter().map(|(name, value)| {
            (name.clone(), later.get(name).map_or_else(|| value.clone(), |later| merged(value, later)))
        });
        let new = later.iter().filter(|(name, _)| !first.contains_key(*name));
        old.chain(new.map(|(name, value)| (name.clone(), value.clone()))).collect()
    }

    fn any_json() -> impl Strategy<Value = Json> {
        let leaf = prop_oneof![
            Just(Json::Null),
            any::<i64>().prop_map(Json::from),
            "[a-c`\n]{0,5}".prop_map(Json::from)
        ];
        leaf.prop_recursive(4, 32, 4, |inner| {
            prop_oneof![
                1 => prop::collection::vec(inner.clone(), 0..3).prop_map(Json::from),
                4 => prop::collection::vec(("[a-d]", inner), 0..4).prop_map(|members| members.into_iter().collect()),
            ]
        })
    }

    proptest! {
        #[test]
        fn data_of_one_kind_merge_as_the_naive_model_does(all in prop::collection::vec(("[xyz]", any_json()), 0..12)) {
            let mut blocks = Blocks::default();
            let mut naive: Vec<(String, Json)> = Vec::new();
            for (kind, json) in all {
                match naive.iter_mut().find(|(known, _)| *known == kind) {
                    Some((_, known)) => *known = merged(known, &json),
                    None => naive.push((kind.clone(), json.clone())),
                }
                blocks.add(None, data(&kind, json));
            }
            let expected = naive.iter().map(|(kind, json)| format!("### {kind}\n\n```json\n{json}\n```"));
            let found: Vec<String> = blocks.into_messages().map(|message| message.content).collect();
            prop_assert_eq!(found, expected.collect::<Vec<String>>());
        }
    }
}
