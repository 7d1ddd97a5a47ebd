//! The places in the data that a value may come from.

use std::collections::BTreeSet;
use std::fmt;

/// Paths do not get longer than this; what lies below is decided as the template runs.
const MAX_STEPS: usize = 32;

/// A value that may come from more places than this may come from anywhere.
const MAX_PATHS: usize = 200;

/// A step from a value into it.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub(super) enum Step {
    /// A member of a map.
    Key(String),
    /// Any element.
    Each,
    /// Something that is decided as the template runs.
    Unknown,
}

/// A place in the data.
#[derive(Debug, Clone, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub(super) struct Path {
    steps: Vec<Step>,
    /// The value is the place itself or anything below it.
    pub(super) dynamic: bool,
    /// The value is not needed even where its receiver is.
    pub(super) optional: bool,
}

impl Path {
    fn step(&self, step: &Step) -> Path {
        let mut path = self.clone();
        if path.dynamic {
            return path;
        }
        match step {
            Step::Unknown => path.dynamic = true,
            _ if path.steps.len() >= MAX_STEPS => path.dynamic = true,
            step => path.steps.push(step.clone()),
        }
        path
    }

    fn fields(&self, fields: &[Box<str>]) -> Path {
        let mut path = self.clone();
        for field in fields {
            if path.dynamic || path.steps.len() >= MAX_STEPS {
                path.dynamic = true;
                break;
            }
            path.steps.push(Step::Key(field.to_string()));
        }
        path
    }

    fn leads_on_from(&self, other: &Path) -> bool {
        self.steps.len() > other.steps.len() && self.steps.starts_with(&other.steps)
    }
}

impl fmt::Display for Path {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        for (at, step) in self.steps.iter().enumerate() {
            match step {
                Step::Key(key) if at == 0 => f.write_str(key)?,
                Step::Key(key) => write!(f, ".{key}")?,
                Step::Each | Step::Unknown => f.write_str("[]")?,
            }
        }
        Ok(())
    }
}

/// All places that a value may come from; none for one that the template makes.
#[derive(Debug, Clone, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub(super) struct Paths(BTreeSet<Path>);

impl Paths {
    /// The data as a whole.
    pub(super) fn root() -> Paths {
        Paths(BTreeSet::from([Path::default()]))
    }

    pub(super) fn iter(&self) -> impl Iterator<Item = &Path> {
        self.0.iter()
    }

    fn map(&self, change: impl Fn(&Path) -> Path) -> Paths {
        Paths(self.0.iter().map(change).collect())
    }

    pub(super) fn step(&self, step: &Step) -> Paths {
        self.map(|path| path.step(step))
    }

    pub(super) fn fields(&self, fields: &[Box<str>]) -> Paths {
        self.map(|path| path.fields(fields))
    }

    /// How many steps the paths have, and one more for each: what it costs to make them.
    pub(super) fn weight(&self) -> usize {
        self.0.iter().map(|path| path.steps.len() + 1).sum()
    }

    /// Whether the value may come from more than one place.
    pub(super) fn are_several(&self) -> bool {
        self.0.len() > 1
    }

    /// The same places, and with each all that is below it.
    pub(super) fn frozen(&self) -> Paths {
        self.map(|path| Path { dynamic: true, ..path.clone() })
    }

    /// The same places without the whole of the data, which is there to be handed on and is not looked at for that.
    pub(super) fn below_root(&self) -> Paths {
        Paths(self.0.iter().filter(|path| path.dynamic || !path.steps.is_empty()).cloned().collect())
    }

    /// The same places, none of which is needed.
    pub(super) fn optional(&self) -> Paths {
        self.map(|path| Path { optional: true, ..path.clone() })
    }

    /// The places of a variable that is assigned `other`: one that leads on from a place where the variable was
    /// before is taken for a walk of any length from there.
    pub(super) fn walk(&self, other: &Paths) -> Paths {
        let start = |path: &Path| self.0.iter().find(|known| path.leads_on_from(known)).cloned();
        other.map(|path| match start(path) {
            Some(known) => Path { dynamic: true, ..known },
            None => path.clone(),
        })
    }

    /// Adds other places; true if there was a new one.
    pub(super) fn add(&mut self, other: &Paths) -> bool {
        let before = self.0.len();
        self.0.extend(other.0.iter().cloned());
        if self.0.len() > MAX_PATHS {
            let everything = Path { dynamic: true, ..Path::default() };
            let known = before == 1 && self.0.contains(&everything);
            self.0 = BTreeSet::from([everything]);
            return !known;
        }
        self.0.len() > before
    }
}
