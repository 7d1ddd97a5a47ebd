//! A schema as a graph: which of its parts are applied to which parts of a value, and what each costs by itself.

use std::collections::{HashMap, HashSet};

use jsonschema::Draft;
use referencing::{Registry, Resolver};
use serde_json::{Map, Value as Json};

use super::InvalidSchema;
use super::pattern::{self, BACKTRACKS_MAX};
use template::value::Value;

/// The most parts that a schema may have, with those that it refers to.
const NODES_MAX: usize = 5_000;

/// The most places that the automata of all patterns of a schema may have.
const STATES_MAX: u64 = 50_000;

/// How long the places of all parts together may be, in bytes, and how many parts may apply others.
const PLACES_BYTES: usize = 4 << 20;
const LINKS_MAX: usize = 50_000;

/// What compiling a pattern costs in any case, as places of an automaton.
const PATTERN_STATES: u64 = 50;

/// Units in which the cost of a byte of text is told: so many make a step.
pub(super) const BYTES_A_STEP: u64 = 64;

/// Parts of a step that the place of a pattern's automaton takes for a byte.
const STATE_UNITS: u64 = 2;

/// The parts of a schema; the first is the whole.
#[derive(Debug, Default)]
pub(super) struct Graph {
    pub nodes: Vec<Node>,
}

/// One part of a schema.
#[derive(Debug, Default)]
pub(super) struct Node {
    /// Where it stands in its document: a JSON Pointer.
    pub at: String,
    pub own: Own,
    pub links: Vec<Link>,
    /// The names in its `properties`.
    pub names: HashSet<String>,
    /// Whether it looks again at what its other parts have looked at (`unevaluatedProperties`, `unevaluatedItems`).
    pub looks_again: bool,
}

/// What a part costs without the parts that it applies.
#[derive(Debug, Default, Clone, Copy)]
pub(super) struct Own {
    /// Steps.
    pub fixed: u64,
    /// Steps for each value of the whole value that it is applied to.
    pub each: u64,
    /// Units ([`BYTES_A_STEP`]) for each byte of a text.
    pub text: u64,
    /// Units for each byte of the names of an object's members.
    pub keys: u64,
    /// Patterns whose match may be given up.
    pub unfinished: u64,
}

/// That a part applies another one.
#[derive(Debug)]
pub(super) struct Link {
    pub to: usize,
    pub reach: Reach,
    pub role: Role,
}

/// To what another part is applied.
#[derive(Debug, PartialEq)]
pub(super) enum Reach {
    /// The same value.
    Here,
    /// A member.
    Member(String),
    /// All members.
    Members,
    /// All members that `properties` do not name.
    OtherMembers,
    /// The names of the members.
    Names,
    /// One item.
    Item(usize),
    /// All items from this one.
    ItemsFrom(usize),
}

/// What becomes of what another part says.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(super) enum Role {
    /// What is wrong there is wrong here.
    Must,
    /// It is only asked whether it fits.
    Asked,
    /// It is asked whether it fits, and, if nothing does, again what is wrong.
    OneOf,
}

impl Graph {
    /// The graph of `schema`, which is in the registry under `base`.
    ///
    /// # Errors
    /// For references that lead nowhere, and for what is too large.
    pub fn of(schema: &Json, draft: Draft, resolver: Resolver<'_>) -> Result<Graph, InvalidSchema> {
        let mut builder = Builder::default();
        builder.visit(Place { schema, draft, resolver, at: String::new() });
        while let Some((number, place)) = builder.waiting.pop() {
            builder.read(number, place)?;
            builder.check_size()?;
        }
        builder.link_dynamic()?;
        Ok(builder.graph)
    }
}

/// The registry in which the references of `schema` are looked up, and the name of the schema in it.
pub(super) fn registry<'r>(
    known: &'r Registry<'static>,
    schema: &'r Json,
    draft: Draft,
) -> Result<(Registry<'r>, referencing::Uri<String>), referencing::Error> {
    let resource = draft.create_resource_ref(schema);
    let base = referencing::uri::from_str(resource.id().unwrap_or("json-schema:///"))?;
    let registry = known.add(base.as_str(), resource)?.draft(draft).prepare()?;
    Ok((registry, base))
}

/// A part of a schema that is still to be read.
struct Place<'s> {
    schema: &'s Json,
    draft: Draft,
    resolver: Resolver<'s>,
    at: String,
}

#[derive(Default)]
struct Builder<'s> {
    graph: Graph,
    /// The number of each part by its address: what is referred to twice is one part.
    numbers: HashMap<*const Json, usize>,
    waiting: Vec<(usize, Place<'s>)>,
    states: u64,
    place_bytes: usize,
    /// Parts that a dynamic reference may mean, and those who refer so.
    anchors: HashMap<String, Vec<usize>>,
    dynamic: Vec<(usize, String)>,
}

/// The name under which `$recursiveAnchor` is kept; no anchor can have it.
const RECURSIVE: &str = "#";

/// Keywords whose value is one schema, or a list of them, for the same value.
const HERE: [(&str, Role); 8] = [
    ("allOf", Role::Must),
    ("anyOf", Role::OneOf),
    ("oneOf", Role::OneOf),
    ("not", Role::Asked),
    ("if", Role::Asked),
    ("then", Role::Must),
    ("else", Role::Must),
    ("contentSchema", Role::Asked),
];

/// Keywords whose value is data that the value is compared with.
const DATA: [&str; 5] = ["enum", "const", "required", "dependentRequired", "type"];

impl<'s> Builder<'s> {
    /// The number of a part, which is read later if it is new.
    fn visit(&mut self, place: Place<'s>) -> usize {
        let next = self.graph.nodes.len();
        let number = *self.numbers.entry(std::ptr::from_ref(place.schema)).or_insert(next);
        if number == next {
            self.place_bytes = self.place_bytes.saturating_add(place.at.len());
            self.graph.nodes.push(Node { at: place.at.clone(), ..Node::default() });
            self.waiting.push((number, place));
        }
        number
    }

    fn check_size(&self) -> Result<(), InvalidSchema> {
        if self.graph.nodes.len() > NODES_MAX {
            return Err(InvalidSchema::new(format!(
                "it has more than {NODES_MAX} parts, with those that it refers to; use a smaller schema"
            )));
        }
        if self.place_bytes > PLACES_BYTES {
            return Err(InvalidSchema::new("the names in it are too long; use shorter ones"));
        }
        if self.states > STATES_MAX {
            return Err(InvalidSchema::new(
                "its patterns are too large in all; use fewer or shorter ones, and smaller counts in braces",
            ));
        }
        Ok(())
    }

    fn read(&mut self, number: usize, place: Place<'s>) -> Result<(), InvalidSchema> {
        let (mut own, mut links) = (Own { fixed: 1, ..Own::default() }, Vec::new());
        let mut names = HashSet::new();
        if let Json::Object(members) = place.schema {
            self.own(members, &mut own);
            self.here(members, &place, &mut links)?;
            self.of_objects(members, &place, &mut links)?;
            self.of_lists(members, &place, &mut links)?;
            self.references(number, members, &place, &mut links)?;
            let properties = members.get("properties").and_then(Json::as_object);
            names = properties.into_iter().flat_map(|properties| properties.keys().cloned()).collect();
        }
        if let Some(node) = self.graph.nodes.get_mut(number) {
            let again = ["unevaluatedProperties", "unevaluatedItems"];
            let looks_again = again.iter().any(|keyword| place.schema.get(keyword).is_some());
            *node = Node { at: place.at, own, links, names, looks_again };
        }
        Ok(())
    }

    fn own(&mut self, members: &Map<String, Json>, own: &mut Own) {
        own.fixed += members.len() as u64;
        own.fixed += DATA
            .iter()
            .filter_map(|keyword| members.get(*keyword))
            .map(|data| size(&data.into()))
            .sum::<u64>();
        if members.get("uniqueItems") == Some(&Json::Bool(true)) {
            // Up to fifteen items are compared each with each, more by hashes.
            own.each += 16;
        }
        own.text += match members.get("format").and_then(Json::as_str) {
            Some("regex") => BYTES_A_STEP,
            Some(_) => 4,
            None => 0,
        };
        own.text += 4 * u64::from(members.contains_key("minLength") || members.contains_key("maxLength"));
        own.text += 16
            * u64::from(members.contains_key("contentMediaType") || members.contains_key("contentEncoding"));
        if let Some(Json::String(pattern)) = members.get("pattern") {
            own.text = own.text.saturating_add(self.pattern(pattern, own));
        }
        for pattern in
            members.get("patternProperties").and_then(Json::as_object).into_iter().flat_map(Map::keys)
        {
            own.keys = own.keys.saturating_add(self.pattern(pattern, own));
        }
    }

    /// The units for each byte that a pattern is held against.
    fn pattern(&mut self, pattern: &str, own: &mut Own) -> u64 {
        let cost = pattern::cost(pattern);
        let length = pattern.len() as u64;
        self.states = self.states.saturating_add(cost.states).saturating_add(PATTERN_STATES + length);
        own.unfinished += u64::from(cost.backtracks);
        let times = if cost.backtracks { BACKTRACKS_MAX as u64 } else { 1 };
        cost.states.saturating_mul(STATE_UNITS * times)
    }

    /// The number of the part below `place` along these steps of its pointer.
    fn child(&mut self, place: &Place<'s>, schema: &'s Json, steps: &[&str]) -> Result<usize, InvalidSchema> {
        let draft = place.draft.detect(schema);
        let resolver =
            place.resolver.in_subresource(draft.create_resource_ref(schema)).map_err(unresolved)?;
        let escaped = steps.iter().map(|step| step.replace('~', "~0").replace('/', "~1"));
        let at = escaped.fold(place.at.clone(), |at, step| at + "/" + &step);
        self.check_size()?;
        Ok(self.visit(Place { schema, draft, resolver, at }))
    }

    fn here(
        &mut self,
        members: &'s Map<String, Json>,
        place: &Place<'s>,
        links: &mut Vec<Link>,
    ) -> Result<(), InvalidSchema> {
        for (keyword, role) in HERE {
            match members.get(keyword) {
                Some(Json::Array(schemas)) => {
                    for (at, schema) in schemas.iter().enumerate() {
                        let to = self.child(place, schema, &[keyword, &at.to_string()])?;
                        links.push(Link { to, reach: Reach::Here, role });
                    }
                }
                Some(schema) => {
                    let to = self.child(place, schema, &[keyword])?;
                    links.push(Link { to, reach: Reach::Here, role });
                }
                None => {}
            }
        }
        for keyword in ["dependentSchemas", "dependencies"] {
            for (name, schema) in members.get(keyword).and_then(Json::as_object).into_iter().flatten() {
                let to = self.child(place, schema, &[keyword, name])?;
                links.push(Link { to, reach: Reach::Here, role: Role::Must });
            }
        }
        // They cost nothing, but a dynamic reference may mean them.
        for keyword in ["$defs", "definitions"] {
            for (name, schema) in members.get(keyword).and_then(Json::as_object).into_iter().flatten() {
                self.child(place, schema, &[keyword, name])?;
            }
        }
        Ok(())
    }

    fn of_objects(
        &mut self,
        members: &'s Map<String, Json>,
        place: &Place<'s>,
        links: &mut Vec<Link>,
    ) -> Result<(), InvalidSchema> {
        for (name, schema) in members.get("properties").and_then(Json::as_object).into_iter().flatten() {
            let to = self.child(place, schema, &["properties", name])?;
            links.push(Link { to, reach: Reach::Member(name.clone()), role: Role::Must });
        }
        for (pattern, schema) in
            members.get("patternProperties").and_then(Json::as_object).into_iter().flatten()
        {
            let to = self.child(place, schema, &["patternProperties", pattern])?;
            links.push(Link { to, reach: Reach::Members, role: Role::Must });
        }
        for (keyword, reach) in [
            ("additionalProperties", Reach::OtherMembers),
            ("unevaluatedProperties", Reach::OtherMembers),
            ("propertyNames", Reach::Names),
        ] {
            if let Some(schema) = members.get(keyword) {
                let to = self.child(place, schema, &[keyword])?;
                links.push(Link { to, reach, role: Role::Must });
            }
        }
        Ok(())
    }

    fn of_lists(
        &mut self,
        members: &'s Map<String, Json>,
        place: &Place<'s>,
        links: &mut Vec<Link>,
    ) -> Result<(), InvalidSchema> {
        let mut first = 0;
        for keyword in ["prefixItems", "items"] {
            let schemas = members.get(keyword).and_then(Json::as_array).into_iter().flatten();
            for (at, schema) in schemas.enumerate() {
                let to = self.child(place, schema, &[keyword, &at.to_string()])?;
                links.push(Link { to, reach: Reach::Item(at), role: Role::Must });
                first = first.max(at + 1);
            }
        }
        for (keyword, from, role) in [
            ("items", first, Role::Must),
            ("additionalItems", first, Role::Must),
            ("unevaluatedItems", first, Role::Must),
            ("contains", 0, Role::Asked),
        ] {
            if let Some(schema @ (Json::Object(_) | Json::Bool(_))) = members.get(keyword) {
                let to = self.child(place, schema, &[keyword])?;
                links.push(Link { to, reach: Reach::ItemsFrom(from), role });
            }
        }
        Ok(())
    }

    fn references(
        &mut self,
        number: usize,
        members: &'s Map<String, Json>,
        place: &Place<'s>,
        links: &mut Vec<Link>,
    ) -> Result<(), InvalidSchema> {
        let text = |keyword: &str| members.get(keyword).and_then(Json::as_str);
        for reference in ["$ref", "$dynamicRef", "$recursiveRef"].iter().filter_map(|keyword| text(keyword)) {
            let found = place.resolver.lookup(reference).map_err(unresolved)?;
            let (schema, resolver, draft) = found.into_inner();
            let at = reference.strip_prefix('#').unwrap_or(reference).to_owned();
            let to = self.visit(Place { schema, draft, resolver, at });
            links.push(Link { to, reach: Reach::Here, role: Role::Must });
        }
        if let Some((_, name)) = text("$dynamicRef").and_then(|reference| reference.rsplit_once('#')) {
            self.dynamic.push((number, name.to_owned()));
        }
        if text("$recursiveRef").is_some() {
            self.dynamic.push((number, RECURSIVE.to_owned()));
        }
        let recursive = members.get("$recursiveAnchor") == Some(&Json::Bool(true));
        let anchor = text("$dynamicAnchor").or(recursive.then_some(RECURSIVE));
        if let Some(anchor) = anchor {
            self.anchors.entry(anchor.to_owned()).or_default().push(number);
        }
        Ok(())
    }

    /// Links dynamic references to everything that they may mean.
    fn link_dynamic(&mut self) -> Result<(), InvalidSchema> {
        let mut links: usize = self.graph.nodes.iter().map(|node| node.links.len()).sum();
        for (from, name) in std::mem::take(&mut self.dynamic) {
            let Some(node) = self.graph.nodes.get_mut(from) else { continue };
            let anchors = self.anchors.get(&name).map_or(&[][..], Vec::as_slice);
            links += anchors.len();
            if links > LINKS_MAX {
                return Err(InvalidSchema::new(
                    "its dynamic references may mean too much; use fewer of them",
                ));
            }
            let known: HashSet<usize> =
                node.links.iter().filter(|link| link.reach == Reach::Here).map(|link| link.to).collect();
            let new = anchors.iter().filter(|to| !known.contains(to));
            node.links.extend(new.map(|&to| Link { to, reach: Reach::Here, role: Role::Must }));
        }
        Ok(())
    }
}

fn unresolved(error: referencing::Error) -> InvalidSchema {
    InvalidSchema::new(error.to_string())
}

/// How much comparing with this value can cost, in steps.
pub(super) fn size(value: &Value) -> u64 {
    let mut steps = 0;
    let mut waiting = vec![value];
    while let Some(value) = waiting.pop() {
        steps += 1;
        match value {
            Value::Str(text) => steps += text.len() as u64 / BYTES_A_STEP,
            Value::List(items) => waiting.extend(items.iter()),
            Value::Map(members) => waiting.extend(members.iter().map(|(name, member)| {
                steps += name.len() as u64 / BYTES_A_STEP;
                member
            })),
            _ => {}
        }
    }
    steps
}
