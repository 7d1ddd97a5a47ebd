//! What a subschema says: the keywords that matter for the strict form, read the same way whatever draft they are written in.

use serde_json::{Map, Value as Json};

/// The keywords that are read.
const READ: [&str; 24] = [
    "title",
    "description",
    "$ref",
    "type",
    "enum",
    "const",
    "properties",
    "required",
    "additionalProperties",
    "items",
    "anyOf",
    "oneOf",
    "allOf",
    "pattern",
    "format",
    "multipleOf",
    "minimum",
    "exclusiveMinimum",
    "maximum",
    "exclusiveMaximum",
    "minItems",
    "maxItems",
    "minLength",
    "maxLength",
];

/// The keywords that strict mode cannot express, and that change what an answer may look like too much to be left out.
const INEXPRESSIBLE: [&str; 12] = [
    "patternProperties",
    "prefixItems",
    "if",
    "then",
    "else",
    "dependentSchemas",
    "$anchor",
    "$dynamicRef",
    "$dynamicAnchor",
    "$recursiveRef",
    "$recursiveAnchor",
    "$vocabulary",
];

/// The keywords of a branch that is merely a constraint on the members of an object.
const CONSTRAINTS: [&str; 5] = ["required", "not", "dependentRequired", "title", "description"];

/// The keywords that say what a value is made of. Of these a reference or a union has none beside it.
const STRUCTURE: [&str; 10] = [
    "$ref",
    "anyOf",
    "oneOf",
    "type",
    "enum",
    "const",
    "properties",
    "required",
    "additionalProperties",
    "items",
];

/// How deep `allOf` in `allOf` is followed.
const MERGES_MAX: usize = 16;

/// The keywords of a subschema that are read, in their order. The single member of an `allOf` is merged.
#[derive(Debug)]
pub(super) struct Keywords<'s>(Vec<(&'s str, &'s Json)>);

impl<'s> Keywords<'s> {
    /// The keywords of the whole document.
    pub fn of_document(document: &'s Json) -> Option<Keywords<'s>> {
        Keywords::read(document, true, 0)
    }

    /// The keywords of another subschema; `None` if it is not an object, or strict mode cannot express it.
    pub fn of(schema: &'s Json) -> Option<Keywords<'s>> {
        Keywords::read(schema, false, 0)
    }

    fn read(schema: &'s Json, is_document: bool, merges: usize) -> Option<Keywords<'s>> {
        let schema = schema.as_object()?;
        let is_elsewhere = !is_document && schema.contains_key("$id");
        if is_elsewhere || merges > MERGES_MAX || !is_expressible(schema) {
            return None;
        }
        let read = schema.iter().filter(|(name, _)| READ.contains(&name.as_str()));
        let mut keywords = Keywords(read.map(|(name, json)| (name.as_str(), json)).collect());
        keywords.drop_constraints();
        keywords.merge_all_of(merges)?;
        Some(keywords)
    }

    /// A keyword.
    pub fn get(&self, name: &str) -> Option<&'s Json> {
        self.0.iter().find(|(own, _)| *own == name).map(|(_, json)| *json)
    }

    /// All keywords, in their order.
    pub fn iter(&self) -> impl Iterator<Item = (&'s str, &'s Json)> {
        self.0.iter().copied()
    }

    /// Whether it says what a value is made of by any other keywords than these.
    pub fn has_structure_beside(&self, names: &[&str]) -> bool {
        self.0.iter().any(|(own, _)| STRUCTURE.contains(own) && !names.contains(own))
    }

    /// Removes unions of mere constraints: what is left accepts more, but nothing of another shape.
    fn drop_constraints(&mut self) {
        self.0.retain(|(name, json)| {
            let is_union = matches!(*name, "anyOf" | "oneOf");
            !is_union || !json.as_array().is_some_and(|branches| branches.iter().all(is_constraint))
        });
    }

    fn merge_all_of(&mut self, merges: usize) -> Option<()> {
        let Some(place) = self.0.iter().position(|(name, _)| *name == "allOf") else { return Some(()) };
        let (_, members) = self.0.remove(place);
        let mut members = members.as_array()?.iter().filter(|member| !is_constraint(member));
        match (members.next(), members.next()) {
            (None, _) => Some(()),
            (Some(member), None) => self.merge(Keywords::read(member, false, merges + 1)?),
            (Some(_), Some(_)) => None,
        }
    }

    /// Adds the keywords of a subschema that applies to the same value; `None` if both together mean more than one subschema says.
    fn merge(&mut self, inner: Keywords<'s>) -> Option<()> {
        let closes = |keywords: &Keywords| keywords.get("additionalProperties").is_some();
        let lists = |keywords: &Keywords| keywords.get("properties").is_some();
        if closes(self) && lists(&inner) || lists(self) && closes(&inner) {
            return None;
        }
        for (name, json) in inner.0 {
            match self.get(name) {
                None => self.0.push((name, json)),
                Some(own) if own == json || matches!(name, "title" | "description") => {}
                Some(_) => return None,
            }
        }
        Some(())
    }
}

/// Whether a subschema has only keywords that strict mode can express, or that can be left out.
fn is_expressible(schema: &Map<String, Json>) -> bool {
    let lists_names = |json: &Json| json.as_object().is_some_and(|all| all.values().all(Json::is_array));
    !INEXPRESSIBLE.iter().any(|name| schema.contains_key(*name))
        && schema.get("unevaluatedProperties").is_none_or(|json| *json == Json::Bool(false))
        && schema.get("dependencies").is_none_or(lists_names)
}

fn is_constraint(branch: &Json) -> bool {
    let is_known = |name: &String| CONSTRAINTS.contains(&name.as_str());
    branch.as_object().is_some_and(|branch| branch.keys().all(is_known))
}
