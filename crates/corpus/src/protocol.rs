//! The corpus' protocol: a case as it is read, and what running it gave.

use std::collections::BTreeMap;

use serde::Deserialize;
use template::go::{ExecError, ExecOptions, Functions, MissingKey, ParseError, ParseOptions, Set};
use template::value::{Value, from_json, parse_json};

use crate::functions::CorpusFunctions;

/// One case.
#[derive(Deserialize)]
pub struct Case {
    /// What the answer is known by.
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

/// What a case gave.
pub struct Answer {
    out: Vec<u8>,
    /// Where it failed, `data`, `parse` or `exec`, and with which message.
    failure: Option<(&'static str, String)>,
}

impl Case {
    /// Reads a line.
    ///
    /// # Errors
    /// When it is not a case.
    pub fn parse(line: &str) -> serde_json::Result<Case> {
        parse_json(line.as_bytes())
    }

    fn name(&self) -> &str {
        self.name.as_deref().filter(|name| !name.is_empty()).unwrap_or("t")
    }

    /// The definitions in name order, then the main template, in one set.
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
        // Go's own limit for templates that call templates, and room for what Go has no limit for.
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

    /// Parses and executes it.
    pub fn run(&self) -> Answer {
        let mut out = Vec::new();
        let failure = self.run_into(&mut out).err();
        Answer { out, failure }
    }

    fn run_into(&self, out: &mut Vec<u8>) -> Result<(), (&'static str, String)> {
        let data = self.data.as_ref().map_or("null", |raw| raw.get());
        let data = from_json(data.as_bytes()).map_err(|error| ("data", error.to_string()))?;
        let set = self.compile().map_err(|error| ("parse", error.to_string()))?;
        self.execute(&set, &data, out).map_err(|error| ("exec", error.to_string()))
    }
}

impl Answer {
    /// The answer as the protocol writes it.
    pub fn to_json(&self, id: &str) -> String {
        let (stage, error) = match &self.failure {
            Some((stage, error)) => (*stage, error.as_str()),
            None => ("", ""),
        };
        let ok = self.failure.is_none();
        let mut answer = serde_json::json!({"id": id, "ok": ok, "stage": stage, "error": error});
        let Some(object) = answer.as_object_mut() else { return String::new() };
        object.insert("out".to_owned(), replaced(&self.out).into());
        if std::str::from_utf8(&self.out).is_err() {
            object.insert("out_b64".to_owned(), base64(&self.out).into());
        }
        answer.to_string()
    }
}

/// The text, with U+FFFD for each byte that belongs to no character.
fn replaced(bytes: &[u8]) -> String {
    let mut out = String::new();
    for chunk in bytes.utf8_chunks() {
        out.push_str(chunk.valid());
        chunk.invalid().iter().for_each(|_| out.push('\u{fffd}'));
    }
    out
}

/// The bytes in base 64, padded.
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
