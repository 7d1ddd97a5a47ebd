//! The names under which the strict form defines what it refers to.

use std::collections::HashMap;

use super::builder::{DOCUMENT, Sources, Target};
use super::graph::{Form, NodeId};

/// The longest name, in bytes, before a number is added.
const NAME_BYTES: usize = 64;

/// How references are written.
#[derive(Debug)]
pub(super) struct Definitions {
    names: HashMap<NodeId, String>,
}

impl Definitions {
    /// Names all that is referred to but the root. Definitions of the original keep their names, if those are simple.
    pub fn of(sources: &Sources) -> Definitions {
        let (own, others): (Vec<&Target>, Vec<&Target>) =
            sources.targets.iter().partition(|target| is_definition(&target.steps));
        let (mut names, mut taken) = (HashMap::new(), HashMap::new());
        for target in own.into_iter().chain(others) {
            let node = meant_by(sources, target.node);
            if node != sources.graph.root {
                names.entry(node).or_insert_with(|| free(name(&target.steps), &mut taken));
            }
        }
        Definitions { names }
    }

    /// The name of a definition; `None` if the subschema is written where it stands.
    pub fn name(&self, node: NodeId) -> Option<&str> {
        self.names.get(&node).map(String::as_str)
    }
}

/// The subschema that is meant by another one that does nothing but refer to it. References come to an end, as is checked with the
/// facts.
pub(super) fn meant_by(sources: &Sources, mut id: NodeId) -> NodeId {
    loop {
        let is_plain =
            sources.keywords.get(id).is_some_and(|own| own.get("title").or(own.get("description")).is_none());
        match sources.graph.node(id).map(|node| &node.form) {
            _ if id == DOCUMENT => return sources.graph.root,
            Some(Form::Reference(target)) if is_plain => id = *target,
            _ => return id,
        }
    }
}

fn is_definition(steps: &[String]) -> bool {
    matches!(steps, [place, _] if matches!(place.as_str(), "$defs" | "definitions"))
}

/// A readable name: the last step, or, outside of definitions, all steps that tell something. Characters that would have to be
/// escaped in a reference become `_`.
fn name(steps: &[String]) -> String {
    let says_nothing = |step: &&String| matches!(step.as_str(), "properties" | "$defs" | "definitions");
    let telling: Vec<&str> = match steps {
        [_, name] if is_definition(steps) => vec![name.as_str()],
        _ => steps.iter().filter(|step| !says_nothing(step)).map(String::as_str).collect(),
    };
    let simple = |c: char| if c.is_ascii_alphanumeric() || matches!(c, '-' | '.') { c } else { '_' };
    let name: String = telling.join("_").chars().map(simple).take(NAME_BYTES).collect();
    if name.trim_matches('_').is_empty() { "definition".to_owned() } else { name }
}

/// The name, or the name with the first number that makes it another one. `taken` has the last number of each name.
fn free(name: String, taken: &mut HashMap<String, usize>) -> String {
    let Some(last) = taken.get(&name).copied() else {
        taken.insert(name.clone(), 1);
        return name;
    };
    let mut number = last + 1;
    while taken.contains_key(&format!("{name}_{number}")) {
        number += 1;
    }
    let free = format!("{name}_{number}");
    taken.insert(name, number);
    taken.insert(free.clone(), 1);
    free
}
