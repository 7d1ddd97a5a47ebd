//! An answer as it streams in: what of its value can be told already.

use std::sync::Arc;
use std::time::Instant;

use super::Structured;
use super::error::StructuredError;
use super::pace::Pace;
use super::partial::PartialReader;
use super::run::{AnswerOrigin, Attempt, Run};
use crate::llm::structured::{OutputSchema, Strategy, StructuredRequest};
use crate::llm::{AnswerStream, Choice, Collector, StreamedAnswer};
use base::memory::Reservation;
use base::pool::INLINE_JSON_BYTES;
use template::value::{Tree, Value, admissible_weight, parse_json};

/// An answer that is being read.
pub(super) struct GrowingAnswer {
    /// What is still to come of it.
    pub events: AnswerStream,
    origin: AnswerOrigin,
    schema: Arc<OutputSchema>,
    collector: Collector,
    partial: PartialReader,
    /// Whether the value comes as the arguments of a call; what else the model says is no part of it then.
    is_call: bool,
    began: Instant,
    pace: Pace,
    /// The last part that was told.
    pub told: Option<Value>,
    /// The memory of that part.
    held: Reservation,
}

/// What can be told of a value.
#[derive(Debug, Default)]
pub(super) struct News {
    /// Its next elements, if it is a list.
    pub items: Vec<Value>,
    /// The value as far as it has come, if enough of it is new.
    pub part: Option<Value>,
}

impl GrowingAnswer {
    /// An answer to `request`, sent at the time `began`, of which nothing has come.
    pub fn new(
        request: &StructuredRequest,
        streamed: StreamedAnswer,
        collector: Collector,
        held: Reservation,
        began: Instant,
    ) -> GrowingAnswer {
        let StreamedAnswer { events, model, way } = streamed;
        let (origin, schema) = (AnswerOrigin::of(request, model, way), request.schema.clone());
        let partial = PartialReader::new(schema.wrapper());
        let (is_call, pace, told) = (false, Pace::default(), None);
        GrowingAnswer { events, origin, schema, collector, partial, is_call, began, pace, told, held }
    }

    /// Takes events of the upstream: what they add.
    ///
    /// # Errors
    /// If they report an error, or the answer gets too long.
    pub async fn take(&mut self, events: &[u8], service: &Structured) -> Result<News, StructuredError> {
        let added = self.collector.push(events)?;
        if !self.is_call && !added.arguments.is_empty() {
            self.is_call = true;
            self.partial = PartialReader::new(self.schema.wrapper());
        }
        let piece = if self.is_call { added.arguments } else { added.text };
        if piece.is_empty() {
            return Ok(News::default());
        }
        self.partial.push(&piece);
        Ok(News { items: self.items(), part: self.part(service).await })
    }

    /// The whole answer, with the attempt that it is.
    ///
    /// # Errors
    /// If there is none.
    pub fn finish(self, run: &mut Run) -> Result<(Choice, Attempt), StructuredError> {
        let completion = self.collector.completion()?;
        let attempt = run.answered(self.origin, completion.usage, self.began.elapsed());
        Ok((completion.choices.into_iter().next().unwrap_or_default(), attempt))
    }

    fn items(&mut self) -> Vec<Value> {
        let mut items = Vec::new();
        for item in self.partial.take_items() {
            let list = Value::from(vec![item]);
            if let Value::List(list) = self.schema.meaning_of_part(&list, self.origin.strategy) {
                items.extend(list.iter().cloned());
            }
        }
        items
    }

    /// The value as far as it has come, if it is time to tell it, and if it is not what was told last.
    async fn part(&mut self, service: &Structured) -> Option<Value> {
        let known = self.partial.known().filter(|known| self.pace.is_due(*known))?;
        let (json, schema, strategy) = (self.partial.json()?, self.schema.clone(), self.origin.strategy);
        // Where there is no room for a part, it is left out: the next one says more.
        let weight = admissible_weight(json.as_bytes(), Tree::Value).ok()?;
        self.held.resize(weight).ok()?;
        let value = match known {
            ..=INLINE_JSON_BYTES => part_of(&json, &schema, strategy),
            _ => {
                let work = move || part_of(&json, &schema, strategy);
                service.renderer.run_on_json(work).await.ok().flatten()
            }
        };
        let value = value.filter(|value| self.told.as_ref() != Some(value))?;
        self.told = Some(value.clone());
        Some(value)
    }
}

/// What the JSON of a part means.
fn part_of(json: &str, schema: &OutputSchema, strategy: Strategy) -> Option<Value> {
    let part = parse_json(json.as_bytes()).ok()?;
    Some(schema.meaning_of_part(&part, strategy))
}
