//! The built-in model: it answers with the last thing that the user said, offline, and in the wire format of the others.

use bytes::Bytes;
use serde::Deserialize;
use serde_json::{Value as Json, json};
use sha2::{Digest, Sha256};

use super::routes::ECHO;
use super::wire::DONE;
use template::value::RawObject;

/// What it says when the user has said nothing.
const NOTHING: &str = "";

/// About how many pieces a long text is streamed in.
const PIECES: usize = 500;

#[derive(Deserialize)]
struct Message {
    role: Option<String>,
    content: Option<Json>,
}

/// An answer, ready to be written in either form.
pub struct Echo {
    id: String,
    text: String,
    prompt_words: usize,
}

impl Echo {
    /// The answer to a payload; messages that cannot be read are passed over.
    pub fn answer(payload: &RawObject) -> Echo {
        let messages: Vec<Json> = payload.read("messages").ok().flatten().unwrap_or_default();
        let messages: Vec<Message> =
            messages.into_iter().filter_map(|message| serde_json::from_value(message).ok()).collect();
        let texts: Vec<(bool, String)> = messages.iter().map(|m| (m.is_of_user(), m.text())).collect();
        let last = texts.iter().rev().find(|(of_user, _)| *of_user);
        let text = last.map_or(NOTHING, |(_, text)| text).to_owned();
        let prompt_words = texts.iter().map(|(_, text)| words(text)).sum();
        let hash = Sha256::digest(&text);
        let hex: String = hash.iter().take(12).map(|byte| format!("{byte:02x}")).collect();
        Echo { id: format!("chatcmpl-{ECHO}-{hex}"), text, prompt_words }
    }

    /// As one answer.
    pub fn whole(&self) -> Bytes {
        let message = json!({"role": "assistant", "content": self.text, "refusal": null});
        let choice = json!({"index": 0, "message": message, "logprobs": null, "finish_reason": "stop"});
        let answer = json!({
            "id": self.id, "object": "chat.completion", "created": 0, "model": ECHO,
            "choices": [choice], "usage": self.usage(),
        });
        answer.to_string().into()
    }

    /// As the events of a stream, a word each; more words of a long text.
    pub fn events(&self, usage_asked: bool) -> Vec<Bytes> {
        let mut events = vec![self.event(&json!({"role": "assistant", "content": ""}), None)];
        events.extend(pieces(&self.text).iter().map(|piece| self.event(&json!({"content": piece}), None)));
        events.push(self.event(&json!({}), Some("stop")));
        if usage_asked {
            events.push(self.chunk(&json!([]), &self.usage()));
        }
        events.push(DONE.into());
        events
    }

    fn event(&self, delta: &Json, finish_reason: Option<&str>) -> Bytes {
        let choice = json!({"index": 0, "delta": delta, "logprobs": null, "finish_reason": finish_reason});
        self.chunk(&json!([choice]), &Json::Null)
    }

    fn chunk(&self, choices: &Json, usage: &Json) -> Bytes {
        let mut chunk = json!({
            "id": self.id, "object": "chat.completion.chunk", "created": 0, "model": ECHO, "choices": choices,
        });
        if let (false, Some(members)) = (usage.is_null(), chunk.as_object_mut()) {
            members.insert("usage".to_owned(), usage.clone());
        }
        format!("data: {chunk}\n\n").into()
    }

    /// Words in the place of tokens.
    fn usage(&self) -> Json {
        let (prompt, completion) = (self.prompt_words, words(&self.text));
        json!({"prompt_tokens": prompt, "completion_tokens": completion, "total_tokens": prompt + completion})
    }
}

impl Message {
    fn is_of_user(&self) -> bool {
        self.role.as_deref() == Some("user")
    }

    /// The text, or the texts of the parts.
    fn text(&self) -> String {
        match &self.content {
            Some(Json::String(text)) => text.clone(),
            Some(Json::Array(parts)) => {
                let texts = parts.iter().filter_map(|part| part.get("text")?.as_str());
                texts.collect::<Vec<_>>().join("\n")
            }
            _ => String::new(),
        }
    }
}

/// The words with what follows them; of a long text, several at a time.
fn pieces(text: &str) -> Vec<String> {
    let mut pieces: Vec<String> = Vec::new();
    for word in text.split_inclusive(char::is_whitespace) {
        match pieces.last_mut().filter(|piece| piece.len() < text.len() / PIECES) {
            Some(piece) => piece.push_str(word),
            None => pieces.push(word.to_owned()),
        }
    }
    pieces
}

fn words(text: &str) -> usize {
    text.split_whitespace().count()
}

#[cfg(test)]
mod tests {
    use super::*;
    use template::value::parse_json;

    fn echo(messages: &Json) -> Echo {
        let payload = json!({"messages": messages}).to_string();
        Echo::answer(&parse_json(payload.as_bytes()).unwrap())
    }

    #[test]
    fn it_says_what_the_user_said_last() {
        for (messages, text) in [
            (json!([{"role": "user", "content": "a"}, {"role": "assistant", "content": "b"}]), "a"),
            (json!([{"role": "user", "content": "a"}, {"role": "user", "content": "b"}]), "b"),
            (
                json!([{"role": "user", "content": [{"type": "text", "text": "x"}, {"type": "image_url"}]}]),
                "x",
            ),
            (json!([{"role": "system", "content": "a"}]), ""),
            (json!("nonsense"), ""),
        ] {
            assert_eq!(echo(&messages).text, text, "{messages}");
        }
    }

    #[test]
    fn both_forms_say_the_same() {
        let echo = echo(&json!([{"role": "user", "content": " two\nwörds "}]));
        let whole: Json = serde_json::from_slice(&echo.whole()).unwrap();
        let mut text = String::new();
        let events = echo.events(true);
        for event in &events[..events.len() - 1] {
            let data = event.strip_prefix(b"data: ").unwrap();
            let chunk: Json = serde_json::from_slice(data).unwrap();
            assert_eq!(chunk["id"], whole["id"]);
            text.push_str(chunk["choices"][0]["delta"]["content"].as_str().unwrap_or_default());
            assert_eq!(chunk["usage"].is_object(), chunk["choices"].as_array().unwrap().is_empty());
        }
        assert_eq!(whole["choices"][0]["message"]["content"], text);
        assert_eq!(events.last().unwrap(), DONE);
        assert_eq!(echo.events(false).len(), events.len() - 1);
        let long = "a ".repeat(100_000);
        assert!(pieces(&long).len() <= PIECES + 1 && pieces(&long).concat() == long);
    }
}
