//! Texts with headings for roles, which render to messages.
//!
//! The headings of the template's own text are marked before it is compiled, with a mark that nobody outside of the process can
//! know; the rendered text is parted at the marks. So what looks like a heading in a value stays text.

use serde_json::{Map, Value as Json};

use crate::formats::{attributes_of, conversations, heading_lines, role_of};
use base::model::Messages;
use base::random::random;

/// The role of what comes before the first heading.
const LEAD: &str = "system";

/// What stands before the label of a message that is left out if it has no text.
const OPTIONAL: &str = "\u{2}";

/// The mark around the headings of one compiled prompt.
#[derive(Debug, Clone)]
pub struct RoleMark(String);

impl RoleMark {
    /// A mark that cannot be guessed.
    pub fn random() -> RoleMark {
        RoleMark(format!("\u{1}{:032x}\u{1}", random()))
    }

    /// The text with its headings marked, and with its conversations as loops over messages. No line moves.
    pub fn marked(&self, text: &str) -> String {
        let mut out = String::with_capacity(text.len());
        let mut at = 0;
        for (from, to, new) in self.edits(text) {
            out.push_str(text.get(at..from).unwrap_or_default());
            out.push_str(&new);
            at = to;
        }
        out + text.get(at..).unwrap_or_default()
    }

    /// What stands in the place of headings and conversations, in order.
    fn edits(&self, text: &str) -> Vec<(usize, usize, String)> {
        let headings = heading_lines(text);
        let mut conversations = conversations(text).into_iter().peekable();
        let mut edits = Vec::new();
        let lead = (0, 0, LEAD);
        let lines = headings.iter().map(|heading| (heading.from, heading.to, heading.label));
        let ends = headings.iter().map(|heading| heading.from).chain([text.len()]);
        for ((from, to, label), end) in std::iter::once(lead).chain(lines).zip(ends) {
            let is_parted = conversations.peek().is_some_and(|next| next.from < end);
            // The lead has no heading.
            if to > from {
                edits.push((from, to, self.heading(label, is_parted) + "\n"));
            }
            while let Some(conversation) = conversations.next_if(|next| next.from < end) {
                edits.push((conversation.from, conversation.to, self.thread(conversation.list, label)));
            }
        }
        edits
    }

    /// The mark of a message; one that is optional is left out if it has no text.
    fn heading(&self, label: &str, is_optional: bool) -> String {
        format!("{0}{1}{label}{0}", self.0, if is_optional { OPTIONAL } else { "" })
    }

    /// The messages of a list, after which the message around them goes on.
    fn thread(&self, list: &str, label: &str) -> String {
        let (role, goes_on) = (self.heading("{{ message.role }}", false), self.heading(label, true));
        format!("{{% for message in ({list}) or [] %}}{role}{{{{ message.content }}}}{{% endfor %}}{goes_on}")
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
            messages.push((members(LEAD, ""), without_blank_ends(lead)));
        }
        while let Some(label) = pieces.next() {
            let (label, is_optional) =
                label.strip_prefix(OPTIONAL).map_or((label, false), |label| (label, true));
            let Some((role, attributes)) = role_of(label.trim()) else {
                let label: String = label.chars().take(40).collect();
                return Err(format!(
                    "the heading of message {} is `{label}`, which is no role: system, user, assistant, developer, function, tool",
                    messages.len() + 1
                ));
            };
            let text = pieces.next().unwrap_or_default();
            match is_optional.then(|| text.trim()) {
                Some("") => {}
                Some(part) => messages.push((members(role, attributes), part.to_owned())),
                None => messages.push((members(role, attributes), without_blank_ends(text))),
            }
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
        let threads = mark.marked("{{ a|messages }}\nuser:\n{{ b | messages }}\nC");
        assert_eq!(threads.lines().count(), 4, "no line moves");
        assert_eq!(threads.matches("{% for message in (").count(), 2);
        let loops = ["{% for message in (a) or [] %}", "{% for message in (b) or [] %}", "{% endfor %}"];
        let parted = loops.iter().fold(threads, |text, tag| text.replace(tag, ""));
        let parted = parted.replace("{{ message.role }}", "assistant");
        let messages = serde_json::to_value(mark.messages(&parted).unwrap()).unwrap();
        let roles: Vec<_> = messages.as_array().unwrap().iter().map(|message| &message["role"]).collect();
        assert_eq!(roles, ["assistant", "assistant", "user"], "what has no text is left out");
        let computed = mark.marked("{{ m.role }}:\n{{ m.content }}").replace("{{ m.role }}", "user:\nsystem");
        assert!(mark.messages(&computed).unwrap_err().contains("no role"));
    }
}
