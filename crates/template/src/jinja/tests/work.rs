//! Work that takes long: each template ends soon after its deadline, or when it is out of steps.

use super::*;

#[test]
fn steps_are_counted() {
    let mut world = World::of("{}");
    world.run.steps = 1_000;
    for source in [
        "{% for i in range(100) %}{% for j in range(100) %}{% endfor %}{% endfor %}",
        "{% for i in range(10**18) %}{% endfor %}",
        "{{ range(10**18)|sum }}",
        "{{ 'x' in range(10**18) }}",
        "{{ range(10**18)|select('eq', 'x')|first }}",
        "{{ range(10**18)|max }}",
        "{{ range(10**18).index('x') }}",
        "{{ range(10**18).count('x') }}",
        "{{ range(900)|sort }}",
        "{{ range(9000)|map('string')|unique|list }}",
        "{{ (range(9000)|list) == (range(9000)|list) }}",
        "{{ range(9000)|list|tojson }}",
    ] {
        assert_eq!(world.render(source), Err(RunError::Steps { limit: 1_000 }), "{source}");
    }
    world.run.steps = 1_000_000;
    world.shows("{% for i in range(100) %}{% for j in range(100) %}{% endfor %}{% endfor %}", "");
}

#[test]
fn a_deadline_that_has_passed_ends_the_run() {
    let mut world = World::of(r#"{"l":[1,2,3]}"#);
    world.run.deadline = Instant::now();
    let texts = "{% set h = 'x' * 1000000 %}";
    let lists = "{% set l = range(100000)|list %}{% set t = ['x' * 100000] * 100 %}";
    for uses in [
        "{% for i in range(100000) %}{% endfor %}",
        "{% for i in variables.l * 1000 %}{{ i }}{% endfor %}",
        "{% for i in range(100000) %}{% if 'y' in h %}{% endif %}{% endfor %}",
        "{% if h == 'y' ~ h %}{% endif %}",
        "{{ h|upper|lower|title }}",
        "{{ h[5:10] }}{{ h[999999] }}",
        "{{ t|sort }}{{ t|unique }}{{ t|max }}{{ t|groupby(0) }}",
        "{{ l|sort }}",
        "{{ l.count(5) }}",
        "{{ l.pop(0) }}{{ l.insert(0, 1) }}",
    ] {
        assert_eq!(world.render(&format!("{texts}{lists}{uses}")), Err(RunError::Deadline), "{uses}");
    }
}

/// A setup, and uses of it which take long, or would if they were not bounded.
const LONG: [(&str, &[&str]); 4] = [
    (
        "{% set h = ('x' * 3999999) ~ 'y' %}{% set g = ('x' * 3999999) ~ 'z' %}",
        &[
            "'y' in h",
            "h == g",
            "h < g",
            "h in [g]",
            "{h: 1}[g]",
            "h.count('xy')",
            "h.find('yx')",
            "h.rfind('z')",
            "h.replace('z', 'a')",
            "h|upper",
            "h|lower",
            "h|title",
            "h|capitalize",
            "h.swapcase()",
            "h.casefold()",
            "h|trim('x')",
            "h.strip('y' ~ 'abcdefghijklmnopqrstuvwxyz')",
            "h.split('y')",
            "h.rsplit('y', 1)",
            "h.partition('y')",
            "h.startswith(('z', 'yy', h))",
            "h.endswith(g)",
            "h|length",
            "h[::2]",
            "h[-1]",
            "h|reverse",
            "h|wordcount",
            "h|striptags",
            "h|e",
            "h|urlencode|length",
            "h|tojson|length",
            "h|truncate(100)",
            "h.isalpha()",
            "h.istitle()",
            "h is upper",
            "h is iterable",
            "h.encode()",
            "h|int",
            "h|float",
            "h.splitlines()",
            "h|first",
            "h|last",
            "h|max",
            "h.zfill(9)",
            "h.expandtabs()",
            "h|center(4000010)|length",
            "h.isidentifier()",
            "h|string",
            "'%.5s' % h",
            "'{:.5}'.format(h)",
            "h|filesizeformat(true)|d",
            "[h, g]|sort|length",
            "[h, g]|unique|list|length",
            "h|wordwrap(10)|length",
            "h|urlize|length",
            "h|indent|length",
            "h|pprint|length",
            "(h, g) == (h, h)",
            "h|fromjson",
        ],
    ),
    (
        "{% set h = 'é x-&<a>\n' * 300000 %}",
        &[
            "h|upper|length",
            "h|title|length",
            "h[5]",
            "h[-7]",
            "h[3:9]",
            "h.find('z')",
            "h|wordwrap(5)|length",
            "h|urlize|length",
            "h|striptags|length",
            "h|e|length",
            "h|indent(9)|length",
            "h|pprint|length",
            "h|tojson(ensure_ascii=true)|length",
            "h|urlencode|length",
            "h.split()|length",
            "h.rsplit()|length",
            "h.splitlines()|length",
            "h|wordcount",
            "h|list|length",
            "h.translate({32: 'x'})|length",
            "h|length",
            "h|string|truncate(9)",
            "h.title()|length",
            "h|replace('x', 'yy')|length",
            "h.expandtabs(3)|length",
        ],
    ),
    (
        "{% set l = range(20000)|list %}{% set t = range(5000)|map('string')|list %}{% set d = dict(t|map('list')|map('length')|batch(2)) %}",
        &[
            "l.pop(0)",
            "l.insert(0, 1)",
            "l.remove(19999 - i)",
            "l.index(19999)",
            "l.count(7)",
            "-1 in l",
            "l == l + [1]",
            "l + l == l + t",
            "(l|sort) == l",
            "l|sort(reverse=true)|first",
            "l|sum",
            "l|max",
            "t|sort|first",
            "t|max",
            "t|unique|list|length",
            "t|join|length",
            "t|groupby('x', default='')|length",
            "l|batch(7)|list|length",
            "l|slice(7)|list|length",
            "l|reverse|first",
            "l[::-1]|first",
            "l|string|length",
            "l|tojson|length",
            "l|pprint|length",
            "t|map('upper')|list|length",
            "t|select('eq', 'x')|list",
            "l.sort()",
            "l.reverse()",
            "l.copy()|length",
            "(l + l)|length",
            "(l * 2)|length",
            "t|sort(attribute='x')",
            "l|random",
            "cycler(*t).next()",
            "'x'.join(t)|length",
            "echo(l)|length",
            "l|list == l|list",
            "t == t|list",
            "(l, t) < (l, t)",
        ],
    ),
    (
        "{% set d = {} %}{% for i in range(3000) %}{% do d.update({i: i}) %}{% endfor %}{% set e = d.copy() %}",
        &[
            "d.pop(i)",
            "d.popitem()",
            "d.update(d)",
            "d == e",
            "d.copy()|length",
            "d|dictsort|length",
            "d|items|list|length",
            "d.values()|sum",
            "-1 in d.values()",
            "d.items()|list|length",
            "d|tojson|length",
            "d|string|length",
            "d|urlencode|length",
            "d|xmlattr|length",
            "d|pprint|length",
            "dict(d)|length",
            "d.keys() == e.keys()",
            "d.keys().isdisjoint(e.keys())",
            "d.setdefault(i, 1)",
            "d|max",
            "d|sort|first",
            "d.fromkeys(d)|length",
            "echo(d)|length",
            "(-1, -1) in d.items()",
            "namespace(d)",
            "d|list|length",
        ],
    ),
];

#[test]
fn long_work_in_loops_ends_with_the_deadline() {
    for (setup, uses) in LONG {
        for expr in uses {
            let mut world = World::of("{}");
            let source = format!("{setup}{{% for i in range(10**9) %}}{{% set x = {expr} %}}{{% endfor %}}");
            let template = world.compile(&source).unwrap();
            let start = Instant::now();
            world.run.deadline = start + Duration::from_millis(20);
            let functions: Arc<dyn Functions> = world.tools.clone();
            let result = template.render(&world.root, &functions, &world.run);
            if std::env::var_os("SHOW_TIMES").is_some() {
                let shown: String = format!("{result:?}").chars().take(60).collect();
                println!("{:>6} ms {expr} {shown}", start.elapsed().as_millis());
            }
            assert!(
                matches!(
                    result,
                    Err(RunError::Deadline
                        | RunError::Failed { .. }
                        | RunError::Limit { what: "memory" | "string", .. })
                        | Err(RunError::Missing(_))
                ),
                "{expr}: {result:?}"
            );
        }
    }
}
