//! The built-in model: it answers with the last thing that the user said, or with the smallest value that a schema allows, without
//! any network.
//!
//! It is no upstream and speaks no protocol: it reads and writes the format of our clients itself. Its usage counts words
//! instead of tokens, and its answers are created at time 0: the same request has the same answer.

use bytes::Bytes;
use data_encoding::HEXLOWER;
use sha2::{Digest, Sha256};

use super::client_format::{AnswerChoice, AnswerWriter, DONE, messages};
use super::completion::{Choice, Completion, FinishReason, Usage};
use super::error::LlmError;
use super::request::Request;
use super::responses::KeptItems;
use super::routes::ECHO;
use super::structured::StructuredRequest;
use template::value::RawObject;

/// In about how many pieces a long text is streamed.
const PIECES: usize = 500;

/// The most choices that it gives, as many as OpenAI's.
const CHOICES_MAX: usize = 128;

/// Why its answers end.
const FINISH_REASON: &str = "stop";

/// An answer, to be given in one of three forms.
pub struct Echo {
    id: String,
    text: String,
    /// How many times it is given.
    choices: usize,
    usage: Usage,
}

impl Echo {
    /// The answer to a request; its items may refer to those in `kept`.
    ///
    /// # Errors
    /// [`LlmError::Invalid`] if a chat cannot have something of it.
    pub fn of(request: Request<'_>, kept: &KeptItems) -> Result<Echo, LlmError> {
        match request {
            Request::Structured(request) => Ok(Echo::value(request)),
            request => Ok(Echo::answer(&*request.as_chat(kept)?)),
        }
    }

    /// The answer to a chat; messages that cannot be read are passed over. If the user has said nothing, it is empty.
    fn answer(payload: &RawObject) -> Echo {
        let messages = messages(payload);
        let prompt_words = messages.iter().map(|message| words(&message.text)).sum();
        let last = messages.into_iter().rev().find(|message| message.is_of_user);
        Echo::says(last.map(|message| message.text).unwrap_or_default(), prompt_words)
    }

    /// The answer to a request for a value: the smallest one that its schema allows, as often as it is asked for.
    fn value(request: &StructuredRequest) -> Echo {
        let prompt_words = messages(&request.payload).iter().map(|message| words(&message.text)).sum();
        let choices = request.payload.find("n").unwrap_or(1).clamp(1, CHOICES_MAX);
        Echo { choices, ..Echo::says(request.schema.smallest().to_owned(), prompt_words) }
    }

    fn says(text: String, prompt_words: u64) -> Echo {
        let hex = HEXLOWER.encode(Sha256::digest(&text).get(..12).unwrap_or_default());
        let usage = usage(prompt_words, words(&text));
        Echo { id: format!("chatcmpl-{ECHO}-{hex}"), usage, text, choices: 1 }
    }

    /// The whole answer.
    pub fn whole(&self) -> Bytes {
        let choice =
            AnswerChoice { text: Some(&self.text), refusal: None, calls: &[], finish_reason: FINISH_REASON };
        self.writer().whole(&vec![choice; self.choices], &self.usage)
    }

    /// The events of a stream: one for each word, or for several words of a long text.
    pub fn events(&self, include_usage: bool) -> Vec<Bytes> {
        let writer = self.writer();
        let mut events = vec![writer.first_event()];
        events.extend(pieces(&self.text).iter().map(|piece| writer.text_event(piece)));
        events.push(writer.finish_event(FINISH_REASON));
        if include_usage {
            events.extend(writer.usage_event(&self.usage));
        }
        events.push(DONE.into());
        events
    }

    /// The answer, read.
    pub fn completion(&self) -> Completion {
        let finish_reason = Some(FinishReason::Stop);
        let choice = Choice { text: self.text.clone(), finish_reason, ..Choice::default() };
        Completion { choices: vec![choice; self.choices], usage: self.usage }
    }

    fn writer(&self) -> AnswerWriter<'_> {
        AnswerWriter { id: &self.id, model: ECHO, created: 0 }
    }
}

fn usage(prompt_words: u64, answer_words: u64) -> Usage {
    Usage {
        prompt_tokens: Some(prompt_words),
        completion_tokens: Some(answer_words),
        total_tokens: Some(prompt_words + answer_words),
    }
}

/// The words, each with the space after it; of a long text, several at a time.
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

fn words(text: &str) -> u64 {
    text.split_whitespace().map(|_| 1).sum()
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::{Value as Json, json};
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
    fn all_forms_say_the_same() {
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
        assert_eq!(whole["usage"], json!({"prompt_tokens": 2, "completion_tokens": 2, "total_tokens": 4}));
        assert_eq!(events.last().unwrap(), DONE);
        assert_eq!(echo.events(false).len(), events.len() - 1);
        let usage = json!(echo.usage);
        let completion = echo.completion();
        assert_eq!((&completion.choices[0].text, &usage), (&text, &whole["usage"]));
        let long = "a ".repeat(100_000);
        assert!(pieces(&long).len() <= PIECES + 1 && pieces(&long).concat() == long);
    }
}
