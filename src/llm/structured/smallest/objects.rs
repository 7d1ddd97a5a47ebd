//! The smallest objects: the members that they must have, in the order of their declarations, with the smallest values.

use std::collections::{HashMap, HashSet};
use std::sync::LazyLock;

use serde_json::{Map, Value as Json, json};

use super::Finder;
use super::expand::{Branch, Goal};
use super::texts::letters;

/// The most members that are made, and the most names that are tried for those without one.
const MEMBERS_MAX: usize = 10_000;

/// How many values of one member are tried where the first ones do not fit.
const VALUES_TRIED: usize = 4;

/// What all names are.
static STRING: LazyLock<Json> = LazyLock::new(|| json!({"type": "string"}));

impl<'s> Finder<'s> {
    /// Some of the smallest objects that a branch allows.
    pub fn objects(&self, branch: &Branch<'s>, wanted: usize) -> Vec<Json> {
        let Some(first) = self.object(branch) else { return Vec::new() };
        if first.len() > branch.at_most("maxProperties") {
            return Vec::new();
        }
        let mut found = vec![first.clone()];
        if wanted > 1 {
            self.vary(branch, &first, wanted, &mut found);
        }
        found.into_iter().map(Json::Object).collect()
    }

    /// The members that there have to be, with their first values.
    fn object(&self, branch: &Branch<'s>) -> Option<Map<String, Json>> {
        let least = branch.at_least("minProperties");
        let mut object = Map::new();
        for name in required(branch) {
            let value = self.member(branch, &name, 1).into_iter().next()?;
            if !self.spend_bytes(name.len() + value.to_string().len()) {
                return None;
            }
            object.insert(name, value);
        }
        if object.len() < least {
            let declared = declared(branch).map(str::to_owned);
            self.fill(branch, &mut object, least, declared);
        }
        if object.len() < least {
            self.fill(branch, &mut object, least, self.free_names(branch, least).into_iter());
        }
        (object.len() >= least).then_some(object)
    }

    /// Adds members of some names until there are enough.
    fn fill(
        &self,
        branch: &Branch<'s>,
        object: &mut Map<String, Json>,
        least: usize,
        names: impl Iterator<Item = String>,
    ) {
        for name in names {
            if object.len() >= least {
                break;
            }
            if !object.contains_key(&name)
                && let Some(value) = self.member(branch, &name, 1).into_iter().next()
            {
                object.insert(name, value);
            }
        }
    }

    /// Adds objects in which one member has another value, or there is one more.
    fn vary(
        &self,
        branch: &Branch<'s>,
        first: &Map<String, Json>,
        wanted: usize,
        found: &mut Vec<Map<String, Json>>,
    ) {
        let free = self.free_names(branch, 2);
        let bytes = first.iter().map(|(name, value)| name.len() + value.to_string().len()).sum();
        let more =
            declared(branch).chain(free.iter().map(String::as_str)).filter(|name| !first.contains_key(*name));
        for name in first.keys().map(String::as_str).chain(more) {
            for value in self.member(branch, name, VALUES_TRIED.min(wanted)) {
                if found.len() >= wanted || !self.spend_bytes(bytes) {
                    return;
                }
                let mut object = first.clone();
                if object.insert(name.to_owned(), value.clone()) != Some(value) {
                    found.push(object);
                }
            }
        }
    }

    fn member(&self, branch: &Branch<'s>, name: &str, wanted: usize) -> Vec<Json> {
        self.values(&self.member_goal(branch, name), wanted)
    }

    /// What the member of a name has to satisfy.
    fn member_goal(&self, branch: &Branch<'s>, name: &str) -> Goal<'s> {
        let mut schemas = Vec::new();
        for part in &branch.parts {
            let own = part.get("properties").and_then(|properties| properties.get(name));
            let patterns = part.get("patternProperties").and_then(Json::as_object).into_iter().flatten();
            let matching: Vec<&Json> = patterns
                .filter(|(pattern, _)| self.checker.matches(pattern, name))
                .map(|(_, schema)| schema)
                .collect();
            let is_declared = own.is_some() || !matching.is_empty();
            schemas.extend(own.into_iter().chain(matching));
            schemas.extend(part.get("additionalProperties").filter(|_| !is_declared));
        }
        branch.inner(schemas)
    }

    /// Names for members that no schema names.
    fn free_names(&self, branch: &Branch<'s>, count: usize) -> Vec<String> {
        let count = count.min(MEMBERS_MAX);
        let mut rules: Vec<&Json> = branch.all("propertyNames").collect();
        if !rules.is_empty() {
            rules.push(&STRING);
            let names = self.values(&branch.inner(rules), count);
            return names.iter().filter_map(Json::as_str).map(str::to_owned).collect();
        }
        let patterns = branch.all("patternProperties").filter_map(Json::as_object).flat_map(Map::keys);
        let matching = patterns
            .flat_map(|pattern| super::pattern::texts(pattern, count, 0, &|bytes| self.spend_bytes(bytes)));
        // The declared names may be among the letters, too.
        let letters =
            (1..=count + declared(branch).count().min(MEMBERS_MAX)).map(|number| letters(number, 0));
        matching.chain(letters).collect()
    }
}

/// The names of the declared members.
fn declared<'s>(branch: &Branch<'s>) -> impl Iterator<Item = &'s str> {
    branch.all("properties").filter_map(Json::as_object).flat_map(Map::keys).map(String::as_str)
}

/// The names of the members that there have to be: declared ones in the order of their declarations, then all others.
fn required(branch: &Branch) -> Vec<String> {
    let mut seen = HashSet::new();
    let mut found: Vec<&str> =
        branch.all("required").flat_map(names).filter(|name| seen.insert(*name)).collect();
    let mut at = 0;
    while let Some(&name) = found.get(at) {
        let lists = branch.all("dependentRequired").chain(branch.all("dependencies"));
        let more = lists.filter_map(|lists| lists.get(name)).flat_map(names);
        found.extend(more.filter(|name| seen.insert(*name)));
        at += 1;
    }
    let places: HashMap<&str, usize> = declared(branch).zip(0..).collect();
    found.sort_by_key(|name| places.get(name).copied().unwrap_or(usize::MAX));
    found.into_iter().map(str::to_owned).collect()
}

fn names(list: &Json) -> impl Iterator<Item = &str> {
    list.as_array().into_iter().flatten().filter_map(Json::as_str)
}
