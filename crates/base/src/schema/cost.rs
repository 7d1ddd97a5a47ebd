//! What a schema can cost, counted before it runs: a validator can be neither stopped nor trusted to end early.
//!
//! A step is about what a validator does for one keyword and one value: some ten nanoseconds. The counts are upper bounds: all
//! branches are taken, nothing ends early.

use std::collections::HashMap;

use super::InvalidSchema;
use super::graph::{BYTES_A_STEP, Graph, Link, Node, Reach, Role, size};
use template::value::Value;

/// The most steps that a schema may take for one value, not counting what is inside of the value.
const IN_PLACE_MAX: u64 = 100_000;

/// The most parts of a schema that may stand one in another, by nesting or by references.
const HEIGHT_MAX: usize = 2_000;

/// The validator runs again for every outcome of a match that was given up, at most this many times.
const RUNS_MAX: u64 = 64;

/// How much a check of one value may take, and counting beforehand.
#[derive(Debug, Clone, Copy)]
pub struct Effort {
    /// Steps of the validator.
    pub(super) steps: u64,
    /// Pairs of a part of the schema and a part of the value that are counted.
    pairs: usize,
    /// How deep the validator may nest.
    depth: usize,
}

impl Effort {
    /// On a thread that serves: about a millisecond.
    pub const SERVING: Effort = Effort { steps: 20_000, pairs: 4_000, depth: 150 };
    /// Where only other documents, or other calls of the same render, wait: about ten milliseconds.
    pub const SOON: Effort = Effort { steps: 200_000, pairs: 40_000, depth: 150 };
    /// On a thread of its own, with a stack of the usual size: about a tenth of a second.
    pub const ASIDE: Effort = Effort { depth: 150, ..Effort::POOL };
    /// On a thread of the pool, with its deep stack: about a tenth of a second.
    pub const POOL: Effort = Effort { steps: 2_000_000, pairs: 500_000, depth: 5_000 };

    /// The same for each of several checks that come one after the other.
    pub fn shared_by(self, checks: u64) -> Effort {
        let checks = checks.max(1);
        let pairs = self.pairs / usize::try_from(checks).unwrap_or(usize::MAX);
        Effort { steps: self.steps / checks, pairs, depth: self.depth }
    }
}

/// What it takes to hold a value against a part of a schema.
#[derive(Debug, Default, Clone, Copy, PartialEq)]
pub(super) struct Steps {
    /// To tell whether it fits.
    pub fits: u64,
    /// To list what is wrong.
    pub lists: u64,
    /// To tell what of the value was looked at.
    looks: u64,
    /// Matches that may be given up.
    unfinished: u64,
    /// How deep the validator nests.
    depth: usize,
}

/// The counts of a schema.
#[derive(Debug)]
pub(super) struct Costs {
    graph: Graph,
    /// For each part, what it takes for one value, without what is inside of it.
    in_place: Vec<Steps>,
    /// What the whole schema takes for each value in a value; nothing where the schema applies itself to what is inside.
    each: Option<Steps>,
}

impl Costs {
    /// Counts what `graph` can cost.
    ///
    /// # Errors
    /// When it would never end, or takes too much even for one value.
    pub fn of(graph: Graph) -> Result<Costs, InvalidSchema> {
        let in_place = in_place(&graph)?;
        let each = whole(&graph).map_err(|_| ()).ok();
        let costs = Costs { graph, in_place, each };
        if costs.height() > HEIGHT_MAX {
            return Err(InvalidSchema::new(format!(
                "more than {HEIGHT_MAX} of its parts stand one in another; use fewer references from one part to the next"
            )));
        }
        Ok(costs)
    }

    /// How many parts of the schema can stand one in another.
    pub fn height(&self) -> usize {
        self.each.map_or(self.graph.nodes.len(), |steps| steps.depth)
    }

    /// What it takes to check `value`; nothing if that is more than the effort allows.
    pub fn weigh(&self, value: &Value, effort: Effort) -> Option<Steps> {
        self.roughly(value, effort)
            .or_else(|| Count::new(self, effort).root(value))
            .map(Steps::with_runs)
            .filter(|steps| steps.fits <= effort.steps)
    }

    /// An upper bound that takes little to find, if it is low enough.
    fn roughly(&self, value: &Value, effort: Effort) -> Option<Steps> {
        let each = self.each.filter(|each| each.depth <= effort.depth)?;
        let most = effort.steps / each.fits.max(1);
        let values = size_up_to(value, most)?;
        let steps = Steps {
            fits: each.fits.saturating_mul(values),
            lists: each.lists.saturating_mul(values),
            looks: 0,
            unfinished: each.unfinished.saturating_mul(values),
            depth: each.depth,
        };
        // Without patterns that may be given up: those count more, and are worth an exact count.
        Some(steps).filter(|steps| steps.unfinished == 0)
    }
}

impl Steps {
    /// The cost of a part itself, where the units and counts are those of a value or of all.
    fn own(fixed: u64, looks: u64, unfinished: u64) -> Steps {
        Steps { fits: fixed, lists: fixed.saturating_mul(2), looks, unfinished, depth: 0 }
    }

    /// Adds what a part takes that this one applies.
    fn add(&mut self, node: &Node, link: &Link, other: Steps) {
        self.fits = self.fits.saturating_add(other.fits);
        self.lists = self.lists.saturating_add(match link.role {
            Role::Must => other.lists,
            Role::Asked => other.fits,
            Role::OneOf => other.lists.saturating_add(other.fits.saturating_mul(2)),
        });
        self.looks = self.looks.saturating_add(match link.reach {
            Reach::Here => other.fits.saturating_add(other.looks),
            Reach::OtherMembers | Reach::ItemsFrom(_) if node.looks_again || link.role == Role::Asked => {
                other.fits
            }
            _ => 0,
        });
        self.unfinished = self.unfinished.saturating_add(other.unfinished);
        self.depth = self.depth.max(other.depth + 1);
    }

    fn finish(mut self, node: &Node) -> Steps {
        if node.looks_again {
            self.fits = self.fits.saturating_add(self.looks);
            self.lists = self.lists.saturating_add(self.looks);
        }
        self
    }

    /// Counts that the validator runs again for the outcomes of matches that it gives up.
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
            looks: self.looks.saturating_mul(times),
            ..self
        }
    }
}

/// What each part takes for one value, without what is inside of it.
fn in_place(graph: &Graph) -> Result<Vec<Steps>, InvalidSchema> {
    let here = |link: &Link| link.reach == Reach::Here;
    let order = order(graph, here).map_err(|node| {
        InvalidSchema::new(format!(
            "{} applies itself to the same value again, without end; take the reference out of the circle",
            place(node)
        ))
    })?;
    let all = sums(graph, &order, here, false);
    let costly = order.iter().find(|&&number| all.get(number).is_some_and(|steps| steps.fits > IN_PLACE_MAX));
    match costly.and_then(|&number| Some((graph.nodes.get(number)?, all.get(number)?))) {
        None => Ok(sums(graph, &order, here, true)),
        Some((node, steps)) => Err(InvalidSchema::new(format!(
            "{} can take {} steps for a single value, and {IN_PLACE_MAX} are the most: its alternatives and references \
             multiply; refer to each part fewer times",
            place(node),
            if steps.fits == u64::MAX { "billions of".to_owned() } else { steps.fits.to_string() },
        ))),
    }
}

/// What the whole takes for each value in a value; else a part that applies itself.
fn whole(graph: &Graph) -> Result<Steps, &Node> {
    let order = order(graph, |_| true)?;
    Ok(sums(graph, &order, |_| true, true).first().copied().unwrap_or_default())
}

fn place(node: &Node) -> String {
    if node.at.is_empty() { "the schema".to_owned() } else { format!("its part at {}", node.at) }
}

/// The sums of what the parts take for one value, with what the size of it adds or without.
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

/// The parts in an order in which each comes after those that it applies; else one that applies itself.
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
                // Only its own path comes back to a part with a later link.
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

/// How many values there are in `value`, and how long their texts are; nothing if it is more than `most`.
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

/// A count of the steps for one value. What is counted once for a part of the schema and a part of the value is remembered.
struct Count<'c> {
    costs: &'c Costs,
    effort: Effort,
    known: HashMap<(usize, *const Value), Steps>,
    left: usize,
}

impl<'c> Count<'c> {
    fn new(costs: &'c Costs, effort: Effort) -> Count<'c> {
        Count { costs, effort, known: HashMap::new(), left: effort.pairs }
    }

    fn root(&mut self, value: &Value) -> Option<Steps> {
        self.steps(0, value, self.effort.depth)
    }

    /// The steps for a part of the schema and a part of the value, which may nest so deep; nothing beyond the effort.
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
        let mut looks = 1;
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
                looks = keys.saturating_add(members.len() as u64);
                unfinished = own.unfinished.saturating_mul(members.len() as u64);
            }
            Value::List(items) => looks = items.len() as u64,
            _ => {}
        }
        Some(Steps::own(fixed, looks, unfinished))
    }

    /// Adds what one link of a part takes.
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
