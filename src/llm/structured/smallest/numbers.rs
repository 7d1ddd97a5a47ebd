//! The numbers nearest to 0 within bounds: on the grid of `multipleOf`, or integers, and else the bounds themselves.

use serde_json::{Number, Value as Json};

use super::expand::Branch;
use super::order;

/// How many decimals of a `multipleOf` are followed.
const DECIMALS_MAX: u32 = 12;

/// How many more numbers of a grid are tried than wanted.
const SPARE: usize = 100;

/// Some of the smallest numbers that a branch allows; with `fractions` also some between integers.
pub fn numbers(branch: &Branch, wanted: usize, fractions: bool) -> Vec<Json> {
    let bounds = Bounds::of(branch);
    let Some(grid) = Grid::of(branch) else { return Vec::new() };
    let mut found: Vec<Json> = grid.within(&bounds, wanted + SPARE).take(wanted).collect();
    if !branch.is_integer() && branch.all("multipleOf").next().is_none() {
        let ends = bounds.ends();
        // Between two bounds that lie between two integers there is always the middle.
        let middle = found.is_empty().then(|| bounds.middle());
        let halves = [0.5, bounds.low.number + 0.5, bounds.high.number - 0.5];
        let halves = halves.into_iter().filter(|_| fractions);
        let more = ends.into_iter().chain(middle).chain(halves).filter(|number| bounds.allow(*number));
        found.extend(more.filter_map(json));
    }
    found.sort_by(order::compare);
    found.dedup_by(|a, b| order::compare(a, b).is_eq());
    found.truncate(wanted);
    found
}

/// The number, as an integer if it is one.
fn json(number: f64) -> Option<Json> {
    match number.fract() == 0.0 && number.abs() < 9e15 {
        true => Some((number as i64).into()),
        false => Number::from_f64(number).map(Json::Number),
    }
}

/// The end of a range.
#[derive(Debug, Clone, Copy)]
struct Bound {
    number: f64,
    /// The same number, if it is an integer that was written exactly.
    exact: Option<i128>,
    is_excluded: bool,
}

/// A range of numbers.
struct Bounds {
    low: Bound,
    high: Bound,
}

impl Bounds {
    fn of(branch: &Branch) -> Bounds {
        let unlimited = |number| Bound { number, exact: None, is_excluded: false };
        let mut bounds = Bounds { low: unlimited(f64::NEG_INFINITY), high: unlimited(f64::INFINITY) };
        for part in &branch.parts {
            // In the oldest dialect the exclusion is a flag beside the bound.
            let flag = |keyword: &str| part.get(keyword) == Some(&Json::Bool(true));
            for (keyword, is_excluded) in [("minimum", flag("exclusiveMinimum")), ("exclusiveMinimum", true)]
            {
                let bound = part.get(keyword).and_then(|value| Bound::read(value, is_excluded));
                bounds.low = bound.filter(|bound| bound.is_above(&bounds.low)).unwrap_or(bounds.low);
            }
            for (keyword, is_excluded) in [("maximum", flag("exclusiveMaximum")), ("exclusiveMaximum", true)]
            {
                let bound = part.get(keyword).and_then(|value| Bound::read(value, is_excluded));
                bounds.high = bound.filter(|bound| bound.is_below(&bounds.high)).unwrap_or(bounds.high);
            }
        }
        bounds
    }

    fn allow(&self, number: f64) -> bool {
        let (low, high) = (&self.low, &self.high);
        let is_above = number > low.number || number == low.number && !low.is_excluded;
        is_above && (number < high.number || number == high.number && !high.is_excluded)
    }

    fn ends(&self) -> [f64; 2] {
        [self.low.number, self.high.number]
    }

    fn middle(&self) -> f64 {
        self.low.number / 2.0 + self.high.number / 2.0
    }
}

impl Bound {
    fn read(value: &Json, is_excluded: bool) -> Option<Bound> {
        let exact = value.as_i64().map(i128::from).or_else(|| value.as_u64().map(i128::from));
        Some(Bound { number: value.as_f64()?, exact, is_excluded })
    }

    fn is_above(&self, other: &Bound) -> bool {
        self.number > other.number || self.number == other.number && self.is_excluded
    }

    fn is_below(&self, other: &Bound) -> bool {
        self.number < other.number || self.number == other.number && self.is_excluded
    }
}

/// The numbers `n * step / scale` for all integers `n`.
struct Grid {
    step: i128,
    scale: i128,
}

impl Grid {
    /// The grid of all that `multipleOf` says, or of the integers; `None` if it is too fine to be followed.
    fn of(branch: &Branch) -> Option<Grid> {
        let mut grid: Option<Grid> = None;
        let integers = branch.is_integer().then_some(Grid { step: 1, scale: 1 });
        let steps = branch.all("multipleOf").map(Grid::read);
        for other in steps.chain(integers.map(Some)) {
            let other = other?;
            grid = Some(match grid {
                Some(grid) => grid.and(&other)?,
                None => other,
            });
        }
        Some(grid.unwrap_or(Grid { step: 1, scale: 1 }))
    }

    fn read(step: &Json) -> Option<Grid> {
        if let Some(step) = step.as_u64() {
            return Some(Grid { step: step.into(), scale: 1 }).filter(|grid| grid.step > 0);
        }
        let number = step.as_f64()?;
        (0..=DECIMALS_MAX).map(|decimals| 10_i128.pow(decimals)).find_map(|scale| {
            let step = (number * scale as f64).round();
            (step >= 1.0 && step / scale as f64 == number).then_some(Grid { step: step as i128, scale })
        })
    }

    /// The numbers that are on both grids.
    fn and(&self, other: &Grid) -> Option<Grid> {
        let scale = common_multiple(self.scale, other.scale)?;
        let own = self.step.checked_mul(scale / self.scale)?;
        let step = common_multiple(own, other.step.checked_mul(scale / other.scale)?)?;
        Some(Grid { step, scale })
    }

    /// Some numbers within bounds, those nearest to 0 first.
    fn within<'g>(&'g self, bounds: &'g Bounds, tries: usize) -> impl Iterator<Item = Json> + 'g {
        let (low, high) = (self.index(&bounds.low), self.index(&bounds.high));
        // One more on each side: the indexes of bounds that are no integers may be rounded.
        let first = if low > 0 {
            low - 1
        } else if high < 0 {
            -high - 1
        } else {
            0
        };
        let distances = (first..=i128::MAX).take(tries);
        let both = distances.flat_map(|n| [Some(n), (n != 0).then_some(-n)]).flatten();
        both.filter(move |n| self.is_within(*n, bounds)).filter_map(|n| self.json(n))
    }

    /// The index of the grid's number at or just below a bound.
    fn index(&self, bound: &Bound) -> i128 {
        match bound.exact.and_then(|exact| exact.checked_mul(self.scale)) {
            Some(exact) => exact.div_euclid(self.step),
            None => (bound.number * self.scale as f64 / self.step as f64).clamp(-1e30, 1e30).floor() as i128,
        }
    }

    fn is_within(&self, n: i128, bounds: &Bounds) -> bool {
        let Some(scaled) = n.checked_mul(self.step) else { return false };
        let compared = |bound: &Bound| match bound.exact.and_then(|exact| exact.checked_mul(self.scale)) {
            Some(exact) => scaled.cmp(&exact),
            None => (scaled as f64 / self.scale as f64).total_cmp(&bound.number),
        };
        let (low, high) = (compared(&bounds.low), compared(&bounds.high));
        let is_above = low.is_gt() || low.is_eq() && !bounds.low.is_excluded;
        is_above && (high.is_lt() || high.is_eq() && !bounds.high.is_excluded)
    }

    fn json(&self, n: i128) -> Option<Json> {
        let scaled = n.checked_mul(self.step)?;
        match scaled % self.scale {
            0 => {
                let whole = scaled / self.scale;
                let signed = i64::try_from(whole).map(Json::from);
                signed.or_else(|_| u64::try_from(whole).map(Json::from)).ok().or_else(|| json(whole as f64))
            }
            _ => json(scaled as f64 / self.scale as f64),
        }
    }
}

fn common_multiple(a: i128, b: i128) -> Option<i128> {
    let (mut greater, mut rest) = (a, b);
    while rest != 0 {
        (greater, rest) = (rest, greater % rest);
    }
    (a / greater.max(1)).checked_mul(b)
}
