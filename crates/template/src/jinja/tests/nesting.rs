//! Deep recursion and deep values, on a stack as small as that of a worker thread.

use super::*;

/// Runs on a stack as small as that of a worker thread.
fn on_small_stack(f: impl FnOnce() + Send + 'static) {
    std::thread::Builder::new().stack_size(2 << 20).spawn(f).unwrap().join().unwrap();
}

#[test]
fn recursion_ends_in_its_limit() {
    on_small_stack(|| {
        let world = World::of("{}")
            .with("a", "{% include 'a' %}")
            .with("b", "{% import 'b' as b %}")
            .with("c", "{% from 'c' import x %}")
            .with("d", "{% extends 'd' %}")
            .with("e", "{% extends 'f' %}")
            .with("f", "{% extends 'e' %}")
            .with("g", "{% block g %}{% include 'g' %}{% endblock %}")
            .with("h", "{% macro m() %}{% import 'h' as h %}{{ h.m() }}{% endmacro %}");
        for source in [
            "{% macro m(x) %}{{ m(x) }}{% endmacro %}{{ m(1) }}",
            "{% macro m(x) %}{% if x %}{% for i in [1] %}{% with a = 1 %}{{ m(x)|upper }}{% endwith %}{% endfor %}{% endif %}{% endmacro %}{{ m(1) }}",
            "{% macro m() %}{% call m() %}{{ caller() }}{% endcall %}{{ caller() }}{% endmacro %}{% call m() %}x{% endcall %}",
            "{% macro m() %}{% set x %}{{ [1]|map('upper')|join ~ m() }}{% endset %}{% endmacro %}{{ m() }}",
            "{% macro m() %}{% filter upper %}{{ m() }}{% endfilter %}{% endmacro %}{{ m() }}",
            "{% macro m(a=m2()) %}{% endmacro %}{% macro m2(a=m()) %}{% endmacro %}{% set ns = namespace() %}{% macro r(a) %}{{ a.f(a) }}{% endmacro %}{% set ns.f = r %}{{ r(ns) }}",
            "{% macro a() %}{{ b() }}{% endmacro %}{% macro b() %}{{ a() }}{% endmacro %}{{ a() }}",
            "{% for x in [1] recursive %}{{ loop([1]) }}{% endfor %}",
            "{% for x in [1] recursive %}{% for y in [1] %}{{ [loop]|length }}{% endfor %}{{ loop([1])|upper }}{% endfor %}",
            "{% block a %}{{ self.a() }}{% endblock %}",
            "{% block a %}{% set x %}{{ self.a() }}{% endset %}{% endblock %}",
            "{% include 'a' %}",
            "{% import 'b' as b %}",
            "{% from 'c' import x %}",
            "{% extends 'd' %}",
            "{% extends 'e' %}",
            "{% include 'g' %}",
            "{% import 'h' as h %}{{ h.m() }}",
        ] {
            world.ends(source, "recursion");
        }
    });
}

#[test]
fn iterators_over_iterators_end_in_the_limit_on_recursion() {
    on_small_stack(|| {
        for step in [
            "ns.x|map('upper')",
            "ns.x|select",
            "ns.x|rejectattr('y')",
            "ns.x|map(attribute='a', default=1)",
            "ns.x|map('string')|select('string')",
        ] {
            let source = format!(
                "{{% set ns = namespace(x=['a']) %}}{{% for i in range(50000) %}}{{% set ns.x = {step} %}}{{% endfor %}}{{{{ ns.x|list }}}}"
            );
            World::of("{}").ends(&source, "recursion");
        }
        World::of("{}").shows("{% set ns = namespace(x=['a']) %}{% for i in range(200) %}{% set ns.x = ns.x|map('upper') %}{% endfor %}{{ ns.x|list }}", "['A']");
    });
}

/// What can be done with two values `x` and `y` that nest without end.
const USES: [&str; 14] = [
    "{{ x }}",
    "{{ x == y }}",
    "{{ x != y }}",
    "{{ x < y }}",
    "{{ [x, y]|sort }}",
    "{{ y in [x] }}",
    "{{ [x].index(y) }}",
    "{{ x|tojson }}",
    "{{ x|pprint }}",
    "{{ echo(x) }}",
    "{{ x|string }}",
    "{{ '%s' % [x] }}",
    "{{ '{}'.format(x) }}",
    "{{ [x]|join }}",
];

#[test]
fn values_that_nest_100_000_levels_deep_end_in_the_limit_on_nesting() {
    on_small_stack(|| {
        let deep = |start: &str, step: &str, uses: &str| {
            format!(
                "{{% set ns = namespace(x={start}, y={start}) %}}{{% for i in range(100000) %}}{{% set ns.x = {} %}}{{% set ns.y = {} %}}{{% endfor %}}{{% set x = ns.x %}}{{% set y = ns.y %}}{uses}",
                step.replace('$', "ns.x"),
                step.replace('$', "ns.y"),
            )
        };
        for uses in USES {
            World::of("{}").ends(&deep("[1]", "[$]", uses), "nesting");
        }
        for uses in
            ["{{ {x: 1} }}", "{{ [x]|unique|list }}", "{{ {}.get(x) }}", "{{ x in {} }}", "{{ x == y }}"]
        {
            World::of("{}").ends(&deep("(1,)", "($,)", uses), "nesting");
        }
        for uses in
            ["{{ x|dictsort }}", "{{ x|xmlattr }}", "{{ x|urlencode }}", "{{ x == y }}", "{{ x.values() }}"]
        {
            World::of("{}").ends(&deep("{}", "{'a': $}", uses), "nesting");
        }
    });
}

#[test]
fn deep_values_are_used_at_the_end_of_deep_recursion() {
    on_small_stack(|| {
        let nest = "{% set ns = namespace(x=[1], y=[1], t=(1,)) %}{% for i in range(450) %}{% set ns.x = [ns.x] %}{% set ns.y = [ns.y] %}{% set ns.t = (ns.t,) %}{% endfor %}";
        let uses = "{{ ns.x|pprint|length }}{{ ns.x|string|length }}{{ ns.x|tojson|length }}{{ ns.x == ns.y }}{{ ns.x < ns.y }}{{ {ns.t: 1}|length }}{{ echo(ns.x)|length }}";
        let source = format!(
            "{{% macro m(n) %}}{{% if n %}}{{{{ m(n - 1) }}}}{{% else %}}{nest}{uses}{{% endif %}}{{% endmacro %}}{{{{ m(990) }}}}"
        );
        World::of("{}").shows(&source, "903903903TrueFalse11");
    });
}

#[test]
fn values_that_contain_themselves_are_shown_as_python_shows_them() {
    let list = "{% set x = [1] %}{% do x.append(x) %}";
    let map = "{% set x = {} %}{% do x.update(a=x) %}";
    let names = "{% set x = namespace() %}{% set x.a = [x] %}";
    for (start, uses, expected) in [
        (list, "{{ x }}", "[1, [...]]"),
        (list, "{{ x == x }}{{ x in x }}{{ x.index(x) }}{{ x.count(x) }}", "TrueTrue11"),
        (list, "{{ [x, [0], x]|sort }}", "[[0], [1, [...]], [1, [...]]]"),
        (list, "{{ x|join('-') }}", "1-[1, [...]]"),
        (list, "{% do x.extend(x) %}{{ x }}", "[1, [...], 1, [...]]"),
        (list, "{{ x.copy() }}{{ x|list }}{{ x|last|last|first }}", "[1, [1, [...]]][1, [1, [...]]]1"),
        (map, "{{ x }}{{ x.a.a.a == x }}", "{'a': {...}}True"),
        (map, "{{ x.values() }}{{ x|items|list }}", "dict_values([{'a': {...}}])[('a', {'a': {...}})]"),
        (names, "{{ x == x }}{{ x.a == [x] }}", "TrueTrue"),
    ] {
        World::of("{}").shows(&format!("{start}{uses}"), expected);
    }
}

#[test]
fn values_that_contain_themselves_end_in_the_limit_on_nesting() {
    on_small_stack(|| {
        let pairs = [
            "{% set x = [1] %}{% do x.append(x) %}{% set y = [1] %}{% do y.append(y) %}",
            "{% set x = [1] %}{% do x.append({'a': (x,)}) %}{% set y = [1] %}{% do y.append({'a': (y,)}) %}",
        ];
        for start in pairs {
            for uses in
                ["{{ x == y }}", "{{ x|tojson }}", "{{ x|pprint }}", "{{ echo(x) }}", "{{ y in [x] }}"]
            {
                World::of("{}").ends(&format!("{start}{uses}"), "nesting");
            }
        }
        World::of("{}").ends("{% set x = namespace() %}{% set x.a = x %}{{ echo(x) }}", "nesting");
        let failed = World::of("{}").render("{% set x = [1] %}{% do x.append((x,)) %}{{ {(x,): 1} }}");
        assert!(matches!(failed, Err(RunError::Failed { .. })), "{failed:?}");
    });
}

#[test]
fn text_of_any_shape_is_parsed_or_refused_on_a_small_stack() {
    let shapes: [fn(usize) -> String; 26] = [
        |n| {
            let (open, close) = ("(".repeat(30), ")".repeat(30));
            let (ifs, ends) = ("{% if a %}".repeat(n), "{% endif %}".repeat(n));
            format!("{ifs}{{{{ {open}1{}{close} }}}}{ends}", " ~ a".repeat(200))
        },
        |n| {
            let (fors, ends) = ("{% for a in [1] %}".repeat(n), "{% endfor %}".repeat(n));
            format!("{fors}{{{{ {}1{} }}}}{ends}", "[a ~ ".repeat(30), "]".repeat(30))
        },
        |n| format!("{{{{ {}1{} }}}}", "(".repeat(n), ")".repeat(n)),
        |n| format!("{{{{ {}1{} }}}}", "[".repeat(n), "]".repeat(n)),
        |n| format!("{{{{ {}1{} }}}}", "{'a':".repeat(n), "}".repeat(n)),
        |n| format!("{{{{ {}1{} }}}}", "f(".repeat(n), ")".repeat(n)),
        |n| format!("{{{{ {}1{} }}}}", "x[".repeat(n), "]".repeat(n)),
        |n| format!("{{{{ {}1 }}}}", "- ".repeat(n)),
        |n| format!("{{{{ {}1 }}}}", "not ".repeat(n)),
        |n| format!("{{{{ 1{} }}}}", " ~ 1".repeat(n)),
        |n| format!("{{{{ a{} }}}}", " + a".repeat(n)),
        |n| format!("{{{{ a{} }}}}", " - a * a".repeat(n)),
        |n| format!("{{{{ a{} }}}}", ".a".repeat(n)),
        |n| format!("{{{{ a{} }}}}", "[0]".repeat(n)),
        |n| format!("{{{{ a{} }}}}", "()".repeat(n)),
        |n| format!("{{{{ a{} }}}}", "|upper".repeat(n)),
        |n| format!("{{{{ a{} }}}}", " is defined".repeat(n)),
        |n| format!("{{{{ a{} }}}}", " if a".repeat(n)),
        |n| format!("{{{{ a{} }}}}", " if a else a".repeat(n)),
        |n| format!("{{{{ a{} }}}}", " and a or a".repeat(n)),
        |n| format!("{{{{ a{} }}}}", " < a".repeat(n)),
        |n| format!("{}{}", "{% if a %}".repeat(n), "{% endif %}".repeat(n)),
        |n| format!("{{% if a %}}{}{{% endif %}}", "{% elif a %}".repeat(n)),
        |n| format!("{}{}", "{% for a in b %}".repeat(n), "{% endfor %}".repeat(n)),
        |n| format!("{}{}", "{% if a %}{% elif b %}{% else %}".repeat(n), "{% endif %}".repeat(n)),
        |n| format!("{{% set {}a{} = 1 %}}", "(".repeat(n), ")".repeat(n)),
    ];
    on_small_stack(move || {
        for shape in shapes {
            for n in [20, 32, 60, 74, 100, 140, 299, 1_000, 10_000] {
                let source = shape(n);
                let mut world = World::of(r#"{"s":"abc"}"#);
                world.limits.source_bytes = usize::MAX;
                if let Ok(template) = world.compile(&source) {
                    let functions: Arc<dyn Functions> = world.tools.clone();
                    drop(template.render(&world.root, &functions, &world.run));
                }
            }
        }
    });
}

#[test]
fn what_was_too_deep_for_the_former_engine_renders() {
    let world = World::of(r#"{"l":[[1]]}"#);
    let brackets = format!("{{{{ {}1{} }}}}", "(".repeat(60), ")".repeat(60));
    for (source, expected) in [
        (brackets.as_str(), "1"),
        ("{{ 1 in [1] in [[1], true] }}{{ 1 < 2 < 3 in [3] }}", "TrueTrue"),
        (
            "{% set a = namespace(b=namespace(c=1)) %}{% set a.d = namespace(e=2) %}{{ a.b.c }}{{ a.d.e }}",
            "12",
        ),
        ("{% set a = namespace() %}{% set a.self = a %}{{ a.self.self is sameas a }}", "True"),
    ] {
        world.shows(source, expected);
    }
}
