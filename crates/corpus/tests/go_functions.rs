//! Runs the corpus of sprig's functions, whose results were made with real sprig: output and errors must be the same.

use std::collections::BTreeSet;
use std::io::Read;
use std::sync::Arc;
use std::time::{Duration, Instant, SystemTime};

use serde::Deserialize;
use template::value::{Map, Value, from_json};
use template::{
    CompileError, Functions, Limits, NoSurroundings, Partials, RunBudget, RunError, Surroundings, Syntax,
    Template, Undefined,
};

/// A case: a template, and what it gives with the data of the first line.
#[derive(Deserialize)]
struct Case {
    id: String,
    template: String,
    #[serde(default)]
    out: String,
    /// The output, where it is not UTF-8.
    #[serde(default)]
    out_b64: Option<String>,
    #[serde(default)]
    error: Option<String>,
}

impl Case {
    fn expected(&self) -> Result<String, String> {
        match (&self.error, &self.out_b64) {
            (Some(error), _) => Err(error.clone()),
            (None, None) => Ok(self.out.clone()),
            (None, Some(text)) => Ok(String::from_utf8_lossy(&decoded(text)).into_owned()),
        }
    }

    fn run(&self, root: &Arc<Map>) -> Result<String, String> {
        let partials: Arc<dyn Partials> = Arc::new(NoSurroundings);
        let functions: Arc<dyn Functions> = Arc::new(NoSurroundings);
        let surroundings = Surroundings { partials: &partials, functions: functions.as_ref() };
        let limits = Limits::default();
        let text = self.template.as_str().into();
        let template = match Template::compile("t", &text, Syntax::Go, surroundings, &limits) {
            Ok(template) => template,
            Err(CompileError::Invalid { message, .. }) => return Err(message),
            Err(error) => return Err(error.to_string()),
        };
        let budget = RunBudget {
            steps: limits.steps,
            output_bytes: limits.output_bytes,
            deadline: Instant::now() + Duration::from_secs(60),
            undefined: Undefined::Lenient,
            moment: SystemTime::now(),
            seed: 1,
        };
        template.render(root, &functions, &budget).map_err(|error| match error {
            RunError::Failed { message, .. } => message,
            error => error.to_string(),
        })
    }
}

/// Base 64, as the corpus has it.
fn decoded(text: &str) -> Vec<u8> {
    const DIGITS: &[u8; 64] = b"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
    let digits = text.bytes().filter_map(|byte| DIGITS.iter().position(|digit| *digit == byte));
    let bits: Vec<bool> =
        digits.flat_map(|digit| (0..6).rev().map(move |bit| digit >> bit & 1 == 1)).collect();
    bits.chunks_exact(8).map(|byte| byte.iter().fold(0, |sum, bit| sum << 1 | u8::from(*bit))).collect()
}

/// Cases that are known to differ; `docs/go-functions.md` says why.
fn exceptions() -> BTreeSet<String> {
    let text = std::fs::read_to_string("go_functions_exceptions.txt").unwrap_or_default();
    let first = |line: &str| line.split_whitespace().next().map(str::to_owned);
    text.lines().filter(|line| !line.starts_with('#')).filter_map(first).collect()
}

#[test]
fn every_function_does_what_it_does_in_sprig() -> Result<(), Box<dyn std::error::Error>> {
    let mut text = String::new();
    let file = std::fs::File::open("go_functions.jsonl.gz")?;
    flate2::read::GzDecoder::new(file).read_to_string(&mut text)?;
    let mut lines = text.lines();
    let first = from_json(lines.next().ok_or("no data")?.as_bytes())?;
    let root = first.get("data").and_then(Value::as_map).ok_or("no data")?;
    let (known, mut cases, mut different) = (exceptions(), 0, Vec::new());
    for line in lines {
        let case: Case = serde_json::from_str(line)?;
        cases += 1;
        let (expected, found) = (case.expected(), case.run(root));
        if expected != found {
            if !known.contains(&case.id) {
                println!("{} {}\n  want {expected:?}\n  have {found:?}", case.id, case.template);
            }
            different.push(case.id);
        }
    }
    println!("identical: {} of {cases}", cases - different.len());
    assert!(cases > 8_000, "the corpus is there");
    let news: Vec<_> = different.iter().filter(|id| !known.contains(*id)).collect();
    assert!(news.is_empty(), "not in the list of exceptions: {news:?}");
    assert_eq!(different.len(), known.len(), "no exception is left that is none any more");
    Ok(())
}
