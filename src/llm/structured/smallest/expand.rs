//! The ways to satisfy a schema: references are followed, and of alternatives one is chosen, so that plain keywords are left.

use std::ptr;

use serde_json::{Map, Value as Json};

use super::Finder;
use super::order::Kind;
use super::rebased;

/// The most ways that are looked at.
const BRANCHES_MAX: usize = 256;

/// How many parts of a way cost a step to copy.
const PARTS_A_STEP: usize = 8;

/// Keywords that never refuse a value.
const ANNOTATIONS: [&str; 14] = [
    "$anchor",
    "$comment",
    "$defs",
    "$id",
    "$schema",
    "contentEncoding",
    "contentMediaType",
    "default",
    "definitions",
    "deprecated",
    "description",
    "examples",
    "readOnly",
    "title",
];

/// Keywords that the constructions follow entirely.
const FOLLOWED: [&str; 19] = [
    "$ref",
    "additionalProperties",
    "allOf",
    "dependentRequired",
    "exclusiveMaximum",
    "exclusiveMinimum",
    "items",
    "maxItems",
    "maxLength",
    "maxProperties",
    "maximum",
    "minItems",
    "minLength",
    "minProperties",
    "minimum",
    "prefixItems",
    "properties",
    "required",
    "type",
];

/// Those that they follow where values are listed.
const FOLLOWED_BESIDE_LISTS: [&str; 5] = ["$ref", "allOf", "const", "enum", "type"];

/// What a value has to satisfy: all of some schemas.
#[derive(Debug, Clone)]
pub struct Goal<'s> {
    pub schemas: Vec<&'s Json>,
    /// How deep the value is in the whole one.
    pub depth: usize,
    trail: Trail,
}

/// The references on the way from the root.
#[derive(Debug, Clone, Default)]
struct Trail {
    targets: Vec<*const Json>,
    /// How many of them were there already.
    returns: usize,
}

/// One way to satisfy a goal: by these keywords.
#[derive(Debug, Clone)]
pub struct Branch<'s> {
    pub parts: Vec<&'s Map<String, Json>>,
    depth: usize,
    trail: Trail,
}

/// What is left to look at.
#[derive(Clone)]
enum Task<'s> {
    /// To satisfy this schema.
    Satisfy(&'s Json),
    /// To satisfy all schemas of one of these lists, the last one first.
    Choose(Vec<Vec<&'s Json>>),
}

impl<'s> Goal<'s> {
    /// To satisfy a whole schema.
    pub fn of(root: &'s Json) -> Goal<'s> {
        Goal { schemas: vec![root], depth: 0, trail: Trail::default() }
    }
}

impl<'s> Branch<'s> {
    /// The goal of a part of the value, which has to satisfy these schemas.
    pub fn inner(&self, schemas: Vec<&'s Json>) -> Goal<'s> {
        Goal { schemas, depth: self.depth + 1, trail: self.trail.clone() }
    }

    /// What the parts say for a keyword.
    pub fn all(&self, keyword: &str) -> impl Iterator<Item = &'s Json> {
        self.parts.iter().filter_map(move |part| part.get(keyword))
    }

    /// The largest of the counts that the parts say for a keyword.
    pub fn at_least(&self, keyword: &str) -> usize {
        self.all(keyword).filter_map(count).max().unwrap_or(0)
    }

    /// The smallest of them.
    pub fn at_most(&self, keyword: &str) -> usize {
        self.all(keyword).filter_map(count).min().unwrap_or(usize::MAX)
    }

    /// Whether the constructions follow all that it says.
    pub fn is_plain(&self) -> bool {
        let mut keywords = self.parts.iter().flat_map(|part| part.keys().map(String::as_str));
        let is_listed = self.listed().is_some();
        let lists = self.all("const").count() + self.all("enum").count();
        lists < 2
            && keywords.all(|keyword| {
                let followed = if is_listed { &FOLLOWED_BESIDE_LISTS[..] } else { &FOLLOWED[..] };
                ANNOTATIONS.contains(&keyword) || followed.contains(&keyword)
            })
    }

    /// The values that are listed, if some are: those of `const`, or of `enum`.
    pub fn listed(&self) -> Option<&'s [Json]> {
        let lists = self.all("enum").filter_map(Json::as_array).map(Vec::as_slice);
        self.all("const").map(std::slice::from_ref).chain(lists).next()
    }

    /// Whether the types allow a kind.
    pub fn allows(&self, kind: Kind) -> bool {
        self.all("type")
            .all(|types| has_type(types, kind.name()) || kind == Kind::Number && has_type(types, "integer"))
    }

    /// Whether a listed value is of this kind, and of the types.
    pub fn allows_listed(&self, kind: Kind, value: &Json) -> bool {
        let is_integer = value.as_f64().is_some_and(|number| number.fract() == 0.0);
        Kind::of(value) == kind && (kind != Kind::Number || is_integer || !self.is_integer())
    }

    /// Whether of numbers the types allow integers alone.
    pub fn is_integer(&self) -> bool {
        self.all("type").any(|types| has_type(types, "integer") && !has_type(types, "number"))
    }
}

fn has_type(types: &Json, name: &str) -> bool {
    types == name || types.as_array().is_some_and(|types| types.iter().any(|one| one == name))
}

fn count(value: &Json) -> Option<usize> {
    let number = value.as_u64().or_else(|| value.as_f64().map(|number| number as u64))?;
    usize::try_from(number).ok()
}

impl<'s> Finder<'s> {
    /// The ways to satisfy a goal.
    pub fn expand(&self, goal: &Goal<'s>) -> Vec<Branch<'s>> {
        let start = Branch { parts: Vec::new(), depth: goal.depth, trail: goal.trail.clone() };
        let tasks: Vec<Task> = goal.schemas.iter().rev().map(|schema| Task::Satisfy(schema)).collect();
        let (mut ways, mut waiting) = (Vec::new(), vec![(start, tasks)]);
        while let Some((mut branch, mut tasks)) = waiting.pop() {
            let steps = 1 + (branch.parts.len() + tasks.len()) / PARTS_A_STEP;
            if ways.len() >= BRANCHES_MAX || !self.spend(steps) {
                break;
            }
            match tasks.pop() {
                None => ways.push(branch),
                Some(Task::Satisfy(Json::Bool(true))) => waiting.push((branch, tasks)),
                Some(Task::Satisfy(Json::Object(part))) => {
                    if self.add(&mut branch, part, &mut tasks) {
                        waiting.push((branch, tasks));
                    }
                }
                Some(Task::Satisfy(_)) => {}
                Some(Task::Choose(mut choices)) => {
                    let Some(choice) = choices.pop() else { continue };
                    if !choices.is_empty() {
                        let mut others = tasks.clone();
                        others.push(Task::Choose(choices));
                        waiting.push((branch.clone(), others));
                    }
                    tasks.extend(choice.into_iter().rev().map(Task::Satisfy));
                    waiting.push((branch, tasks));
                }
            }
        }
        ways
    }

    /// Adds the keywords of a schema, and what they apply, to a way; whether it can be gone.
    fn add(&self, branch: &mut Branch<'s>, part: &'s Map<String, Json>, tasks: &mut Vec<Task<'s>>) -> bool {
        branch.parts.push(part);
        tasks.extend(alternatives(part).map(Task::Choose));
        tasks.extend(applied(part).map(Task::Satisfy));
        let reference = part.get("$ref").and_then(Json::as_str);
        match reference.and_then(|reference| rebased::target(self.root, reference)) {
            Some(target) => {
                tasks.push(Task::Satisfy(target));
                self.follow(branch, target)
            }
            None => true,
        }
    }

    /// Notes a reference on the way; whether it is allowed to come back so often.
    fn follow(&self, branch: &mut Branch<'s>, target: &'s Json) -> bool {
        let target = ptr::from_ref(target);
        if ptr::eq(target, self.root) || branch.trail.targets.contains(&target) {
            branch.trail.returns += 1;
        } else {
            branch.trail.targets.push(target);
        }
        let is_allowed = branch.trail.returns <= self.returns_max.get();
        if !is_allowed {
            self.was_cut.set(true);
        }
        is_allowed
    }
}

/// The schemas that hold, too: of `allOf`, and those that hold because a required member is there.
fn applied(part: &Map<String, Json>) -> impl Iterator<Item = &Json> {
    let required =
        part.get("required").and_then(Json::as_array).into_iter().flatten().filter_map(Json::as_str);
    let dependent = required.filter_map(|name| {
        let of = |keyword: &str| part.get(keyword)?.get(name).filter(|schema| !schema.is_array());
        of("dependentSchemas").or_else(|| of("dependencies"))
    });
    part.get("allOf").and_then(Json::as_array).into_iter().flatten().chain(dependent)
}

/// The alternatives, the last one first: of `anyOf` and `oneOf`, and of `if`.
fn alternatives(part: &Map<String, Json>) -> impl Iterator<Item = Vec<Vec<&Json>>> {
    let lists = ["anyOf", "oneOf"].into_iter().filter_map(|keyword| part.get(keyword)?.as_array());
    let lists = lists.map(|list| list.iter().rev().map(|schema| vec![schema]).collect());
    let condition = part.get("if").map(|condition| {
        let then = [condition].into_iter().chain(part.get("then")).collect();
        vec![part.get("else").into_iter().collect(), then]
    });
    lists.chain(condition)
}
