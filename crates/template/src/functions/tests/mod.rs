//! Tests of what the corpus cannot show: limits, missing values, the time, random values, and the analysis.

mod limits;

use std::sync::Arc;
use std::time::{Duration, Instant, UNIX_EPOCH};

use super::table;
use crate::value::{Map, Value, from_json};
use crate::{
    Arguments, CallResult, Functions, Limits, NoSurroundings, Partials, RunBudget, RunError, Surroundings,
    Syntax, Template, Undefined,
};

const DATA: &str = r#"{"variables": {"s": "a,b", "m": {"a": 1, "c": {"d": 2}}, "l": ["x", {"k": 1}], "n": null, "i": 3,
    "user": {"name": "Ada"}}, "team": {"tone": "calm", "size": 5}}"#;

/// A tool that answers with its argument, or leaves a gap.
struct Tools;

impl Functions for Tools {
    fn contains(&self, name: &str) -> bool {
        matches!(name, "echo" | "gap" | "object")
    }

    fn call(&self, name: &str, arguments: Arguments) -> CallResult {
        match name {
            "gap" => CallResult::Gap,
            "object" => CallResult::Value(from_json(br#"{"a": {"b": 1}}"#).unwrap()),
            _ => CallResult::Value(arguments.positional.into_iter().next().unwrap_or(Value::Null)),
        }
    }
}

fn template(text: &str) -> Template {
    let partials: Arc<dyn Partials> = Arc::new(NoSurroundings);
    let surroundings = Surroundings { partials: &partials, functions: &Tools };
    Template::compile("t", &text.into(), Syntax::Go, surroundings, &Limits::default()).unwrap()
}

fn budget(seed: u128) -> RunBudget {
    let limits = Limits::default();
    RunBudget {
        steps: limits.steps,
        output_bytes: limits.output_bytes,
        deadline: Instant::now() + Duration::from_secs(60),
        undefined: Undefined::Strict,
        moment: UNIX_EPOCH + Duration::new(1_700_000_000, 5_000_000),
        seed,
    }
}

fn run_in(text: &str, budget: &RunBudget) -> Result<String, RunError> {
    let root: Arc<Map> = from_json(DATA.as_bytes()).unwrap().as_map().unwrap().clone();
    let functions: Arc<dyn Functions> = Arc::new(Tools);
    template(text).render(&root, &functions, budget)
}

fn run(text: &str) -> Result<String, String> {
    run_in(text, &budget(1)).map_err(|error| match error {
        RunError::Missing(missing) => {
            let paths: Vec<_> = missing.into_iter().map(|missing| missing.path).collect();
            format!("missing: {}", paths.join(", "))
        }
        error => error.to_string(),
    })
}

#[track_caller]
fn expect(cases: &[(&str, &str)]) {
    for (text, expected) in cases {
        assert_eq!(run(text).as_deref(), Ok(*expected), "{text}");
    }
}

#[test]
fn the_table_is_sorted_so_that_each_function_is_found() {
    for name in table::names() {
        assert!(table::find(name).is_some(), "{name}");
    }
    assert!(table::find("env").is_none() && table::find("").is_none() && table::find("zzz").is_none());
}

#[test]
fn what_differs_from_sprig_is_what_the_service_has_always_had() {
    expect(&[
        (r#"{{toJson (dict "b" 1 "a" (list "x" .variables.n 1.5))}}"#, r#"{"a":["x",null,1.5],"b":1}"#),
        (r#"{{toJson "<&>"}}{{mustToJson "<"}}{{toPrettyJson "&"}}"#, r#""<&>""<""&""#),
        (r#"{{(fromJson "{\"a\":[1,2]}").a}}"#, "[1 2]"),
        (r#"{{index (split "," .variables.s) 1}}{{join "-" (split "" "ab")}}"#, "ba-b"),
        (r#"{{slice "abcdef" 1 3}}{{keys .variables.m | join ","}}"#, "bca,c"),
    ]);
    let error = run(r#"{{fromJson "{"}}"#).unwrap_err();
    assert!(error.contains("error calling fromJson: not valid JSON"), "{error}");
}

#[test]
fn arguments_that_are_only_tested_may_be_missing() {
    expect(&[
        (r#"{{default "d" .nope}}{{.nope.deep | default "d"}}{{gap 1 | default "d"}}"#, "ddd"),
        (r#"{{.nope | empty}} {{empty .variables.nope.deep}} {{empty .variables.s}}"#, "true true false"),
        (r#"{{coalesce .a .variables.b "c"}}{{coalesce .a .team.tone}}"#, "ccalm"),
        (r#"{{hasKey .variables "x"}} {{hasKey .variables "s"}} {{hasKey .nope "x"}}"#, "false true false"),
        (r#"[{{get .variables "x"}}] {{get .variables "s"}} [{{get .nope.deep "x"}}]"#, "[] a,b []"),
        (r#"{{ternary "a" "b" (empty .x)}}{{ternary "a" "b" .x}}{{any .x .y 1}}{{all .x 1}}"#, "abtruefalse"),
        (r#"{{if coalesce .a .b}}y{{else}}n{{end}}{{if get .variables "x"}}y{{else}}n{{end}}"#, "nn"),
    ]);
}

#[test]
fn a_missing_value_that_comes_out_of_a_function_is_missing() {
    for (text, missing) in [
        ("{{coalesce .a .b}}", "b"),
        ("{{upper .nope}} {{.variables.m.z | quote}}", "nope, variables.m.z"),
        (r#"{{default .fallback .variables.x}}"#, "fallback"),
        (r#"{{ternary .yes "no" true}}"#, "yes"),
        (r#"{{dig "a" "b" "none" .nope}}{{set .nope "a" 1}}"#, "nope"),
        (
            r#"{{$d := dict "a" 1}}{{$_ := set .variables.m "new" 1}}{{.variables.m.other}}"#,
            "variables.m.other",
        ),
    ] {
        assert_eq!(run(text), Err(format!("missing: {missing}")), "{text}");
    }
}

#[test]
fn a_gap_among_texts_is_an_empty_text() {
    expect(&[
        (
            r#"[{{upper (gap 1)}}][{{cat "a" (gap 1)}}][{{replace "a" "b" (gap 1)}}][{{indent 2 (gap 1)}}]"#,
            "[][a ][][  ]",
        ),
        (
            r#"[{{first (gap 1)}}][{{fromJson (gap 1)}}][{{repeat (gap 1) "x"}}][{{get (gap 1) "a"}}]"#,
            "[][][][]",
        ),
    ]);
}

#[test]
fn a_change_of_a_dict_is_seen_by_all_who_hold_it_and_by_no_other_render() {
    let text = r#"{{$_ := set .variables.m "a" 9}}{{$_ := set .variables.user "mail" "x"}}{{.variables.m.a}}{{.variables.user}}"#;
    let root: Arc<Map> = from_json(DATA.as_bytes()).unwrap().as_map().unwrap().clone();
    let functions: Arc<dyn Functions> = Arc::new(Tools);
    let template = template(text);
    for _ in 0..2 {
        assert_eq!(template.render(&root, &functions, &budget(1)).unwrap(), "9map[mail:x name:Ada]");
    }
    assert_eq!(Value::Map(root), from_json(DATA.as_bytes()).unwrap());
    expect(&[
        (
            r#"{{$t := object}}{{$_ := set $t.a "b" 2}}{{$t}} {{$_ := set (fromJson "{}") "x" 1}}"#,
            "map[a:map[b:2]] ",
        ),
        (
            r#"{{$_ := set .variables "s" "new"}}{{.variables.s}} {{toJson (echo .variables.m)}}"#,
            r#"new {"a":1,"c":{"d":2}}"#,
        ),
        (
            r#"{{$_ := set .variables.m "z" 1}}{{(echo .variables.m).z}}{{range echo (list .variables.m)}}{{.z}}{{end}}"#,
            "11",
        ),
        (
            r#"{{$_ := set (index .variables.l 1) "k" 2}}{{echo .variables.l}}{{len .variables.l}}"#,
            "[x map[k:2]]2",
        ),
        (
            r#"{{$_ := unset . "team"}}{{hasKey . "team"}} {{$_ := set . "new" 1}}{{$.new}}{{.new}}"#,
            "false 11",
        ),
    ]);
}

#[test]
fn lists_that_share_their_elements_do_not_change_each_other() {
    expect(&[
        (
            r#"{{$a := append (list 1) 2}}{{$b := append $a 3}}{{$c := append $a 4}}{{$d := append $b 5}}{{$a}}{{$b}}{{$c}}{{$d}}"#,
            "[1 2][1 2 3][1 2 4][1 2 3 5]",
        ),
        (
            r#"{{$a := append (list 1 2) 3}}{{$r := rest $a}}{{$b := append $r 4}}{{$i := initial $a}}{{$c := append $i 9}}{{$a}}{{$r}}{{$b}}{{$i}}{{$c}}"#,
            "[1 2 3][2 3][2 3 4][1 2][1 2 9]",
        ),
        (
            r#"{{$a := append .variables.l 1}}{{$b := concat $a $a}}{{$a}}{{$b}}{{len .variables.l}}"#,
            "[x map[k:1] 1][x map[k:1] 1 x map[k:1] 1]2",
        ),
        (
            r#"{{$a := append (list 1) 2}}{{slice $a 0 2}}{{toJson (rest $a)}}{{typeOf (rest (splitList "," "a,b"))}}{{range $i, $x := append $a 3}}{{$i}}{{$x}}{{end}}"#,
            "[1 2][2][]interface {}011223",
        ),
        (
            r#"{{$l := list}}{{range $x := append (list 1 2) 3}}{{$l = append $l $x}}{{end}}{{deepEqual $l (list 1 2 3)}} {{echo (append $l 4)}}"#,
            "true [1 2 3 4]",
        ),
        (
            r#"{{$_ := set .variables "z" 1}}{{$l := .variables.l}}{{echo (rest $l)}}{{echo (initial $l)}}{{echo (append (rest $l) 2)}}"#,
            "[map[k:1]][x][map[k:1] 2]",
        ),
        (
            r#"{{if false}}{{$_ := set . "z" 1}}{{end}}{{$l := fromJson "[1,2,3]"}}{{toJson (echo (slice $l 1 4))}}"#,
            "[2,3,null]",
        ),
        (
            r#"{{$a := append (list) 1}}{{range $a}}{{$a = append $a .}}{{end}}{{$a}}{{$s := dict "l" $a}}{{$_ := set $s "l" (append $s.l 2)}}{{$s.l}}{{$a}}"#,
            "[1 1][1 1 2][1 1]",
        ),
    ]);
    let error = run("{{$l := list}}{{range until 600}}{{$l = append (list) $l}}{{end}}").unwrap_err();
    assert!(error.contains("nest more than 500 deep"), "{error}");
    let error = run("{{$l := list 1}}{{range until 40}}{{$l = concat $l $l}}{{end}}").unwrap_err();
    assert!(error.contains("memory"), "{error}");
}

#[test]
fn corners_of_sprig() {
    expect(&[
        (r#"{{chunk -3 (list "a") | toJson}} {{chunk -3 (list "a" "b") | toJson}}"#, r#"[["a"]] []"#),
        ("{{chunk -9223372036854775808 (list 1)}}", "[[1]]"),
        (r#"{{printf "%#v" (rest (list))}} {{printf "%#v" (list)}}"#, "[]interface {}(nil) []interface {}{}"),
        (r#"{{regexMatch "a\xffb" "a"}}"#, "false"),
    ]);
    let error = run(r#"{{mustRegexMatch "a\xffb" "a"}}"#).unwrap_err();
    assert!(error.ends_with("error parsing regexp: invalid UTF-8: `\u{fffd}b`"), "{error}");
}

#[test]
fn the_time_and_random_values_are_those_of_the_render() {
    let text = "{{now.Unix}} {{now}} {{htmlDate now}} {{ago (now.AddDate 0 0 -1)}} {{uuidv4}} {{uuidv4}}";
    let first = run_in(text, &budget(7)).unwrap();
    assert!(first.starts_with("1700000000 2023-11-14 22:13:20.005 +0000 UTC 2023-11-14 24h0m0s "), "{first}");
    assert_eq!(run_in(text, &budget(7)).unwrap(), first);
    assert_ne!(run_in(text, &budget(8)).unwrap(), first);
    let ids: Vec<&str> = first.rsplitn(3, ' ').take(2).collect();
    assert_ne!(ids[0], ids[1]);
    assert!(
        ids.iter()
            .all(|id| id.len() == 36 && id.as_bytes()[14] == b'4' && b"89ab".contains(&id.as_bytes()[19]))
    );
}

#[test]
fn what_functions_need_is_known_before_a_run() {
    let needs = |text: &str| {
        let requires = template(text).requires().clone();
        let list = |needs: Vec<crate::Need>| {
            let shown =
                needs.iter().map(|need| format!("{}{}", need.name, if need.optional { "?" } else { "" }));
            shown.collect::<Vec<_>>().join(" ")
        };
        assert!(requires.tools.is_empty(), "{text}");
        [list(requires.variables), list(requires.names)]
    };
    for (text, expected) in [
        ("{{.nope | empty}}{{coalesce .a .variables.b}}", ["b?", "a? nope?"]),
        (r#"{{default .d .variables.v | upper}}{{ternary .x .y (empty .z)}}"#, ["v?", "d x? y? z?"]),
        (r#"{{if hasKey .variables "x"}}{{end}}{{get .variables.m "y"}}"#, ["? m? m.y? x?", ""]),
        (r#"{{(get .team "lead").name}}"#, ["", "team? team.lead? team.lead.name?"]),
        ("{{upper .variables.a}}{{join .b .c}}", ["a", "b c"]),
    ] {
        assert_eq!(needs(text), expected, "{text}");
    }
}
