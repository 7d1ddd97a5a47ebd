//! What templates need.

mod bounds;
mod flow;
mod same;
mod texts;

use std::collections::BTreeMap;

use crate::jinja::ast::Tree;
use crate::jinja::library::tree as parse;
use crate::{Need, Requirements};

/// The needs with a mark each: `?` for optional, `*` for dynamic.
fn list(needs: &[Need]) -> String {
    let mark = |need: &Need| {
        let optional = if need.optional { "?" } else { "" };
        format!("{}{optional}{}", need.name, if need.dynamic { "*" } else { "" })
    };
    needs.iter().map(mark).collect::<Vec<_>>().join(" ")
}

fn found(source: &str, partials: &[(&str, &str)]) -> Requirements {
    let text = parse(source).unwrap();
    let trees: BTreeMap<&str, Tree> =
        partials.iter().map(|(name, text)| (*name, parse(text).unwrap())).collect();
    Requirements::of(super::requires(&text, &|name| trees.get(name)))
}

/// Variables, environs, tools and partials.
#[track_caller]
fn needs_with(partials: &[(&str, &str)], source: &str, expected: [&str; 4]) {
    let found = found(source, partials);
    let found = [&found.variables, &found.names, &found.tools, &found.partials].map(|needs| list(needs));
    assert_eq!(found.each_ref().map(String::as_str), expected, "{source}");
}

#[track_caller]
fn needs(source: &str, expected: [&str; 4]) {
    needs_with(&[], source, expected);
}

/// A text that needs variables only.
#[track_caller]
fn variables(source: &str, expected: &str) {
    needs(source, [expected, "", "", ""]);
}
