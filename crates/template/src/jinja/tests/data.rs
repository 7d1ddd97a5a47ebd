//! Data, filters, methods and functions.

use super::*;

#[test]
fn data_prints_like_the_engines_own() {
    let world = World::of(
        r#"{"m":{"a":1,"b":[true,null,"x'y",1.5,-2,18446744073709551615],"c":{}},"l":[1,[2]],"s":"a string that is longer than inline","e":1e300}"#,
    );
    world.shows(
        "{{ variables.m }}",
        r#"{'a': 1, 'b': [True, None, "x'y", 1.5, -2, 18446744073709551615], 'c': {}}"#,
    );
    world.shows("{{ variables.l }}{{ variables.m.b[0] }}{{ variables.m.b.1 }}", "[1, [2]]TrueNone");
    world.shows("{{ variables.s }} {{ variables.s|length }}", "a string that is longer than inline 35");
    world.shows(r#"{% set own = {"a": [1, "x"]} %}{{ own }} {{ (1, "a") }}"#, "{'a': [1, 'x']} (1, 'a')");
    world.shows(
        "{{ {'a':1,'b':[true,none,\"x'y\",1.5,-2,18446744073709551615],'c':{}} == variables.m }}",
        "True",
    );
    world.shows("{{ args.m.a }}{{ args == variables }}", "1True");
}

#[test]
fn json_is_not_escaped_for_html() {
    let world = World::of(r#"{"m":{"a":"<b>&'\"\n","n":[1,2.0,null,true],"z":{}}}"#);
    world.shows("{{ variables.m|tojson }}", r#"{"a": "<b>&'\"\n", "n": [1, 2.0, null, true], "z": {}}"#);
    world.shows(
        "{{ variables.m|tojson(indent=2) }}",
        "{\n  \"a\": \"<b>&'\\\"\\n\",\n  \"n\": [\n    1,\n    2.0,\n    null,\n    true\n  ],\n  \"z\": {}\n}",
    );
    world.shows(r#"{{ ('{"a": [1, 2]}'|fromjson).a[1] }}"#, "2");
    world.shows(
        "{{ '<b>' }}{{ '<b>'|e }}{% autoescape true %}{{ '<i>' }}{% endautoescape %}",
        "<b>&lt;b&gt;&lt;i&gt;",
    );
}

#[test]
fn loops_run_over_lists_maps_and_strings() {
    let world = World::of(r#"{"l":["a","b"],"m":{"z":1,"a":2}}"#);
    world.shows("{% for x in variables.l %}{{ loop.index }}/{{ loop.length }}{{ x }}{% if not loop.last %},{% endif %}{% endfor %}", "1/2a,2/2b");
    world.shows("{% for k in variables.m %}{{ k }}{% endfor %}", "za");
    world.shows("{% for k, v in variables.m|items %}{{ k }}{{ v }}{% endfor %}", "z1a2");
    world.shows("{% for k, v in variables.m.items() %}{{ k }}{{ v }}{% endfor %}", "z1a2");
    world.shows("{% for k, v in variables.m|dictsort %}{{ k }}{{ v }}{% endfor %}", "a2z1");
    world.shows(
        "{% for c in 'abc' %}{{ c }}-{% endfor %}{% for x in [] %}{% else %}none{% endfor %}",
        "a-b-c-none",
    );
    world.shows(
        "{% for i in range(5, 0, -2) %}{{ i }}{{ loop.revindex }} {% endfor %}{{ range(3)|list }}",
        "53 32 11 [0, 1, 2]",
    );
    world.shows("{{ variables.l|reverse|list }}{{ variables.l|last }}{{ variables.m|first }}{{ variables.l[-1] }}{{ variables.l[:1] }}", "['b', 'a']bzb['a']");
    world.shows(
        "{% for n in [{'v':1,'c':[{'v':2,'c':[]}]}] recursive %}{{ n.v }}{% if n.c %}({{ loop(n.c) }}){% endif %}{% endfor %}",
        "1(2)",
    );
}

#[test]
fn filters_see_our_data() {
    let world = World::of(r#"{"d":[{"t":"b","n":2},{"t":"a","n":3}],"s":"Hello World","m":{"k":"v"}}"#);
    world.shows("{{ variables.d|map(attribute='t')|join(', ') }}", "b, a");
    world.shows("{{ variables.d|sort(attribute='t')|map(attribute='n')|list }}", "[3, 2]");
    world.shows(
        "{{ variables.d|sum(attribute='n') }}{{ variables.d|selectattr('n', 'gt', 2)|list|length }}",
        "51",
    );
    world.shows("{{ variables.d|map(attribute='x', default='-')|join }}", "--");
    world.shows(
        "{% for g in variables.d|groupby('t') %}{{ g.grouper }}:{{ g.list|length }} {% endfor %}",
        "a:1 b:1 ",
    );
    world.shows(
        "{{ variables.s|upper }}{{ variables.s|replace('World', 'You') }}{{ variables.s.split(' ')|length }}",
        "HELLO WORLDHello You2",
    );
    world.shows(
        "{{ variables.m.get('k') }}{{ variables.m.get('x') }}{{ variables.m.get('x', 'd') }}",
        "vNoned",
    );
    world.shows("{{ 'k' in variables.m }}{{ 'x' in variables.m }}{{ 'x' not in variables.m }}{{ 2 in [1, 2] }}{{ 'ell' in variables.s }}", "TrueFalseTrueTrueTrue");
    world
        .shows("{{ '%s is %05.1f'|format('pi', 3.14159) }} {{ '{} {a}'.format(1, a=2) }}", "pi is 003.1 1 2");
    world.shows("{{ ','.join(['a', 'b']) }}{{ variables.s|indent(2, true) }}", "a,b  Hello World");
    world.shows("{{ variables.s|length > 3 }} {{ 1 if false }}|{{ none }}", "True |None");
}

#[test]
fn functions_take_positional_and_named_arguments() {
    let world = World::of(r#"{"q":{"deep":[1]}}"#);
    world.shows("{{ echo(variables.q, 2, name='x', flag=true).deep[0] }}", "1");
    let calls = world.tools.0.lock().unwrap().clone();
    assert_eq!(calls[0].0, "echo");
    assert_eq!(calls[0].1.positional, [value(r#"{"deep":[1]}"#), Value::Int(2)]);
    assert_eq!(calls[0].1.named, [("name".to_owned(), "x".into()), ("flag".to_owned(), Value::Bool(true))]);
    world.shows("{% for h in lookup('x').hits %}{{ h.title }} {% endfor %}", "one two ");
    world.shows("[{{ broken() }}{{ broken()|default('d') }}{{ broken() is defined }}{% for x in broken() %}{% endfor %}{{ broken().a.b }}{{ broken()|upper }}{% if broken() %}x{% endif %}{{ 'a' ~ broken() }}]", "[dFalsea]");
    assert!(
        matches!(world.render("{{ nobody() }}"), Err(RunError::Failed { message, .. }) if message.contains("nobody"))
    );
}

#[test]
fn two_threads_render_one_template_at_once() {
    let world = World::of(r#"{"l":[1,2,3]}"#);
    let template = world.compile("{% for x in variables.l %}{{ x }}{% endfor %}").unwrap();
    let functions: Arc<dyn Functions> = world.tools.clone();
    std::thread::scope(|scope| {
        for _ in 0..4 {
            scope.spawn(|| {
                for _ in 0..50 {
                    assert_eq!(template.render(&world.root, &functions, &world.run).unwrap(), "123");
                }
            });
        }
    });
}

#[test]
fn a_scope_of_many_names_finds_each_of_them() {
    for count in [1, 11, 12, 13, 14, 40] {
        let sets: String = (0..count).map(|n| format!("{{% set v{n} = {n} %}}")).collect();
        let prints: String = (0..count).map(|n| format!("{{{{ v{n} }}}},")).collect();
        let expected: String = (0..count).map(|n| format!("{n},")).collect();
        let world = World::of("{}");
        world.shows(&format!("{sets}{prints}"), &expected);
        world.shows(&format!("{{% for x in [1] %}}{sets}{prints}{{% endfor %}}"), &expected);
        world.shows(&format!("{{% macro m() %}}{sets}{prints}{{% endmacro %}}{{{{ m() }}}}"), &expected);
    }
}
