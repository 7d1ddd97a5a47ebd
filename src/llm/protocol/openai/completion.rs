//! Reads a chat completion in all the ways in which real servers write it, which are more than OpenAI's documents describe.

use bytes::Bytes;
use serde::de::MapAccess;
use serde_json::value::RawValue;

use super::error::{self, is_error};
use crate::llm::completion::{Choice, Completion, FinishReason, ToolCall, Usage};
use crate::llm::error::UpstreamError;
use crate::llm::lenient::{self, Members, number, skip, value};
use crate::llm::message::{CallPiece, Message, TextKind};
use base::outbound::Secrets;
use template::value::parse_json;

/// Longer errors, in bytes, are not read: the member `error` of a choice, or a body without choices.
const ERROR_BYTES: usize = 1 << 20;

/// See [`crate::llm::protocol::Protocol::completion`]. Members of an unexpected type count as absent.
pub fn read(body: &[u8], secrets: &Secrets) -> Result<Completion, UpstreamError> {
    let answer = Answer::read(body)?;
    if !answer.choices().any(ReadChoice::is_sound) {
        answer.check_first(body, secrets)?;
    }
    let Answer { choices, usage, .. } = answer;
    let choices = in_order(choices).into_iter().map(ReadChoice::read).collect();
    Ok(Completion { choices, usage: usage.unwrap_or_default() })
}

/// See [`crate::llm::protocol::Protocol::chat`].
pub fn with_choice(body: Bytes, secrets: &Secrets) -> Result<Bytes, UpstreamError> {
    Answer::read(&body)?.check_first(&body, secrets)?;
    Ok(body)
}

/// Choices by their numbers; one that has none counts as that of its place. What is no object is none.
fn in_order(choices: Vec<Option<ReadChoice>>) -> Vec<ReadChoice> {
    let choices = (0..).zip(choices.into_iter().flatten());
    let mut numbered: Vec<(u64, ReadChoice)> =
        choices.map(|(place, choice)| (choice.index.unwrap_or(place), choice)).collect();
    numbered.sort_by_key(|(number, _)| *number);
    numbered.into_iter().map(|(_, choice)| choice).collect()
}

/// What is read of an answer.
#[derive(Default)]
struct Answer {
    choices: Vec<Option<ReadChoice>>,
    usage: Option<Usage>,
    /// Whether it reports an error.
    has_error: bool,
}

impl Members for Answer {
    fn member<'de, A: MapAccess<'de>>(&mut self, name: &str, object: &mut A) -> Result<(), A::Error> {
        match name {
            "choices" => self.choices = value(object)?,
            "usage" => self.usage = value(object)?,
            "error" => self.has_error = error_member(object.next_value()?).is_some(),
            _ => skip(object)?,
        }
        Ok(())
    }
}

impl Answer {
    fn read(body: &[u8]) -> Result<Answer, UpstreamError> {
        let answer = lenient::read::<Option<Answer>>(body).ok().flatten();
        answer.ok_or_else(|| UpstreamError::unusable("it is not a JSON object"))
    }

    fn choices(&self) -> impl Iterator<Item = &ReadChoice> {
        self.choices.iter().flatten()
    }

    /// Refuses an answer whose first choice is not sound; its text is `body`.
    fn check_first(&self, body: &[u8], secrets: &Secrets) -> Result<(), UpstreamError> {
        let reported = |json: &[u8]| UpstreamError::Reported { message: error::read(json, secrets).message };
        // OpenRouter, among others, reports errors with the status 200, some of them inside of the choice.
        match self.choices().next() {
            Some(ReadChoice { error: Some(error), .. }) => Err(reported(error.get().as_bytes())),
            Some(ReadChoice { message: None, .. }) => {
                Err(UpstreamError::unusable("its choice has no message"))
            }
            Some(_) => Ok(()),
            None if self.has_error && body.len() <= ERROR_BYTES => Err(reported(body)),
            None => Err(UpstreamError::unusable("it has no choices")),
        }
    }
}

#[derive(Default)]
struct ReadChoice {
    index: Option<u64>,
    message: Option<Message>,
    finish_reason: Option<String>,
    /// The error that it reports.
    error: Option<Box<RawValue>>,
}

impl Members for ReadChoice {
    fn member<'de, A: MapAccess<'de>>(&mut self, name: &str, object: &mut A) -> Result<(), A::Error> {
        match name {
            "index" => self.index = number(object)?,
            "message" => self.message = value(object)?,
            "finish_reason" => self.finish_reason = value(object)?,
            "error" => self.error = error_member(object.next_value()?),
            _ => skip(object)?,
        }
        Ok(())
    }
}

/// A member `error`, if it reports one.
fn error_member(error: &RawValue) -> Option<Box<RawValue>> {
    let json = error.get().as_bytes();
    let reports = json.len() <= ERROR_BYTES && parse_json(json).is_ok_and(|error| is_error(&error));
    reports.then(|| error.to_owned())
}

impl ReadChoice {
    fn is_sound(&self) -> bool {
        self.message.is_some() && self.error.is_none()
    }

    /// The choice; an empty one beside sound ones, if it is not sound itself.
    fn read(self) -> Choice {
        let Message { texts, calls } = self.message.filter(|_| self.error.is_none()).unwrap_or_default();
        let (mut text, mut refusal) = (String::new(), String::new());
        for (kind, said) in texts {
            match kind {
                TextKind::Output if text.is_empty() => text = said,
                TextKind::Output => text.push_str(&said),
                TextKind::Refusal => refusal.push_str(&said),
                TextKind::Reasoning => {}
            }
        }
        Choice {
            text,
            tool_calls: named_calls(calls),
            refusal: non_empty(refusal),
            finish_reason: self.finish_reason.and_then(FinishReason::read),
        }
    }
}

/// The usage of an answer, or of the chunk of a stream that brings it.
impl Members for Usage {
    fn member<'de, A: MapAccess<'de>>(&mut self, name: &str, object: &mut A) -> Result<(), A::Error> {
        match name {
            "prompt_tokens" => self.prompt_tokens = number(object)?,
            "completion_tokens" => self.completion_tokens = number(object)?,
            "total_tokens" => self.total_tokens = number(object)?,
            _ => skip(object)?,
        }
        Ok(())
    }
}

fn non_empty(text: String) -> Option<String> {
    Some(text).filter(|text| !text.is_empty())
}

/// The calls that name a function, with what they leave out.
pub fn named_calls(calls: Vec<CallPiece>) -> Vec<ToolCall> {
    let named = calls.into_iter().filter(|call| !call.name.is_empty());
    let calls = named.enumerate().map(|(place, call)| ToolCall {
        id: non_empty(call.id).unwrap_or_else(|| format!("call_{place}")),
        name: call.name,
        arguments: non_empty(call.arguments).unwrap_or_else(|| "{}".to_owned()),
    });
    calls.collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::{Value as Json, json};

    fn completion(body: &Json) -> Result<Completion, UpstreamError> {
        read(body.to_string().as_bytes(), &Secrets::new(["sk-hidden-key"].into_iter()))
    }

    /// The texts of all choices.
    fn texts(answer: &Json) -> Vec<String> {
        completion(answer).unwrap().choices.into_iter().map(|choice| choice.text).collect()
    }

    /// The first choice of an answer.
    fn first(answer: &Json) -> Choice {
        completion(answer).unwrap().choices.remove(0)
    }

    /// The choice with this message.
    fn of_message(message: Json) -> Choice {
        first(&json!({"choices": [{"index": 0, "message": message}]}))
    }

    fn call(id: &str, name: &str, arguments: &str) -> ToolCall {
        ToolCall { id: id.into(), name: name.into(), arguments: arguments.into() }
    }

    #[test]
    fn a_text_comes_with_its_end_and_its_usage() {
        let openai = json!({
            "id": "chatcmpl-1", "object": "chat.completion", "created": 1_700_000_000, "model": "gpt-x",
            "choices": [{
                "index": 0, "logprobs": null, "finish_reason": "stop",
                "message": {"role": "assistant", "content": "Hi.", "refusal": null, "annotations": []},
            }],
            "usage": {
                "prompt_tokens": 8, "completion_tokens": 2, "total_tokens": 10,
                "prompt_tokens_details": {"cached_tokens": 0},
            },
        });
        let usage = Usage { prompt_tokens: Some(8), completion_tokens: Some(2), total_tokens: Some(10) };
        let choice =
            Choice { text: "Hi.".into(), finish_reason: Some(FinishReason::Stop), ..Choice::default() };
        assert_eq!(completion(&openai).unwrap(), Completion { choices: vec![choice], usage });
    }

    #[test]
    fn a_text_may_be_null_or_absent_or_come_in_parts() {
        for (message, text) in [
            (json!({"role": "assistant", "content": null}), ""),
            (json!({"role": "assistant"}), ""),
            (json!({"content": 5}), ""),
            (json!({"content": []}), ""),
            (json!({"content": [{"type": "text", "text": "a"}, {"type": "text", "text": "b"}]}), "ab"),
            (json!({"content": ["a", {"text": "b"}, {"type": "output_text", "text": "c"}]}), "abc"),
            // Mistral's models that think, and vLLM's beside the text.
            (
                json!({"content": [
                    {"type": "thinking", "thinking": [{"type": "text", "text": "hm"}]},
                    {"type": "text", "text": "a"}, null, 7, {"type": "text"},
                ]}),
                "a",
            ),
            (json!({"content": "a", "reasoning_content": "hm"}), "a"),
        ] {
            assert_eq!(of_message(message.clone()).text, text, "{message}");
        }
        let lone = br#"{"choices":[{"message":{"content":"a\ud83d"}}]}"#;
        assert_eq!(read(lone, &Secrets::default()).unwrap().choices[0].text, "a\u{fffd}");
    }

    #[test]
    fn calls_of_tools_are_regular_however_they_were_written() {
        let function = |arguments: Json| json!({"name": "look", "arguments": arguments});
        for (message, expected) in [
            (
                json!({"content": null, "tool_calls": [
                    {"id": "call_a", "type": "function", "function": function(json!("{\"q\": 1.0}"))},
                    {"id": "call_b", "type": "function", "function": function(json!("not JSON"))},
                ]}),
                vec![call("call_a", "look", "{\"q\": 1.0}"), call("call_b", "look", "not JSON")],
            ),
            // Gemini has given empty ids, Ollama none; arguments that are objects, null or empty were seen with several.
            (
                json!({"content": "", "tool_calls": [
                    {"id": "", "type": "function", "function": function(json!({"q": 1}))},
                    {"function": function(Json::Null)},
                    {"id": null, "function": function(json!(""))},
                    {"id": "x", "function": {"name": "look"}},
                ]}),
                vec![
                    call("call_0", "look", "{\"q\":1}"),
                    call("call_1", "look", "{}"),
                    call("call_2", "look", "{}"),
                    call("x", "look", "{}"),
                ],
            ),
            (
                json!({"content": null, "function_call": function(json!("{}"))}),
                vec![call("call_0", "look", "{}")],
            ),
            // vLLM writes empty lists beside every text.
            (json!({"content": "a", "tool_calls": [], "function_call": null}), vec![]),
            (json!({"content": "a", "tool_calls": null}), vec![]),
            (json!({"tool_calls": [null, {}, {"function": {}}, {"function": {"name": ""}}, "x"]}), vec![]),
        ] {
            assert_eq!(of_message(message.clone()).tool_calls, expected, "{message}");
        }
    }

    #[test]
    fn refusals_are_told_apart_from_texts() {
        let refused = of_message(json!({"content": null, "refusal": "No."}));
        assert_eq!((refused.text.as_str(), refused.refusal.as_deref()), ("", Some("No.")));
        let in_parts = of_message(json!({"content": [{"type": "refusal", "refusal": "No."}]}));
        assert_eq!(in_parts, refused);
        assert_eq!(of_message(json!({"content": "a", "refusal": ""})).refusal, None);
    }

    #[test]
    fn why_it_ended_may_be_anything_or_nothing() {
        for (sent, expected) in [
            (json!("stop"), Some(FinishReason::Stop)),
            (json!("length"), Some(FinishReason::Length)),
            (json!("tool_calls"), Some(FinishReason::ToolCalls)),
            (json!("function_call"), Some(FinishReason::ToolCalls)),
            (json!("content_filter"), Some(FinishReason::ContentFilter)),
            (json!("eos_token"), Some(FinishReason::Other("eos_token".into()))),
            (json!(""), None),
            (json!(null), None),
            (json!(3), None),
        ] {
            let answer = json!({"choices": [{"message": {"content": "a"}, "finish_reason": sent}]});
            assert_eq!(first(&answer).finish_reason, expected, "{sent}");
        }
    }

    #[test]
    fn a_usage_is_told_as_far_as_it_is_known() {
        for (sent, expected) in [
            (json!(null), [None, None, None]),
            (json!({}), [None, None, None]),
            (json!({"prompt_tokens": 3, "total_tokens": 3}), [Some(3), None, Some(3)]),
            (json!({"prompt_tokens": -1, "completion_tokens": null}), [None, None, None]),
            (json!("none"), [None, None, None]),
        ] {
            let answer = json!({"choices": [{"message": {"content": "a"}}], "usage": sent});
            let Usage { prompt_tokens, completion_tokens, total_tokens } = completion(&answer).unwrap().usage;
            assert_eq!([prompt_tokens, completion_tokens, total_tokens], expected, "{sent}");
        }
    }

    #[test]
    fn choices_come_in_their_order_and_those_that_are_none_are_left_out() {
        let choice = |text: &str| json!({"message": {"content": text}});
        let answer = json!({"choices": [choice("a"), choice("b"), 5]});
        assert_eq!(texts(&answer), ["a", "b"]);
    }

    #[test]
    fn choices_are_in_the_order_of_their_numbers() {
        let choice = |index: Json, text: &str| json!({"index": index, "message": {"content": text}});
        for (indices, expected) in [
            ([json!(2), json!(0), json!(1)], ["b", "c", "a"]),
            ([json!(2), json!(null), json!(0)], ["c", "b", "a"]),
            ([json!(0), json!(0), json!(0)], ["a", "b", "c"]),
            ([json!("x"), json!(-1), json!(null)], ["a", "b", "c"]),
        ] {
            let [a, b, c] = &indices;
            let choices = [choice(a.clone(), "a"), choice(b.clone(), "b"), choice(c.clone(), "c")];
            assert_eq!(texts(&json!({"choices": choices})), expected, "{indices:?}");
        }
    }

    #[test]
    fn a_choice_without_a_message_is_empty_beside_others() {
        let sound = json!({"message": {"content": "a"}, "error": null});
        for none in [
            json!({}),
            json!({"message": null}),
            json!({"message": {"content": "half"}, "error": {"message": "busy"}}),
        ] {
            assert_eq!(texts(&json!({"choices": [none, sound]})), ["", "a"], "{none}");
            assert_eq!(texts(&json!({"choices": [sound, none]})), ["a", ""], "{none}");
        }
    }

    #[test]
    fn what_has_no_choice_is_no_answer() {
        for none in [
            json!({}),
            json!({"choices": []}),
            json!({"choices": null}),
            json!({"choices": "x"}),
            json!({"choices": [null]}),
            json!({"choices": [{}]}),
            json!({"choices": [{"message": null}]}),
            json!({"choices": [{"text": "of older days"}]}),
            json!([]),
            json!({"error": null, "choices": []}),
        ] {
            let error = completion(&none).unwrap_err();
            assert!(matches!(error, UpstreamError::Unusable { .. }), "{none}: {error}");
        }
        assert!(read(b"<html>", &Secrets::default()).is_err() && read(b"", &Secrets::default()).is_err());
    }

    #[test]
    fn an_error_with_a_good_status_is_told_but_not_to_the_log() {
        let answer = json!({"error": {"message": "no credit for sk-hidden-key", "code": 402}});
        let error = completion(&answer).unwrap_err();
        assert_eq!(error.to_string(), "the upstream reports an error: no credit for …");
        assert_eq!(error.for_log(), "the upstream reports an error");
    }
}
