//! A session as Markdown: what the model said, what was run, what came of it.

use dialogue::{Answer, Directive, UnknownFormat};

use super::{Head, Message, Session, time};

/// What stands before the answer of a user.
const RESPONSE: &str = "User response: ";

/// The session as a document. Whatever a model or a command wrote stands in fences that it cannot end.
pub fn markdown(session: &Session) -> String {
    let Session { head, messages } = session;
    let Head { session_id, state, created_at, updated_at, .. } = head;
    let mut text = format!(
        "# {}\n\n- Session: `{session_id}`\n- State: {state}, step {}\n- Started: {}\n- Last event: {}\n",
        plain(head.subject()),
        head.steps(),
        time(*created_at),
        time(*updated_at)
    );
    if head.agent.is_some() {
        text.extend(messages.iter().map(said));
        return text;
    }
    let mut number = 0;
    for Message { role, content } in messages {
        text += &match role.as_str() {
            "system" => format!("\n## Instructions\n\n{}", fenced("", content)),
            "user" => {
                number += 1;
                format!("\n## Step {number}\n\n{}", told(content))
            }
            _ => wanted(content),
        };
    }
    text
}

/// A message of a conversation with an agent.
fn said(message: &Message) -> String {
    let speaker = if message.role == "user" { "User" } else { "Agent" };
    format!("\n{speaker}:\n\n{}", fenced("", &message.content))
}

/// What the model was told.
fn told(content: &str) -> String {
    let content = without_step(content);
    match content.strip_prefix(RESPONSE) {
        Some(answer) => format!("The user's answer:\n\n{}", fenced("", answer)),
        None => fenced("", content),
    }
}

/// What the model wanted.
fn wanted(content: &str) -> String {
    let answer = Answer { text: content, is_cut: false };
    match dialogue::read(answer, UnknownFormat::Error) {
        Ok(Directive::Command { command, .. }) => format!("\nThe command:\n\n{}", fenced("sh", &command)),
        Ok(Directive::Ask { question, required, .. }) => {
            let kind = if required { "The question" } else { "The question, which may stay open" };
            format!("\n{kind}:\n\n{}", fenced("", &question))
        }
        Ok(Directive::Message { message, .. }) => format!("\nThe message:\n\n{}", fenced("", &message)),
        Ok(Directive::Done { message, .. }) => format!("\nDone:\n\n{}", fenced("", &message)),
        Err(_) => format!("\nThe answer:\n\n{}", fenced("", content)),
    }
}

/// The message without its last line, which counts the steps.
fn without_step(content: &str) -> &str {
    match content.rsplit_once("\n\n[Step ") {
        Some((before, _)) => before,
        None => content,
    }
}

/// A block of code that ends where the text does: its fence is longer than any in the text.
fn fenced(language: &str, text: &str) -> String {
    let longest = text.split(|c| c != '`').map(str::len).max().unwrap_or(0);
    let fence = "`".repeat(longest.max(2) + 1);
    format!("{fence}{language}\n{}\n{fence}\n", text.trim_end_matches('\n'))
}

/// A text as the words of a heading.
fn plain(text: &str) -> String {
    text.chars().map(|c| if c.is_control() || "`*_[]<>#\\".contains(c) { ' ' } else { c }).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn session(messages: &[(&str, &str)]) -> Session {
        let messages = messages
            .iter()
            .map(|(role, content)| Message { role: (*role).to_owned(), content: (*content).to_owned() });
        let head = Head {
            session_id: "s1".to_owned(),
            skill: Some("p.git-commit".to_owned()),
            agent: None,
            state: "done".to_owned(),
            step: 2,
            max_steps: Some(100),
            created_at: 0,
            updated_at: 60,
        };
        Session { head, messages: messages.collect() }
    }

    #[test]
    fn each_step_has_what_was_told_and_what_was_wanted() {
        let text = markdown(&session(&[
            ("system", "You are"),
            ("user", "Execute skill: x\n\n[Step 1 of 100]"),
            ("assistant", "[CMD] git status"),
            ("user", "Command output:\n M a\n\n[Step 2 of 100]"),
            ("assistant", "[ASK:optional] A tag?"),
            ("user", "User response: no\n\n[Step 3 of 100]"),
            ("assistant", "[DONE] Ready"),
        ]));
        let expected = "# p.git-commit\n\n- Session: `s1`\n- State: done, step 2 of 100\n- Started: Thu, 01 Jan 1970 00:00:00 GMT\n\
            - Last event: Thu, 01 Jan 1970 00:01:00 GMT\n\n## Instructions\n\n```\nYou are\n```\n\n## Step 1\n\n```\nExecute skill: x\n```\n\n\
            The command:\n\n```sh\ngit status\n```\n\n## Step 2\n\n```\nCommand output:\n M a\n```\n\nThe question, which may stay open:\n\n```\n\
            A tag?\n```\n\n## Step 3\n\nThe user's answer:\n\n```\nno\n```\n\nDone:\n\n```\nReady\n```\n";
        assert_eq!(text, expected);
    }

    #[test]
    fn no_text_ends_its_fence() {
        for text in ["```\nx", "a ````` b", "``", "~~~", ""] {
            let fenced = fenced("", text);
            let fence = fenced.lines().next().unwrap_or_default();
            assert!(fence.len() >= 3 && !text.contains(fence), "{fenced}");
            assert_eq!(fenced.matches(fence).count(), 2, "{fenced}");
        }
    }
}
