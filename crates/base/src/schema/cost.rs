//! Bounds the cost of a check before it runs, since a running validator cannot be stopped and may take exponential time.
//!
//! A step is about what the validator does for one keyword and one value: some ten nanoseconds. The counts are upper
//! bounds: they take all branches, and never end early.

use std::collections::HashMap;

use super::InvalidSchema;
use super::graph::{BYTES_A_STEP, Graph, Link, Node, Reach, Role, size};
use template::value::Value;

/// The most steps that a schema may take for one value, without the values inside it.
const IN_PLACE_MAX: u64 = 100_000;

/// How deep subschemas may apply one another, by nesting or by references.
const HEIGHT_MAX: usize = 2_000;

/// How often the validator may run for one check: when a match hits the backtracking limit, it runs again for both outcomes.
const RUNS_MAX: u64 = 64;

/// How much work the check of one value may take, and counting it beforehand.
#[derive(Debug, Clone, Copy)]
pub struct Effort {
    /// Steps of the validator.
    pub(super) steps: u64,
    /// The most pairs of a subschema and a part of the value to count.
    pairs: usize,
    /// How deep the validator may recurse; its stack must be large enough for this.
    depth: usize,
}

impl Effort {
    /// About a millisecond, for serving threads.
    pub const SERVING: Effort = Effort { steps: 20_000, pairs: 4_000, depth: 150 };
    /// About ten milliseconds, where only other documents, or other calls of the same render, have to wait.
    pub const MEDIUM: Effort = Effort { steps: 200_000, pairs: 40_000, depth: 150 };
    /// About a tenth of a second, for a blocking thread with a stack of the usual size.
    pub const BLOCKING: Effort = Effort { depth: 150, ..Effort::POOL };
    /// About a tenth of a second, for a pool thread with its deep stack.
    pub const POOL: Effort = Effort { steps: 2_000_000, pairs: 500_000, depth: 5_000 };

    /// The share of each of `checks` checks that together may take this effort.
    pub fn shared_by(self, checks: u64) -> Effort {
        let checks = checks.max(1);
        let pairs = self.pairs / usize::try_from(checks).unwrap_or(usize::MAX);
        Effort { steps: self.steps / checks, pairs, depth: self.depth }
    }
}

/// The steps to check a value against a subschema.
#[derive(Debug, Default, Clone, Copy, PartialEq)]
pub(super) struct Steps {
    /// Steps to find out whether the value fits.
    pub fits: u64,
    /// Steps to list the violations.
    pub lists: u64,
    /// Steps to find out which members and items were evaluated (for `unevaluatedProperties` and `unevaluatedItems`).
    evaluated: u64,
    /// How many matches may hit the backtracking limit.
    unfinished: u64,
    /// How deep the validator recurses.
    depth: usize,
}

/// The costs of a schema.
#[derive(Debug)]
pub(super) struct Costs {
    graph: Graph,
    /// For each subschema, the steps for one value without the values inside it.
    in_place: Vec<Steps>,
    /// The steps of the whole schema for each value inside a value; `None` if the schema is recursive.
    each: Option<Steps>,
}

impl Costs {
    /// Counts the costs of the schema with this graph.
    ///
    /// # Errors
    /// If a check would never end, or could take too many steps even for one value.
    pub fn of(graph: Graph) -> Result<Costs, InvalidSchema> {
        let in_place = in_place(&graph)?;
        let each = whole(&graph).map_err(|_| ()).ok();
        let costs = Costs { graph, in_place, each };
        if costs.height() > HEIGHT_MAX {
            return Err(InvalidSchema::new(format!(
                "its subschemas apply one another more than {HEIGHT_MAX} levels deep; use less nesting and fewer references"
            )));
        }
        Ok(costs)
    }

    /// How deep the subschemas can apply one another; for a recursive schema, their number.
    pub fn height(&self) -> usize {
        self.each.map_or(self.graph.nodes.len(), |steps| steps.depth)
    }

    /// The steps to check `value`; `None` if they are more than `effort` allows.
    pub fn weigh(&self, value: &Value, effort: Effort) -> Option<Steps> {
        self.roughly(value, effort)
            .or_else(|| Counter::new(self, effort).root(value))
            .map(Steps::with_runs)
            .filter(|steps| steps.fits <= effort.steps)
    }

    /// A rough upper bound that is quick to compute; `None` if it is too high.
    fn roughly(&self, value: &Value, effort: Effort) -> Option<Steps> {
        let each = self.each.filter(|each| each.depth <= effort.depth)?;
        let most = effort.steps / each.fits.max(1);
        let values = size_up_to(value, most)?;
        let steps = Steps {
            fits: each.fits.saturating_mul(values),
            lists: each.lists.saturating_mul(values),
            evaluated: 0,
            unfinished: each.unfinished.saturating_mul(values),
            depth: each.depth,
        };
        // Patterns that backtrack multiply the cost, and are worth an exact count.
        Some(steps).filter(|steps| steps.unfinished == 0)
    }
}

impl Steps {
    /// The steps of a subschema itself, without those that it applies.
    fn own(fixed: u64, evaluated: u64, unfinished: u64) -> Steps {
        Steps { fits: fixed, lists: fixed.saturating_mul(2), evaluated, unfinished, depth: 0 }
    }

    /// Adds the steps of a subschema that `node` applies through `link`.
    fn add(&mut self, node: &Node, link: &Link, other: Steps) {
        self.fits = self.fits.saturating_add(other.fits);
        self.lists = self.lists.saturating_add(match link.role {
            Role::Required => other.lists,
            Role::Tested => other.fits,
            Role::Alternative => other.lists.saturating_add(other.fits.saturating_mul(2)),
        });
        self.evaluated = self.evaluated.saturating_add(match link.reach {
            Reach::Here => other.fits.saturating_add(other.evaluated),
            Reach::OtherMembers | Reach::ItemsFrom(_)
                if node.tracks_evaluated || link.role == Role::Tested =>
            {
                other.fits
            }
            _ => 0,
        });
        self.unfinished = self.unfinished.saturating_add(other.unfinished);
        self.depth = self.depth.max(other.depth + 1);
    }

    fn finish(mut self, node: &Node) -> Steps {
        if node.tracks_evaluated {
            self.fits = self.fits.saturating_add(self.evaluated);
            self.lists = self.lists.saturating_add(self.evaluated);
        }
        self
    }

    /// Multiplies by the runs that the validator may need when matches hit the backtracking limit.
    fn with_runs(mut self) -> Steps {
        let runs = 1u64.checked_shl(u32::try_from(self.unfinished).unwrap_or(u32::MAX)).unwrap_or(RUNS_MAX);
        self.fits = self.fits.saturating_mul(runs.clamp(1, RUNS_MAX));
        self.lists = self.lists.saturating_mul(runs.clamp(1, RUNS_MAX));
        self
    }

    fn times(self, times: u64) -> Steps {
        Steps {
            fits: self.fits.saturating_mul(times),
            lists: self.lists.saturating_mul(times),
            evaluated: self.evaluated.saturating_mul(times),
            ..self
        }
    }
}

/// The steps of each subschema for one value, without the values inside it.
fn in_place(graph: &Graph) -> Result<Vec<Steps>, InvalidSchema> {
    let here = |link: &Link| link.reach == Reach::Here;
    let order = order(graph, here).map_err(|node| {
        InvalidSchema::new(format!(
            "{} applies itself to the same value, so that a check would never end; remove one reference of the cycle",
            place(node)
        ))
    })?;
    let all = sums(graph, &order, here, false);
    let costly = order.iter().find(|&&number| all.get(number).is_some_and(|steps| steps.fits > IN_PLACE_MAX));
    match costly.and_then(|&number| Some((graph.nodes.get(number)?, all.get(number)?))) {
        None => Ok(sums(graph, &order, here, true)),
        Some((node, steps)) => Err(InvalidSchema::new(format!(
            "{} can take {} steps for a single value, and {IN_PLACE_MAX} are the most: its alternatives and references \
             multiply; refer to each subschema fewer times",
            place(node),
            if steps.fits == u64::MAX { "billions of".to_owned() } else { steps.fits.to_string() },
        ))),
    }
}

/// The steps of the whole schema for each value inside a value; else a subschema that applies itself.
fn whole(graph: &Graph) -> Result<Steps, &Node> {
    let order = order(graph, |_| true)?;
    Ok(sums(graph, &order, |_| true, true).first().copied().unwrap_or_default())
}

fn place(node: &Node) -> String {
    if node.at.is_empty() { "the schema".to_owned() } else { format!("its subschema at {}", node.at) }
}

/// The steps of each subschema with all that it applies; with `sized`, also the costs for each byte and each value inside.
fn sums(graph: &Graph, order: &[usize], follow: impl Fn(&Link) -> bool, sized: bool) -> Vec<Steps> {
    let mut all = vec![Steps::default(); graph.nodes.len()];
    for &number in order {
        let Some(node) = graph.nodes.get(number) else { continue };
        let own = node.own;
        let parts = if sized { [own.each, own.text, own.keys] } else { [0; 3] };
        let fixed = parts.iter().fold(own.fixed, |sum, part| sum.saturating_add(*part));
        let mut steps = Steps::own(fixed, own.keys.saturating_add(1), own.unfinished);
        for link in node.links.iter().filter(|link| follow(link)) {
            steps.add(node, link, all.get(link.to).copied().unwrap_or_default());
        }
        if let Some(place) = all.get_mut(number) {
            *place = steps.finish(node);
        }
    }
    all
}

/// The subschemas in topological order, each after those that it applies; else one that applies itself.
fn order(graph: &Graph, follow: impl Fn(&Link) -> bool) -> Result<Vec<usize>, &Node> {
    #[derive(Clone, Copy, PartialEq)]
    enum Mark {
        New,
        Open,
        Done,
    }
    let mut marks = vec![Mark::New; graph.nodes.len()];
    let mut order = Vec::with_capacity(graph.nodes.len());
    for start in 0..graph.nodes.len() {
        let mut path: Vec<(usize, usize)> = vec![(start, 0)];
        while let Some((number, next)) = path.pop() {
            let (Some(mark), Some(node)) = (marks.get_mut(number), graph.nodes.get(number)) else { continue };
            match (*mark, next) {
                (Mark::Done, _) => continue,
                // An open node that is reached at its first link is reached from itself: a cycle.
                (Mark::Open, 0) => return Err(node),
                _ => *mark = Mark::Open,
            }
            let links = node.links.iter().enumerate().skip(next);
            match links.filter(|(_, link)| follow(link)).map(|(at, link)| (at, link.to)).next() {
                Some((at, to)) => path.extend([(number, at + 1), (to, 0)]),
                None => {
                    *mark = Mark::Done;
                    order.push(number);
                }
            }
        }
    }
    Ok(order)
}

/// The size of `value`: how many values are inside it, long texts counting as several; `None` if it is more than `most`.
fn size_up_to(value: &Value, most: u64) -> Option<u64> {
    let mut left = most;
    let mut take = |steps: u64| left.checked_sub(steps).map(|rest| left = rest);
    let mut waiting = vec![value];
    while let Some(value) = waiting.pop() {
        take(1)?;
        match value {
            Value::Str(text) => take(text.len() as u64 / BYTES_A_STEP)?,
            Value::List(items) if (items.len() as u64) > most => return None,
            Value::Map(members) if (members.len() as u64) > most => return None,
            Value::List(items) => waiting.extend(items.iter()),
            Value::Map(members) => {
                take(members.iter().map(|(name, _)| name.len() as u64 / BYTES_A_STEP).sum())?;
                waiting.extend(members.iter().map(|(_, member)| member));
            }
            _ => {}
        }
    }
    Some(most - left)
}

/// A count of the steps for one value, memoized for each pair of a subschema and a part of the value.
struct Counter<'c> {
    costs: &'c Costs,
    effort: Effort,
    known: HashMap<(usize, *const Value), Steps>,
    left: usize,
}

impl<'c> Counter<'c> {
    fn new(costs: &'c Costs, effort: Effort) -> Counter<'c> {
        Counter { costs, effort, known: HashMap::new(), left: effort.pairs }
    }

    fn root(&mut self, value: &Value) -> Option<Steps> {
        self.steps(0, value, self.effort.depth)
    }

    /// The steps for a subschema and a part of the value; `None` if the effort or the depth is used up.
    fn steps(&mut self, number: usize, value: &Value, depth: usize) -> Option<Steps> {
        self.left = self.left.checked_sub(1)?;
        let depth = depth.checked_sub(1)?;
        let costs = self.costs;
        let node = costs.graph.nodes.get(number)?;
        let key = (number, std::ptr::from_ref(value));
        if let Some(known) = self.known.get(&key) {
            return Some(*known).filter(|known| known.depth <= depth);
        }
        let mut steps = self.own(node, value)?;
        for link in &node.links {
            self.link(node, link, value, depth, &mut steps)?;
        }
        let steps = steps.finish(node);
        if !node.links.is_empty() {
            self.known.insert(key, steps);
        }
        Some(steps).filter(|steps| steps.fits <= self.effort.steps)
    }

    fn own(&mut self, node: &Node, value: &Value) -> Option<Steps> {
        let own = node.own;
        let mut fixed = own.fixed;
        let mut evaluated = 1;
        let mut unfinished = 0;
        if own.each > 0 {
            let size = size(value);
            self.left = self.left.checked_sub(usize::try_from(size / BYTES_A_STEP).unwrap_or(usize::MAX))?;
            fixed = fixed.saturating_add(own.each.saturating_mul(size));
        }
        match value {
            Value::Str(text) => {
                fixed = fixed.saturating_add(own.text.saturating_mul(text.len() as u64 + 1) / BYTES_A_STEP);
                unfinished = own.unfinished;
            }
            Value::Map(members) => {
                let bytes: u64 = members.iter().map(|(name, _)| name.len() as u64 + 1).sum();
                let keys = own.keys.saturating_mul(bytes) / BYTES_A_STEP;
                fixed = fixed.saturating_add(keys);
                evaluated = keys.saturating_add(members.len() as u64);
                unfinished = own.unfinished.saturating_mul(members.len() as u64);
            }
            Value::List(items) => evaluated = items.len() as u64,
            _ => {}
        }
        Some(Steps::own(fixed, evaluated, unfinished))
    }

    /// Adds the steps of what `node` applies through one link.
    fn link(&mut self, node: &Node, link: &Link, value: &Value, depth: usize, sum: &mut Steps) -> Option<()> {
        let mut add = |count: &mut Self, value: &Value| {
            let steps = count.steps(link.to, value, depth)?;
            sum.add(node, link, steps);
            Some(())
        };
        match (&link.reach, value) {
            (Reach::Here, _) => add(self, value),
            (Reach::Member(name), Value::Map(members)) => {
                members.get(name).map_or(Some(()), |value| add(self, value))
            }
            (Reach::Members, Value::Map(members)) => {
                members.iter().try_for_each(|(_, value)| add(self, value))
            }
            (Reach::OtherMembers, Value::Map(members)) => members
                .iter()
                .filter(|(name, _)| !node.names.contains(name.as_str()))
                .try_for_each(|(_, value)| add(self, value)),
            (Reach::Names, Value::Map(members)) => {
                self.left = self.left.checked_sub(members.len())?;
                let each = self.costs.in_place.get(link.to)?;
                let times = members.iter().map(|(name, _)| 1 + name.len() as u64 / BYTES_A_STEP).sum();
                let mut names = each.times(times);
                names.unfinished = each.unfinished.saturating_mul(members.len() as u64);
                sum.add(node, link, names);
                Some(())
            }
            (Reach::Item(at), Value::List(items)) => {
                items.get(*at).map_or(Some(()), |value| add(self, value))
            }
            (Reach::ItemsFrom(from), Value::List(items)) => {
                items.iter().skip(*from).try_for_each(|value| add(self, value))
            }
            _ => Some(()),
        }
    }
}
