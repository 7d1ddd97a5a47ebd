//! Runs the corpus of Go templates, whose results were made with real Go: output and errors must be the same.

use std::collections::BTreeSet;
use std::io::Read;

use serde::Deserialize;

use ai_prompt_corpus::protocol::Case;

#[derive(Debug, Deserialize)]
struct Expected {
    ok: bool,
    #[serde(default)]
    out: String,
    #[serde(default)]
    out_b64: Option<String>,
    stage: String,
    error: String,
}

#[derive(Default)]
struct Figures {
    successes: usize,
    identical: usize,
    errors: usize,
    same_stage: usize,
    same_text: usize,
    different: Vec<String>,
}

fn corpus() -> std::io::Result<String> {
    let file = std::fs::File::open("go_templates.jsonl.gz")?;
    let mut text = String::new();
    flate2::read::GzDecoder::new(file).read_to_string(&mut text)?;
    Ok(text)
}

/// Cases whose error text or partial output is known to differ.
fn exceptions() -> BTreeSet<String> {
    let text = std::fs::read_to_string("exceptions.txt").unwrap_or_default();
    text.lines().filter(|line| !line.starts_with('#')).map(str::to_owned).collect()
}

impl Figures {
    fn count(&mut self, line: &str) -> serde_json::Result<()> {
        let case = Case::parse(line)?;
        let expected: Expected = serde_json::from_str(line)?;
        let answer: Expected = serde_json::from_str(&case.run().to_json(&case.id))?;
        let same_out = expected.out_b64 == answer.out_b64 && expected.out == answer.out;
        let same_stage = expected.stage == answer.stage;
        let same = same_stage && same_out && expected.ok == answer.ok && expected.error == answer.error;
        if expected.ok {
            self.successes += 1;
            self.identical += usize::from(same);
        } else {
            self.errors += 1;
            self.same_stage += usize::from(same_stage);
            self.same_text += usize::from(same);
        }
        if !same {
            if self.different.len() < 10 {
                println!("{}\n  want {expected:?}\n  have {answer:?}", case.id);
            }
            self.different.push(case.id);
        }
        Ok(())
    }
}

#[test]
fn every_case_of_the_corpus_gives_the_output_and_the_errors_of_go() -> Result<(), Box<dyn std::error::Error>>
{
    let mut figures = Figures::default();
    for line in corpus()?.lines() {
        figures.count(line)?;
    }
    println!("successes identical: {} of {}", figures.identical, figures.successes);
    println!("errors at the same stage: {} of {}", figures.same_stage, figures.errors);
    println!("errors with the same text and partial output: {} of {}", figures.same_text, figures.errors);
    assert!(figures.successes > 3_000 && figures.errors > 2_000, "the corpus is there");
    assert_eq!(figures.identical, figures.successes);
    assert_eq!(figures.same_stage, figures.errors);
    assert!(figures.same_text * 100 >= figures.errors * 99);
    let known = exceptions();
    let news: Vec<_> = figures.different.iter().filter(|id| !known.contains(*id)).collect();
    assert!(news.is_empty(), "not in exceptions.txt: {news:?}");
    Ok(())
}
