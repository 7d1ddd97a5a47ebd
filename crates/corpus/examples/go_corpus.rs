//! Runs cases of the Go template corpus: reads one JSON object per line, and writes one result per line.
//!
//! It is also an example of the dialect as a library: `ai_prompt_corpus::functions` adds functions,
//! `ai_prompt_corpus::protocol` parses and executes.

use std::io::{BufRead, Write};

use ai_prompt_corpus::protocol::Case;

fn main() -> std::io::Result<()> {
    let mut output = std::io::BufWriter::new(std::io::stdout().lock());
    for line in std::io::stdin().lock().lines() {
        let line = line?;
        if line.trim().is_empty() {
            continue;
        }
        let answer = match Case::parse(&line) {
            Ok(case) => case.run().to_json(&case.id),
            Err(error) => format!("{{\"error\":{:?}}}", error.to_string()),
        };
        writeln!(output, "{answer}")?;
    }
    output.flush()
}
