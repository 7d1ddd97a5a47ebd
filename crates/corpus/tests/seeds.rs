//! Regression tests without a fuzzer: the properties must hold for the inputs that fuzzing has found.

use std::error::Error;
use std::fs::File;
use std::io::Read;

use ai_prompt_corpus::{jinja_targets, policy_targets, targets};

fn inputs(target: &str) -> Result<Vec<Vec<u8>>, Box<dyn Error>> {
    let mut text = String::new();
    let file = File::open(format!("seeds/{target}.jsonl.gz"))?;
    flate2::read::GzDecoder::new(file).read_to_string(&mut text)?;
    let input = |line| {
        let (flags, rest): (u8, String) = serde_json::from_str(line)?;
        Ok([&[flags], rest.as_bytes()].concat())
    };
    text.lines().map(input).collect()
}

#[test]
fn the_parser_stands_every_input() -> Result<(), Box<dyn Error>> {
    let inputs = inputs("parse")?;
    assert!(inputs.len() > 1_000, "the inputs are there");
    inputs.iter().for_each(|input| targets::parse(input));
    Ok(())
}

#[test]
fn the_executor_stands_every_input() -> Result<(), Box<dyn Error>> {
    let inputs = inputs("execute")?;
    assert!(inputs.len() > 1_000, "the inputs are there");
    inputs.iter().for_each(|input| targets::execute(input));
    Ok(())
}

#[test]
fn the_parser_of_jinja_stands_every_input() -> Result<(), Box<dyn Error>> {
    let inputs = inputs("jinja_parse")?;
    assert!(inputs.len() > 1_000, "the inputs are there");
    inputs.iter().for_each(|input| jinja_targets::parse(input));
    Ok(())
}

#[test]
fn the_executor_of_jinja_stands_every_input() -> Result<(), Box<dyn Error>> {
    let inputs = inputs("jinja_execute")?;
    assert!(inputs.len() > 1_000, "the inputs are there");
    inputs.iter().for_each(|input| jinja_targets::execute(input));
    Ok(())
}

#[test]
fn the_policy_stands_every_input() -> Result<(), Box<dyn Error>> {
    let inputs = inputs("classify")?;
    assert!(inputs.len() > 1_000, "the inputs are there");
    inputs.iter().for_each(|input| policy_targets::classify(input));
    Ok(())
}
