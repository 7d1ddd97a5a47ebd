//! Templates that mean harm. Each must end, and with the right error.

use super::*;

fn world() -> World {
    World::new(
        r#"{"n":2}"#,
        r#"{"s":"abc","l":[1,2,3],"big":"xxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxx"}"#,
    )
}

#[track_caller]
fn passes(source: &str, limit: &str) {
    match world().render(source) {
        Err(RunError::Limit { what, .. }) => assert_eq!(what, limit, "{source}"),
        other => panic!("{source}: {}", format!("{other:?}").chars().take(300).collect::<String>()),
    }
}

#[test]
fn strings_cannot_grow_beyond_the_limit() {
    for source in [
        "{% set ns = namespace(s='x') %}{% for i in range(34) %}{% set ns.s = ns.s ~ ns.s %}{% endfor %}",
        "{% set ns = namespace(s='x') %}{% for i in range(34) %}{% set ns.s = ns.s + ns.s %}{% endfor %}",
        "{% set ns = namespace(s='x') %}{% for i in range(34) %}{% set ns.s = ns.s * 2 %}{% endfor %}",
        "{% set ns = namespace(s='x') %}{% for i in range(34) %}{% set ns.s = 2 * ns.s %}{% endfor %}",
        "{% set ns = namespace(s='x') %}{% for i in range(34) %}{% set ns.s = [ns.s, ns.s]|join %}{% endfor %}",
        "{% set ns = namespace(s='x') %}{% for i in range(34) %}{% set ns.s = [ns.s, ns.s]|sum(start='') %}{% endfor %}",
        "{% set ns = namespace(s='x') %}{% for i in range(34) %}{% set ns.s = ns.s|replace('x', 'xx') %}{% endfor %}",
        "{% set ns = namespace(s='x') %}{% for i in range(34) %}{% set ns.s = ns.s.replace('x', 'xx') %}{% endfor %}",
        "{% set ns = namespace(s='x') %}{% for i in range(34) %}{% set ns.s = '%s%s'|format(ns.s, ns.s) %}{% endfor %}",
        "{% set ns = namespace(s='x') %}{% for i in range(34) %}{% set ns.s = '{0}{0}'.format(ns.s) %}{% endfor %}",
        "{% set ns = namespace(s='x') %}{% for i in range(34) %}{% set ns.s = ns.s.join([ns.s, ns.s]) %}{% endfor %}",
        "{{ 'a' * 100000000 }}",
        "{{ variables.s * 100000000 }}",
        "{{ 100000000 * 'a' }}",
        "{{ 'a'|replace('', 'b' * 4000000) }}",
        "{{ '%999999999d'|format(1) }}",
        "{{ '%*d'|format(999999999, 1) }}",
        "{{ '{:>999999999}'.format(1) }}",
        "{{ '{:{}}'.format(1, 999999999) }}",
        "{{ '%.999999999f'|format(1) }}",
        "{{ 'a\nb'|indent(999999999) }}",
        "{{ 'a\nb'|indent(width=18446744073709551615) }}",
    ] {
        passes(source, "string");
    }
}

#[test]
fn sequences_cannot_grow_beyond_the_limit() {
    for source in [
        "{{ [0] * 100000000 }}",
        "{{ variables.l * 100000000 }}",
        "{{ (1,) * 100000000 }}",
        "{{ range(1000000000)|list }}",
        "{% for i in range(0, 9223372036854775807) %}{% endfor %}",
        "{% for i in range(9223372036854775807, -9223372036854775807, -1) %}{% endfor %}",
        "{% set ns = namespace(l=[1]) %}{% for i in range(34) %}{% set ns.l = ns.l + ns.l %}{% endfor %}",
        "{{ [1]|batch(1000000000, 0) }}",
        "{{ [1]|slice(1000000000) }}",
        "{{ (',' * 1000000).split(',')|length }}",
        "{{ ('x' * 1000000)|list|length }}",
        "{{ ('\n' * 1000000)|lines|length }}",
        "{{ ([[0] * 1000] * 1000)|sum(start=[])|length }}",
        "{{ range(*[0] * 10000) }}",
        "{{ 'a'|replace(*['b'] * 10000) }}",
        "{% include ['nope'] * 10000 %}",
        "{% include ['x' * 1000000] * 10 %}",
        // Shared parts, counted each time.
        "{% set ns = namespace(l=[1]) %}{% for i in range(40) %}{% set ns.l = [ns.l, ns.l] %}{% endfor %}",
        "{% set ns = namespace(l=[1]) %}{% for i in range(40) %}{% set ns.l = dict(a=ns.l, b=ns.l) %}{% endfor %}",
        "{% set ns = namespace(l=[1]) %}{% for i in range(40) %}{% set ns.l = ns.l|zip(ns.l)|list %}{% endfor %}{{ ns.l|zip(ns.l)|list|length }}{{ ns.l == ns.l|zip(ns.l)|list }}",
    ] {
        let result = world().render(source);
        let Err(RunError::Limit { what, .. }) = &result else {
            panic!("{source}: {}", format!("{result:?}").chars().take(300).collect::<String>())
        };
        assert!(matches!(*what, "items" | "nesting"), "{source}: {what}");
    }
}

#[test]
fn output_cannot_grow_beyond_the_limit() {
    for source in [
        "{% for i in range(100000) %}{{ variables.big }}{{ variables.big }}{% endfor %}",
        "{% set x %}{% for i in range(100000) %}{{ variables.big }}{% endfor %}{% endset %}",
        "{% for i in range(100000) %}0123456789012345678901234567890123456789012345678901234567890123456789{% endfor %}",
        "{% set x %}{% for i in range(100000) %}0123456789012345678901234567890123456789012345678901234567890123456789{% endfor %}{% endset %}",
        "{% macro m() %}{% for i in range(100000) %}{{ variables.big }}{% endfor %}{% endmacro %}{% set x = m() %}",
        "{% for i in range(40) %}{% set s %}{{ 'x' * 1000000 }}{% endset %}{% endfor %}",
        "{% set l = ['x' * 1000000] * 100 %}{{ l }}",
        "{% for n in [[[1], [1]]] * 10 recursive %}{{ 'y' * 1000000 }}{% endfor %}",
        "{% macro m(n) %}{{ 'x' * 500000 }}{% if n %}{{ m(n - 1) }}{% endif %}{% endmacro %}{{ m(9) }}",
    ] {
        passes(source, "output");
    }
}

#[test]
fn plain_text_of_macros_blocks_and_partials_counts() {
    let long = "y".repeat(100_000);
    let world = world()
        .with("long", &long)
        .with("base", "{% for i in range(1000) %}{% block b %}{% endblock %}{% endfor %}");
    for source in [
        "{% for i in range(1000) %}{% include 'long' %}{% endfor %}".to_owned(),
        "{% set x %}{% for i in range(1000) %}{% include 'lo' ~ 'ng' %}{% endfor %}{% endset %}".to_owned(),
        "{% for i in range(1000) %}{% import 'long' as l %}{% endfor %}".to_owned(),
        format!(
            "{{% macro m() -%}} {long} {{%- endmacro %}}{{% for i in range(1000) %}}{{% set x = m() %}}{{% endfor %}}"
        ),
        format!("{{% extends 'base' %}}{{% block b %}}{long}{{% endblock %}}"),
        format!(
            "{{% macro m() %}}{{% for i in range(1000) %}}{{{{ caller() }}}}{{% endfor %}}{{% endmacro %}}{{% call m() %}}{long}{{% endcall %}}"
        ),
        format!("{{% for i in [1, 2, 3] * 1000 recursive %}}{long}{{% continue %}}{{% endfor %}}"),
    ] {
        let result = world.render(&source);
        let head: String = source.chars().take(60).collect();
        let text = format!("{result:?}").chars().take(200).collect::<String>();
        assert!(matches!(result, Err(RunError::Limit { what: "output", .. })), "{head}: {text}");
    }
    let text = format!("{{% macro m() -%}} {long}  {{%- endmacro %}}{{{{ m()|length }}}}");
    world.shows(&text, "100000");
}

#[test]
fn memory_cannot_be_hoarded_in_many_names() {
    let strings: String = (0..400).map(|n| format!("{{% set a{n} = 'x' * 4000000 %}}")).collect();
    passes(&strings, "memory");
    let macros = "{% for i in range(100000) %}{% macro m() %}{{ i }}{% endmacro %}{% endfor %}";
    passes(macros, "output");
}

#[test]
fn steps_are_counted() {
    let mut world = world();
    world.run.steps = 1_000;
    let source = "{% for i in range(100) %}{% for j in range(100) %}{% endfor %}{% endfor %}";
    assert_eq!(world.render(source), Err(RunError::Steps { limit: 1_000 }));
    world.run.steps = 1_000_000;
    assert_eq!(world.render(source).as_deref(), Ok(""));
}

#[test]
fn a_deadline_that_has_passed_ends_the_run() {
    let mut world = world();
    world.run.deadline = Instant::now();
    for source in [
        "{% for i in range(100000) %}{% endfor %}",
        "{% for i in variables.l * 1000 %}{{ i }}{% endfor %}",
        "{% set h = 'x' * 1000000 %}{% for i in range(100000) %}{% if 'y' in h %}{% endif %}{% endfor %}",
        "{% set h = 'x' * 1000000 %}{% for i in [1] * 1000 %}{% if h == 'y' ~ h %}{% endif %}{% endfor %}",
        "{% set h = 'x' * 1000000 %}{{ h|upper|lower|title }}",
        "{% set h = 'x' * 1000000 %}{{ h[5:10] }}{{ h[999999] }}",
    ] {
        assert_eq!(world.render(source), Err(RunError::Deadline), "{source}");
    }
}

#[test]
fn recursion_ends_on_a_small_stack() {
    let sources = [
        "{% macro m(x) %}{{ m(x) }}{% endmacro %}{{ m(1) }}",
        "{% macro m(x) %}{% if x %}{% for i in [1] %}{% with a = 1 %}{{ m(x)|upper }}{% endwith %}{% endfor %}{% endif %}{% endmacro %}{{ m(1) }}",
        "{% macro m() %}{% call m() %}{{ caller() }}{% endcall %}{{ caller() }}{% endmacro %}{% call m() %}x{% endcall %}",
        "{% macro m() %}{% set x %}{{ [1]|map('upper')|join ~ m() }}{% endset %}{% endmacro %}{{ m() }}",
        "{% for x in [1] recursive %}{{ loop([1]) }}{% endfor %}",
        "{% block a %}{{ self.a() }}{% endblock %}",
    ];
    on_small_stack(move || {
        for source in sources {
            let result = world().render(source);
            assert!(matches!(result, Err(RunError::Limit { what: "recursion", .. })), "{source}: {result:?}");
        }
        let world = world().with("a", "{% include 'a' %}").with("b", "{% import 'b' as b %}");
        for source in ["{% include 'a' %}", "{% import 'b' as b %}"] {
            assert!(
                matches!(world.render(source), Err(RunError::Limit { what: "recursion", .. })),
                "{source}"
            );
        }
    });
}

/// Runs on a stack as small as that of a worker thread.
fn on_small_stack(f: impl FnOnce() + Send + 'static) {
    std::thread::Builder::new().stack_size(2 << 20).spawn(f).unwrap().join().unwrap();
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
                let mut world = world();
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
fn values_cannot_be_nested_until_freeing_them_overflows() {
    on_small_stack(|| {
        let world = world();
        for source in [
            "{% set ns = namespace(l=[]) %}{% for i in range(8000) %}{% set ns.l = [ns.l] %}{% endfor %}".to_owned(),
            "{% set ns = namespace(l=[1]) %}{% for i in range(8000) %}{% set ns.l = ns.l[0:] %}{% endfor %}".to_owned(),
            "{% set ns = namespace(l=[1]) %}{% for i in range(8000) %}{% set ns.l = ns.l|reverse %}{% endfor %}".to_owned(),
            "{% set ns = namespace(l={}) %}{% for i in range(8000) %}{% set ns.l = {'a': ns.l} %}{% endfor %}".to_owned(),
            "{% set ns = namespace(l={}) %}{% for i in range(8000) %}{% set ns.l = ns.l|chain({'a': i}) %}{% endfor %}".to_owned(),
            "{% set x = [1] %}".to_owned() + &"{% set x = [x] %}".repeat(5_000),
            "{% set x = [1] %}".to_owned() + &"{% set x = x[0:] %}".repeat(5_000),
            "{% set x = [1] %}".to_owned() + &"{% set x = x * 1 %}".repeat(5_000),
            "{% set x = [1] %}".to_owned() + &"{% set x = namespace(a=x) %}".repeat(5_000),
            "{% set ns = namespace(m=nobody) %}{% for i in range(50000) %}{% set ns.m = ns.m.a %}{% endfor %}".to_owned(),
            "{% set ns = namespace() %}{% set ns.a = ns %}{{ ns }}".to_owned(),
            "{% set a = namespace() %}{% set b = namespace() %}{% set a.b = [b] %}{% set b.a = a %}{{ a }}{{ a == b }}".to_owned(),
            "{% set ns = namespace() %}{% set ns.a, ns.b = ns, 1 %}{{ ns }}".to_owned(),
        ] {
            drop(world.render(&source));
        }
    });
}

#[test]
fn large_texts_are_refused() {
    let world = world();
    let source = "x".repeat(10 << 20);
    assert!(matches!(
        world.compile(&source),
        Err(CompileError::TooLarge { bytes: 10_485_760, limit: 262_144 })
    ));
    let world = world.with("large", &source);
    let Err(CompileError::Invalid { message, .. }) = world.compile("{% include 'large' %}") else {
        panic!("accepted")
    };
    assert!(message.contains("large"), "{message}");
}

#[test]
fn panics_of_the_engine_are_errors() {
    for source in [
        "{% for i in [1] %}{{ loop.cycle() }}{% endfor %}",
        "{{ 'abc'[0:2:-1] }}{{ 1 / 0 }}",
        "{{ 1 is divisibleby(0) }}{{ 1 / 0 }}",
    ] {
        assert!(matches!(world().render(source), Err(RunError::Failed { .. })), "{source}");
    }
}
