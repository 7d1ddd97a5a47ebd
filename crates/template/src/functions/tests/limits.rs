//! Tests of the limits: of memory, nesting and time.

use std::time::{Duration, Instant};

use super::*;

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
    let large = r#"{{$s := repeat 2000000 "/"}}"#;
    for (text, expected) in [
        (r#"{{replace "" "" $s | len}}"#, "2000000"),
        (r#"{{replace "/" "" $s | len}}"#, "0"),
        (r#"{{replace "//" "/" $s | len}}"#, "1000000"),
        (r#"{{(splitn "" 3 $s)._2 | len}}"#, "1999998"),
        (r#"{{clean $s}}{{dir $s}}"#, "//"),
        (r#"{{clean (repeat 1000000 "a/") | len}}"#, "1999999"),
        (r#"{{clean (repeat 1000000 "../") | len}}"#, "2999999"),
        (r#"{{b64dec $s | len}}"#, "1500000"),
        (r#"{{b32dec (repeat 100000 "77777777\n") | len}}"#, "500000"),
        (r#"{{indent 0 (repeat 2000000 "\n") | len}}"#, "2000000"),
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
