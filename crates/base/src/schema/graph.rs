//! A schema as a graph: which subschemas apply which others to which parts of a value, and what each costs by itself.

use std::collections::{HashMap, HashSet};

use jsonschema::Draft;
use referencing::{Registry, Resolver};
use serde_json::{Map, Value as Json};

use super::InvalidSchema;
use super::pattern::{self, BACKTRACKS_MAX};
use template::value::Value;

/// The most subschemas that a schema may have, with those that it refers to.
const NODES_MAX: usize = 5_000;

/// The most states that the automata of all patterns of a schema may have.
const STATES_MAX: u64 = 50_000;

/// How many bytes the JSON Pointers of all subschemas may have together.
const POINTERS_BYTES: usize = 4 << 20;

/// The most links of a schema, those of dynamic references included.
const LINKS_MAX: usize = 50_000;

/// The fixed cost of compiling a pattern, as a number of automaton states.
const PATTERN_STATES: u64 = 50;

/// How many units make a step. The costs of a byte of text are whole numbers of units.
pub(super) const BYTES_A_STEP: u64 = 64;

/// The cost of one automaton state for one byte, in units.
const STATE_UNITS: u64 = 2;

/// All subschemas of a schema; the first is the schema itself.
#[derive(Debug, Default)]
pub(super) struct Graph {
    pub nodes: Vec<Node>,
}

/// A subschema.
#[derive(Debug, Default)]
pub(super) struct Node {
    /// Its place in the document: a JSON Pointer.
    pub at: String,
    pub own: OwnCost,
    pub links: Vec<Link>,
    /// The names in its `properties`.
    pub names: HashSet<String>,
    /// Whether the validator must find out what the other keywords have evaluated (for `unevaluatedProperties` and
    /// `unevaluatedItems`).
    pub tracks_evaluated: bool,
}

/// What a subschema costs without the subschemas that it applies.
#[derive(Debug, Default, Clone, Copy)]
pub(super) struct OwnCost {
    /// Steps in any case.
    pub fixed: u64,
    /// Steps for each value inside the value that it is applied to.
    pub each: u64,
    /// Units ([`BYTES_A_STEP`]) for each byte of a text.
    pub text: u64,
    /// Units for each byte of the names of an object's members.
    pub keys: u64,
    /// How many patterns backtrack, so that a match may hit the backtracking limit.
    pub unfinished: u64,
}

/// An edge of the graph: a subschema applies another one.
#[derive(Debug)]
pub(super) struct Link {
    pub to: usize,
    pub reach: Reach,
    pub role: Role,
}

/// What another subschema is applied to.
#[derive(Debug, PartialEq)]
pub(super) enum Reach {
    /// The same value.
    Here,
    /// The member of this name.
    Member(String),
    /// All members.
    Members,
    /// All members that `properties` does not name.
    OtherMembers,
    /// The names of the members.
    Names,
    /// The item at this index.
    Item(usize),
    /// All items from this index on.
    ItemsFrom(usize),
}

/// How the result of another subschema is used.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(super) enum Role {
    /// Its violations are violations here (`allOf`, `properties`).
    Required,
    /// Only whether the value fits matters (`not`, `if`).
    Tested,
    /// Whether the value fits matters; if no alternative fits, their violations are listed too (`anyOf`, `oneOf`).
    Alternative,
}

impl Graph {
    /// The graph of `schema`, whose references `resolver` resolves.
    ///
    /// # Errors
    /// If a reference cannot be resolved, or the schema is too large.
    pub fn of(schema: &Json, draft: Draft, resolver: Resolver<'_>) -> Result<Graph, InvalidSchema> {
        let mut builder = Builder::default();
        builder.visit(Subschema { schema, draft, resolver, at: String::new() });
        while let Some((number, subschema)) = builder.waiting.pop() {
            builder.read(number, subschema)?;
            builder.check_size()?;
        }
        builder.link_dynamic()?;
        Ok(builder.graph)
    }
}

/// A registry of `known` schemas with `schema` added, and the URI of `schema` in it.
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

/// A subschema in its document.
struct Subschema<'s> {
    schema: &'s Json,
    draft: Draft,
    resolver: Resolver<'s>,
    at: String,
}

#[derive(Default)]
struct Builder<'s> {
    graph: Graph,
    /// The number of each subschema by its address, so that one that is referred to twice is one node.
    numbers: HashMap<*const Json, usize>,
    waiting: Vec<(usize, Subschema<'s>)>,
    states: u64,
    pointer_bytes: usize,
    /// The subschemas with a dynamic anchor, by its name.
    anchors: HashMap<String, Vec<usize>>,
    /// The subschemas with a dynamic reference, with the anchor's name.
    dynamic: Vec<(usize, String)>,
}

/// The name in `anchors` of `$recursiveAnchor`; no other anchor can have it.
const RECURSIVE: &str = "#";

/// Keywords whose value is a schema, or a list of schemas, for the same value.
const HERE: [(&str, Role); 8] = [
    ("allOf", Role::Required),
    ("anyOf", Role::Alternative),
    ("oneOf", Role::Alternative),
    ("not", Role::Tested),
    ("if", Role::Tested),
    ("then", Role::Required),
    ("else", Role::Required),
    ("contentSchema", Role::Tested),
];

/// Keywords whose value is data to compare with.
const DATA: [&str; 5] = ["enum", "const", "required", "dependentRequired", "type"];

impl<'s> Builder<'s> {
    /// The number of a subschema; a new one is queued to be read.
    fn visit(&mut self, subschema: Subschema<'s>) -> usize {
        let next = self.graph.nodes.len();
        let number = *self.numbers.entry(std::ptr::from_ref(subschema.schema)).or_insert(next);
        if number == next {
            self.pointer_bytes = self.pointer_bytes.saturating_add(subschema.at.len());
            self.graph.nodes.push(Node { at: subschema.at.clone(), ..Node::default() });
            self.waiting.push((number, subschema));
        }
        number
    }

    fn check_size(&self) -> Result<(), InvalidSchema> {
        if self.graph.nodes.len() > NODES_MAX {
            return Err(InvalidSchema::new(format!(
                "it has more than {NODES_MAX} subschemas, with those that it refers to; use a smaller schema"
            )));
        }
        if self.pointer_bytes > POINTERS_BYTES {
            return Err(InvalidSchema::new("the names in it are too long; use shorter ones"));
        }
        if self.states > STATES_MAX {
            return Err(InvalidSchema::new(
                "its patterns are too large in all; use fewer or shorter ones, and smaller counts in braces",
            ));
        }
        Ok(())
    }

    fn read(&mut self, number: usize, subschema: Subschema<'s>) -> Result<(), InvalidSchema> {
        let (mut own, mut links) = (OwnCost { fixed: 1, ..OwnCost::default() }, Vec::new());
        let mut names = HashSet::new();
        if let Json::Object(members) = subschema.schema {
            self.own(members, &mut own);
            self.here(members, &subschema, &mut links)?;
            self.of_objects(members, &subschema, &mut links)?;
            self.of_lists(members, &subschema, &mut links)?;
            self.references(number, members, &subschema, &mut links)?;
            let properties = members.get("properties").and_then(Json::as_object);
            names = properties.into_iter().flat_map(|properties| properties.keys().cloned()).collect();
        }
        if let Some(node) = self.graph.nodes.get_mut(number) {
            let unevaluated = ["unevaluatedProperties", "unevaluatedItems"];
            let tracks_evaluated = unevaluated.iter().any(|keyword| subschema.schema.get(keyword).is_some());
            *node = Node { at: subschema.at, own, links, names, tracks_evaluated };
        }
        Ok(())
    }

    fn own(&mut self, members: &Map<String, Json>, own: &mut OwnCost) {
        own.fixed += members.len() as u64;
        own.fixed += DATA
            .iter()
            .filter_map(|keyword| members.get(*keyword))
            .map(|data| size(&data.into()))
            .sum::<u64>();
        if members.get("uniqueItems") == Some(&Json::Bool(true)) {
            // Up to 15 items are compared pairwise; more are compared by their hashes.
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

    /// The units that matching a pattern takes for each byte.
    fn pattern(&mut self, pattern: &str, own: &mut OwnCost) -> u64 {
        let cost = pattern::cost(pattern);
        let length = pattern.len() as u64;
        self.states = self.states.saturating_add(cost.states).saturating_add(PATTERN_STATES + length);
        own.unfinished += u64::from(cost.backtracks);
        let times = if cost.backtracks { BACKTRACKS_MAX as u64 } else { 1 };
        cost.states.saturating_mul(STATE_UNITS * times)
    }

    /// The number of the subschema below `subschema`, at these segments of a JSON Pointer.
    fn child(
        &mut self,
        subschema: &Subschema<'s>,
        schema: &'s Json,
        steps: &[&str],
    ) -> Result<usize, InvalidSchema> {
        let draft = subschema.draft.detect(schema);
        let resolver =
            subschema.resolver.in_subresource(draft.create_resource_ref(schema)).map_err(unresolved)?;
        let escaped = steps.iter().map(|step| step.replace('~', "~0").replace('/', "~1"));
        let at = escaped.fold(subschema.at.clone(), |at, step| at + "/" + &step);
        self.check_size()?;
        Ok(self.visit(Subschema { schema, draft, resolver, at }))
    }

    fn here(
        &mut self,
        members: &'s Map<String, Json>,
        subschema: &Subschema<'s>,
        links: &mut Vec<Link>,
    ) -> Result<(), InvalidSchema> {
        for (keyword, role) in HERE {
            match members.get(keyword) {
                Some(Json::Array(schemas)) => {
                    for (at, schema) in schemas.iter().enumerate() {
                        let to = self.child(subschema, schema, &[keyword, &at.to_string()])?;
                        links.push(Link { to, reach: Reach::Here, role });
                    }
                }
                Some(schema) => {
                    let to = self.child(subschema, schema, &[keyword])?;
                    links.push(Link { to, reach: Reach::Here, role });
                }
                None => {}
            }
        }
        for keyword in ["dependentSchemas", "dependencies"] {
            for (name, schema) in members.get(keyword).and_then(Json::as_object).into_iter().flatten() {
                let to = self.child(subschema, schema, &[keyword, name])?;
                links.push(Link { to, reach: Reach::Here, role: Role::Required });
            }
        }
        // Definitions cost nothing themselves, but a dynamic reference may point to them.
        for keyword in ["$defs", "definitions"] {
            for (name, schema) in members.get(keyword).and_then(Json::as_object).into_iter().flatten() {
                self.child(subschema, schema, &[keyword, name])?;
            }
        }
        Ok(())
    }

    fn of_objects(
        &mut self,
        members: &'s Map<String, Json>,
        subschema: &Subschema<'s>,
        links: &mut Vec<Link>,
    ) -> Result<(), InvalidSchema> {
        for (name, schema) in members.get("properties").and_then(Json::as_object).into_iter().flatten() {
            let to = self.child(subschema, schema, &["properties", name])?;
            links.push(Link { to, reach: Reach::Member(name.clone()), role: Role::Required });
        }
        for (pattern, schema) in
            members.get("patternProperties").and_then(Json::as_object).into_iter().flatten()
        {
            let to = self.child(subschema, schema, &["patternProperties", pattern])?;
            links.push(Link { to, reach: Reach::Members, role: Role::Required });
        }
        for (keyword, reach) in [
            ("additionalProperties", Reach::OtherMembers),
            ("unevaluatedProperties", Reach::OtherMembers),
            ("propertyNames", Reach::Names),
        ] {
            if let Some(schema) = members.get(keyword) {
                let to = self.child(subschema, schema, &[keyword])?;
                links.push(Link { to, reach, role: Role::Required });
            }
        }
        Ok(())
    }

    fn of_lists(
        &mut self,
        members: &'s Map<String, Json>,
        subschema: &Subschema<'s>,
        links: &mut Vec<Link>,
    ) -> Result<(), InvalidSchema> {
        let mut first = 0;
        for keyword in ["prefixItems", "items"] {
            let schemas = members.get(keyword).and_then(Json::as_array).into_iter().flatten();
            for (at, schema) in schemas.enumerate() {
                let to = self.child(subschema, schema, &[keyword, &at.to_string()])?;
                links.push(Link { to, reach: Reach::Item(at), role: Role::Required });
                first = first.max(at + 1);
            }
        }
        for (keyword, from, role) in [
            ("items", first, Role::Required),
            ("additionalItems", first, Role::Required),
            ("unevaluatedItems", first, Role::Required),
            ("contains", 0, Role::Tested),
        ] {
            if let Some(schema @ (Json::Object(_) | Json::Bool(_))) = members.get(keyword) {
                let to = self.child(subschema, schema, &[keyword])?;
                links.push(Link { to, reach: Reach::ItemsFrom(from), role });
            }
        }
        Ok(())
    }

    fn references(
        &mut self,
        number: usize,
        members: &'s Map<String, Json>,
        subschema: &Subschema<'s>,
        links: &mut Vec<Link>,
    ) -> Result<(), InvalidSchema> {
        let text = |keyword: &str| members.get(keyword).and_then(Json::as_str);
        for reference in ["$ref", "$dynamicRef", "$recursiveRef"].iter().filter_map(|keyword| text(keyword)) {
            let found = subschema.resolver.lookup(reference).map_err(unresolved)?;
            let (schema, resolver, draft) = found.into_inner();
            let at = reference.strip_prefix('#').unwrap_or(reference).to_owned();
            let to = self.visit(Subschema { schema, draft, resolver, at });
            links.push(Link { to, reach: Reach::Here, role: Role::Required });
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

    /// Links each dynamic reference to every subschema that it may resolve to.
    fn link_dynamic(&mut self) -> Result<(), InvalidSchema> {
        let mut links: usize = self.graph.nodes.iter().map(|node| node.links.len()).sum();
        for (from, name) in std::mem::take(&mut self.dynamic) {
            let Some(node) = self.graph.nodes.get_mut(from) else { continue };
            let anchors = self.anchors.get(&name).map_or(&[][..], Vec::as_slice);
            links += anchors.len();
            if links > LINKS_MAX {
                return Err(InvalidSchema::new(
                    "its dynamic references have too many possible targets; use fewer of them",
                ));
            }
            let known: HashSet<usize> =
                node.links.iter().filter(|link| link.reach == Reach::Here).map(|link| link.to).collect();
            let new = anchors.iter().filter(|to| !known.contains(to));
            node.links.extend(new.map(|&to| Link { to, reach: Reach::Here, role: Role::Required }));
        }
        Ok(())
    }
}

/// A reference that leads nowhere.
pub(super) fn unresolved(error: referencing::Error) -> InvalidSchema {
    InvalidSchema::new(match error {
        referencing::Error::Unretrievable { uri, .. } => {
            format!("it refers to `{uri}`, and nothing is fetched; put that schema into `$defs`")
        }
        error => error.to_string(),
    })
}

/// The most steps that a comparison with this value can take.
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
