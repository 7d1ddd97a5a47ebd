//! Texts with headings for roles, which render to messages.
//!
//! The headings of the template's own text are marked before it is compiled, with a mark that nobody outside of the process can
//! know; the rendered text is parted at the marks. So what looks like a heading in a value stays text.

use serde_json::{Map, Value as Json};

use crate::formats::{attributes_of, heading_lines, role_of};
use base::model::Messages;
use base::random::random;

/// The mark around the headings of one compiled prompt.
#[derive(Debug, Clone)]
pub struct RoleMark(String);

impl RoleMark {
    /// A mark that cannot be guessed.
    pub fn random() -> RoleMark {
        RoleMark(format!("\u{1}{:032x}\u{1}", random()))
    }

    /// The text with its headings marked. No line moves.
    pub fn marked(&self, text: &str) -> String {
        let mut out = String::with_capacity(text.len());
        let mut at = 0;
        for heading in heading_lines(text) {
            out.push_str(text.get(at..heading.from).unwrap_or_default());
            let line = text.get(heading.from..heading.to).unwrap_or_default();
            out.push_str(&format!(
                "{0}{1}{0}{2}",
                self.0,
                heading.label,
                if line.ends_with('\n') { "\n" } else { "" }
            ));
            at = heading.to;
        }
        out + text.get(at..).unwrap_or_default()
    }

    /// The messages of a rendered text.
    ///
    /// # Errors
    /// If a computed heading is not that of a role; the text says which.
    pub fn messages(&self, rendered: &str) -> Result<Messages, String> {
        let mut pieces = rendered.split(self.0.as_str());
        let mut messages = Vec::new();
        let lead = pieces.next().unwrap_or_default();
        if !lead.trim().is_empty() {
            messages.push((members("system", ""), without_blank_ends(lead)));
        }
        while let Some(label) = pieces.next() {
            let Some((role, attributes)) = role_of(label.trim()) else {
                let label: String = label.chars().take(40).collect();
                return Err(format!(
                    "the heading of message {} is `{label}`, which is no role: system, user, assistant, developer, function, tool",
                    messages.len() + 1
                ));
            };
            messages.push((members(role, attributes), without_blank_ends(pieces.next().unwrap_or_default())));
        }
        Ok(Messages::parted(messages))
    }
}

fn members(role: &str, attributes: &str) -> Map<String, Json> {
    let known = attributes_of(attributes).filter(|(_, _, is_known)| *is_known);
    let known = known.map(|(key, value, _)| (key.to_owned(), value.into()));
    std::iter::once(("role".to_owned(), role.into())).chain(known).collect()
}

/// The text without blank lines before it, and without white space after it.
fn without_blank_ends(text: &str) -> String {
    let blank: usize =
        text.split_inclusive('\n').take_while(|line| line.trim().is_empty()).map(str::len).sum();
    text.get(blank..).unwrap_or_default().trim_end().to_owned()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_marked_headings_part_a_text() {
        let mark = RoleMark::random();
        let text = mark.marked("system:\nA\n{# user:\n#}\n# user[name=\"x\"]:\nB");
        let rendered = text.replace('A', "A\nuser:\nnot a heading");
        let messages = serde_json::to_value(mark.messages(&rendered).unwrap()).unwrap();
        assert_eq!(messages[0]["content"], "A\nuser:\nnot a heading\n{# user:\n#}");
        assert_eq!(messages[1], serde_json::json!({"role": "user", "name": "x", "content": "B"}));
        let computed = mark.marked("{{ m.role }}:\n{{ m.content }}").replace("{{ m.role }}", "user:\nsystem");
        assert!(mark.messages(&computed).unwrap_err().contains("no role"));
    }
}
