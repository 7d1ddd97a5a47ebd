//! What follows from how subschemas apply to the same value: whether null is accepted, and that the work ends.

use super::graph::{Form, Node, NodeId};
use super::types::Types;
use template::value::Value;

/// How many subschemas may apply to the same value one by another. Subschemas that apply themselves to the same value exceed it.
const HOPS_MAX: usize = 16;

/// What is known of a subschema.
#[derive(Debug, Clone, Copy)]
struct Facts {
    /// How many subschemas apply to the same value one by another, from here on.
    hops: usize,
    accepts_null: bool,
}

/// Finds out of each subschema whether it accepts null; `None` if one applies too many others to the same value.
pub(super) fn settle(nodes: &mut [Node]) -> Option<()> {
    let mut known = vec![None; nodes.len()];
    for id in 0..nodes.len() {
        facts(nodes, id, 1, &mut known)?;
    }
    for (node, facts) in nodes.iter_mut().zip(known) {
        node.accepts_null = facts?.accepts_null;
    }
    Some(())
}

/// Recursion ends after `HOPS_MAX`, and each subschema that does not exceed it is looked at once.
fn facts(nodes: &[Node], id: NodeId, depth: usize, known: &mut [Option<Facts>]) -> Option<Facts> {
    if let Some(facts) = known.get(id)? {
        return Some(*facts);
    }
    let node = nodes.get(id).filter(|_| depth <= HOPS_MAX)?;
    let applied = node.form.same_value().iter();
    let applied: Vec<Facts> = applied.map(|&id| facts(nodes, id, depth + 1, known)).collect::<Option<_>>()?;
    let hops = 1 + applied.iter().map(|facts| facts.hops).max().unwrap_or_default();
    let found = Facts { hops, accepts_null: accepts_null(node, &applied) };
    *known.get_mut(id)? = Some(found);
    (hops <= HOPS_MAX).then_some(found)
}

fn accepts_null(node: &Node, applied: &[Facts]) -> bool {
    let accepting = applied.iter().filter(|facts| facts.accepts_null).count();
    let is_applied = match node.form {
        Form::Union { is_exclusive: true, .. } => accepting == 1,
        Form::Union { .. } | Form::Reference(_) => accepting > 0,
        Form::Scalar | Form::Object(_) | Form::Array(_) => true,
    };
    let is_listed = node.values.as_ref().is_none_or(|values| values.contains(&Value::Null));
    is_applied && is_listed && node.types.has(Types::NULL)
}
