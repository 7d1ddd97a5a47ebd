//! Runs Jinja cases: reads one JSON object per line, and writes one answer per line as soon as it is there.
//!
//! A case that takes longer than the number of milliseconds in the first argument (500) is reported with its time.

use std::io::{BufRead, Write};
use std::time::Instant;

use ai_prompt_corpus::jinja::{Case, STACK_BYTES};

fn answer(line: &str, slow_ms: u64) -> String {
    let case = match Case::parse(line) {
        Ok(case) => case,
        Err(error) => {
            return serde_json::json!({"ok": false, "kind": "case", "error": error.to_string()}).to_string();
        }
    };
    let begin = Instant::now();
    let mut answer = case.run();
    let ms = u64::try_from(begin.elapsed().as_millis()).unwrap_or(u64::MAX);
    answer.slow_ms = (ms > slow_ms).then_some(ms);
    serde_json::to_string(&answer).unwrap_or_default()
}

fn run(slow_ms: u64) -> std::io::Result<()> {
    let mut output = std::io::stdout().lock();
    for line in std::io::stdin().lock().lines() {
        let line = line?;
        if !line.trim().is_empty() {
            output.write_all((answer(&line, slow_ms) + "\n").as_bytes())?;
        }
    }
    Ok(())
}

fn main() -> std::io::Result<()> {
    std::panic::set_hook(Box::new(|_| {}));
    let slow_ms = std::env::args().nth(1).and_then(|text| text.parse().ok()).unwrap_or(500);
    let worker = std::thread::Builder::new().stack_size(STACK_BYTES).spawn(move || run(slow_ms))?;
    worker.join().unwrap_or(Ok(()))
}
