//! Where in a tree a value stands, worked out only when somebody asks.

use std::fmt;
use std::sync::Arc;

use super::{Map, SmolStr, Value};

/// One step from a value to a part of it.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Step {
    /// The member of an object.
    Key(SmolStr),
    /// The element of an array, counted from 0.
    Index(usize),
}

/// A way from the root of a tree to a place in it; shown as `variables.docs[1].title`.
#[derive(Debug, Clone, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Path(pub Vec<Step>);

impl Path {
    /// The place one member further down.
    pub fn member(&self, key: &str) -> Path {
        let mut steps = self.0.clone();
        steps.push(Step::Key(SmolStr::new(key)));
        Path(steps)
    }
}

impl fmt::Display for Path {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        for (at, step) in self.0.iter().enumerate() {
            match step {
                Step::Key(key) if at == 0 => f.write_str(key)?,
                Step::Key(key) => write!(f, ".{key}")?,
                Step::Index(index) => write!(f, "[{index}]")?,
            }
        }
        Ok(())
    }
}

/// The path from `root` to the very object `target` (the same allocation, not an equal one).
///
/// This searches the tree, last member first (a request's variables lie over the environs), and is
/// meant for the moment when a render has already failed: a good render never pays for paths.
pub fn path_of(root: &Arc<Map>, target: &Arc<Map>) -> Option<Path> {
    let mut steps = Vec::new();
    find_in_map(root, target, &mut steps).then_some(Path(steps))
}

fn find_in_map(map: &Arc<Map>, target: &Arc<Map>, steps: &mut Vec<Step>) -> bool {
    if Arc::ptr_eq(map, target) {
        return true;
    }
    let members: Vec<_> = map.iter().collect();
    members.into_iter().rev().any(|(key, value)| find_below(value, target, steps, Step::Key(key.clone())))
}

fn find_below(value: &Value, target: &Arc<Map>, steps: &mut Vec<Step>, step: Step) -> bool {
    let (Value::Map(_) | Value::List(_)) = value else { return false };
    steps.push(step);
    let found = match value {
        Value::Map(map) => find_in_map(map, target, steps),
        Value::List(list) => {
            list.iter().enumerate().any(|(at, item)| find_below(item, target, steps, Step::Index(at)))
        }
        _ => false,
    };
    if !found {
        steps.pop();
    }
    found
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::value::from_json;

    #[test]
    fn the_path_of_an_object_inside_an_array_names_its_index() {
        let root = from_json(br#"{"a":{"b":1},"variables":{"docs":[{"t":1},{"u":2}]}}"#).unwrap();
        let root = root.as_map().unwrap();
        let docs = root.get("variables").unwrap().get("docs").unwrap().as_list().unwrap();
        let path = path_of(root, docs[1].as_map().unwrap()).unwrap();
        assert_eq!(path.member("title").to_string(), "variables.docs[1].title");
        assert_eq!(path_of(root, root).unwrap().to_string(), "");
        assert_eq!(path_of(root, &Arc::new(Map::default())), None);
    }
}
