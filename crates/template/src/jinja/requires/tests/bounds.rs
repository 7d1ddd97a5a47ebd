//! Hostile texts.

use std::fmt::Write;
use std::time::{Duration, Instant};

use super::{found, list};

/// The analysis ends soon, and lists either this or everything.
#[track_caller]
fn ends(source: &str, partials: &[(&str, &str)], expected: &str) {
    assert!(source.len() <= 256 << 10, "{} bytes", source.len());
    let start = Instant::now();
    let found = found(source, partials);
    assert!(start.elapsed() < Duration::from_secs(20), "{:?}", start.elapsed());
    let names: Vec<&str> = found.names.iter().map(|need| need.name.as_str()).collect();
    assert!(names.contains(&expected) || names.contains(&""), "{}", list(&found.names));
}

/// Texts made of many parts.
fn many(count: usize, part: impl Fn(usize) -> String) -> String {
    (0..count).fold(String::new(), |mut text, at| {
        let _ = write!(text, "{}", part(at));
        text
    })
}

#[test]
fn macros_that_call_others_twice() {
    let text = many(60, |at| {
        format!(
            "{{% macro m{at}(x) %}}{{{{ x.v }}}}{{{{ m{}(x.a) }}}}{{{{ m{}(x.b) }}}}{{% endmacro %}}",
            at + 1,
            at + 1
        )
    });
    ends(&(text + "{{ m0(q) }}"), &[], "q.v");
}

#[test]
fn macros_that_pass_on_their_call_blocks() {
    let text = many(2_000, |at| {
        format!(
            "{{% macro m{at}() %}}{{% set c = caller %}}{{% call m{}() %}}{{{{ c() }}}}{{% endcall %}}{{% endmacro %}}",
            at + 1
        )
    });
    ends(&(text + "{{ q }}{% call m0() %}{{ q }}{% endcall %}"), &[], "q");
    let recursive =
        "{% macro f() %}{% set c = caller %}{% call f() %}{{ c() }}{% endcall %}{{ q.a }}{% endmacro %}";
    ends(&format!("{recursive}{{% call f() %}}{{{{ q }}}}{{% endcall %}}"), &[], "q.a");
}

#[test]
fn containers_that_grow() {
    ends(&format!("{{% set x = q %}}{}{{{{ x }}}}", "{% set x = [x, x] %}".repeat(5_000)), &[], "q");
    ends(
        &format!("{{% set x = q %}}{}{{{{ x }}}}", "{% set x = {'a': x, 'b': x.a} %}".repeat(5_000)),
        &[],
        "q",
    );
    ends(
        "{% set n = namespace(x=q) %}{% for i in l %}{% set n.x = [n.x, {'a': n.x}] %}{% endfor %}{{ n.x[0].a }}",
        &[],
        "q",
    );
    ends("{% macro f(x) %}{{ f([x]) }}{{ f({'a': x}) }}{{ x.a }}{% endmacro %}{{ f(q) }}", &[], "q.a");
}

#[test]
fn many_variables_and_branches() {
    let sets = many(4_000, |at| format!("{{% set a{at} = q.b{at} %}}"));
    let branches = many(3_000, |at| format!("{{% if c %}}{{% set a{at} = q %}}{{% endif %}}"));
    ends(&(sets.clone() + &branches), &[], "q");
    let calls = "{% macro f() %}{% endmacro %}".to_owned()
        + &many(2_000, |at| format!("{{{{ f() }}}}{{% set a{at} = q.c %}}"));
    ends(&(sets + &calls), &[], "q.c");
    ends(&many(9_000, |at| format!("{{{{ q.a{at} }}}}")), &[], "q.a0");
    ends(&format!("{{{{ q{} }}}}", ".a".repeat(200)), &[], &format!("q{}", ".a".repeat(31)));
    let either = many(4_000, |at| format!("{{% if c %}}{{% set x = q.b{at} %}}{{% endif %}}{{{{ x.y }}}}"));
    ends(&either, &[], "q.b0");
}

#[test]
fn texts_that_include_one_another() {
    let p = "{% set x = [x, q] %}{% include 'q' %}{% include 'p' %}{{ x.a }}";
    let q = "{% set y = [x] %}{% include 'p' %}{% include 'q' %}{{ y[0].b }}";
    ends("{% include 'p' %}", &[("p", p), ("q", q)], "q");
    let texts: Vec<(String, String)> = (0..40)
        .map(|at| (format!("t{at}"), format!("{{% set x = x.a %}}{{% include 't{0}' %}}{{% set x = x.b %}}{{% include 't{0}' %}}{{{{ q }}}}", at + 1)))
        .collect();
    let texts: Vec<(&str, &str)> = texts.iter().map(|(name, text)| (name.as_str(), text.as_str())).collect();
    ends("{% include 't0' %}", &texts, "q");
    ends(
        "{% extends 'p' %}",
        &[("p", "{% block a %}{{ q }}{{ self.a() }}{% endblock %}{% if c %}{% extends 'p' %}{% endif %}")],
        "q",
    );
    ends(&"{% include 'p' %}".repeat(10_000), &[("p", "{{ q }}")], "q");
}

#[test]
fn deep_nesting() {
    let text = format!("{}{{{{ q }}}}{}", "{% for x in l recursive %}".repeat(90), "{% endfor %}".repeat(90));
    ends(&text, &[], "q");
    let text = format!("{}{{{{ q }}}}{}", "{% macro m() %}".repeat(90), "{% endmacro %}{{ m() }}".repeat(90));
    ends(&text, &[], "q");
    ends(&format!("{{{{ {}q{} }}}}", "(".repeat(90), ")".repeat(90)), &[], "q");
    ends(&format!("{{{{ q{} }}}}", "|list".repeat(250)), &[], "q");
}
