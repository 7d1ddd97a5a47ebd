//! The wave property: however calls are put off and run together, what comes out and what is called is that of one run
//! from left to right.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::{Arc, Mutex};
use std::time::{Duration, Instant, SystemTime};

use proptest::prelude::*;
use serde_json::{Value as Json, json};
use template::value::{Map, Value};
use template::{
    Arguments, CallResult, Functions, Limits, Partial, Partials, RunBudget, RunError, Surroundings, Syntax,
    Template, Undefined,
};

use super::templates;

/// What the tools answer; `None` for an error.
pub fn answer(tool: &str, argument: &Json) -> Option<Json> {
    let text = argument.as_str().map_or_else(|| argument.to_string(), str::to_owned);
    let sum: u32 = text.bytes().map(u32::from).sum();
    match tool {
        "t_id" => Some(argument.clone()),
        "t_flag" => Some(json!(sum.is_multiple_of(2))),
        "t_list" => Some((0..sum % 4).map(|at| json!(format!("{text}{at}"))).collect()),
        "t_object" => Some(json!({"a": text, "b": sum % 3, "deep": {"c": [sum % 5]}})),
        "t_number" => Some(json!(sum % 7)),
        "t_spare" => Some(json!("spare")),
        _ => None,
    }
}

/// The tools by the names of their functions.
pub const TOOLS: [&str; 7] = ["t_id", "t_flag", "t_list", "t_object", "t_number", "t_fail", "t_spare"];

/// Answers calls at once, as a run from left to right has it, or wave by wave.
#[derive(Default)]
struct Tools {
    by_waves: bool,
    calls: Mutex<Vec<Call>>,
    closed: Mutex<bool>,
}

/// A call as it is told apart, and whether it was made.
struct Call {
    shown: String,
    result: CallResult,
    made: bool,
}

impl Functions for Tools {
    fn contains(&self, name: &str) -> bool {
        TOOLS.contains(&name)
    }

    fn call(&self, name: &str, arguments: Arguments) -> CallResult {
        let argument = arguments.positional.first().map_or(Json::Null, Value::to_json);
        let shown = format!("{name} {argument}");
        let mut calls = self.calls.lock().unwrap();
        if let Some(at) = calls.iter().position(|call| call.shown == shown) {
            return if calls[at].made { calls[at].result.clone() } else { CallResult::Pending(at) };
        }
        let result =
            answer(name, &argument).map_or(CallResult::Gap, |value| CallResult::Value(Value::from(value)));
        let number = calls.len();
        if self.by_waves && *self.closed.lock().unwrap() {
            return CallResult::Pending(number);
        }
        calls.push(Call { shown, result: result.clone(), made: !self.by_waves });
        if self.by_waves { CallResult::Pending(number) } else { result }
    }
}

impl Tools {
    fn called(&self) -> BTreeSet<String> {
        self.calls.lock().unwrap().iter().filter(|call| call.made).map(|call| call.shown.clone()).collect()
    }
}

/// Other prompts.
struct PartialMap(BTreeMap<&'static str, &'static str>, Syntax);

impl Partials for PartialMap {
    fn find(&self, name: &str) -> Result<Partial, String> {
        let text = self.0.get(name).ok_or("there is none")?;
        Ok(Partial { id: format!("p.{name}"), text: (*text).into(), syntax: self.1 })
    }
}

/// What a render gave: its text, unless it failed; what was called; in how many waves.
#[derive(Debug, PartialEq)]
pub struct Outcome {
    pub text: Option<String>,
    pub called: BTreeSet<String>,
    pub waves: usize,
}

/// The data that the templates read.
pub fn variables() -> Json {
    json!({"s": "Text", "n": 3, "l": ["a", "b"], "o": {"a": "A", "b": 2}, "t": true, "e": ""})
}

fn run(text: &str, syntax: Syntax, by_waves: bool) -> Option<Outcome> {
    let limits = Limits::default();
    let partials: Arc<dyn Partials> = Arc::new(PartialMap(templates::partials(syntax), syntax));
    let tools = Arc::new(Tools { by_waves, ..Tools::default() });
    let functions: Arc<dyn Functions> = tools.clone();
    let surroundings = Surroundings { partials: &partials, functions: functions.as_ref() };
    let template = Template::compile("main", &text.into(), syntax, surroundings, &limits).ok()?;
    let root = Map::over(
        Arc::new(["a", "b", "x"].map(|name| (name.into(), Value::from(name))).into_iter().collect()),
        vec![("variables".into(), Value::from(variables()))],
    );
    let root = Arc::new(root.with_alias("args", "variables"));
    let deadline = Instant::now() + Duration::from_secs(30);
    let limits = RunBudget {
        steps: limits.steps,
        output_bytes: limits.output_bytes,
        deadline,
        undefined: Undefined::Strict,
        moment: SystemTime::UNIX_EPOCH + Duration::new(1_700_000_000, 123_456_789),
        seed: 1,
    };
    for wave in 1.. {
        match template.render(&root, &functions, &limits) {
            Err(RunError::Pending { .. }) => {
                let mut calls = tools.calls.lock().unwrap();
                assert!(calls.iter().any(|call| !call.made), "{text}: a wave without a call");
                calls.iter_mut().for_each(|call| call.made = true);
            }
            result => return Some(Outcome { text: result.ok(), called: tools.called(), waves: wave }),
        }
    }
    None
}

/// Runs a template in both ways and compares; returns how it went by waves.
#[track_caller]
fn compare(text: &str, syntax: Syntax) -> Option<Outcome> {
    let (sequential, waves) = (run(text, syntax, false)?, run(text, syntax, true)?);
    assert_eq!(waves.text.is_some(), sequential.text.is_some(), "{text}");
    match &sequential.text {
        Some(_) => assert_eq!((&waves.text, &waves.called), (&sequential.text, &sequential.called), "{text}"),
        None => assert!(waves.called.is_subset(&sequential.called), "{text}: {waves:?} {sequential:?}"),
    }
    Some(waves)
}

/// Compares, and notes if it took another number of waves.
fn expect(text: &str, syntax: Syntax, waves: usize, wrong: &mut Vec<String>) {
    match compare(text, syntax) {
        Some(outcome) if outcome.waves == waves => {}
        // Jinja's table has what the former engine needed.
        Some(outcome) if syntax == Syntax::Jinja && outcome.waves < waves => {}
        other => wrong.push(format!("{text} should take {waves} waves: {other:?}")),
    }
}

#[test]
fn templates_known_to_fool_a_naive_placeholder_are_rendered_as_if_from_left_to_right() {
    let mut wrong = Vec::new();
    // The waves that each needs: one more than there are rounds of calls.
    for (text, waves) in [
        ("{{ t_id(1) }}{{ t_id(2) }}{{ t_id(1) }}", 2),
        ("{{ t_id(1) in [1] }}{{ t_id(2) }}", 3),
        ("{{ 1 in [t_id(1)] }}{{ t_id(2) }}", 3),
        ("{{ 1 == t_id(1) }}{{ t_id(2) }}", 3),
        ("{{ t_id(1) == 1 }}{{ t_id(2) }}", 3),
        ("{{ t_id(1) != t_id(1) }}", 2),
        ("{{ 1 < t_id(2) < 3 }}", 2),
        ("{% if t_id(1) is defined %}{{ t_id(2) }}{% endif %}", 3),
        ("{% if t_fail(1) is defined %}{{ t_id(2) }}{% else %}-{% endif %}", 2),
        ("{% if t_id(false) %}{{ t_id(2) }}{% endif %}", 2),
        ("{% set a %}{{ t_id(1) }}{% endset %}{% if a == '1' %}{{ t_id(2) }}{% endif %}", 3),
        ("{% set a %}{{ t_id(1) }}{% endset %}{{ t_id(2) }}{{ a }}", 2),
        ("{% set a = t_id(1) %}{% set b = t_id(2) %}{{ a }}{{ b }}", 2),
        ("{% set a = t_id(1) %}{% set b = t_id([a]) %}{{ b }}{{ t_id(3) }}", 3),
        ("{% set a = t_id(1) %}{% if a is defined %}{{ t_id(2) }}{% endif %}", 3),
        ("{% set a = t_id(1) %}{% if 1 in [a] %}{{ t_id(2) }}{% endif %}", 3),
        ("{% set a = t_id(1) %}{{ [a] | length }}{{ t_id(2) }}", 2),
        ("{% set a = t_id(1) if variables.t else t_id(2) %}{{ t_id(3) }}{{ a }}", 2),
        ("{% with a = t_id(1), b = t_id(2) %}{{ a }}{{ b }}{% endwith %}", 2),
        ("{% with a = t_id(1) %}{% if a %}{{ t_id(2) }}{% endif %}{% endwith %}", 3),
        ("{% macro m() %}{{ t_id(1) }}{% endmacro %}{% if m() == '1' %}{{ t_id(2) }}{% endif %}", 3),
        ("{% macro m(x) %}{{ x }}{% endmacro %}{{ m(t_id(1)) }}{{ t_id(2) }}", 2),
        ("{% set a = t_id(1) %}{% macro m() %}{% if a %}{{ t_id(2) }}{% endif %}{% endmacro %}{{ m() }}", 3),
        (
            "{% macro m() %}{{ caller() }}{% endmacro %}{% call m() %}{{ t_id(1) }}{% endcall %}{{ t_id(2) }}",
            2,
        ),
        ("{% filter upper %}{{ t_id('a') }}{% endfilter %}{{ t_id(2) }}", 3),
        ("{% filter replace('1', '2') %}{{ t_id(1) }}{% endfilter %}", 2),
        ("{% for x in t_list('ab') %}{{ t_id(x) }}{% endfor %}", 3),
        ("{% for x in t_list('ab') %}{{ t_id(x) }}{% else %}{{ t_id(9) }}{% endfor %}", 3),
        ("{% for x in [1, 2, 3] %}{{ t_id(x) }}{% endfor %}", 2),
        ("{% for x in [1, 2, 3] if t_flag(x) %}{{ t_id(x) }}{% endfor %}", 4),
        ("{{ t_fail(1) | default('d') }}{{ t_id(2) }}", 3),
        ("{{ t_id('') | default('d', true) }}{{ t_id(2) }}", 3),
        ("{{ t_id(1) ~ t_id(2) ~ 'x' }}", 2),
        ("{{ ('x' ~ t_id(1)) | upper }}{{ t_id(2) }}", 3),
        ("{{ t_id(1) if variables.t else t_id(2) }}{{ t_id(3) }}", 2),
        ("{{ 'x' if t_flag(1) else 'y' }}{{ t_id(3) }}", 3),
        ("{{ t_id(1) or t_id(2) }}", 2),
        ("{{ t_id(0) or t_id(2) }}", 3),
        ("{{ t_id(0) and t_id(2) }}", 2),
        ("{{ t_id(t_number(t_flag(1))) }}", 4),
        ("{{ t_object('k').a }}{{ t_object('k').deep.c[0] }}", 2),
        ("{{ t_object('k').nothing | default('d') }}", 2),
        ("{% include 'calls' %}{{ t_id(7) }}", 2),
        ("{% set a = t_id(1) %}{% include 'reads' %}{{ t_id(3) }}", 3),
        ("{% set name = 'reads' %}{% set a = t_id(1) %}{% include name %}{{ t_id(3) }}", 3),
        ("{% set x %}{% include 'calls' %}{% endset %}{{ x }}", 2),
        ("{% import 'module' as m %}{{ m.v }}{{ m.f(1) }}{{ t_id(3) }}", 2),
        ("{% from 'module' import v, f %}{% if v %}{{ f(1) }}{% endif %}", 3),
        ("{% extends 'base' %}{{ t_id(1) }}{% block b %}{{ t_id(2) }}{{ t_id(3) }}{% endblock %}", 2),
        ("{% extends 'wrapped' %}{% set a = t_id(1) %}{% block b %}{{ t_id(2) }}{% endblock %}", 3),
        ("{% block b %}{{ t_id(1) }}{% endblock %}{% if self.b() == '1' %}{{ t_id(2) }}{% endif %}", 3),
        ("{% set ns = namespace(x=t_id(1)) %}{{ ns.x }}{{ t_id(2) }}", 2),
        ("{% set ns = namespace(x=0) %}{% set ns.x = t_id(1) %}{% if ns.x %}{{ t_id(2) }}{% endif %}", 3),
        ("{% set a, b = t_id(1), t_id(2) %}{{ a }}{{ b }}", 2),
        ("{% set f = t_id %}{{ f(1) }}{{ f(2) }}", 2),
        ("{% do t_id(1) %}{{ t_id(2) }}", 2),
        ("{{ t_id(1) | tojson }}{{ [t_id(2)] | join }}{{ {'a': t_id(3)}.a }}", 4),
        ("{{ loop_free }}{{ t_id(1) }}", 1),
        ("{% set a = t_id(1) %}{{ a }}{{ variables.nothing }}", 2),
        ("{{ t_id(1) }}{{ variables.nothing }}", 1),
        ("{{ t_id(variables.nothing) }}", 1),
        ("{{ t_id(t_fail(1)) }}|{{ t_id(2) }}", 3),
        ("{% set a = t_id(1) %}{{ a() }}", 2),
        ("{{ t_id(1)() }}", 2),
        ("{{ t_id(1) }}{{ 1 // 0 }}", 1),
        ("{% for x in [t_id(1), 2] recursive %}{{ x }}{% endfor %}", 2),
        (
            "{% macro c() %}[{{ caller() }}]{% endmacro %}{% call c() %}x{% endcall %}{% if variables.e %}{% set c = t_id(1) %}{% endif %}",
            1,
        ),
        ("{% set c = t_id(1) %}{% call c() %}x{% endcall %}{{ t_id(2) }}", 2),
        ("{% set a = t_id(1) %}{% do a() %}{{ t_id(2) }}", 2),
        ("{% set a = t_object(1) %}{% set a.x = 1 %}{{ t_id(2) }}", 2),
        (
            "{% set n = '\0main' %}{% if inner is defined %}{% set a = t_flag(1) %}{% else %}{% set inner = 1 %}{% import n as q %}{% if q.a %}{{ t_id(2) }}{% endif %}{% endif %}",
            1,
        ),
    ] {
        expect(text, Syntax::Jinja, waves, &mut wrong);
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}

#[test]
fn a_call_with_the_time_or_a_random_value_is_made_once() {
    let mut wrong = Vec::new();
    for text in [
        "{{ t_id(range(1000000) | random) }}{{ t_id(range(1000000) | random) }}",
        "{{ t_id(strftime_now('%s %f')) }}{% if t_id(range(1000000) | random) %}{% endif %}",
    ] {
        expect(text, Syntax::Jinja, 2, &mut wrong);
    }
    for (text, waves) in [
        ("{{t_id uuidv4}}{{t_id uuidv4}}", 2),
        ("{{t_id now.UnixNano}}{{$x := t_id (now.Format \"05.000000000\")}}{{$x}}", 2),
        ("{{if t_flag uuidv4}}{{t_id uuidv4}}{{else}}{{t_id uuidv4}}{{end}}{{t_id uuidv4}}", 3),
        (
            "{{$d := dict}}{{range .variables.l}}{{$_ := set $d . uuidv4}}{{end}}{{t_id $d}}{{t_id (ago now)}}",
            2,
        ),
    ] {
        expect(text, Syntax::Go, waves, &mut wrong);
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}

#[test]
fn go_templates_are_rendered_as_if_from_left_to_right() {
    let mut wrong = Vec::new();
    for (text, waves) in [
        ("{{t_id 1}}{{t_id 2}}{{t_id 1}}", 2),
        ("{{$a := t_id 1}}{{$b := t_id 2}}{{$a}}{{$b}}", 2),
        ("{{$a := t_id 1}}{{$b := t_id (list $a)}}{{$b}}{{t_id 3}}", 4),
        ("{{if t_id 1}}{{t_id 2}}{{end}}{{t_id 3}}", 3),
        ("{{if t_id false}}{{t_id 2}}{{end}}", 2),
        ("{{if t_fail 1}}{{t_id 2}}{{else}}{{t_id 3}}{{end}}", 3),
        ("{{range t_list \"ab\"}}{{t_id .}}{{end}}", 3),
        ("{{range $i, $x := .variables.l}}{{t_id $x}}{{end}}", 2),
        ("{{with t_object \"k\"}}{{.a}}{{t_id .b}}{{end}}", 3),
        ("{{(t_object \"k\").a}}{{t_id 2}}", 3),
        ("{{t_id (t_number (t_flag 1))}}", 4),
        ("{{t_flag 1 | t_number | t_id}}", 4),
        ("{{eq \"x\" (t_id \"x\")}}{{t_id 2}}", 3),
        ("{{and (t_id 0) (t_id 2)}}", 2),
        ("{{or (t_id 0) (t_id 2)}}", 3),
        ("{{not (t_id 1)}}{{t_id 2}}", 3),
        ("{{default \"d\" (t_fail 1)}}{{t_id 2}}", 3),
        ("{{printf \"%v\" (t_id 1)}}{{t_id 2}}", 3),
        ("{{define \"p\"}}{{.}}{{t_id 5}}{{end}}{{template \"p\" .variables.s}}{{t_id 6}}", 2),
        ("{{define \"p\"}}{{.}}{{t_id 5}}{{end}}{{template \"p\" (t_id 1)}}{{t_id 6}}", 3),
        ("{{$a := 1}}{{if .variables.t}}{{$a = t_id 2}}{{end}}{{t_id 3}}{{$a}}", 2),
        ("{{$a := t_id 1}}{{.variables.nothing}}", 1),
        ("{{t_id 1}}{{index .variables.l 9}}", 1),
        ("{{t_id .variables.nothing}}", 1),
        ("{{template \"calls\" .}}{{t_id 7}}", 2),
    ] {
        expect(text, Syntax::Go, waves, &mut wrong);
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}

/// How many random templates went which way.
#[derive(Default, Debug)]
struct Tally {
    refused: usize,
    failed: usize,
    rendered: usize,
    more_waves: usize,
}

fn random(syntax: Syntax) {
    let config = ProptestConfig { failure_persistence: None, ..ProptestConfig::default() };
    let mut runner = proptest::test_runner::TestRunner::new(config);
    let tally = std::cell::RefCell::new(Tally::default());
    let result = runner.run(&templates::template(syntax), |text| {
        let outcome = compare(&text, syntax);
        let mut tally = tally.borrow_mut();
        match &outcome {
            None => tally.refused += 1,
            Some(outcome) if outcome.text.is_none() => tally.failed += 1,
            Some(_) => tally.rendered += 1,
        }
        tally.more_waves += usize::from(outcome.is_some_and(|outcome| outcome.waves > 2));
        Ok(())
    });
    let tally = tally.into_inner();
    println!("{syntax:?}: {tally:?}");
    result.unwrap();
    // The property says nothing about templates that do not render.
    assert!(tally.rendered * 10 > tally.refused + tally.failed && tally.more_waves > 0, "{tally:?}");
}

#[test]
fn random_jinja_templates_call_and_render_as_from_left_to_right() {
    random(Syntax::Jinja);
}

#[test]
fn random_go_templates_call_and_render_as_from_left_to_right() {
    random(Syntax::Go);
}
