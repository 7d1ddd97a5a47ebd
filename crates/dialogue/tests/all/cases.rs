//! Tables of cases: a file of `tests/cases`, with one case on each line.

use std::collections::HashSet;
use std::fs;
use std::path::Path;

use serde::de::DeserializeOwned;

/// The cases of a file; there are at least `least`, whose names `name` tells.
pub fn read<T: DeserializeOwned>(file: &str, least: usize, name: impl Fn(&T) -> &str) -> Vec<T> {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/cases").join(file);
    let text = fs::read_to_string(&path).unwrap();
    let cases: Vec<T> = text
        .lines()
        .map(|line| serde_json::from_str(line).unwrap_or_else(|error| panic!("{error}: {line}")))
        .collect();
    assert!(cases.len() >= least, "{file} has lost cases: {}", cases.len());
    let names: HashSet<&str> = cases.iter().map(&name).collect();
    assert_eq!(names.len(), cases.len(), "two cases of {file} have one name");
    cases
}
