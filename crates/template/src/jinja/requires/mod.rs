//! Static analysis: the data, functions and other templates that a template may use.
//!
//! Statements are followed in their order, with the values that each variable may have there; ways through the template join
//! where they meet. Code that is called (macros, blocks, texts that are included) is queued together with the variables that
//! it sees, and run by itself, once for each combination of them, so that there is no recursion through calls. Its results are
//! text, which is not data. The attributes of namespaces, the variables of imported texts and the elements of recursive loops
//! are [`Cells`], since they flow backwards.

mod calls;
mod env;
mod expr;
mod filters;
mod jobs;
mod methods;
mod names;
mod node;
mod stmt;
mod texts;
mod value;

#[cfg(test)]
mod tests;

use std::collections::{BTreeMap, BTreeSet, HashSet};
use std::rc::Rc;

use smol_str::SmolStr;

use self::env::{Context, Env};
use self::jobs::Job;
use self::node::Node;
use self::value::{Object, Value};
use super::ast::{Call, For, Tree};
use crate::analysis::{Calls, Cells, Facts, Requirements};

pub(crate) use self::names::{TemplateName, template_names};

/// What a run of a text may use.
///
/// `find` gives the other texts by the names that templates use for them, each always the same; the names are listed in
/// [`Requirements::templates`] whether there is such a text or not. Names that are computed are listed as one need `*`.
/// [`Requirements::functions`] are the names that the text calls without defining them, except those of Jinja's own
/// functions. One of these is listed, too: `strftime_now`, since what it prints depends on the time.
pub(crate) fn requires<'a>(text: &'a Tree, find: &'a dyn Fn(&str) -> Option<&'a Tree>) -> Requirements {
    let mut analysis = Analysis {
        find,
        jobs: Vec::new(),
        called: HashSet::new(),
        calls: Calls::new(),
        cells: Cells::new(),
        finals: BTreeMap::new(),
        modules: BTreeSet::new(),
        facts: Facts::default(),
    };
    while !analysis.facts.is_exhausted() && analysis.cells.begin_round() {
        analysis.round(text);
    }
    if analysis.facts.is_exhausted() {
        analysis.give_up(text);
    }
    analysis.facts.requirements()
}

/// A value that flows backwards.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
enum Cell<'a> {
    /// An attribute of what the call `namespace(…)` made.
    Attr(Node<'a, Call>, SmolStr),
    /// What a recursive loop is called with.
    Elements(Node<'a, For>),
    /// A variable that code has at its end, by the code's address.
    Variable(usize, usize),
    /// A name of the context that a text has at its end.
    Export(usize, SmolStr),
    /// A name that a text gets from those that include it.
    Given(usize, SmolStr),
}

/// What is known of code that has run to its end.
#[derive(Debug, Default)]
struct Final<'a> {
    slots: usize,
    exports: BTreeSet<SmolStr>,
    given: BTreeSet<SmolStr>,
    context: Context<'a>,
    outer: Option<Rc<Env<'a>>>,
}

struct Analysis<'a> {
    find: &'a dyn Fn(&str) -> Option<&'a Tree>,
    jobs: Vec<Job<'a>>,
    called: HashSet<(Env<'a>, bool)>,
    /// Calls under way, by the address of the code.
    calls: Calls<usize>,
    cells: Cells<Cell<'a>, Value<'a>>,
    /// The code whose variables are seen from elsewhere, by its address.
    finals: BTreeMap<usize, Final<'a>>,
    /// The texts that are imported.
    modules: BTreeSet<Node<'a, Tree>>,
    facts: Facts,
}

/// Code on its way.
struct Run<'a> {
    env: Env<'a>,
    /// Whether a run of the template may succeed without what is used here.
    optional: bool,
    /// Whether what is printed is dropped, since the text extends another one.
    muted: bool,
    /// Whether the code has defined a macro.
    defines: bool,
    /// The call that the code is run by.
    call: usize,
    /// The texts that the code extends, and whether only perhaps.
    parents: Vec<(&'a Tree, bool)>,
}

impl<'a> Analysis<'a> {
    fn round(&mut self, text: &'a Tree) {
        self.facts.begin_round();
        self.called.clear();
        self.calls.clear();
        self.queue_text(text, Context::new(text, true), false, Calls::<usize>::NONE);
        while let Some(job) = self.jobs.pop() {
            if !self.facts.is_exhausted() {
                self.run(job);
            }
        }
    }

    /// Notes that a value is tested or iterated over.
    fn look_at(&mut self, value: &Value<'a>, optional: bool) {
        self.facts.look_at(value.paths(), optional);
    }

    /// Notes that a value and the values in it are handed on.
    fn hand_on(&mut self, value: &Value<'a>) {
        value.each_paths(&mut |paths| self.facts.look_at(paths, true));
    }

    /// Notes that a value is used with everything in it.
    fn use_whole(&mut self, value: &Value<'a>, optional: bool) {
        self.facts.use_whole(value.paths(), optional);
        value.named_parts().for_each(|(_, part)| self.use_whole(part, optional));
        // All elements of a list are the list.
        value.elements().each_paths(&mut |paths| self.facts.use_whole(&paths.lists(), optional));
    }

    /// Notes that a value goes where it is not followed.
    fn let_go(&mut self, value: &Value<'a>) {
        self.use_whole(&value.frozen(), true);
    }

    /// Adds a value to those that a cell may have.
    fn feed(&mut self, cell: Cell<'a>, value: &Value<'a>) {
        let known = self.cells.of(&cell).map_or(0, Value::weight);
        self.facts.work(1 + known + value.weight());
        if !self.facts.is_exhausted() {
            self.cells.feed(cell, value);
        }
    }

    /// Sets a variable.
    fn set(&mut self, run: &mut Run<'a>, slot: u16, value: Value<'a>) {
        let work = run.env.set(slot, value);
        self.facts.work(work);
    }

    /// The result if the analysis gives up.
    fn give_up(&mut self, text: &'a Tree) {
        let mut seen: BTreeSet<Node<'a, Tree>> = BTreeSet::new();
        let mut waiting = vec![text];
        while let Some(text) = waiting.pop() {
            if !seen.insert(Node(text)) {
                continue;
            }
            let names = template_names(text);
            waiting.extend(names.iter().filter_map(|name| (self.find)(name.name?)));
            if names.iter().any(|name| name.name.is_none()) {
                self.facts.computed_template();
            }
            let functions = names::called(text);
            self.facts.give_up(functions, names.iter().filter_map(|name| name.name));
        }
    }

    /// The value of a member, whether of data or of a thing of the template.
    fn member(&mut self, value: &Value<'a>, name: &str) -> Value<'a> {
        let mut found = value.member(name);
        for object in value.objects() {
            let cell = match object {
                Object::Namespace(call) => Cell::Attr(*call, name.into()),
                Object::Module(text) => Cell::Export(text.address(), name.into()),
                Object::Blocks => {
                    found.join(&Value::object(Object::Block(name.into(), 0)));
                    continue;
                }
                Object::Block(block, passed) if name == "super" => {
                    found.join(&Value::object(Object::Block(block.clone(), passed + 1)));
                    continue;
                }
                _ => continue,
            };
            found.join(&self.cells.of(&cell).cloned().unwrap_or_default());
        }
        found
    }
}
