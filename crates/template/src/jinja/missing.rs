//! Stand-in objects for missing values: they can be tested and looked into, and record every other use.

use std::collections::HashMap;
use std::fmt;
use std::sync::Arc;

use minijinja::value::{DynObject, Enumerator, Object, ObjectRepr};
use minijinja::{Error, ErrorKind, State, Value as Engine};

use super::run;
use crate::value::{List, Map, Path, SmolStr, Step, Value};

/// What stands for a value that is not part of the data, such as a function's result.
const OUTSIDE: &str = "(an expression)";
/// How many missing values may lie above one another.
const DEEPEST: usize = 64;

/// What a missing value was looked up in.
#[derive(Debug, Clone)]
pub(super) enum Parent {
    /// The root of the data.
    Root,
    /// An object.
    Map(Arc<Map>),
    /// An array.
    List(Arc<List>),
    /// A value that was missing itself.
    Missing(Arc<Missing>),
}

/// A value that is not there.
#[derive(Debug)]
pub(super) struct Missing {
    parent: Parent,
    step: Step,
    /// How many missing values lie above.
    depth: usize,
}

impl Missing {
    /// The absent member or element `step` of `parent`.
    pub fn new(parent: Parent, step: Step) -> Arc<Missing> {
        let depth = if let Parent::Missing(above) = &parent { above.depth + 1 } else { 0 };
        Arc::new(Missing { parent, step, depth })
    }

    /// The absent member `key`.
    pub fn member(parent: Parent, key: &str) -> Arc<Missing> {
        Missing::new(parent, Step::Key(SmolStr::new(key)))
    }

    /// What lies below; beyond a depth that nobody needs, the value itself, or freeing it would be
    /// endless recursion.
    fn below(self: &Arc<Missing>, step: impl FnOnce() -> Step) -> Engine {
        Engine::from_dyn_object(if self.depth < DEEPEST {
            Missing::new(Parent::Missing(self.clone()), step())
        } else {
            self.clone()
        })
    }

    /// Whether both stand for the same place of the same data.
    pub fn same_place(&self, other: &Missing) -> bool {
        self.step == other.step
            && match (&self.parent, &other.parent) {
                (Parent::Root, Parent::Root) => true,
                (Parent::Map(a), Parent::Map(b)) => Arc::ptr_eq(a, b),
                (Parent::List(a), Parent::List(b)) => Arc::ptr_eq(a, b),
                (Parent::Missing(a), Parent::Missing(b)) => a.same_place(b),
                _ => false,
            }
    }

    /// The steps from the outermost real container, and that container.
    fn steps(&self) -> (&Parent, Vec<Step>) {
        let (mut parent, mut steps) = (&self.parent, vec![self.step.clone()]);
        while let Parent::Missing(outer) = parent {
            steps.push(outer.step.clone());
            parent = &outer.parent;
        }
        steps.reverse();
        (parent, steps)
    }
}

/// The one step that a look-up key stands for.
pub(super) fn step_of(key: &Engine) -> Step {
    match key.as_usize() {
        Some(index) => Step::Index(index),
        None => Step::Key(SmolStr::new(key.as_str().map_or_else(|| key.to_string(), str::to_owned))),
    }
}

/// The missing value behind `value`, if it is one.
pub(super) fn as_missing(value: &Engine) -> Option<Arc<Missing>> {
    value.as_object()?.downcast::<Missing>()
}

/// Whether `value` is there: neither undefined, nor missing, nor a gap.
pub(super) fn is_there(value: &Engine) -> bool {
    !value.is_undefined() && !is_stand_in(value)
}

/// Whether `value` stands for one that is not there: missing, or a gap.
pub(super) fn is_stand_in(value: &Engine) -> bool {
    let absent = |object: &DynObject| {
        object.downcast_ref::<Missing>().is_some() || object.downcast_ref::<Gap>().is_some()
    };
    value.as_object().is_some_and(absent)
}

impl Object for Missing {
    fn repr(self: &Arc<Self>) -> ObjectRepr {
        ObjectRepr::Iterable
    }

    fn get_value(self: &Arc<Self>, key: &Engine) -> Option<Engine> {
        Some(self.below(|| step_of(key)))
    }

    fn get_value_by_str(self: &Arc<Self>, key: &str) -> Option<Engine> {
        Some(self.below(|| Step::Key(SmolStr::new(key))))
    }

    fn enumerate(self: &Arc<Self>) -> Enumerator {
        run::record(self);
        Enumerator::Empty
    }

    fn enumerator_len(self: &Arc<Self>) -> Option<usize> {
        Some(0)
    }

    fn is_true(self: &Arc<Self>) -> bool {
        false
    }

    fn call(self: &Arc<Self>, _: &mut State<'_, '_>, _: &[Engine]) -> Result<Engine, Error> {
        let (_, steps) = self.steps();
        Err(Error::new(ErrorKind::UnknownFunction, format!("{} is unknown", Path(steps))))
    }

    fn call_method(self: &Arc<Self>, _: &mut State<'_, '_>, _: &str, _: &[Engine]) -> Result<Engine, Error> {
        run::record(self);
        Ok(Engine::from_dyn_object(self.clone()))
    }

    fn render(self: &Arc<Self>, _: &mut fmt::Formatter<'_>) -> fmt::Result {
        run::record(self);
        Ok(())
    }
}

/// The result of a call that failed for good: nothing when printed, undefined when tested.
#[derive(Debug)]
pub(super) struct Gap;

impl Object for Gap {
    fn repr(self: &Arc<Self>) -> ObjectRepr {
        ObjectRepr::Iterable
    }

    fn get_value(self: &Arc<Self>, _: &Engine) -> Option<Engine> {
        Some(Engine::from_dyn_object(self.clone()))
    }

    fn enumerator_len(self: &Arc<Self>) -> Option<usize> {
        Some(0)
    }

    fn is_true(self: &Arc<Self>) -> bool {
        false
    }

    fn call_method(self: &Arc<Self>, _: &mut State<'_, '_>, _: &str, _: &[Engine]) -> Result<Engine, Error> {
        Ok(Engine::from_dyn_object(self.clone()))
    }

    fn render(self: &Arc<Self>, _: &mut fmt::Formatter<'_>) -> fmt::Result {
        Ok(())
    }
}

/// The paths of missing values from the root of the data, in the order given, by one walk over the data.
pub(super) fn paths(root: &Arc<Map>, misses: &[Arc<Missing>]) -> Vec<String> {
    let mut wanted: HashMap<usize, Option<Path>> = misses.iter().filter_map(|miss| address(miss)).collect();
    let mut walk = Walk { left: wanted.len(), wanted: &mut wanted, steps: Vec::new() };
    walk.map(root);
    misses.iter().map(|miss| path(miss, &wanted)).collect()
}

fn address(miss: &Missing) -> Option<(usize, Option<Path>)> {
    match miss.steps().0 {
        Parent::Map(map) => Some((Arc::as_ptr(map) as usize, None)),
        Parent::List(list) => Some((Arc::as_ptr(list) as usize, None)),
        Parent::Root | Parent::Missing(_) => None,
    }
}

fn path(miss: &Missing, found: &HashMap<usize, Option<Path>>) -> String {
    let mut whole = match address(miss) {
        None => Path::default(),
        Some((address, _)) => {
            let elsewhere = || Path(vec![Step::Key(SmolStr::new(OUTSIDE))]);
            found.get(&address).cloned().flatten().unwrap_or_else(elsewhere)
        }
    };
    whole.0.extend(miss.steps().1);
    whole.to_string()
}

struct Walk<'a> {
    wanted: &'a mut HashMap<usize, Option<Path>>,
    left: usize,
    steps: Vec<Step>,
}

impl Walk<'_> {
    fn meet(&mut self, address: usize) {
        if let Some(place @ None) = self.wanted.get_mut(&address) {
            *place = Some(Path(self.steps.clone()));
            self.left -= 1;
        }
    }

    fn map(&mut self, map: &Arc<Map>) {
        self.meet(Arc::as_ptr(map) as usize);
        let members: Vec<_> = map.iter().collect();
        // Last member first: a request's variables lie over the environs.
        for (key, value) in members.into_iter().rev() {
            self.below(Step::Key(key.clone()), value);
        }
    }

    fn below(&mut self, step: Step, value: &Value) {
        if self.left == 0 {
            return;
        }
        match value {
            Value::Map(map) => {
                self.steps.push(step);
                self.map(map);
                self.steps.pop();
            }
            Value::List(list) => {
                self.steps.push(step);
                self.meet(Arc::as_ptr(list) as usize);
                for (at, item) in list.iter().enumerate() {
                    self.below(Step::Index(at), item);
                }
                self.steps.pop();
            }
            _ => {}
        }
    }
}
