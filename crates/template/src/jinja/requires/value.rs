//! The abstract values of the analysis: where in the data a value may come from, and what the template made of it.

use std::collections::{BTreeMap, BTreeSet};
use std::rc::Rc;

use smol_str::SmolStr;

use super::node::Node;
use crate::analysis::{Join, PathStep, Paths};
use crate::jinja::ast::{Call, For, Macro, Tree};

/// How deep containers that the template makes are followed.
const DEPTH_MAX: usize = 6;

/// The greatest weight of a container; beyond, its parts are no longer told apart.
const WEIGHT_MAX: usize = 1_000;

/// All that a value may be. Text and numbers are nothing: what they are made from was used when they were made.
#[derive(Debug, Clone, Default, PartialEq, Eq, Hash)]
pub(super) struct Value<'a>(Option<Rc<Content<'a>>>);

#[derive(Debug, Clone, Default, PartialEq, Eq, Hash)]
struct Content<'a> {
    /// The places in the data that it may be.
    data: Paths,
    /// The things of the template that it may be.
    objects: BTreeSet<Object<'a>>,
    /// The members of a container that the template made: by name, or by index.
    members: BTreeMap<SmolStr, Value<'a>>,
    /// Any other element of such a container.
    elements: Value<'a>,
    depth: usize,
    weight: usize,
}

/// A thing that is not made of data.
#[derive(Debug, Clone, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub(super) enum Object<'a> {
    /// A variable without a value.
    Unset,
    /// A function of Jinja.
    Global(&'static str),
    /// A name that can only be a function, since no data are visible.
    Function(SmolStr),
    /// A macro, and the address of the code that defines it, whose variables it sees.
    Macro(Node<'a, Macro>, usize),
    /// The body of the `call` block that called the macro.
    Caller,
    /// What the call `namespace(…)` made.
    Namespace(Node<'a, Call>),
    /// An imported text.
    Module(Node<'a, Tree>),
    /// `self`.
    Blocks,
    /// A block, and how many of its definitions by texts that extend others are passed over.
    Block(SmolStr, usize),
    /// The variable `loop` of a recursive loop.
    Loop(Node<'a, For>),
}

static NO_DATA: Paths = Paths::NONE;

impl<'a> Value<'a> {
    /// Data.
    pub fn data(paths: Paths) -> Value<'a> {
        Value::build(Content { data: paths, ..Content::default() })
    }

    /// A thing of the template.
    pub fn object(object: Object<'a>) -> Value<'a> {
        Value::build(Content { objects: BTreeSet::from([object]), ..Content::default() })
    }

    /// A container with these elements.
    pub fn container(elements: Value<'a>) -> Value<'a> {
        Value::build(Content { elements, ..Content::default() })
    }

    /// A container with these members and other elements.
    pub fn members(
        members: impl IntoIterator<Item = (SmolStr, Value<'a>)>,
        elements: Value<'a>,
    ) -> Value<'a> {
        let mut known: BTreeMap<SmolStr, Value<'a>> = BTreeMap::new();
        for (name, value) in members {
            known.entry(name).or_default().join(&value);
        }
        Value::build(Content { members: known, elements, ..Content::default() })
    }

    /// A container with these elements, in this order.
    pub fn list(items: impl IntoIterator<Item = Value<'a>>) -> Value<'a> {
        let indexed = items.into_iter().enumerate().map(|(at, value)| (index(at as i64), value));
        Value::members(indexed, Value::default())
    }

    fn build(mut content: Content<'a>) -> Value<'a> {
        let parts = || content.members.values().chain([&content.elements]);
        let depth = parts().map(|part| part.0.as_ref().map_or(0, |content| content.depth + 1)).max();
        let weight: usize = parts().map(Value::weight).sum();
        (content.depth, content.weight) = (depth.unwrap_or(0), weight);
        if content.depth > DEPTH_MAX || weight > WEIGHT_MAX {
            content.flatten();
        }
        content.weight += content.data.weight() + content.objects.len() + content.members.len() + 1;
        match content == (Content { weight: content.weight, ..Content::default() }) {
            true => Value(None),
            false => Value(Some(Rc::new(content))),
        }
    }

    /// Whether both are one value, as far as that is cheap to find out.
    pub fn is_same(&self, other: &Value<'a>) -> bool {
        match (&self.0, &other.0) {
            (Some(mine), Some(theirs)) => Rc::ptr_eq(mine, theirs),
            (mine, theirs) => mine.is_none() && theirs.is_none(),
        }
    }

    /// The cost of making the value.
    pub fn weight(&self) -> usize {
        self.0.as_ref().map_or(0, |content| content.weight)
    }

    /// The places in the data that it may be.
    pub fn paths(&self) -> &Paths {
        self.0.as_ref().map_or(&NO_DATA, |content| &content.data)
    }

    /// The things of the template that it may be.
    pub fn objects(&self) -> impl Iterator<Item = &Object<'a>> {
        self.0.iter().flat_map(|content| &content.objects)
    }

    /// Whether it may be this thing.
    pub fn may_be(&self, object: &Object<'a>) -> bool {
        self.0.as_ref().is_some_and(|content| content.objects.contains(object))
    }

    /// The parts of a container that the template made.
    pub fn parts(&self) -> impl Iterator<Item = &Value<'a>> {
        self.0.iter().flat_map(|content| content.members.values().chain([&content.elements]))
    }

    /// The members of a container that the template made.
    pub fn named_parts(&self) -> impl Iterator<Item = (&SmolStr, &Value<'a>)> {
        self.0.iter().flat_map(|content| &content.members)
    }

    /// Those elements of a container that the template made which are not among its members.
    pub fn elements(&self) -> Value<'a> {
        self.0.as_ref().map(|content| content.elements.clone()).unwrap_or_default()
    }

    /// Calls `visit` with the data that it may be, and with those of all its parts.
    pub fn each_paths(&self, visit: &mut impl FnMut(&Paths)) {
        if let Some(content) = &self.0 {
            visit(&content.data);
            self.parts().for_each(|part| part.each_paths(visit));
        }
    }

    /// A member of it.
    pub fn member(&self, name: &str) -> Value<'a> {
        let Some(content) = &self.0 else { return Value::default() };
        let mut found = content.members.get(name).cloned().unwrap_or_default();
        found.join(&content.elements);
        found.join(&Value::data(content.data.step(&PathStep::Key(name.to_owned()))));
        found
    }

    /// The element at a place.
    pub fn at(&self, place: i64) -> Value<'a> {
        let Some(content) = &self.0 else { return Value::default() };
        let mut found = match place < 0 {
            true => self.inside(),
            false => content.members.get(&index(place)).cloned().unwrap_or_default(),
        };
        found.join(&content.elements);
        found.join(&Value::data(content.data.step(&PathStep::Each)));
        found
    }

    /// Any element.
    pub fn element(&self) -> Value<'a> {
        let mut found = self.inside();
        found.join(&Value::data(self.paths().step(&PathStep::Each)));
        found
    }

    /// A member whose name is computed.
    pub fn any_member(&self) -> Value<'a> {
        let mut found = self.inside();
        found.join(&Value::data(self.paths().step(&PathStep::Unknown)));
        found
    }

    /// Any part of a container that the template made.
    fn inside(&self) -> Value<'a> {
        let mut found = Value::default();
        self.parts().for_each(|part| found.join(part));
        found
    }

    /// The same value, whose paths are all optional.
    pub fn optional(&self) -> Value<'a> {
        self.map(&|paths| paths.optional())
    }

    /// The same value, each path with all that is below it.
    pub fn frozen(&self) -> Value<'a> {
        self.map(&|paths| paths.frozen())
    }

    /// The same value without [`Object::Unset`].
    pub fn set(&self) -> Value<'a> {
        match &self.0 {
            Some(content) if content.objects.contains(&Object::Unset) => {
                let mut content = Content::clone(content);
                content.objects.remove(&Object::Unset);
                Value::build(content)
            }
            _ => self.clone(),
        }
    }

    /// The value that a variable with the value `self` gets if `other` is assigned to it: see [`Paths::walk`].
    pub fn walk(&self, other: &Value<'a>) -> Value<'a> {
        match &other.0 {
            Some(content) => {
                Value::build(Content { data: self.paths().walk(&content.data), ..Content::clone(content) })
            }
            None => Value::default(),
        }
    }

    fn map(&self, change: &impl Fn(&Paths) -> Paths) -> Value<'a> {
        let Some(content) = &self.0 else { return Value::default() };
        Value::build(Content {
            data: change(&content.data),
            objects: content.objects.clone(),
            members: content.members.iter().map(|(name, part)| (name.clone(), part.map(change))).collect(),
            elements: content.elements.map(change),
            depth: 0,
            weight: 0,
        })
    }

    /// Adds what another value may be.
    pub fn join(&mut self, other: &Value<'a>) {
        let Some(theirs) = &other.0 else { return };
        let Some(mine) = &self.0 else {
            *self = other.clone();
            return;
        };
        if Rc::ptr_eq(mine, theirs) || mine == theirs {
            return;
        }
        let mut content = Content::clone(mine);
        content.data.add(&theirs.data);
        content.objects.extend(theirs.objects.iter().cloned());
        for (name, part) in &theirs.members {
            content.members.entry(name.clone()).or_default().join(part);
        }
        content.elements.join(&theirs.elements);
        *self = Value::build(content);
    }

    /// Adds a value that a variable has instead, on another way through the template. Then no path is needed for certain.
    pub fn merge(&mut self, other: &Value<'a>) {
        if self != other {
            *self = self.optional();
            self.join(&other.optional());
        }
    }
}

impl<'a> Content<'a> {
    /// Turns the container into the data of all its parts.
    fn flatten(&mut self) {
        let members = std::mem::take(&mut self.members);
        let elements = std::mem::take(&mut self.elements);
        for part in members.values().chain([&elements]) {
            part.each_paths(&mut |paths| {
                self.data.add(&paths.frozen());
            });
            part.each_object(&mut |object| {
                self.objects.insert(object.clone());
            });
        }
        (self.depth, self.weight) = (0, 0);
    }
}

impl<'a> Value<'a> {
    fn each_object(&self, visit: &mut impl FnMut(&Object<'a>)) {
        self.objects().for_each(&mut *visit);
        self.parts().for_each(|part| part.each_object(visit));
    }
}

impl Join for Value<'_> {
    fn add(&mut self, other: &Self) -> bool {
        let before = self.clone();
        self.merge(other);
        *self != before
    }
}

/// The name of the member that stands at a place of a list.
fn index(place: i64) -> SmolStr {
    smol_str::format_smolstr!("{place}")
}
