//! Conversations among the messages of a text: `{{ history|messages }}` stands for the messages of a list.

use std::collections::BTreeSet;

use super::roles::words;
use super::tags::{expressions, tags};

/// The filter that says so.
const FILTER: &str = "messages";

/// An expression that stands for messages.
#[derive(Debug, PartialEq, Eq)]
pub struct Conversation<'t> {
    /// Where it begins.
    pub from: usize,
    /// Where it ends.
    pub to: usize,
    /// The list.
    pub list: &'t str,
}

/// The conversations of a text, in order.
pub fn conversations(text: &str) -> Vec<Conversation<'_>> {
    let found = expressions(text).into_iter().filter_map(|(from, to, inner)| {
        let (list, filter) = without_dashes(inner).rsplit_once('|')?;
        (filter.trim() == FILTER).then(|| Conversation { from, to, list: list.trim() })
    });
    found.collect()
}

/// The text of a format that prints inputs which are conversations (`{{ history }}`). Those that no tag of the text names come at its
/// end. No line moves.
pub fn with_threads(text: &str, names: &[&str]) -> String {
    let mut out = String::with_capacity(text.len());
    let mut at = 0;
    let names: BTreeSet<&str> = names.iter().copied().collect();
    for (from, to, inner) in expressions(text) {
        let name = without_dashes(inner);
        if names.contains(name) {
            out.push_str(text.get(at..from).unwrap_or_default());
            out.push_str(&printed(name));
            at = to;
        }
    }
    out.push_str(text.get(at..).unwrap_or_default());
    let used: BTreeSet<&str> =
        tags(text).iter().flat_map(|tag| words(text.get(tag.from..tag.to).unwrap_or_default())).collect();
    for name in names.iter().filter(|name| !used.contains(*name)) {
        out.truncate(out.trim_end().len());
        out.push('\n');
        out.push_str(&printed(name));
    }
    out
}

fn printed(name: &str) -> String {
    format!("{{{{ {name}|{FILTER} }}}}")
}

/// What an expression says, without the marks that trim the text around it.
fn without_dashes(inner: &str) -> &str {
    inner.trim_matches(['-', '+']).trim()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn inputs_that_are_conversations_stand_for_their_messages() {
        let text = "system:\nS {# {{ h }} #}\n{{- h -}}\n{{ q }}";
        let expected = "system:\nS {# {{ h }} #}\n{{ h|messages }}\n{{ q }}";
        assert_eq!(with_threads(text, &["h"]), expected);
        assert_eq!(conversations(expected).iter().map(|found| found.list).collect::<Vec<_>>(), ["h"]);
        assert_eq!(with_threads(text, &[]), text);
        assert_eq!(with_threads("system:\nS\n", &["h"]), "system:\nS\n{{ h|messages }}");
        assert_eq!(with_threads("system:\nThe h.\n", &["h"]), "system:\nThe h.\n{{ h|messages }}");
        let looped = "system:\n{% for m in h %}\n{{ m.role }}:\n{{ m.content }}\n{% endfor %}";
        assert_eq!(with_threads(looped, &["h"]), looped);
    }
}
