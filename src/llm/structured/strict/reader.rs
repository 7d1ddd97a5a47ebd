//! What an answer in the strict form means by the original schema.
//!
//! Where several branches of a union could have been meant, the answer is read by each of them, and the best reading counts: one
//! that fits the original, then one that has exactly the members of the strict form, then one that keeps more nulls. How each value
//! is read by each union is remembered, and the steps of all readings are limited.

use std::cmp::Reverse;
use std::collections::HashMap;

use super::fit;
use super::graph::{Form, Graph, Member, Node, NodeId, Object};
use template::value::{Map, Value};

/// How many steps reading an answer may take, and how many more for each value in it, up to so many values.
const STEPS: usize = 100_000;
const STEPS_A_VALUE: usize = 8;
const VALUES_MAX: usize = 250_000;

/// How many subschemas may be applied one in another: more than answers of the usual depth need.
const DEPTH_MAX: usize = 600;

/// The answer without the nulls that only the strict form allows.
pub(super) fn read_back(original: &Graph, answer: &Value) -> Value {
    if !has_null(answer) {
        return answer.clone();
    }
    let steps = STEPS + STEPS_A_VALUE * answer.count_up_to(VALUES_MAX);
    let mut reader = Reader { original, known: HashMap::new(), steps };
    reader.read(original.root, answer, 0).value.unwrap_or_else(|| answer.clone())
}

fn has_null(value: &Value) -> bool {
    let mut waiting = vec![value];
    while let Some(value) = waiting.pop() {
        match value {
            Value::Null => return true,
            Value::List(items) => waiting.extend(items.iter()),
            Value::Map(members) => waiting.extend(members.iter().map(|(_, member)| member)),
            _ => {}
        }
    }
    false
}

/// A value as it is read by a subschema.
#[derive(Debug, Clone)]
struct Reading {
    /// The value, if nulls were removed.
    value: Option<Value>,
    removed: usize,
    /// Whether it fits the original.
    fits: bool,
    /// Whether objects in the answer have exactly the members that they have in the strict form.
    is_exact: bool,
}

struct Reader<'a> {
    original: &'a Graph,
    /// How a value was read by a union; values are told apart by their places in memory, which last as long as the answer.
    known: HashMap<(NodeId, *const Value), Reading>,
    /// The steps that are left.
    steps: usize,
}

impl<'a> Reader<'a> {
    /// Reads a value. When no steps are left, it stays as it is.
    fn read(&mut self, id: NodeId, value: &'a Value, depth: usize) -> Reading {
        let original = self.original;
        let Some(node) = original.node(id).filter(|_| depth <= DEPTH_MAX && self.steps > 0) else {
            return Reading::unread();
        };
        self.steps = self.steps.saturating_sub(fit::steps(node, value));
        let mut reading = match (&node.form, value) {
            (Form::Reference(target), _) => self.read(*target, value, depth + 1),
            (Form::Union { branches, .. }, _) => self.union(id, branches, value, depth + 1),
            (Form::Object(object), Value::Map(members)) => self.object(object, members, depth + 1),
            (Form::Array(items), Value::List(list)) => self.list(*items, list, depth + 1),
            _ => Reading::unchanged(),
        };
        reading.fits &= node.allows(value);
        reading.is_exact &= node.has_type_of(value);
        reading
    }

    fn union(&mut self, id: NodeId, branches: &[NodeId], value: &'a Value, depth: usize) -> Reading {
        let key = (id, std::ptr::from_ref(value));
        if let Some(reading) = self.known.get(&key) {
            return reading.clone();
        }
        let readings: Vec<Reading> = branches.iter().map(|&branch| self.read(branch, value, depth)).collect();
        let reading = Reading::best(readings);
        self.known.insert(key, reading.clone());
        reading
    }

    fn list(&mut self, items: NodeId, list: &'a [Value], depth: usize) -> Reading {
        let mut whole = Reading::unchanged();
        let readings = list.iter().map(|item| whole.take(self.read(items, item, depth), item));
        let read: Vec<Value> = readings.collect();
        whole.value = (whole.removed > 0).then(|| Value::from(read));
        whole
    }

    fn object(&mut self, object: &Object, members: &'a Map, depth: usize) -> Reading {
        let mut whole = Reading::unchanged();
        let (mut read, mut required) = (Vec::new(), 0);
        for (name, value) in members.iter() {
            match object.members.get(name.as_str()) {
                None => read.push((name.clone(), whole.take(Reading::undeclared(object), value))),
                Some(member) if *value == Value::Null && self.means_absence(member) => whole.removed += 1,
                Some(member) => {
                    required += usize::from(member.is_required);
                    read.push((name.clone(), whole.take(self.read(member.node, value, depth), value)));
                }
            }
        }
        whole.fits &= required == object.required;
        whole.is_exact &= members.len() == object.members.len();
        whole.value = (whole.removed > 0).then(|| Value::from(Map::from_entries(read)));
        whole
    }

    /// Whether null in the place of a member means that there is none.
    fn means_absence(&self, member: &Member) -> bool {
        let accepts_null = |node: &Node| node.accepts_null;
        !member.is_required && !self.original.node(member.node).is_some_and(accepts_null)
    }
}

impl Reading {
    /// Of a value in which there is nothing to remove.
    fn unchanged() -> Reading {
        Reading { value: None, removed: 0, fits: true, is_exact: true }
    }

    /// Of a value of which nothing is known.
    fn unread() -> Reading {
        Reading { fits: false, is_exact: false, ..Reading::unchanged() }
    }

    /// Of a member that an object does not declare.
    fn undeclared(object: &Object) -> Reading {
        Reading { fits: !object.is_closed, is_exact: false, ..Reading::unchanged() }
    }

    /// Adds what was found of a part, and returns the part as it was read.
    fn take(&mut self, part: Reading, value: &Value) -> Value {
        self.removed += part.removed;
        self.fits &= part.fits;
        self.is_exact &= part.is_exact;
        part.value.unwrap_or_else(|| value.clone())
    }

    /// The best of several readings. If none fits, the only one that has the strict form, or none.
    fn best(readings: Vec<Reading>) -> Reading {
        let (fitting, others): (Vec<_>, Vec<_>) = readings.into_iter().partition(|reading| reading.fits);
        let best = fitting.into_iter().min_by_key(|reading| (Reverse(reading.is_exact), reading.removed));
        best.unwrap_or_else(|| {
            let mut exact = others.into_iter().filter(|reading| reading.is_exact);
            match (exact.next(), exact.next()) {
                (Some(only), None) => only,
                _ => Reading::unread(),
            }
        })
    }
}
