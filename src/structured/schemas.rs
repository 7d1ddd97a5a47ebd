//! Compiled schemas. Compiling takes far longer than a check, so those that were used last are kept.

use std::num::NonZeroUsize;
use std::sync::{Arc, Mutex, PoisonError};

use lru::LruCache;
use serde_json::Value as Json;

use super::canonical::canonical;
use super::error::StructuredError;
use crate::llm::structured::OutputSchema;
use crate::render::Renderer;
use base::schema::{Effort, EffortError, Schema, Violation, violations_of_schema};
use template::value::{Value, parse_json};

/// How many schemas are kept.
const KEPT: usize = 256;

/// Longer schemas, in bytes, are not kept.
const KEPT_BYTES: usize = 64 << 10;

/// Longer schemas, in bytes, are compiled in the pool.
const INLINE_BYTES: usize = 8 << 10;

/// A compiled schema.
#[derive(Debug)]
pub struct CompiledSchema {
    /// The schema in canonical form.
    pub text: Arc<str>,
    /// The forms in which models get it.
    pub output: Arc<OutputSchema>,
    validator: Schema,
}

/// The schemas that were used last, by their texts as they came.
pub(super) struct SchemaCache(Mutex<LruCache<Box<str>, Arc<CompiledSchema>>>);

impl Default for SchemaCache {
    fn default() -> SchemaCache {
        SchemaCache(Mutex::new(LruCache::new(NonZeroUsize::new(KEPT).unwrap_or(NonZeroUsize::MIN))))
    }
}

impl SchemaCache {
    /// The compiled form of a schema.
    ///
    /// # Errors
    /// [`StructuredError::Schema`] if it is none.
    pub async fn get(&self, json: &str, renderer: &Renderer) -> Result<Arc<CompiledSchema>, StructuredError> {
        if let Some(known) = self.0.lock().unwrap_or_else(PoisonError::into_inner).get(json) {
            return Ok(known.clone());
        }
        let compiled = match json.len() {
            ..=INLINE_BYTES => CompiledSchema::new(json),
            _ => {
                let json = json.to_owned();
                renderer.run_on_json(move || CompiledSchema::new(&json)).await?
            }
        };
        let none = |violations| StructuredError::Schema { member: "schema".into(), violations };
        let compiled = Arc::new(compiled.map_err(none)?);
        if json.len() <= KEPT_BYTES {
            let mut known = self.0.lock().unwrap_or_else(PoisonError::into_inner);
            known.put(json.into(), compiled.clone());
        }
        Ok(compiled)
    }
}

impl CompiledSchema {
    fn new(json: &str) -> Result<CompiledSchema, Vec<Violation>> {
        let unreadable = |error: serde_json::Error| vec![Violation::new("", error.to_string())];
        let schema: Json = parse_json(json.as_bytes()).map_err(unreadable)?;
        let validator = Schema::compile(&schema).map_err(|error| violations_of_schema(&schema, &error))?;
        let text = canonical(json).map_err(unreadable)?.into();
        let output = Arc::new(OutputSchema::new(schema).map_err(unreadable)?);
        Ok(CompiledSchema { text, output, validator })
    }

    /// The violations of a value: found at once if that is quick, else in the pool; or that it cannot be checked.
    pub(super) async fn violations(
        self: &Arc<CompiledSchema>,
        value: &Value,
        renderer: &Renderer,
    ) -> Result<Result<Vec<Violation>, EffortError>, StructuredError> {
        if let Ok(violations) = self.validator.check(value, Effort::SERVING) {
            return Ok(Ok(violations));
        }
        let (schema, value) = (self.clone(), value.clone());
        let work = move || schema.validator.check(&value, Effort::POOL);
        Ok(renderer.run_on_json(work).await?)
    }
}
