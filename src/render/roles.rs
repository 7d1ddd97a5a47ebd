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

/// What a heading begins, by the character before its label. Every heading has one, so that no value can be taken for it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Kind {
    /// A message.
    Message,
    /// A message that is left out if it has no text.
    Part,
    /// A message of a conversation, whose role is data.
    Said,
}

impl Kind {
    const ALL: [Kind; 3] = [Kind::Message, Kind::Part, Kind::Said];

    fn mark(self) -> char {
        match self {
            Kind::Message => '\u{2}',
            Kind::Part => '\u{3}',
            Kind::Said => '\u{4}',
        }
    }

    /// The kind of a marked heading, and its label.
    fn of(heading: &str) -> Option<(Kind, &str)> {
        Kind::ALL.into_iter().find_map(|kind| Some((kind, heading.strip_prefix(kind.mark())?)))
    }
}

/// The roles that a message of a conversation may have. Whoever gives the conversation must not speak for the system.
const SAYING: [&str; 2] = ["user", "assistant"];

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
                let kind = if is_parted { Kind::Part } else { Kind::Message };
                edits.push((from, to, self.heading(label, kind) + "\n"));
            }
            while let Some(conversation) = conversations.next_if(|next| next.from < end) {
                edits.push((conversation.from, conversation.to, self.thread(conversation.list, label)));
            }
        }
        edits
    }

    /// The mark of a message.
    fn heading(&self, label: &str, kind: Kind) -> String {
        format!("{0}{1}{label}{0}", self.0, kind.mark())
    }

    /// The messages of a list, after which the message around them goes on. A content is a text, or a list of parts with texts;
    /// that of a message which only calls tools is null.
    fn thread(&self, list: &str, label: &str) -> String {
        let (role, goes_on) =
            (self.heading("{{ message.role }}", Kind::Said), self.heading(label, Kind::Part));
        let content = "message.content if message.content is string else message.content|default([], true)|map(attribute='text')|join('\\n')";
        format!("{{% for message in ({list}) or [] %}}{role}{{{{ {content} }}}}{{% endfor %}}{goes_on}")
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
        while let Some(heading) = pieces.next() {
            let (kind, label) = Kind::of(heading).unwrap_or((Kind::Message, heading));
            let text = pieces.next().unwrap_or_default();
            if kind == Kind::Said {
                let role = SAYING.into_iter().find(|role| *role == label);
                let role =
                    role.ok_or_else(|| no_role("the role of a message in the conversation", label, &SAYING))?;
                messages.push((members(role, ""), text.to_owned()));
                continue;
            }
            let Some((role, attributes)) = role_of(label.trim()) else {
                let which = format!("the heading of message {}", messages.len() + 1);
                let roles = ["system", "user", "assistant", "developer", "function", "tool"];
                return Err(no_role(&which, label, &roles));
            };
            match kind {
                Kind::Part if text.trim().is_empty() => {}
                Kind::Part => messages.push((members(role, attributes), text.trim().to_owned())),
                _ => messages.push((members(role, attributes), without_blank_ends(text))),
            }
        }
        Ok(Messages::parted(messages))
    }
}

fn no_role(which: &str, label: &str, roles: &[&str]) -> String {
    let label: String = label.chars().take(40).collect();
    format!("{which} is `{label}`, which is no role: {}", roles.join(", "))
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
