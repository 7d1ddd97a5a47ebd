//! Texts whose only marks are placeholders (`{{name}}`), as templates of Jinja.

/// The text with every mark of Jinja escaped but the placeholders whose names `is_variable` accepts.
pub fn to_jinja(text: &str, is_variable: impl Fn(&str) -> bool) -> String {
    let mut out = String::with_capacity(text.len());
    let mut rest = text;
    while let Some(at) = first_mark(rest) {
        let (before, mark) = rest.split_at(at);
        out.push_str(before);
        let placeholder = name_in(mark).filter(|name| is_variable(name));
        let length = match placeholder {
            Some(_) => mark.find("}}").map_or(mark.len(), |end| end + 2),
            None => 2,
        };
        let (mark, after) = mark.split_at(length);
        match placeholder {
            Some(_) => out.push_str(mark),
            None => out.push_str(&format!("{{{{ \"{mark}\" }}}}")),
        }
        rest = after;
    }
    out.push_str(rest);
    out
}

/// Whether each mark of the text is a placeholder.
pub fn has_only_placeholders(text: &str) -> bool {
    let mut rest = text;
    while let Some(at) = first_mark(rest) {
        let (_, mark) = rest.split_at(at);
        if name_in(mark).is_none() {
            return false;
        }
        rest = mark.split_once("}}").map_or("", |(_, after)| after);
    }
    true
}

fn first_mark(text: &str) -> Option<usize> {
    ["{{", "{%", "{#"].iter().filter_map(|mark| text.find(mark)).min()
}

/// The name in the placeholder that a text begins with.
fn name_in(mark: &str) -> Option<&str> {
    let name = mark.strip_prefix("{{")?.split_once("}}")?.0.trim();
    let is_name = |name: &str| {
        name.starts_with(|c: char| c.is_ascii_alphabetic() || c == '_')
            && name.chars().all(|c| c.is_ascii_alphanumeric() || c == '_')
    };
    is_name(name).then_some(name)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn all_marks_but_placeholders_are_escaped() {
        let text = "{{input}} {{ a.b }} {% if %} {{{x}}} {#";
        assert_eq!(
            to_jinja(text, |_| true),
            r#"{{input}} {{ "{{" }} a.b }} {{ "{%" }} if %} {{ "{{" }}{x}}} {{ "{#" }}"#
        );
        assert_eq!(to_jinja("{{a}} {{b}}", |name| name == "a"), r#"{{a}} {{ "{{" }}b}}"#);
        assert!(has_only_placeholders("a {{ b }} {{c}}") && !has_only_placeholders("{{a}} {{ f('x') }}"));
    }
}
