//! What of a dialogue the model is sent: all of it, its last messages, or the last one alone.

use serde::Serialize;

use super::dialogue::Turn;

/// Which messages are sent beside the system message.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, serde::Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum History {
    /// Every message.
    #[default]
    Full,
    /// The first message, and so many of the last ones.
    LastN(usize),
    /// The last message.
    SystemOnly,
}

/// A message of a chat.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
pub struct Message<'a> {
    /// Who says it.
    pub role: Role,
    /// What it says.
    pub content: &'a str,
}

/// Who says a message.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "lowercase")]
pub enum Role {
    /// The instructions for the model.
    System,
    /// The client, for the user.
    User,
    /// The model.
    Assistant,
}

impl<'a> Message<'a> {
    /// A message with the instructions for the model.
    pub fn system(content: &'a str) -> Message<'a> {
        Message { role: Role::System, content }
    }

    fn user(content: &'a str) -> Message<'a> {
        Message { role: Role::User, content }
    }

    fn assistant(content: &'a str) -> Message<'a> {
        Message { role: Role::Assistant, content }
    }
}

/// The messages of turns, in their order.
pub(super) fn messages(turns: &[Turn]) -> impl DoubleEndedIterator<Item = Message<'_>> {
    turns.iter().flat_map(|turn| [Message::user(&turn.user), Message::assistant(&turn.reply)])
}

impl History {
    /// The messages that are sent: the turns so far, and the new message of the user. No two messages of the user follow each other,
    /// as some models refuse that.
    pub(super) fn select<'a>(self, turns: &'a [Turn], last: &'a str) -> Vec<Message<'a>> {
        let whole: Vec<Message<'a>> = messages(turns).chain([Message::user(last)]).collect();
        let kept = match self {
            History::Full => whole.len(),
            History::LastN(n) => n,
            History::SystemOnly => 0,
        };
        // Users and the model take turns, and the last message is one of the user.
        let kept = if kept.is_multiple_of(2) { kept } else { kept - 1 };
        match whole.as_slice() {
            [.., last] if kept == 0 => vec![*last],
            [first, rest @ ..] => {
                let tail = rest.len().saturating_sub(kept);
                [first].into_iter().chain(rest.iter().skip(tail)).copied().collect()
            }
            [] => Vec::new(),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn turns(count: usize) -> Vec<Turn> {
        (0..count).map(|n| Turn { user: format!("u{n}"), reply: format!("a{n}") }).collect()
    }

    fn sent(history: History, count: usize) -> String {
        let (turns, last) = (turns(count), format!("u{count}"));
        history.select(&turns, &last).iter().map(|message| message.content).collect::<Vec<_>>().join(" ")
    }

    #[test]
    fn each_mode_sends_what_it_says() {
        assert_eq!(sent(History::Full, 2), "u0 a0 u1 a1 u2");
        assert_eq!(sent(History::SystemOnly, 2), "u2");
        assert_eq!(sent(History::LastN(0), 2), "u2");
        // The last one alone would leave the first message of the user beside it.
        assert_eq!(sent(History::LastN(1), 2), "u2");
        assert_eq!(sent(History::LastN(2), 2), "u0 a1 u2");
        assert_eq!(sent(History::LastN(3), 2), "u0 a1 u2");
        assert_eq!(sent(History::LastN(4), 2), "u0 a0 u1 a1 u2");
        assert_eq!(sent(History::LastN(10), 2), "u0 a0 u1 a1 u2");
        assert_eq!(sent(History::LastN(10), 0), "u0");
    }

    proptest! {
        #[test]
        fn users_and_the_model_take_turns_and_the_last_message_is_sent(n in 0_usize..12, count in 0_usize..12) {
            for history in [History::Full, History::LastN(n), History::SystemOnly] {
                let (turns, last) = (turns(count), "last".to_owned());
                let messages = history.select(&turns, &last);
                prop_assert_eq!(messages.last().unwrap().content, "last");
                prop_assert_eq!(messages[0].role, Role::User);
                prop_assert!(messages.windows(2).all(|pair| pair[0].role != pair[1].role));
            }
        }
    }
}
