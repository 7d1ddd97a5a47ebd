//! The paths in the data that a value may come from.

use std::collections::BTreeSet;
use std::fmt;

use super::cells::Join;

/// The greatest length of a path; anything below it counts as dynamic.
const MAX_STEPS: usize = 32;

/// The most paths of a value; beyond, it may come from anywhere.
const MAX_PATHS: usize = 200;

/// A step from a value into it.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub(crate) enum PathStep {
    /// A member of a map.
    Key(String),
    /// Any element.
    Each,
    /// Something that is computed at run time.
    Unknown,
}

/// A path in the data.
#[derive(Debug, Clone, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub(crate) struct Path {
    steps: Vec<PathStep>,
    /// Whether the value may be anything below the path, too.
    pub(crate) dynamic: bool,
    /// Whether the value is optional even if its receiver is needed.
    pub(crate) optional: bool,
}

impl Path {
    /// The name at the top level of the data that the path is, if it is only that.
    #[cfg(feature = "jinja")]
    pub(crate) fn name(&self) -> Option<&str> {
        match self.steps.as_slice() {
            [PathStep::Key(name)] if !self.dynamic => Some(name),
            _ => None,
        }
    }

    fn step(&self, step: &PathStep) -> Path {
        let mut path = self.clone();
        if path.dynamic {
            return path;
        }
        match step {
            PathStep::Unknown => path.dynamic = true,
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
            path.steps.push(PathStep::Key(field.to_string()));
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
                PathStep::Key(key) if at == 0 => f.write_str(key)?,
                PathStep::Key(key) => write!(f, ".{key}")?,
                PathStep::Each | PathStep::Unknown => f.write_str("[]")?,
            }
        }
        Ok(())
    }
}

/// All paths that a value may come from; none for one that the template makes.
#[derive(Debug, Clone, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub(crate) struct Paths(BTreeSet<Path>);

impl Paths {
    /// No paths: the template makes the value.
    #[cfg(feature = "jinja")]
    pub(crate) const NONE: Paths = Paths(BTreeSet::new());

    /// The root of the data.
    pub(crate) fn root() -> Paths {
        Paths(BTreeSet::from([Path::default()]))
    }

    /// Whether there are none.
    #[cfg(feature = "jinja")]
    pub(crate) fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    pub(crate) fn iter(&self) -> impl Iterator<Item = &Path> {
        self.0.iter()
    }

    fn map(&self, change: impl Fn(&Path) -> Path) -> Paths {
        Paths(self.0.iter().map(change).collect())
    }

    pub(crate) fn step(&self, step: &PathStep) -> Paths {
        self.map(|path| path.step(step))
    }

    pub(crate) fn fields(&self, fields: &[Box<str>]) -> Paths {
        self.map(|path| path.fields(fields))
    }

    /// The cost of making these paths: how many steps they have, and one more for each.
    pub(crate) fn weight(&self) -> usize {
        self.0.iter().map(|path| path.steps.len() + 1).sum()
    }

    /// Whether there is more than one path.
    pub(crate) fn are_several(&self) -> bool {
        self.0.len() > 1
    }

    /// The same paths, each with all that is below it.
    pub(crate) fn frozen(&self) -> Paths {
        self.map(|path| Path { dynamic: true, ..path.clone() })
    }

    /// The lists whose elements these are; paths that are not elements stay as they are.
    #[cfg(feature = "jinja")]
    pub(crate) fn lists(&self) -> Paths {
        self.map(|path| {
            let end = path.steps.iter().rposition(|step| *step != PathStep::Each).map_or(0, |at| at + 1);
            Path { steps: path.steps.get(..end).unwrap_or_default().to_vec(), ..path.clone() }
        })
    }

    /// The same paths without the root, which is passed on without being used.
    pub(crate) fn below_root(&self) -> Paths {
        self.filtered(|path| path.dynamic || !path.steps.is_empty())
    }

    /// The paths for which `keep` is true.
    pub(crate) fn filtered(&self, keep: impl Fn(&Path) -> bool) -> Paths {
        Paths(self.0.iter().filter(|path| keep(path)).cloned().collect())
    }

    /// The same paths, all optional.
    pub(crate) fn optional(&self) -> Paths {
        self.map(|path| Path { optional: true, ..path.clone() })
    }

    /// The paths of a variable that is assigned `other`. A path that extends one of the variable's old paths may be a step of
    /// a walk of any length, as in `$x = $x.next`, and becomes dynamic.
    pub(crate) fn walk(&self, other: &Paths) -> Paths {
        let start = |path: &Path| self.0.iter().find(|known| path.leads_on_from(known)).cloned();
        other.map(|path| match start(path) {
            Some(known) => Path { dynamic: true, ..known },
            None => path.clone(),
        })
    }
}

impl Join for Paths {
    fn add(&mut self, other: &Paths) -> bool {
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
