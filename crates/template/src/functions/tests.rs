//! Tests of what the corpus cannot show: limits, missing values, the time, random values, and the analysis.

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
fn a_dict_that_contains_itself_ends_the_run_at_most() {
    let start = r#"{{$d := dict "a" 1}}{{$_ := set $d "self" $d}}{{$_ := set $d "again" $d}}"#;
    assert_eq!(run(&format!("{start}{{{{len $d.self.again.self}}}}")).as_deref(), Ok("3"));
    for text in [
        "{{$d}}",
        "{{toJson $d}}",
        "{{toPrettyJson $d}}",
        "{{quote $d}}",
        "{{deepCopy $d}}",
        "{{echo $d}}",
        "{{merge (dict) $d (dict \"self\" (dict \"x\" 1))}}",
        "{{mergeOverwrite $d $d}}",
        "{{deepEqual (dict \"x\" $d) (dict \"x\" (deepCopy $d))}}",
        "{{$e := dict \"a\" 1}}{{$_ := set $e \"self\" $e}}{{$_ := set $e \"again\" $e}}{{deepEqual $d $e}}",
        "{{has $d (list (dict \"a\" 1 \"self\" $d \"again\" 2))}}",
    ] {
        // What matters is that it ends, soon and without a panic.
        if let Ok(out) = run(&format!("{start}{text}")) {
            assert!(out.len() < 100, "{text}: {}", out.len());
        }
    }
}

#[test]
fn what_contains_itself_is_not_reported_as_a_lack_of_memory() {
    let start = r#"{{$d := dict "a" 1}}{{$_ := set $d "self" $d}}"#;
    for text in [
        "{{$d}}",
        "{{toJson $d}}",
        "{{toPrettyJson $d}}",
        "{{print $d}}",
        "{{printf \"%s\" $d}}",
        "{{html $d}}",
        "{{quote $d}}",
        "{{join \",\" (list $d)}}",
        "{{toString $d}}",
        "{{deepCopy $d}}",
        "{{echo $d}}",
        "{{$l := list 1}}{{range until 600}}{{$l = list $l}}{{end}}",
    ] {
        let error = run(&format!("{start}{text}")).unwrap_err();
        assert!(error.contains("nest more than 500 deep, or contain themselves"), "{text}: {error}");
    }
}

#[test]
fn large_texts_are_taken_apart_within_the_memory_of_the_run() {
    let large = r#"{{$s := repeat 8000000 "/"}}"#;
    for (text, expected) in [
        (r#"{{replace "" "" $s | len}}"#, "8000000"),
        (r#"{{replace "/" "" $s | len}}"#, "0"),
        (r#"{{replace "//" "/" $s | len}}"#, "4000000"),
        (r#"{{(splitn "" 3 $s)._2 | len}}"#, "7999998"),
        (r#"{{clean $s}}{{dir $s}}"#, "//"),
        (r#"{{clean (repeat 1000000 "a/") | len}}"#, "1999999"),
        (r#"{{clean (repeat 1000000 "../") | len}}"#, "2999999"),
        (r#"{{b64dec $s | len}}"#, "6000000"),
        (r#"{{b32dec (repeat 100000 "77777777\n") | len}}"#, "500000"),
        (r#"{{indent 0 (repeat 4000000 "\n") | len}}"#, "4000000"),
    ] {
        assert_eq!(run(&format!("{large}{text}")).as_deref(), Ok(expected), "{text}");
    }
    for text in [
        r#"{{splitList "" $s | len}}"#,
        r#"{{split "/" $s | len}}"#,
        r#"{{splitn "/" -1 $s | len}}"#,
        r#"{{fromJson (print "[" (repeat 2700000 "[],") "0]") | len}}"#,
        r#"{{$j := print "[" (repeat 100000 "[],") "0]"}}{{range until 10}}{{$x := fromJson $j}}{{end}}"#,
    ] {
        let error = run(&format!("{large}{text}")).unwrap_err();
        assert!(error.contains("memory"), "{text}: {error}");
    }
}

#[test]
fn values_are_told_apart_in_long_lists() {
    expect(&[
        (r#"{{len (uniq (concat (until 20000) (until 20000)))}}"#, "20000"),
        (
            r#"{{range uniq (list 1 1.0 1 (int64 1) "1" true true nil nil (list 1) (list 1) (dict) (dict) "1" 0.0 -0.0)}}{{.}} {{end}}"#,
            "1 1 1 1 true <no value> [1] map[] 0 ",
        ),
    ]);
}

#[test]
fn a_list_that_grows_takes_the_memory_of_one() {
    expect(&[
        (
            "{{$l := list}}{{range until 20000}}{{$l = append $l .}}{{end}}{{len $l}} {{last $l}}",
            "20000 19999",
        ),
        (
            "{{$l := list}}{{range until 10000}}{{$l = concat $l (list . .)}}{{end}}{{len $l}} {{index $l 2}}",
            "20000 1",
        ),
        (
            "{{$l := until 20000}}{{range until 10000}}{{$l = initial (rest $l)}}{{end}}{{len $l}}{{len (rest (list 1))}}",
            "00",
        ),
        (
            "{{$l := list}}{{range until 5000}}{{$l = append (concat $l) (list .)}}{{end}}{{len $l}} {{last $l}}",
            "5000 [4999]",
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
fn hostile_arguments_end_in_an_error() {
    for text in [
        r#"{{repeat 1000000000 "x"}}"#,
        r#"{{repeat 9223372036854775807 "xy"}}"#,
        r#"{{repeat -1 "x"}}"#,
        r#"{{indent 1000000000 "x"}}"#,
        r#"{{nindent 9223372036854775807 "a\nb"}}"#,
        "{{until 1000000000}}",
        "{{until -9223372036854775808}}",
        "{{untilStep 0 9223372036854775807 1}}",
        "{{seq 0 9223372036854775806}}",
        r#"{{$s := repeat 100000 "ab"}}{{replace "" $s $s}}"#,
        r#"{{$s := repeat 100000 "a"}}{{replace "a" $s $s}}"#,
        r#"{{$s := repeat 4000 "a,"}}{{join $s (splitList "," (repeat 10000 $s))}}"#,
        r#"{{$s := repeat 100000 "a"}}{{regexReplaceAll "a" $s $s}}"#,
        r#"{{$s := repeat 100000 "a b "}}{{wrapWith 1 $s $s}}"#,
        r#"{{$l := list 1}}{{range until 40}}{{$l = list $l $l}}{{end}}{{deepCopy $l}}"#,
        r#"{{$l := until 10000}}{{range until 40}}{{$l = concat $l $l}}{{end}}"#,
        r#"{{div 1 0}}"#,
        r#"{{mod 1 "x"}}"#,
        r#"{{substr 9223372036854775807 2 "abc"}}"#,
        r#"{{substr -1 100 "abc"}}"#,
        r#"{{chunk 0 (list 1)}}"#,
        r#"{{slice (list 1) -1 9223372036854775807}}"#,
        r#"{{addf "nan"}}"#,
        r#"{{mulf 1e300 1e300 1e300 (divf 1 0)}}"#,
        r#"{{first nil}}"#,
        r#"{{regexMatch "((a{1000}){1000}){1000}" "a"}}{{mustRegexMatch "(a{999}b{999}){2}" "a"}}"#,
        r#"{{regexFindAll (repeat 100000 "(") "a" -1}}"#,
        r#"{{mustRegexMatch (repeat 100000 "a?") "a"}}"#,
        r#"{{regexFind (repeat 30000 "[\\pL\\pN]") "a"}}"#,
        r#"{{set nil "a" 1}}"#,
        r#"{{dig "a"}}"#,
    ] {
        assert!(run(text).is_err(), "{text}");
    }
}

#[test]
fn hostile_arguments_that_have_a_result_give_it() {
    expect(&[
        ("{{div -9223372036854775808 -1}} {{mod -9223372036854775808 -1}}", "-9223372036854775808 0"),
        (
            "{{add 9223372036854775807 1}}{{int 1e300}}{{int64 (float64 \"nan\")}}",
            "-9223372036854775808-9223372036854775808-9223372036854775808",
        ),
        (r#"{{trunc -5 "ab"}}{{trunc 9223372036854775807 "c"}}{{trunc -9223372036854775808 "d"}}"#, "abcd"),
        (
            r#"{{wrap -5 "a b"}}|{{wrap 9223372036854775807 "a b"}}|{{abbrev 9223372036854775807 "x"}}"#,
            "a\nb|a b|x",
        ),
        (
            r#"{{abbrevboth -9 9223372036854775807 "x"}}{{abbrevboth 9223372036854775807 8 "0123456789"}}"#,
            "x...56789",
        ),
        ("{{untilStep 0 10 -1}}{{untilStep 0 0 0}}{{seq 1 0 5}}{{seq 0 1 9223372036854775807}}", "[][]"),
        (
            r#"{{date "2006" 9223372036854775807 | len | lt 3}}{{dateInZone "06" -9223372036854775808 "Asia/Tokyo" | len}}"#,
            "true2",
        ),
        (r#"{{(toDate "2006" "2020").AddDate 9223372036854775807 -9223372036854775808 1 | empty}}"#, "false"),
        (r#"{{duration "9223372036854775807"}}{{durationRound "9223372036854775807ns"}}"#, "-1s292y"),
        (
            r#"{{regexMatch "(a*)*b" (repeat 100000 "a")}}{{regexMatch "(x+x+)+y" (repeat 100000 "x")}}"#,
            "falsefalse",
        ),
        (r#"{{len (regexFindAll "" (repeat 1000 "é") -1)}}"#, "1001"),
        (r#"{{round 1.5 9223372036854775807}}{{maxf "nan" 1}}"#, "NaNNaN"),
        (r#"{{$d := dict}}{{range until 1000}}{{$_ := set $d (toString .) .}}{{end}}{{len $d}}"#, "1000"),
    ]);
}

#[test]
fn a_search_that_takes_too_long_ends_at_the_deadline() {
    // Each search from each place looks at the whole rest.
    let text = r#"{{$s := repeat 1000000 "a"}}{{len (regexFindAll ".*[^A-Za-z]|[a-z]" $s -1)}}"#;
    let run = RunBudget { deadline: Instant::now() + Duration::from_millis(200), ..budget(1) };
    assert_eq!(run_in(text, &run), Err(RunError::Deadline));
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
