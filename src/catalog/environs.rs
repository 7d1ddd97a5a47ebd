//! Environs as one tree: every key's path is created, and a change copies its own path alone.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

use crate::model::Id;
use crate::value::{Map, SmolStr, Value};

/// The tree under construction; readers get finished [`Map`]s out of it.
#[derive(Debug, Default)]
pub struct EnvironTree {
    root: Node,
    shadowed: BTreeSet<String>,
}

#[derive(Debug, Default)]
struct Node {
    /// The value stored at just this path.
    own: Option<Value>,
    children: BTreeMap<SmolStr, Node>,
    /// `own` with the children put into it; `None` when there is neither, or when it must be made anew.
    merged: Option<Value>,
}

impl EnvironTree {
    /// Sets the value at a path, or takes it away.
    pub fn set(&mut self, id: &Id, value: Option<Value>) {
        let segments: Vec<&str> = id.segments().collect();
        self.root.set(&segments, value);
        self.note_shadowed(&segments);
    }

    /// Finds out anew for each part of a path whether its value is hidden.
    fn note_shadowed(&mut self, segments: &[&str]) {
        let (mut node, mut path) = (Some(&self.root), String::new());
        for segment in segments {
            node = node.and_then(|node| node.children.get(*segment));
            if !path.is_empty() {
                path.push('.');
            }
            path.push_str(segment);
            if node.is_some_and(Node::is_shadowed) {
                self.shadowed.insert(path.clone());
            } else {
                self.shadowed.remove(&path);
            }
        }
    }

    /// The whole tree; parts that did not change since the last call are shared with its result.
    pub fn map(&mut self) -> Arc<Map> {
        match self.root.merged() {
            Some(Value::Map(map)) => map,
            _ => Arc::default(),
        }
    }

    /// The ids of environs whose value is hidden: a scalar or array where a longer key needs an object.
    pub fn shadowed(&self) -> &BTreeSet<String> {
        &self.shadowed
    }
}

impl Node {
    fn set(&mut self, path: &[&str], value: Option<Value>) {
        self.merged = None;
        let Some((first, rest)) = path.split_first() else {
            self.own = value;
            return;
        };
        let child = self.children.entry(SmolStr::new(first)).or_default();
        child.set(rest, value);
        if child.own.is_none() && child.children.is_empty() {
            self.children.remove(*first);
        }
    }

    fn merged(&mut self) -> Option<Value> {
        if self.merged.is_none() {
            self.merged = if self.children.is_empty() { self.own.clone() } else { Some(self.merge()) };
        }
        self.merged.clone()
    }

    fn merge(&mut self) -> Value {
        let own = self.own.as_ref().and_then(Value::as_map);
        let mut entries: Vec<(SmolStr, Value)> = own
            .into_iter()
            .flat_map(|map| map.iter())
            .filter(|(key, _)| !self.children.contains_key(key.as_str()))
            .map(|(key, value)| (key.clone(), value.clone()))
            .collect();
        entries
            .extend(self.children.iter_mut().filter_map(|(key, child)| Some((key.clone(), child.merged()?))));
        Value::from(Map::from_entries(entries))
    }

    fn is_shadowed(&self) -> bool {
        !self.children.is_empty() && self.own.as_ref().is_some_and(|own| own.as_map().is_none())
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;
    use serde_json::{Value as Json, json};

    fn tree(keys: &[(&str, Json)]) -> EnvironTree {
        let mut tree = EnvironTree::default();
        for (id, value) in keys {
            tree.set(&Id::parse(id).unwrap(), Some(Value::from(value.clone())));
        }
        tree
    }

    fn json(tree: &mut EnvironTree) -> Json {
        Value::Map(tree.map()).to_json()
    }

    #[test]
    fn the_context_of_the_original_document_is_built_exactly() {
        let mut tree = tree(&[
            ("vscode.programming_language", json!("go")),
            ("vscode.frameworks", json!(["gin", "gorm", "gin-swagger"])),
        ]);
        assert_eq!(
            json(&mut tree),
            json!({"vscode": {"programming_language": "go", "frameworks": ["gin", "gorm", "gin-swagger"]}})
        );
    }

    #[test]
    fn an_object_and_a_longer_key_combine_and_the_longer_key_wins() {
        let mut tree = tree(&[("a", json!({"b": 1, "c": 2})), ("a.b", json!(9))]);
        assert_eq!(json(&mut tree), json!({"a": {"c": 2, "b": 9}}));
        assert!(tree.shadowed().is_empty());
    }

    #[test]
    fn a_scalar_under_a_longer_key_is_hidden_and_reported_until_the_longer_key_goes() {
        let mut tree = tree(&[("a", json!(1)), ("a.b", json!(2))]);
        assert_eq!(json(&mut tree), json!({"a": {"b": 2}}));
        assert!(tree.shadowed().iter().eq(["a"]));
        tree.set(&Id::parse("a.b").unwrap(), None);
        assert_eq!(json(&mut tree), json!({"a": 1}));
        assert!(tree.shadowed().is_empty());
    }

    #[test]
    fn a_change_leaves_the_rest_of_the_tree_shared() {
        let mut tree = tree(&[("a.x", json!({"deep": 1})), ("b.y", json!(2))]);
        let before = tree.map();
        tree.set(&Id::parse("b.y").unwrap(), Some(Value::Int(3)));
        let after = tree.map();
        assert!(Arc::ptr_eq(
            before.get("a").unwrap().as_map().unwrap(),
            after.get("a").unwrap().as_map().unwrap()
        ));
        assert_eq!(before.get("b").unwrap().get("y"), Some(&Value::Int(2)));
        assert_eq!(after.get("b").unwrap().get("y"), Some(&Value::Int(3)));
    }

    proptest! {
        #[test]
        fn the_order_of_changes_does_not_matter(
            keys in prop::collection::vec(("[ab](\\.[ab]){0,3}", 0i64..5), 1..12),
            removed in prop::collection::vec("[ab](\\.[ab]){0,3}", 0..4),
        ) {
            let mut last = std::collections::BTreeMap::new();
            let mut changing = EnvironTree::default();
            for (id, n) in &keys {
                last.insert(id.clone(), *n);
                changing.set(&Id::parse(id).unwrap(), Some(Value::Int(*n)));
                let _ = changing.map();
            }
            for id in &removed {
                last.remove(id);
                changing.set(&Id::parse(id).unwrap(), None);
            }
            let mut fresh = EnvironTree::default();
            for (id, n) in last {
                fresh.set(&Id::parse(&id).unwrap(), Some(Value::Int(n)));
            }
            prop_assert_eq!(changing.map(), fresh.map());
            prop_assert_eq!(changing.shadowed(), fresh.shadowed());
        }
    }
}
