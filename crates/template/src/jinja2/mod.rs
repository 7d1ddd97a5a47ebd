//! Jinja, exactly as Jinja2 3.1.6 on Python 3.11 has it.

mod ast;
mod builtin;
mod error;
mod lex;
mod parse;
mod parse_expr;
#[allow(dead_code, reason = "the machine that calls it is being built")]
mod requires;
mod resolve;
mod symbols;

use error::SyntaxError;

/// Parses a text whose line breaks are `\n`.
pub(crate) fn parse(source: &str) -> Result<ast::Tree, SyntaxError> {
    resolve::resolve(parse::parse(&lex::tokens(source)?)?)
}

#[cfg(test)]
mod probe {
    #[test]
    fn corpus_parses() {
        let Ok(path) = std::env::var("CORPUS_JSONL") else { return };
        let text = std::fs::read_to_string(path).unwrap();
        let (mut good, mut bad, mut missed) = (0, 0, 0);
        for line in text.lines() {
            let case: serde_json::Value = serde_json::from_str(line).unwrap();
            let source = case["template"].as_str().unwrap().replace("\r\n", "\n").replace('\r', "\n");
            let result = super::parse(&source);
            let parse_error = case["stage"] == "parse" && case["partials"].is_null();
            match (&result, case["ok"].as_bool().unwrap(), parse_error) {
                (Err(error), false, true) => { good += 1; println!("ok: {} | {}", error.message, case["error"]); }
                (Err(error), _, _) => { bad += 1; println!("BAD {} {:?} {} [{}]", case["id"], source, error.message, case["error"]); }
                (Ok(_), false, true) => { missed += 1; println!("MISSED {} {:?} {}", case["id"], source, case["error"]); }
                _ => good += 1,
            }
        }
        println!("{good} {bad} {missed}");
    }
}
