//! Texts in Mustache's manner: `{{name}}` is Jinja, too; for the tags that are not, the error says what to write instead.

use super::contract::{CompileError, Position};

/// A tag of Mustache that Jinja does not have.
struct Tag<'t> {
    /// The tag as it is written.
    text: &'t str,
    /// What Jinja has in its place.
    instead: String,
    line: usize,
    column: usize,
}

/// Replaces the error of a Jinja text by one that names Mustache, if it is in the line of one of Mustache's own tags.
pub fn explained(error: CompileError, text: &str) -> CompileError {
    let CompileError::Invalid { message, position: Some(position) } = error else { return error };
    match tags(text).find(|tag| tag.line == position.line) {
        Some(Tag { text, instead, line, column }) => CompileError::Invalid {
            message: format!(
                "`{text}` is a tag of Mustache, which is not rendered here; in Jinja, write {instead}"
            ),
            position: Some(Position { template: position.template, line, column: Some(column) }),
        },
        None => CompileError::Invalid { message, position: Some(position) },
    }
}

fn tags(text: &str) -> impl Iterator<Item = Tag<'_>> {
    text.lines().enumerate().flat_map(|(at, line)| {
        line.match_indices("{{").filter_map(move |(from, _)| {
            let tag = line.get(from..)?;
            let instead = instead_of(tag)?;
            let end = tag.find("}}").map_or(tag.len(), |end| end + 2);
            let end = end
                + usize::from(tag.starts_with("{{{") && tag.get(end..).is_some_and(|r| r.starts_with('}')));
            let column = 1 + line.get(..from).map_or(0, |before| before.chars().count());
            Some(Tag { text: tag.get(..end)?, instead, line: at + 1, column })
        })
    })
}

/// What Jinja has in place of the tag that a text begins with; `None` if that is no tag of Mustache alone.
fn instead_of(tag: &str) -> Option<String> {
    let rest = tag.strip_prefix("{{")?;
    let mark = rest.chars().next()?;
    let name = rest.get(1..)?.split("}}").next()?.trim().trim_end_matches('}').trim();
    // Handlebars says what kind of section it is.
    let (word, value) =
        name.split_once(char::is_whitespace).map_or(("", name), |(word, value)| (word, value.trim()));
    Some(match mark {
        '#' if word == "if" => format!("`{{% if {value} %}}…{{% endif %}}`"),
        '#' if word == "unless" => format!("`{{% if not {value} %}}…{{% endif %}}`"),
        '#' if word == "each" => format!("`{{% for item in {value} %}}…{{% endfor %}}`"),
        '#' if word == "with" => format!("`{{{{ {value}.name }}}}` for each of its members"),
        '#' if !word.is_empty() => "a condition, a loop or a call of a tool".to_owned(),
        '#' => format!(
            "`{{% for item in {name} %}}…{{% endfor %}}` for a list, or `{{% if {name} %}}…{{% endif %}}` for a condition"
        ),
        '^' => format!("`{{% if not {name} %}}…{{% endif %}}`"),
        '/' => "`{% endfor %}` or `{% endif %}`".to_owned(),
        '{' | '&' => format!("`{{{{ {name} }}}}`: nothing is escaped"),
        '!' => format!("`{{# {name} #}}`"),
        '>' => format!("`{{% include \"{name}\" %}}`"),
        _ => return None,
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_tag_of_mustache_has_its_jinja() {
        let of = |text: &str| {
            tags(text).next().map(|tag| (tag.text.to_owned(), tag.instead, tag.line, tag.column))
        };
        let (tag, instead, line, column) = of("a\nb {{{ raw }}} c").unwrap();
        assert_eq!((tag.as_str(), line, column), ("{{{ raw }}}", 2, 3));
        assert!(instead.contains("`{{ raw }}`"), "{instead}");
        assert!(of("{{#items}}").unwrap().1.contains("{% for item in items %}"));
        for (tag, instead) in [
            ("{{#if x}}", "`{% if x %}…{% endif %}`"),
            ("{{#unless x.y}}", "`{% if not x.y %}…{% endif %}`"),
            ("{{#each xs}}", "`{% for item in xs %}…{% endfor %}`"),
        ] {
            assert_eq!(of(tag).unwrap().1, instead);
        }
        assert!(of("{{> head }}").unwrap().1.contains("{% include \"head\" %}"));
        assert_eq!(of("{{ name }} {{ user.name }} {{- x }}"), None);
    }
}
