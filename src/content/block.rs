//! Data blocks: all `data` objects of one kind are merged into one block, which one message shows.

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
    /// Whether they are those of an `input` object.
    #[serde(skip)]
    pub(super) is_input: bool,
}

/// All data of one kind.
#[derive(Debug)]
pub struct DataBlock {
    /// The JSON Pointer of the first object.
    pub path: String,
    /// The kind.
    pub kind: String,
    /// The data.
    pub data: Json,
    /// What they are for, if an object says it.
    pub description: Option<String>,
    /// Their JSON Schema, if there is one.
    pub schema: Option<Json>,
    /// Whether an `input` object is among them, which needs a description in any case.
    pub is_input: bool,
    /// The role of the message that shows the block.
    role: Option<String>,
}

/// The blocks, in the order in which their kinds first occurred.
#[derive(Debug, Default)]
pub(super) struct Blocks {
    blocks: Vec<DataBlock>,
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
    /// Adds the data of the object at `path`, which are merged into earlier data of the same kind.
    pub(super) fn add(&mut self, path: &str, role: Option<String>, data: Data) {
        let next = self.blocks.len();
        let place = *self.places.entry(data.kind.clone()).or_insert(next);
        if place >= next {
            self.blocks.push(DataBlock::new(path, role, data));
        } else if let Some(block) = self.blocks.get_mut(place) {
            block.merge(role, data);
        }
    }

    /// The number of kinds.
    pub(super) fn len(&self) -> usize {
        self.blocks.len()
    }

    /// The blocks in their order.
    pub(super) fn into_list(self) -> Vec<DataBlock> {
        self.blocks
    }
}

impl DataBlock {
    fn new(path: &str, role: Option<String>, data: Data) -> DataBlock {
        let Data { kind, data, description, schema, is_input } = data;
        DataBlock { path: path.to_owned(), kind, data, description, schema, is_input, role }
    }

    fn merge(&mut self, role: Option<String>, later: Data) {
        self.role = role.or(self.role.take());
        self.description = later.description.or(self.description.take());
        self.schema = later.schema.or(self.schema.take());
        self.is_input |= later.is_input;
        merge(&mut self.data, later.data);
    }

    /// The message that shows the block by this text.
    pub(super) fn into_message(self, text: String) -> TextMessage {
        TextMessage { content: text, role: self.role.unwrap_or_else(|| "user".to_owned()) }
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

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;
    use serde_json::json;

    fn data(kind: &str, data: Json) -> Data {
        Data { kind: kind.to_owned(), data, description: None, schema: None, is_input: false }
    }

    #[test]
    fn the_later_role_description_and_schema_win_and_absent_ones_change_nothing() {
        let mut blocks = Blocks::default();
        let described = |text: &str| Data { description: Some(text.to_owned()), ..data("a", json!(1)) };
        blocks.add("/messages/1", Some("user".to_owned()), Data { is_input: true, ..described("first") });
        blocks.add(
            "/messages/2",
            Some("system".to_owned()),
            Data { schema: Some(json!(true)), ..described("second") },
        );
        blocks.add("/messages/3", None, data("a", json!(2)));
        let block = blocks.into_list().pop().unwrap();
        assert_eq!((block.path.as_str(), &block.data, block.is_input), ("/messages/1", &json!(2), true));
        assert_eq!((block.description.as_deref(), &block.schema), (Some("second"), &Some(json!(true))));
        assert_eq!(block.into_message("t".to_owned()).role, "system");
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
                blocks.add("", None, data(&kind, json));
            }
            let found = blocks.into_list().into_iter().map(|block| (block.kind, block.data.to_string()));
            let naive = naive.into_iter().map(|(kind, json)| (kind, json.to_string()));
            prop_assert_eq!(found.collect::<Vec<_>>(), naive.collect::<Vec<_>>());
        }
    }
}
