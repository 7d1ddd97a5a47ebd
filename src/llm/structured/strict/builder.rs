//! Reads the subschemas of a document that can be reached from its root.

use std::collections::{HashMap, VecDeque};

use serde_json::Value as Json;

use super::facts;
use super::fit::{Bound, is_same};
use super::graph::{Form, Graph, Member, Node, NodeId, Object};
use super::keywords::Keywords;
use super::limits::VALUES_MAX;
use super::types::Types;
use crate::llm::pointer;
use template::value::Value;

/// A graph, with what the strict form needs besides.
#[derive(Debug)]
pub(super) struct Sources<'s> {
    pub graph: Graph,
    /// The keywords of each subschema.
    pub keywords: Vec<Keywords<'s>>,
    /// What references refer to, in the order in which they were found; some repeatedly.
    pub targets: Vec<Target>,
}

/// What a reference refers to.
#[derive(Debug)]
pub(super) struct Target {
    pub node: NodeId,
    /// The way there from the root of the document.
    pub steps: Vec<String>,
}

/// The document itself.
pub(super) const DOCUMENT: NodeId = 0;

/// Reads a document; `None` if strict mode cannot express it.
pub(super) fn sources(document: &Json) -> Option<Sources<'_>> {
    let mut builder = Builder::new(document);
    builder.node(document);
    let (mut nodes, mut keywords) = (Vec::new(), Vec::new());
    while let Some(schema) = builder.waiting.pop_front() {
        let is_document = nodes.len() == DOCUMENT;
        let own = if is_document { Keywords::of_document(schema) } else { Keywords::of(schema) }?;
        nodes.push(builder.read(&own)?);
        keywords.push(own);
    }
    facts::settle(&mut nodes)?;
    let graph = Graph { root: root(&nodes)?, nodes };
    Some(Sources { graph, keywords, targets: builder.targets })
}

/// The object schema that the document is, or refers to. The way to it ends, as the facts are settled.
fn root(nodes: &[Node]) -> Option<NodeId> {
    let mut root = DOCUMENT;
    while let Form::Reference(target) = nodes.get(root)?.form {
        root = target;
    }
    let is_object =
        nodes.get(root)?.types == Types::OBJECT && matches!(nodes.get(root)?.form, Form::Object(_));
    is_object.then_some(root)
}

impl Sources<'_> {
    pub fn into_graph(self) -> Graph {
        self.graph
    }
}

struct Builder<'s> {
    document: &'s Json,
    /// The number of each subschema that was met, by its place in memory.
    numbers: HashMap<*const Json, NodeId>,
    /// Those that are still to be read, in the order of their numbers.
    waiting: VecDeque<&'s Json>,
    targets: Vec<Target>,
    /// How many values were listed.
    values: usize,
}

impl<'s> Builder<'s> {
    fn new(document: &'s Json) -> Builder<'s> {
        let (numbers, waiting) = (HashMap::new(), VecDeque::new());
        Builder { document, numbers, waiting, targets: Vec::new(), values: 0 }
    }

    /// The number of a subschema, which is read later if it was not met before.
    fn node(&mut self, schema: &'s Json) -> NodeId {
        let next = self.numbers.len();
        *self.numbers.entry(std::ptr::from_ref(schema)).or_insert_with(|| {
            self.waiting.push_back(schema);
            next
        })
    }

    fn read(&mut self, keywords: &Keywords<'s>) -> Option<Node> {
        let mut types = keywords.get("type").map_or(Some(Types::ANY), Types::named)?;
        let mut values = self.values(keywords, types)?;
        if let Some(values) = values.as_deref().filter(|_| types == Types::ANY) {
            types = Types::of_all(values);
        }
        if values.as_deref() == Some(&[Value::Null]) {
            (types, values) = (Types::NULL, None);
        }
        let form = self.form(keywords, types)?;
        Some(Node { types, values, bounds: Bound::all(keywords), form, accepts_null: false })
    }

    fn form(&mut self, keywords: &Keywords<'s>, types: Types) -> Option<Form> {
        match (keywords.get("$ref"), keywords.get("anyOf"), keywords.get("oneOf")) {
            (None, None, None) => self.form_of_type(keywords, types),
            (Some(reference), None, None) if !keywords.has_structure_beside(&["$ref"]) => {
                self.target(reference.as_str()?).map(Form::Reference)
            }
            (None, Some(branches), None) => self.union(keywords, branches, false),
            (None, None, Some(branches)) => self.union(keywords, branches, true),
            _ => None,
        }
    }

    /// A type beside the branches only says again what they say themselves, as they all must.
    fn union(&mut self, keywords: &Keywords<'s>, branches: &'s Json, is_exclusive: bool) -> Option<Form> {
        let branches = branches.as_array().filter(|branches| !branches.is_empty())?;
        if keywords.has_structure_beside(&["anyOf", "oneOf", "type"]) {
            return None;
        }
        Some(Form::Union {
            branches: branches.iter().map(|branch| self.node(branch)).collect(),
            is_exclusive,
        })
    }

    fn form_of_type(&mut self, keywords: &Keywords<'s>, types: Types) -> Option<Form> {
        match types.without(Types::NULL) {
            Types::OBJECT => self.object(keywords).map(Form::Object),
            Types::ARRAY => Some(Form::Array(self.node(keywords.get("items")?))),
            types if types.has(Types::OBJECT.or(Types::ARRAY)) => None,
            _ => Some(Form::Scalar),
        }
    }

    fn object(&mut self, keywords: &Keywords<'s>) -> Option<Object> {
        let properties = keywords.get("properties")?.as_object()?;
        let is_closed = match keywords.get("additionalProperties") {
            None => false,
            Some(Json::Bool(false)) => true,
            Some(_) => return None,
        };
        if properties.is_empty() && !is_closed {
            return None;
        }
        let mut object = Object { is_closed, ..Object::default() };
        for (name, schema) in properties {
            let member = Member { node: self.node(schema), is_required: false };
            object.members.insert(name.clone(), member);
        }
        if let Some(names) = keywords.get("required") {
            names.as_array()?.iter().try_for_each(|name| object.require(name.as_str()?))?;
        }
        Some(object)
    }

    /// The values of `enum` and `const` that are of these types, each once; `None` if strict mode cannot express them, or there
    /// are none.
    fn values(&mut self, keywords: &Keywords, types: Types) -> Option<Option<Vec<Value>>> {
        let constant = keywords.get("const");
        let mut values = match (keywords.get("enum"), constant) {
            (None, None) => return Some(None),
            (None, Some(constant)) => distinct(std::slice::from_ref(constant), types)?,
            (Some(list), _) => self.listed(list.as_array()?, types)?,
        };
        if let Some(constant) = constant.map(Value::from) {
            values.retain(|value| is_same(value, &constant));
        }
        (!values.is_empty()).then_some(Some(values))
    }

    /// The values of a list, which count.
    fn listed(&mut self, list: &[Json], types: Types) -> Option<Vec<Value>> {
        self.values += list.len();
        if self.values > VALUES_MAX { None } else { distinct(list, types) }
    }

    fn target(&mut self, reference: &str) -> Option<NodeId> {
        let steps = pointer::steps(reference)?;
        let node = self.node(pointer::follow(self.document, &steps)?);
        self.targets.push(Target { node, steps });
        Some(node)
    }
}

impl Object {
    /// Makes a member required; `None` if it is not declared.
    fn require(&mut self, name: &str) -> Option<()> {
        let member = self.members.get_mut(name)?;
        self.required += usize::from(!member.is_required);
        member.is_required = true;
        Some(())
    }
}

/// The values that are of these types, each once; `None` if one has parts.
fn distinct(listed: &[Json], types: Types) -> Option<Vec<Value>> {
    let mut values: Vec<Value> = Vec::new();
    for json in listed {
        let value = Value::from(json);
        if matches!(value, Value::List(_) | Value::Map(_)) {
            return None;
        }
        if types.has(Types::of(&value)) && !values.iter().any(|own| is_same(own, &value)) {
            values.push(value);
        }
    }
    Some(values)
}
