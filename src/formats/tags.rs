//! The tags of texts in Jinja, found without a compiler: enough to tell where messages begin, and what prints.

use super::roles::heading_lines;

/// Statements that print by themselves.
const PRINTING: [&str; 4] = ["include", "call", "block", "extends"];

/// A tag of Jinja.
pub struct Tag<'t> {
    /// Where it begins.
    pub from: usize,
    /// Where it ends.
    pub to: usize,
    /// What a statement says; empty for comments and expressions.
    pub statement: &'t str,
}

/// The tags of a text, in order. What stands between `raw` and `endraw` has none.
pub fn tags(text: &str) -> Vec<Tag<'_>> {
    let mut tags = Vec::new();
    let mut at = 0;
    let mut raw = false;
    while let Some(found) = text.get(at..).and_then(|rest| rest.find('{')) {
        let from = at + found;
        let rest = text.get(from..).unwrap_or_default();
        let end =
            [("{%", "%}"), ("{{", "}}"), ("{#", "#}")].into_iter().find(|(open, _)| rest.starts_with(open));
        let Some(length) = end.and_then(|(_, close)| Some(rest.find(close)? + 2)) else {
            at = from + 1;
            continue;
        };
        let inner = rest.get(2..length - 2).unwrap_or_default().trim_matches(['-', '+']).trim();
        let statement = if rest.starts_with("{%") { inner } else { "" };
        if raw && statement != "endraw" {
            at = from + 1;
            continue;
        }
        raw = statement == "raw";
        tags.push(Tag { from, to: from + length, statement });
        at = from + length;
    }
    tags
}

/// The expressions of a text: where each begins and ends, and what it says.
pub fn expressions(text: &str) -> Vec<(usize, usize, &str)> {
    let inner = |tag: &Tag<'_>| text.get(tag.from..tag.to)?.strip_prefix("{{")?.strip_suffix("}}");
    tags(text).iter().filter_map(|tag| Some((tag.from, tag.to, inner(tag)?))).collect()
}

/// Whether a text may print anything but white space.
pub fn may_print(text: &str) -> bool {
    let mut at = 0;
    // The statements whose bodies print nothing.
    let mut silent = 0_usize;
    for tag in tags(text) {
        let before = text.get(at..tag.from).unwrap_or_default();
        let word = tag.statement.split_whitespace().next().unwrap_or_default();
        let is_expression = text.get(tag.from..).is_some_and(|rest| rest.starts_with("{{"));
        if silent == 0 && (!before.trim().is_empty() || is_expression || PRINTING.contains(&word)) {
            return true;
        }
        match word {
            "macro" => silent += 1,
            "set" if !tag.statement.contains('=') => silent += 1,
            "endset" | "endmacro" => silent = silent.saturating_sub(1),
            _ => {}
        }
        at = tag.to;
    }
    !text.get(at..).unwrap_or_default().trim().is_empty()
}

/// The text of a format whose Jinja drops the line end after a statement or a comment (`trim_blocks`): each such line end moves into
/// its tag, so that no line gets another number. Those before headings stay.
pub fn trimmed(text: &str) -> String {
    let headings = heading_lines(text);
    let mut out = String::with_capacity(text.len());
    let mut at = 0;
    for tag in tags(text) {
        let inner = text.get(tag.from..tag.to - 2).unwrap_or_default();
        let is_trimmed = !inner.starts_with("{{") && !inner.ends_with(['-', '+']) && tag.statement != "raw";
        let has_line_end = text.get(tag.to..).is_some_and(|rest| rest.starts_with('\n'));
        let is_before_heading = headings.iter().any(|heading| heading.from == tag.to + 1);
        if is_trimmed && has_line_end && !is_before_heading {
            out.push_str(text.get(at..tag.to - 2).unwrap_or_default());
            out.push('\n');
            out.push_str(text.get(tag.to - 2..tag.to).unwrap_or_default());
            at = tag.to + 1;
        }
    }
    out + text.get(at..).unwrap_or_default()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn line_ends_after_statements_move_into_them() {
        for (text, expected) in [
            ("{% if a %}\nb\n{% endif %}\n", "{% if a \n%}b\n{% endif \n%}"),
            ("{# c #}\n\n{{ a }}\nb", "{# c \n#}\n{{ a }}\nb"),
            ("{% if a -%}\nb{% endif +%}\n", "{% if a -%}\nb{% endif +%}\n"),
            ("{% raw %}\n{% if %}\n{% endraw %}\nx", "{% raw %}\n{% if %}\n{% endraw \n%}x"),
            (
                "{% for m in h %}\n# user:\n{{ m }}\n{% endfor %}\n",
                "{% for m in h %}\n# user:\n{{ m }}\n{% endfor \n%}",
            ),
        ] {
            assert_eq!(trimmed(text), expected);
        }
    }
}
