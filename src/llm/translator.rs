//! From the events of an upstream to those that the client asked for.

use std::sync::Arc;

use bytes::{Bytes, BytesMut};
use serde_json::{Value as Json, json};

use super::client_format::DONE;
use super::error::UpstreamError;
use super::message;
use super::protocol::{Output, StreamTranslator};
use super::request::Request;
use super::responses::{KeptItems, ResponseWriter};
use super::text_completion;
use base::events;
use template::value::{RawObject, parse_json};

/// Turns the events of an upstream into those for the client.
#[derive(Debug)]
pub enum Translator {
    /// The upstream was asked for what the client asked for.
    Same(StreamTranslator),
    /// The upstream was asked for a chat completion, and the client for something else.
    OfChat(OfChat),
}

/// Turns the chunks of a chat completion into other events.
#[derive(Debug)]
pub struct OfChat {
    /// Reads the upstream's events.
    pub chat: StreamTranslator,
    /// Writes those for the client.
    pub writer: Writer,
}

/// Writes the events that a client asked for.
#[derive(Debug)]
pub enum Writer {
    /// Those of a response.
    Response(Box<ResponseWriter>),
    /// Those of a text completion.
    Text,
}

impl Translator {
    /// Translates complete events, back to back.
    pub fn translate(&mut self, events: Bytes) -> Output {
        match self {
            Translator::Same(translator) => translator.translate(events),
            Translator::OfChat(translator) => {
                let output = translator.chat.translate(events);
                translator.written(output)
            }
        }
    }

    /// What the client gets when the upstream has closed the stream in order; `rest` is what came after the last complete
    /// event.
    ///
    /// # Errors
    /// [`UpstreamError::Unusable`] when the answer was not complete.
    pub fn end(&mut self, rest: &[u8]) -> Result<Output, UpstreamError> {
        match self {
            Translator::Same(translator) => translator.end(rest),
            Translator::OfChat(translator) => {
                let output = translator.chat.end(rest)?;
                Ok(translator.written(output))
            }
        }
    }

    /// The bytes of the answer that are kept until its end.
    pub fn kept(&self) -> usize {
        match self {
            Translator::Same(_) => 0,
            Translator::OfChat(translator) => match &translator.writer {
                Writer::Response(writer) => writer.bytes(),
                Writer::Text => 0,
            },
        }
    }
}

impl OfChat {
    /// Writes what chunks of a chat completion say.
    fn written(&mut self, chat: Output) -> Output {
        match chat {
            Output::More(chunks) => Output::More(self.chunks(&chunks)),
            Output::Last(chunks) => {
                let mut out = BytesMut::from(self.chunks(&chunks));
                out.extend_from_slice(&self.writer.last());
                Output::Last(out.freeze())
            }
            Output::Error(chunks) => Output::Error(self.chunks(&chunks)),
        }
    }

    fn chunks(&mut self, chunks: &[u8]) -> Bytes {
        let mut out = BytesMut::new();
        for data in events::split(chunks).filter_map(events::data) {
            // What is no JSON, such as the mark at the end of a chat completion, says nothing.
            let Ok(chunk) = parse_json::<RawObject>(&data) else { continue };
            // OpenRouter tells some errors inside of the choice.
            let error = chunk.find("error").or_else(|| message::choice(&chunk, |_| true)?.find("error"));
            match error {
                Some(error) => out.extend_from_slice(&self.writer.error(&error)),
                None => out.extend_from_slice(&self.writer.chunk(&chunk)),
            }
        }
        out.freeze()
    }
}

impl Writer {
    /// The writer for a request, where a chat completion is asked for something else.
    pub fn of(request: Request<'_>, kept: &Arc<KeptItems>) -> Option<Writer> {
        match request {
            Request::Response(request) => {
                Some(Writer::Response(Box::new(ResponseWriter::new(request, kept))))
            }
            Request::Text(_) | Request::TextByChat(_) => Some(Writer::Text),
            Request::Chat(_) | Request::Structured(_) | Request::Embeddings(_) => None,
        }
    }

    /// A whole chat completion as what was asked for.
    pub fn whole(self, completion: &RawObject) -> Json {
        match self {
            Writer::Response(writer) => writer.whole(completion),
            Writer::Text => text_completion::of_chat(completion),
        }
    }

    fn chunk(&mut self, chunk: &RawObject) -> Bytes {
        match self {
            Writer::Response(writer) => writer.chunk(chunk),
            Writer::Text => text_completion::event_of_chat(chunk),
        }
    }

    fn last(&mut self) -> Bytes {
        match self {
            Writer::Response(writer) => writer.last(),
            Writer::Text => Bytes::from_static(DONE.as_bytes()),
        }
    }

    fn error(&mut self, error: &Json) -> Bytes {
        match self {
            Writer::Response(writer) => writer.error(error),
            Writer::Text => format!("data: {}\n\n", json!({"error": error})).into(),
        }
    }
}
