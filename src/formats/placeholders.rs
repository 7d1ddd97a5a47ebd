//! Texts whose only marks are placeholders (`{{name}}`), as templates of Jinja.

/// Names that mean something else in Jinja, or here, than a variable.
const TAKEN: [&str; 24] = [
    "variables",
    "args",
    "true",
    "false",
    "none",
    "True",
    "False",
    "None",
    "and",
    "or",
    "not",
    "in",
    "is",
    "if",
    "else",
    "self",
    "super",
    "range",
    "dict",
    "namespace",
    "cycler",
    "joiner",
    "lipsum",
    "loop",
];

/// The text as a template of Jinja. `expression` says what prints the placeholder with this inner text; if nothing does, it is text,
/// as are all other marks.
pub fn to_jinja(text: &str, expression: impl Fn(&str) -> Option<String>) -> String {
    let mut out = String::with_capacity(text.len());
    let mut rest = text;
    while let Some(at) = first_mark(rest) {
        let (before, mark) = rest.split_at(at);
        out.push_str(before);
        let printed = inner(mark).and_then(|inner| Some((inner.len() + 4, inner, expression(inner.trim())?)));
        let length = printed.as_ref().map_or(2, |(length, ..)| *length);
        let (mark, after) = mark.split_at(length);
        match printed {
            Some((_, inner, expression)) if inner.trim() == expression => out.push_str(mark),
            Some((_, _, expression)) => out.push_str(&format!("{{{{ {expression} }}}}")),
            None => out.push_str(&format!("{{{{ \"{mark}\" }}}}")),
        }
        rest = after;
    }
    out.push_str(rest);
    out
}

/// The text of Mustache as a template of Jinja, or its first tag that is more than a variable.
///
/// # Errors
/// That tag.
pub fn of_mustache(text: &str) -> Result<String, String> {
    let mut rest = text;
    while let Some((_, mark)) = rest.split_once("{{") {
        let (inner, after) = mark.split_once("}}").unwrap_or((mark.lines().next().unwrap_or_default(), ""));
        if path(inner.trim()).is_none() {
            return Err(format!("{{{{{inner}}}}}"));
        }
        rest = after;
    }
    Ok(to_jinja(text, path))
}

/// The expression for a path of names, as Mustache writes it.
fn path(path: &str) -> Option<String> {
    let mut parts = path.split('.');
    let mut expression = variable(parts.next().filter(|part| is_word(part))?);
    for part in parts {
        match is_word(part) {
            true if is_identifier(part) => expression.extend([".", part]),
            true => expression.extend(["[\"", part, "\"]"]),
            false => return None,
        }
    }
    Some(expression)
}

/// Whether each mark of the text is a placeholder whose name is an identifier.
pub fn has_only_identifiers(text: &str) -> bool {
    let mut rest = text;
    while let Some(at) = first_mark(rest) {
        let (_, mark) = rest.split_at(at);
        if !inner(mark).is_some_and(|inner| is_identifier(inner.trim())) {
            return false;
        }
        rest = mark.split_once("}}").map_or("", |(_, after)| after);
    }
    true
}

/// The expression for a variable, whatever its name is.
pub fn variable(name: &str) -> String {
    match is_identifier(name) && !TAKEN.contains(&name) {
        true => name.to_owned(),
        false => format!("variables[\"{name}\"]"),
    }
}

/// Whether a text is the name of a variable in formats that know no paths: letters, digits, `_`, `-` and `.`.
pub fn is_word(name: &str) -> bool {
    name.starts_with(|c: char| c.is_alphanumeric() || c == '_')
        && name.chars().all(|c| c.is_alphanumeric() || ['_', '-', '.'].contains(&c))
}

/// Whether a text is a name in Jinja.
pub fn is_identifier(name: &str) -> bool {
    name.starts_with(|c: char| c.is_ascii_alphabetic() || c == '_')
        && name.chars().all(|c| c.is_ascii_alphanumeric() || c == '_')
}

fn first_mark(text: &str) -> Option<usize> {
    let mut braces = text.match_indices('{').map(|(at, _)| at);
    braces.find(|at| text.get(at + 1..).is_some_and(|rest| rest.starts_with(['{', '%', '#'])))
}

/// What stands in the placeholder that a text begins with. A text of several lines, or with quotes or braces, is none.
fn inner(mark: &str) -> Option<&str> {
    let rest = mark.strip_prefix("{{")?;
    let end = rest.find(['{', '}', '\n', '"', '\\'])?;
    let (inner, rest) = rest.split_at_checked(end)?;
    rest.starts_with("}}").then_some(inner)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn any(name: &str) -> Option<String> {
        is_word(name).then(|| variable(name))
    }

    #[test]
    fn all_marks_but_placeholders_are_escaped() {
        let text = "{{input}} {{ a b }} {% if %} {{{x}}} {#";
        assert_eq!(
            to_jinja(text, any),
            r#"{{input}} {{ "{{" }} a b }} {{ "{%" }} if %} {{ "{{" }}{x}}} {{ "{#" }}"#
        );
        assert_eq!(
            to_jinja("{{a}} {{b}}", |name| (name == "a").then(|| variable(name))),
            r#"{{a}} {{ "{{" }}b}}"#
        );
        assert!(has_only_identifiers("a {{ b }} {{c}}") && !has_only_identifiers("{{a}} {{ f('x') }}"));
    }

    #[test]
    fn names_that_jinja_reads_otherwise_are_still_variables() {
        let text = "{{variables}} {{ none }} {{user-name}} {{doc.title}} {{0}} {{in}} {{ok}}";
        assert_eq!(
            to_jinja(text, any),
            "{{ variables[\"variables\"] }} {{ variables[\"none\"] }} {{ variables[\"user-name\"] }} \
             {{ variables[\"doc.title\"] }} {{ variables[\"0\"] }} {{ variables[\"in\"] }} {{ok}}"
        );
    }

    #[test]
    fn mustache_has_paths_and_no_marks_of_jinja() {
        assert_eq!(
            of_mustache("100{% of {# {{x}} {{ user.first-name }} {{if.a}}").unwrap(),
            "100{{ \"{%\" }} of {{ \"{#\" }} {{x}} {{ user[\"first-name\"] }} {{ variables[\"if\"].a }}"
        );
        for (text, tag) in [("a {{#l}}b{{/l}}", "{{#l}}"), ("{{{x}}}", "{{{x}}"), ("{{> p}}", "{{> p}}")] {
            assert_eq!(of_mustache(text).unwrap_err(), tag);
        }
    }
}
