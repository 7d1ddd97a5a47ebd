//! The tags of texts in Jinja, found without a compiler: enough to tell where messages begin, and what prints.

use std::collections::BTreeSet;

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

/// The kinds of tags, by their ends.
const KINDS: [(&str, &str); 3] = [("{%", "%}"), ("{{", "}}"), ("{#", "#}")];

/// The tags of a text, in order. What stands between `raw` and `endraw` has none.
pub fn tags(text: &str) -> Vec<Tag<'_>> {
    let mut tags = Vec::new();
    let mut at = 0;
    // An end that is missing once is missing for all later tags: nothing is searched twice.
    let mut missing: Vec<&str> = Vec::new();
    let mut has_quotes = true;
    while let Some(found) = text.get(at..).and_then(|rest| rest.find('{')) {
        let from = at + found;
        let rest = text.get(from..).unwrap_or_default();
        at = from + 1;
        let kind = KINDS.into_iter().find(|(open, close)| rest.starts_with(open) && !missing.contains(close));
        let Some((open, close)) = kind else { continue };
        let quoted = if has_quotes && open != "{#" { end_of_tag(rest, close) } else { None };
        let Some(length) = quoted.or_else(|| Some(rest.get(2..)?.find(close)? + 4)) else {
            missing.push(close);
            continue;
        };
        // A quote or a bracket that is not closed: from here on, the text is not Jinja.
        has_quotes &= quoted.is_some() || open == "{#";
        let inner = rest.get(2..length - 2).unwrap_or_default().trim_matches(['-', '+']).trim();
        let statement = if open == "{%" { inner } else { "" };
        tags.push(Tag { from, to: from + length, statement });
        at = from + length;
        if statement == "raw" {
            let Some(end) = end_of_raw(text, at) else { break };
            at = end.to;
            tags.push(end);
        }
    }
    tags
}

/// The length of the tag that a text begins with: its end mark stands outside of quotes and brackets.
fn end_of_tag(tag: &str, close: &str) -> Option<usize> {
    let (mut quote, mut is_escaped, mut depth) = (None, false, 0_usize);
    for (at, byte) in tag.bytes().enumerate().skip(2) {
        match (quote, byte) {
            (Some(_), _) if is_escaped => is_escaped = false,
            (Some(_), b'\\') => is_escaped = true,
            (Some(open), byte) if open == byte => quote = None,
            (Some(_), _) => {}
            (None, b'"' | b'\'') => quote = Some(byte),
            (None, _) if depth == 0 && tag.get(at..).is_some_and(|rest| rest.starts_with(close)) => {
                return Some(at + close.len());
            }
            (None, b'{' | b'[' | b'(') => depth += 1,
            (None, b'}' | b']' | b')') => depth = depth.saturating_sub(1),
            (None, _) => {}
        }
    }
    None
}

/// The tag that ends the raw text from a place on.
fn end_of_raw(text: &str, mut at: usize) -> Option<Tag<'_>> {
    const WORD: &str = "endraw";
    loop {
        let word = at + text.get(at..)?.find(WORD)?;
        let before = text.get(at..word)?.trim_end_matches(['-', '+', ' ', '\t', '\n']);
        let after = word + WORD.len();
        let rest = text.get(after..)?;
        let close = rest.trim_start().trim_start_matches(['-', '+']);
        match before.strip_suffix("{%").filter(|_| close.starts_with("%}")) {
            Some(raw) => {
                let to = after + rest.len() - close.len() + 2;
                return Some(Tag { from: at + raw.len(), to, statement: WORD });
            }
            None => at = after,
        }
    }
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
    let headings: BTreeSet<usize> = heading_lines(text).iter().map(|heading| heading.from).collect();
    let mut out = String::with_capacity(text.len());
    let mut at = 0;
    for tag in tags(text) {
        let inner = text.get(tag.from..tag.to - 2).unwrap_or_default();
        let is_trimmed = !inner.starts_with("{{") && !inner.ends_with(['-', '+']) && tag.statement != "raw";
        let has_line_end = text.get(tag.to..).is_some_and(|rest| rest.starts_with('\n'));
        let is_before_heading = headings.contains(&(tag.to + 1));
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
    fn raw_texts_and_tags_without_ends_have_no_tags() {
        let statements =
            |text: &str| tags(text).iter().map(|tag| tag.statement.to_owned()).collect::<Vec<_>>();
        assert_eq!(
            statements("{% raw %}{% if endraw %}{{ x }}{%- endraw -%}{% if %}"),
            ["raw", "endraw", "if"]
        );
        assert_eq!(statements("{% raw %}{% if %}"), ["raw"]);
        assert_eq!(statements("{{ {# a #} {% b"), [""]);
        assert_eq!(statements("{% raw %}{% endrawx %}{% if %}{% endraw %}{% b %}"), ["raw", "endraw", "b"]);
    }

    #[test]
    fn marks_in_quotes_and_brackets_end_no_tag() {
        for (text, ends) in [
            (r#"{% set x = "%}" %}a"#, 18),
            (r#"{{ "}} {% raw %}" }}a"#, 20),
            (r#"{{ {"a": {"b": 1}} }}a"#, 21),
            (r"{% set x = 'a\'%}' %}a", 21),
            ("{#} x #}a", 8),
            ("{{ it's }}a", 10),
        ] {
            assert_eq!(tags(text).first().map(|tag| tag.to), Some(ends), "{text}");
        }
    }

    #[test]
    fn long_texts_of_nothing_but_marks_are_read() {
        let pieces = [
            "{%",
            "{{",
            "{# ",
            "{% raw %}",
            "{% endraw",
            "{{ x }}\n# user:\n",
            "{% set a = 1 %}\n",
            "{{ '",
            "{{ (",
        ];
        for piece in pieces {
            let text = piece.repeat((1 << 18) / piece.len());
            assert_eq!(trimmed(&text).len(), text.len());
            assert!(crate::formats::threads::with_threads(&text, &["x"]).len() >= text.len());
            assert!(
                crate::formats::placeholders::to_jinja(&text, |name| Some(name.to_owned())).len()
                    >= text.len()
            );
            super::super::roles::layout(&text);
        }
    }

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
