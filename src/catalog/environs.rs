//! Environs as one tree: every id is a path in it, and a change copies only its own path (a persistent data structure).

use std::collections::BTreeMap;
use std::sync::Arc;

use base::model::Id;
use template::value::{Map, SmolStr, Value};

/// The mutable tree; readers get immutable [`Map`]s made from it.
#[derive(Debug, Default)]
pub struct EnvironTree {
    root: Node,
    /// See [`EnvironTree::shadowed`].
    shadowed: BTreeMap<String, String>,
}

#[derive(Debug, Default)]
struct Node {
    /// The value stored at exactly this path.
    own: Option<Value>,
    children: BTreeMap<SmolStr, Node>,
    /// The cached value at this path: the own value (or the inherited part of a shorter key's value), with the children
    /// inserted; `None` if there is none, or if it has to be recomputed.
    merged: Option<Value>,
}

/// A part of an environ's value.
#[derive(Clone, Copy)]
struct Part<'a> {
    value: &'a Value,
    /// The path of the environ.
    owner: &'a str,
}

impl EnvironTree {
    /// Sets or removes the value at a path.
    pub fn set(&mut self, id: &Id, value: Option<Value>) {
        let segments: Vec<&str> = id.segments().collect();
        self.root.set(&segments, value);
        self.note_shadowed(id, &segments);
    }

    /// Recomputes which values are hidden on the path to an environ and below it.
    fn note_shadowed(&mut self, id: &Id, segments: &[&str]) {
        for (dot, _) in id.as_str().match_indices('.') {
            self.shadowed.remove(id.as_str().get(..dot).unwrap_or_default());
        }
        self.shadowed.remove(id.as_str());
        let below = format!("{id}.");
        let from = self.shadowed.range(below.clone()..);
        let gone: Vec<String> =
            from.map(|(path, _)| path.clone()).take_while(|path| path.starts_with(&below)).collect();
        gone.iter().for_each(|path| drop(self.shadowed.remove(path)));
        self.root.find_shadowed("", None, segments, &mut self.shadowed);
    }

    /// The whole tree; parts that did not change since the last call are shared with its result.
    pub fn map(&mut self) -> Arc<Map> {
        match self.root.merged(None) {
            Some(Value::Map(map)) => map,
            _ => Arc::default(),
        }
    }

    /// The paths whose value is hidden (a scalar or an array where a longer key needs an object), each with the path of the
    /// environ that the hidden value is a part of.
    pub fn shadowed(&self) -> &BTreeMap<String, String> {
        &self.shadowed
    }
}

impl Node {
    fn set(&mut self, path: &[&str], value: Option<Value>) {
        self.merged = None;
        let Some((first, rest)) = path.split_first() else {
            self.own = value;
            self.forget_inherited();
            return;
        };
        let child = self.children.entry(SmolStr::new(first)).or_default();
        child.set(rest, value);
        if child.own.is_none() && child.children.is_empty() {
            self.children.remove(*first);
        }
    }

    /// Drops the cached values of descendants that inherit from this node's value.
    fn forget_inherited(&mut self) {
        for child in self.children.values_mut().filter(|child| child.own.is_none()) {
            child.merged = None;
            child.forget_inherited();
        }
    }

    /// The value at this path, where the values of shorter keys have the part `inherited`.
    fn merged(&mut self, inherited: Option<&Value>) -> Option<Value> {
        if self.merged.is_none() {
            let base = self.own.as_ref().or(inherited);
            self.merged = if self.children.is_empty() {
                base.cloned()
            } else {
                Some(with_children(base.and_then(Value::as_map), &mut self.children))
            };
        }
        self.merged.clone()
    }

    /// Finds the hidden values along a path through the tree, and everywhere below its end.
    fn find_shadowed(
        &self,
        path: &str,
        inherited: Option<Part<'_>>,
        way: &[&str],
        found: &mut BTreeMap<String, String>,
    ) {
        let base = self.own.as_ref().map(|value| Part { value, owner: path }).or(inherited);
        if let Some(base) = base.filter(|base| !self.children.is_empty() && base.value.as_map().is_none()) {
            found.insert(path.to_owned(), base.owner.to_owned());
        }
        let mut descend = |key: &str, child: &Node, rest: &[&str]| {
            let inner = if path.is_empty() { key.to_owned() } else { format!("{path}.{key}") };
            let part = base.and_then(|base| Some(Part { value: base.value.get(key)?, ..base }));
            child.find_shadowed(&inner, part, rest, found);
        };
        match way.split_first() {
            Some((key, rest)) => {
                self.children.get(*key).into_iter().for_each(|child| descend(key, child, rest));
            }
            None => {
                let inner = self.children.iter().filter(|(_, child)| !child.children.is_empty());
                inner.for_each(|(key, child)| descend(key, child, way));
            }
        }
    }
}

/// An object whose members are replaced by the children of the same name, followed by the other children.
fn with_children(base: Option<&Arc<Map>>, children: &mut BTreeMap<SmolStr, Node>) -> Value {
    let mut entries: Vec<(SmolStr, Value)> = Vec::new();
    for (key, value) in base.into_iter().flat_map(|map| map.iter()) {
        let seen = children.get_mut(key).and_then(|child| child.merged(Some(value)));
        entries.push((key.clone(), seen.unwrap_or_else(|| value.clone())));
    }
    let known = |key: &SmolStr| base.is_some_and(|map| map.get(key).is_some());
    let more = children.iter_mut().filter(|(key, _)| !known(key));
    entries.extend(more.filter_map(|(key, child)| Some((key.clone(), child.merged(None)?))));
    Value::from(Map::from_entries(entries))
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
        assert!(tree.shadowed().iter().eq([(&"a".to_owned(), &"a".to_owned())]));
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

    #[test]
    fn members_of_an_object_stay_beside_longer_keys_at_any_depth_and_hidden_ones_are_reported() {
        let mut tree = tree(&[
            ("vs", json!({"rules": {"go": 1}, "n": 5})),
            ("vs.rules.py", json!(2)),
            ("vs.n.x", json!(2)),
        ]);
        assert_eq!(json(&mut tree), json!({"vs": {"rules": {"go": 1, "py": 2}, "n": {"x": 2}}}));
        assert!(tree.shadowed().iter().eq([(&"vs.n".to_owned(), &"vs".to_owned())]));
        tree.set(&Id::parse("vs").unwrap(), Some(Value::from(json!({"rules": {"rust": 3}}))));
        assert_eq!(json(&mut tree), json!({"vs": {"rules": {"rust": 3, "py": 2}, "n": {"x": 2}}}));
        assert!(tree.shadowed().is_empty());
    }

    /// The specification, literally: for each key in sorted order, creates the path and puts the value at its end.
    fn model(environs: &std::collections::BTreeMap<Vec<String>, Json>) -> (Json, Vec<String>) {
        let (mut root, mut hidden) = (json!({}), Vec::new());
        for (path, value) in environs {
            let (last, parents) = path.split_last().unwrap();
            let mut here = &mut root;
            for (depth, segment) in parents.iter().enumerate() {
                here = here.as_object_mut().unwrap().entry(segment.clone()).or_insert(json!({}));
                if !here.is_object() {
                    hidden.push(path[..=depth].join("."));
                    *here = json!({});
                }
            }
            here.as_object_mut().unwrap().insert(last.clone(), value.clone());
        }
        hidden.sort();
        (root, hidden)
    }

    fn value() -> impl Strategy<Value = Json> {
        let leaf = (0i64..5).prop_map(|n| json!(n));
        leaf.prop_recursive(3, 8, 2, |inner| {
            prop::collection::btree_map("[ab]", inner, 0..3).prop_map(|members| json!(members))
        })
    }

    proptest! {
        #[test]
        fn any_changes_lead_to_what_the_specification_says(
            changes in prop::collection::vec(("[ab](\\.[ab]){0,3}", prop::option::of(value())), 1..16),
        ) {
            let mut environs = std::collections::BTreeMap::new();
            let mut tree = EnvironTree::default();
            for (id, value) in changes {
                let path: Vec<String> = id.split('.').map(str::to_owned).collect();
                tree.set(&Id::parse(&id).unwrap(), value.clone().map(Value::from));
                match value {
                    Some(value) => environs.insert(path, value),
                    None => environs.remove(&path),
                };
                let (expected, hidden) = model(&environs);
                prop_assert_eq!(json(&mut tree), expected);
                let found: Vec<&String> = tree.shadowed().keys().collect();
                prop_assert_eq!(found, hidden.iter().collect::<Vec<_>>());
            }
        }
    }
}
