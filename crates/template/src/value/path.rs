//! Paths to values in a tree, written as in templates.

use std::fmt;

use super::SmolStr;

/// One step from a value to a part of it.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Step {
    /// The member of an object.
    Key(SmolStr),
    /// The element of an array, from 0.
    Index(usize),
}

/// A path from the root of a tree, displayed as `variables.docs[1].title`.
#[derive(Debug, Clone, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Path(pub Vec<Step>);

impl Path {
    /// The path to the member `name` of the value at this path.
    pub fn member(&self, key: &str) -> Path {
        let mut steps = self.0.clone();
        steps.push(Step::Key(SmolStr::new(key)));
        Path(steps)
    }
}

impl fmt::Display for Path {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        for (at, step) in self.0.iter().enumerate() {
            match step {
                Step::Key(key) if at == 0 => f.write_str(key)?,
                Step::Key(key) => write!(f, ".{key}")?,
                Step::Index(index) => write!(f, "[{index}]")?,
            }
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_path_is_written_as_templates_write_it() {
        let steps = vec![Step::Key("variables".into()), Step::Key("docs".into()), Step::Index(1)];
        assert_eq!(Path(steps).member("title").to_string(), "variables.docs[1].title");
    }
}
