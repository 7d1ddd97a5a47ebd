//! The format of the corpus: a case, how it is run, and its result.

use std::collections::BTreeMap;

use serde::Deserialize;
use template::go::{ExecError, ExecOptions, Functions, MissingKey, ParseError, ParseOptions, Set};
use template::value::{Value, from_json, parse_json};

use crate::functions::CorpusFunctions;

/// One case of the corpus.
#[derive(Deserialize)]
pub struct Case {
    /// The name under which the result is reported.
    pub id: String,
    #[serde(default)]
    name: Option<String>,
    #[serde(default)]
    entry: Option<String>,
    template: String,
    #[serde(default)]
    defs: Option<BTreeMap<String, String>>,
    #[serde(default)]
    data: Option<Box<serde_json::value::RawValue>>,
    #[serde(default)]
    missingkey: Option<String>,
}

fn is_function(name: &str) -> bool {
    CorpusFunctions.signature(name).is_some()
}

/// The result of a case.
pub struct Answer {
    out: Vec<u8>,
    error: Option<StageError>,
}

/// An error, and the stage in which it occurred: `data`, `parse` or `exec`.
struct StageError {
    stage: &'static str,
    message: String,
}

impl StageError {
    fn new(stage: &'static str, error: impl std::error::Error) -> StageError {
        StageError { stage, message: error.to_string() }
    }
}

impl Case {
    /// Parses a line of the corpus.
    ///
    /// # Errors
    /// If the line is not a case.
    pub fn parse(line: &str) -> serde_json::Result<Case> {
        parse_json(line.as_bytes())
    }

    fn name(&self) -> &str {
        self.name.as_deref().filter(|name| !name.is_empty()).unwrap_or("t")
    }

    /// Parses the definitions in the order of their names, then the main template, into one set.
    fn compile(&self) -> Result<Set, ParseError> {
        let options = ParseOptions::new(&is_function);
        let mut set = Set::new();
        for (name, text) in self.defs.iter().flatten() {
            set.parse(name, text, &options)?;
        }
        set.parse(self.name(), &self.template, &options)?;
        Ok(set)
    }

    fn execute(&self, set: &Set, data: &Value, out: &mut Vec<u8>) -> Result<(), ExecError> {
        let missing_key = match self.missingkey.as_deref() {
            Some("zero") => MissingKey::Zero,
            Some("error") => MissingKey::Error,
            _ => MissingKey::Default,
        };
        // Go's own limit of recursion, and generous limits where Go has none.
        let options = ExecOptions {
            missing_key,
            recursion: 100_000,
            output_bytes: 64 << 20,
            scratch_bytes: 1 << 30,
            steps: u64::MAX,
            ..ExecOptions::default()
        };
        set.execute(self.entry.as_deref().unwrap_or(self.name()), data, &CorpusFunctions, &options, out)
    }

    /// Parses and executes the case.
    pub fn run(&self) -> Answer {
        let mut out = Vec::new();
        let error = self.run_into(&mut out).err();
        Answer { out, error }
    }

    fn run_into(&self, out: &mut Vec<u8>) -> Result<(), StageError> {
        let data = self.data.as_ref().map_or("null", |raw| raw.get());
        let data = from_json(data.as_bytes()).map_err(|error| StageError::new("data", error))?;
        let set = self.compile().map_err(|error| StageError::new("parse", error))?;
        self.execute(&set, &data, out).map_err(|error| StageError::new("exec", error))
    }
}

impl Answer {
    /// The result as a JSON object, with the members of a case.
    pub fn to_json(&self, id: &str) -> String {
        let (stage, error) = match &self.error {
            Some(error) => (error.stage, error.message.as_str()),
            None => ("", ""),
        };
        let ok = self.error.is_none();
        let mut answer = serde_json::json!({"id": id, "ok": ok, "stage": stage, "error": error});
        let Some(object) = answer.as_object_mut() else { return String::new() };
        object.insert("out".to_owned(), replaced(&self.out).into());
        if std::str::from_utf8(&self.out).is_err() {
            object.insert("out_b64".to_owned(), base64(&self.out).into());
        }
        answer.to_string()
    }
}

/// The bytes as text; each byte that is not part of a character becomes U+FFFD.
fn replaced(bytes: &[u8]) -> String {
    let mut out = String::new();
    for chunk in bytes.utf8_chunks() {
        out.push_str(chunk.valid());
        chunk.invalid().iter().for_each(|_| out.push('\u{fffd}'));
    }
    out
}

/// The bytes in base64, with padding.
fn base64(bytes: &[u8]) -> String {
    const DIGITS: &[u8; 64] = b"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
    let mut out = String::new();
    for chunk in bytes.chunks(3) {
        let bits =
            chunk.iter().fold(0u32, |bits, &byte| bits << 8 | u32::from(byte)) << (8 * (3 - chunk.len()));
        for place in 0..4 {
            let digit = DIGITS.get((bits >> (18 - 6 * place)) as usize & 63).copied().unwrap_or(b'A');
            out.push(if place <= chunk.len() { char::from(digit) } else { '=' });
        }
    }
    out
}
