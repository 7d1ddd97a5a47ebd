//! Tests of searches: what the corpus cannot show, and random expressions against another implementation.

use std::sync::Arc;
use std::time::{Duration, Instant, UNIX_EPOCH};

use proptest::prelude::*;

use crate::value::{Map, Value};
use crate::{
    Functions, Limits, NoSurroundings, Partials, RunBudget, Surroundings, Syntax, Template, Undefined,
};

/// Runs a template with the variables `p`, `s` and `r`.
fn run(text: &str, pattern: &str, source: &str, replacement: &str) -> Result<String, String> {
    let partials: Arc<dyn Partials> = Arc::new(NoSurroundings);
    let functions: Arc<dyn Functions> = Arc::new(NoSurroundings);
    let surroundings = Surroundings { partials: &partials, functions: functions.as_ref() };
    let limits = Limits::default();
    let template = Template::compile("t", &text.into(), Syntax::Go, surroundings, &limits).unwrap();
    let variables = [("p", pattern), ("s", source), ("r", replacement)];
    let entries = variables.iter().map(|(name, value)| ((*name).into(), Value::from(*value))).collect();
    let budget = RunBudget {
        steps: limits.steps,
        output_bytes: limits.output_bytes,
        deadline: Instant::now() + Duration::from_secs(60),
        undefined: Undefined::Strict,
        moment: UNIX_EPOCH,
        seed: 1,
    };
    let root = Arc::new(Map::from_entries(entries));
    template.render(&root, &functions, &budget).map_err(|error| error.to_string())
}

fn replaced(pattern: &str, source: &str, replacement: &str) -> Result<String, String> {
    run("{{regexReplaceAll .p .s .r}}", pattern, source, replacement)
}

#[test]
fn ordinary_expressions_work_for_ordinary_texts() {
    let words = "Größe naïve 北京 x_1 ".repeat(2_000);
    for (pattern, source, expected) in [
        (r"\pL{1,50}", "a", "true"),
        (r"^[\pL\s]{1,500}$", "Größe und Maß", "true"),
        (r"\p{Han}{1000}", "北京", "false"),
        (r"^\p{Han}{1000}$", &"京".repeat(1_000), "true"),
        (r"[\pL\pN _-]{1,1000}", &words, "true"),
        (r".{1,80}(\s|$)", &words, "true"),
        (r"(?i)\bGRÖßE\s", &words, "true"),
    ] {
        assert_eq!(run("{{regexMatch .p .s}}", pattern, source, "").as_deref(), Ok(expected), "{pattern}");
    }
    let text = "é世 ".repeat(200_000);
    assert_eq!(replaced(r"\pL+", &text, "x").unwrap(), "x ".repeat(200_000));
}

#[test]
fn expressions_that_are_too_large_say_so() {
    for pattern in [r"(?i)\pL".repeat(30_000), "a?".repeat(50_000), "(a)".repeat(15_000)] {
        for function in ["regexMatch", "regexFind", "mustRegexMatch"] {
            let error = run(&format!("{{{{{function} .p .s}}}}"), &pattern, "a", "").unwrap_err();
            let expected =
                format!("error calling {function}: the regular expression is too large for this service");
            assert!(error.contains(&expected), "{error}");
            assert!(!error.contains("parsing regexp"), "{error}");
        }
    }
    let error = run("{{regexMatch .p .s}}", "a{1000}b{1000}", &"a".repeat(200_000), "").unwrap_err();
    assert!(error.contains("too complex for a text of 200000 bytes"), "{error}");
}

#[test]
fn matches_take_no_memory_until_they_are_results() {
    let many = "{{regexReplaceAll \"a\" (repeat 1000000 \"a\") \"\" | len}}";
    assert_eq!(run(many, "", "", "").as_deref(), Ok("0"));
    let parts = "{{regexSplit \",\" (repeat 1000000 \"a,\") 3 | len}}";
    assert_eq!(run(parts, "", "", "").as_deref(), Ok("3"));
    let all = "{{regexFindAll \"a\" (repeat 4000000 \"a\") -1 | len}}";
    assert!(run(all, "", "", "").unwrap_err().contains("memory"));
}

#[test]
fn bytes_that_are_not_utf_8_are_replacement_characters() {
    for (text, expected) in [
        ("{{regexReplaceAll \".\" \"a\\xffb\" \"<$0>\" | printf \"%q\"}}", r#""<a><\xff><b>""#),
        ("{{regexMatch \"^a\\\\x{fffd}b$\" \"a\\xffb\"}}", "true"),
        ("{{regexReplaceAll \"\\\\PL\" \"é\\xff\\xfe\" \"-\"}}", "é--"),
        ("{{regexFindAll \"\" \"é\\xff\" -1 | len}}", "3"),
    ] {
        assert_eq!(run(text, "", "", "").as_deref(), Ok(expected), "{text}");
    }
}

/// Expressions that mean the same in Go and to the crate `regex`.
fn any_expression() -> impl Strategy<Value = String> {
    let part = prop::sample::select(vec![
        "a",
        "b",
        "é",
        "世",
        "😀",
        ".",
        "(?s:.)",
        "[^aé]",
        "[é-ö]",
        "\\pL",
        "\\PL",
        "[\\pL\\pN_]",
        "[^\\p{Han}b]",
        "(?i:K)",
        "(?i:É)",
        "(?i:[k-s]+)",
        "[^\\x{100}]",
        "^",
        "$",
        "(?m:^)",
        "(?m:$)",
        "\\A",
        "(a|é*)",
        "(世?|b+)",
        "(?:ab|é)",
        "|",
        "*?",
        "+",
        "?",
        "{1,3}",
        "*",
        "(\\PL)",
        "",
    ]);
    prop::collection::vec(part, 0..7).prop_map(|parts| parts.concat())
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(300))]

    #[test]
    fn random_expressions_find_what_the_crate_regex_finds(
        pattern in any_expression(),
        text in "[abéö世界😀kKſ \n]{0,12}",
        wide in any::<bool>(),
    ) {
        // With so many characters told apart, a symbol is two bytes.
        let many: String = ('\u{3400}'..'\u{3500}').collect();
        let pattern = if wide { format!("(?:{many}){{0}}(?:{pattern})") } else { pattern };
        if let (Ok(other), Ok(found)) = (regex::Regex::new(&pattern), replaced(&pattern, &text, "<$0|${1}>")) {
            prop_assert_eq!(other.replace_all(&text, "<$0|${1}>"), found, "{}", pattern);
        }
    }
}
