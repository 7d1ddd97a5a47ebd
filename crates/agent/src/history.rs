//! The messages of a conversation, and which of them a model is sent.

use serde::{Deserialize, Serialize};

/// Who says a message.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Role {
    /// The user.
    User,
    /// The agent.
    Assistant,
}

/// A message.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Message {
    /// Who says it.
    pub role: Role,
    /// What it says.
    pub content: String,
}

/// All messages so far; nothing is forgotten.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(transparent)]
pub struct History(Vec<Message>);

impl History {
    /// Adds a message.
    pub(super) fn add(&mut self, role: Role, content: &str) {
        self.0.push(Message { role, content: content.to_owned() });
    }

    /// All messages, the first one first.
    pub fn all(&self) -> &[Message] {
        &self.0
    }

    /// How long all texts are, in bytes.
    pub fn bytes(&self) -> usize {
        self.0.iter().map(|message| message.content.len()).sum()
    }

    /// The last messages, `limit` at most. With `merge`, neighbours of one role are joined to one message first.
    pub fn last(&self, limit: usize, merge: bool) -> Vec<Message> {
        let all = if merge { merged(&self.0) } else { self.0.clone() };
        let surplus = all.len().saturating_sub(limit);
        all.into_iter().skip(surplus).collect()
    }
}

fn merged(messages: &[Message]) -> Vec<Message> {
    let mut merged: Vec<Message> = Vec::with_capacity(messages.len());
    for message in messages {
        match merged.last_mut().filter(|last| last.role == message.role) {
            Some(last) => {
                last.content.push('\n');
                last.content.push_str(&message.content);
            }
            None => merged.push(message.clone()),
        }
    }
    merged
}

#[cfg(test)]
mod tests {
    use super::*;

    fn history(texts: &[(Role, &str)]) -> History {
        let mut history = History::default();
        texts.iter().for_each(|(role, text)| history.add(*role, text));
        history
    }

    fn texts(messages: &[Message]) -> Vec<&str> {
        messages.iter().map(|message| message.content.as_str()).collect()
    }

    #[test]
    fn the_last_messages_are_sent_and_neighbours_of_one_role_are_joined_if_that_is_wanted() {
        use Role::{Assistant, User};
        let history = history(&[(User, "a"), (Assistant, "b"), (Assistant, "c"), (User, "d"), (User, "e")]);
        assert_eq!(texts(&history.last(10, false)), ["a", "b", "c", "d", "e"]);
        assert_eq!(texts(&history.last(2, false)), ["d", "e"]);
        assert_eq!(texts(&history.last(2, true)), ["b\nc", "d\ne"]);
        assert_eq!(texts(&history.last(0, false)), [""; 0]);
        assert_eq!(history.bytes(), 5);
    }
}
