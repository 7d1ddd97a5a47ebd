//! The subschemas of a document as a graph: what each says by itself, and to what parts of a value it applies others.

use std::collections::HashMap;

use super::fit::Bound;
use super::types::Types;
use template::value::Value;

/// The number of a subschema in its graph.
pub(super) type NodeId = usize;

/// The subschemas that can be reached from the root.
#[derive(Debug)]
pub(super) struct Graph {
    pub nodes: Vec<Node>,
    pub root: NodeId,
}

/// A subschema.
#[derive(Debug)]
pub(super) struct Node {
    /// The types that it allows.
    pub types: Types,
    /// The values that it allows, if it lists them.
    pub values: Option<Vec<Value>>,
    pub bounds: Vec<Bound>,
    pub form: Form,
    /// Whether the original allows null here.
    pub accepts_null: bool,
}

/// What a subschema applies to parts of a value, or to the same value.
#[derive(Debug)]
pub(super) enum Form {
    /// Nothing.
    Scalar,
    Object(Object),
    /// To all items of an array.
    Array(NodeId),
    /// `$ref`.
    Reference(NodeId),
    /// `anyOf`, or `oneOf`.
    Union {
        branches: Vec<NodeId>,
        is_exclusive: bool,
    },
}

/// The members of an object.
#[derive(Debug, Default)]
pub(super) struct Object {
    pub members: HashMap<String, Member>,
    /// How many of them are required.
    pub required: usize,
    /// Whether it allows no others.
    pub is_closed: bool,
}

/// A member that an object declares.
#[derive(Debug, Clone, Copy)]
pub(super) struct Member {
    pub node: NodeId,
    pub is_required: bool,
}

impl Graph {
    /// A subschema.
    pub fn node(&self, id: NodeId) -> Option<&Node> {
        self.nodes.get(id)
    }
}

impl Form {
    /// The subschemas that it applies to the same value.
    pub fn same_value(&self) -> &[NodeId] {
        match self {
            Form::Reference(target) => std::slice::from_ref(target),
            Form::Union { branches, .. } => branches,
            Form::Scalar | Form::Object(_) | Form::Array(_) => &[],
        }
    }
}
