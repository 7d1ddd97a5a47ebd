//! How values flow through variables, statements, filters and calls.

use super::{needs, variables};

#[test]
fn paths_are_found_where_they_are_used() {
    needs("{{ variables.user.name }}{{ args.q }}{{ vscode.lang }}", ["q user.name", "vscode.lang", "", ""]);
    variables(
        "{% for d in variables.docs %}{{ d.title }}{{ d.x.y|upper }}{% endfor %}",
        "docs docs[].title? docs[].x.y?",
    );
    variables(
        "{% if variables.a %}{{ variables.b }}{% endif %}{{ variables.c|default(variables.d) }}",
        "a? b? c? d",
    );
    variables("{{ variables.x is defined }}{{ variables.x }}", "x");
    variables(
        "{% set u = variables.user %}{{ u.name }}{% with v = u.mail %}{{ v.host }}{% endwith %}",
        "user? user.mail? user.mail.host user.name",
    );
    needs(
        "{{ variables[key] }}{{ variables.m['a'].b }}{{ variables.l[0].t }}",
        ["* l[].t m.a.b", "key", "", ""],
    );
    needs("{{ variables.a or variables.b }}{{ 'x' if e.f else variables.c }}", ["a? b? c?", "e.f?", "", ""]);
    variables(
        "{% set x = 1 %}{{ x }}{{ range(3) }}{{ loop }}{{ variables.m.items()|list }}{{ variables.m.get('k') }}",
        "m m.k?",
    );
    variables("{{ variables }}", "");
    variables("{% for v in variables.values() %}{{ v.x }}{% endfor %}", " [].x?");
}

#[test]
fn tools_are_called_names_that_the_text_does_not_define() {
    needs(
        "{{ tool(variables.a) }}{% if x %}{{ other(b=1) }}{% endif %}{{ dict(a=1) }}",
        ["a", "x?", "other? tool", ""],
    );
    needs("{% set t = tool %}{{ t(variables.a) }}", ["a", "tool?", "tool", ""]);
    needs("{{ variables.t.f(variables.a) }}{{ raise_exception('x') }}{{ lipsum() }}", ["a t", "", "", ""]);
    needs("{% if x %}{{ strftime_now('%Y') }}{% endif %}", ["", "x?", "strftime_now?", ""]);
}

#[test]
fn what_is_assigned_hides_what_was_there() {
    variables("{% set x = variables.a %}{% set x = variables.b %}{{ x.c }}", "a? b? b.c");
    variables(
        "{% if variables.t %}{% set x = variables.a %}{% else %}{% set x = variables.b %}{% endif %}{{ x.c }}",
        "a? a.c? b? b.c? t?",
    );
    needs("{% if variables.t %}{% set x = 1 %}{% endif %}{{ x }}", ["t?", "x?", "", ""]);
    // A loop starts each turn with the outer value, and ends with it.
    variables(
        "{% set x = variables.a %}{% for d in variables.l %}{{ x.b }}{% set x = d %}{{ x.c }}{% endfor %}{{ x.e }}",
        "a? a.b? a.e l l[]? l[].c?",
    );
    variables(
        "{% for d in variables.l %}{% if d.t %}{% set x = variables.a %}{% continue %}{% endif %}{% set x = 1 %}{{ x.b }}\
         {% endfor %}",
        "a? l l[].t?",
    );
    variables("{% set a, b = variables.p %}{{ b.c }}", "p? p[].c");
    variables("{% set a, b = variables.x, variables.y %}{{ b.c }}", "x? y? y.c");
    variables("{% set x %}{{ variables.a }}{% endset %}{{ x.y }}", "a");
    variables("{% set x | replace(variables.b, '') %}{{ variables.a }}{% endset %}", "a b");
}

#[test]
fn containers_keep_their_parts_apart() {
    variables("{% set c = {'a': variables.x, 'b': variables.y} %}{{ c.a.t }}{{ c['b'].u }}", "x? x.t y? y.u");
    variables("{% for e in [variables.x, variables.y] %}{{ e.t }}{% endfor %}", "x? x.t? y? y.t?");
    variables("{{ [variables.x, variables.y][1].t }}", "x? y? y.t");
    variables("{{ dict(a=variables.x).a.t }}", "x? x.t");
    variables(
        "{% set l = [] %}{% for d in variables.l %}{% do l.append(d.x) %}{% endfor %}{{ l[0].y }}",
        "l l[].x? l[].x.y?",
    );
    variables("{% for x in variables.a + variables.b %}{{ x.t }}{% endfor %}", "a a[].t? b b[].t?");
    variables("{{ variables.l[1:][0].t }}{{ variables.l[-1].u }}", "l l[].t l[].u");
}

#[test]
fn filters_hand_on_what_they_keep() {
    for (filter, more) in [
        ("list", ""),
        ("reverse", ""),
        ("sort(attribute='k')", " l[].k?"),
        ("unique(attribute='k.n')", " l[].k.n?"),
        ("selectattr('a.b')", " l[].a.b?"),
        ("selectattr('a', 'equalto', 1)", " l[].a?"),
        ("rejectattr('a', 'defined')", " l[].a?"),
    ] {
        let source = format!("{{% for x in variables.l|{filter} %}}{{{{ x.t }}}}{{% endfor %}}");
        let mut expected: Vec<&str> = "l l[].t?".split(' ').chain(more.split_whitespace()).collect();
        expected.sort_unstable();
        variables(&source, &expected.join(" "));
    }
    variables("{{ (variables.l|first).t }}{{ (variables.l|last).u }}", "l l[].t l[].u");
    variables("{{ (variables.a|default({})).t }}", "a? a.t?");
    variables("{{ (variables.a or variables.b).t }}", "a? a.t? b? b.t?");
    variables("{{ variables.l|map(attribute='a.b')|join(',') }}", "l l[].a.b?");
    variables("{{ variables.l|map('upper')|list }}", "l l[]?");
    variables(
        "{{ variables.l|sum(attribute='n') }}{{ variables.m|join(', ', attribute='x') }}",
        "l l[].n? m m[].x?",
    );
    variables("{{ (variables.l|max(attribute='n')).t }}", "l l[].n? l[].t");
    variables(
        "{% for row in variables.l|batch(2) %}{% for x in row %}{{ x.t }}{% endfor %}{% endfor %}",
        "l l[].t?",
    );
    variables("{% for x in variables.l|select('mapping') %}{{ x.t }}{% endfor %}", "l l[]? l[].t?");
    variables(
        "{% for g in variables.l|groupby('k') %}{{ g.grouper }}{% for x in g.list %}{{ x.t }}{% endfor %}{% endfor %}",
        "l l[].k? l[].t?",
    );
    variables(
        "{% for k, xs in variables.l|groupby('k') %}{{ k }}{% for x in xs %}{{ x.t }}{% endfor %}{% endfor %}",
        "l l[].k? l[].t?",
    );
    for pairs in ["variables.m.items()", "variables.m|dictsort"] {
        variables(&format!("{{% for k, v in {pairs} %}}{{{{ k }}}}{{{{ v.t }}}}{{% endfor %}}"), "m m[].t?");
    }
    variables("{% for k, v in variables.m|items %}{{ k }}{{ v.t }}{% endfor %}", "m? m[].t?");
    variables(
        "{% for v in variables.m.values() %}{{ v.t }}{% endfor %}{{ variables.n.keys()|join }}",
        "m m[].t? n",
    );
    variables("{{ variables.m.get('k', variables.d).t }}", "d d.t? m m.k? m.k.t?");
    variables("{{ variables.m|attr('k') }}{{ variables.x|tojson }}{{ variables.y|length }}", "m.k x y");
    variables("{% filter replace(variables.a, 'x') %}{{ variables.b }}{% endfilter %}", "a b");
}

#[test]
fn tests_and_comparisons() {
    variables("{{ variables.a.b is none }}{{ variables.c is string }}{{ not variables.d }}", "a.b? c? d?");
    variables("{{ variables.a is divisibleby(variables.b) }}{{ variables.c == variables.d }}", "a b c d");
    variables("{{ variables.a and variables.b }}", "a b?");
    variables("{% if variables.a and variables.b.c %}{% elif variables.d == 1 %}{% endif %}", "a? b.c? d?");
    variables("{{ -variables.a }}{{ variables.b ~ variables.c }}{{ 'x' in variables.d }}", "a b c d");
}

#[test]
fn loops_give_their_elements() {
    variables(
        "{% for x in variables.l if x.a %}{{ x.b }}{% else %}{{ variables.c }}{% endfor %}",
        "c? l l[].a? l[].b?",
    );
    variables("{% for x in variables.l %}{{ loop.index }}{{ loop.previtem.t }}{% endfor %}", "l l[].t?");
    variables("{% for a, b in variables.l %}{{ b.t }}{% endfor %}", "l l[][].t?");
    variables(
        "{% for n in variables.tree recursive %}{{ n.v }}{{ loop(n.kids) }}{% endfor %}",
        "tree tree[]?* tree[].kids? tree[].v?",
    );
    variables("{% for x in variables.l %}{{ loop.cycle(variables.a, variables.b) }}{% endfor %}", "a? b? l");
}

#[test]
fn arguments_flow_into_macros() {
    variables(
        "{% macro g(a, b=variables.z) %}{{ a }}{{ variables.y }}{% endmacro %}{{ g(variables.x) }}",
        "x y z?",
    );
    variables(
        "{% set x = variables.a %}{% macro f() %}{% set x = x.b %}{{ x }}{% endmacro %}{{ f() }}",
        "a? a.b",
    );
    variables(
        "{% macro f(x) %}{{ x.t }}{% endmacro %}{{ f(variables.a) }}{{ f(x=variables.b) }}",
        "a? a.t b? b.t",
    );
    variables(
        "{% macro f(x) %}{{ x.t }}{% endmacro %}{% if variables.c %}{{ f(variables.a) }}{% endif %}",
        "a? a.t? c?",
    );
    variables("{% macro f(x) %}{{ variables.t }}{% endmacro %}", "");
    variables("{% macro f(x, y=variables.d) %}{{ y.t }}{% endmacro %}{{ f(1) }}", "d? d.t");
    variables(
        "{% macro f() %}{{ varargs[0].t }}{{ kwargs.k.u }}{% endmacro %}{{ f(variables.a, k=variables.b) }}",
        "a? a.t b? b.u",
    );
    variables("{% macro f(x, y) %}{{ y.t }}{% endmacro %}{{ f(*variables.l) }}", "l? l[].t?");
    variables("{% macro f(x) %}{{ x.t }}{% endmacro %}{{ f(**{'x': variables.a}) }}", "a? a.t?");
    variables(
        "{% macro n(x) %}{{ x.v }}{% for k in x.kids %}{{ n(k) }}{% endfor %}{% endmacro %}{{ n(variables.tree) }}",
        "tree? tree.kids tree.kids[]?* tree.v",
    );
    variables("{% macro f() %}{{ y.t }}{% endmacro %}{% set y = variables.a %}{{ f() }}", "a? a.t");
    variables(
        "{% set f = variables.a %}{% macro g() %}{{ f.t }}{% endmacro %}{% set h = g %}{{ h() }}",
        "a? a.t",
    );
}

#[test]
fn call_blocks_are_called_by_their_macros() {
    variables(
        "{% macro f(l) %}{% for x in l %}{{ caller(x) }}{% endfor %}{% endmacro %}\
         {% set t = variables.t %}{% call(d) f(variables.docs) %}{{ d.title }}{{ t.x }}{% endcall %}",
        "docs docs[]? docs[].title? t? t.x?",
    );
    variables("{% macro f() %}{{ caller() }}{% endmacro %}{% call f() %}{{ variables.a }}{% endcall %}", "a");
    variables(
        "{% macro f() %}{% if caller %}x{% endif %}{% endmacro %}{% call f() %}{{ variables.a }}{% endcall %}",
        "a?",
    );
    variables(
        "{% macro f() %}{{ caller() }}{% endmacro %}{% macro g() %}{% set c = caller %}{% call f() %}{{ c() }}{% endcall %}\
         {% endmacro %}\
         {% call g() %}{{ variables.a }}{% endcall %}",
        "a",
    );
    needs("{% call tool(variables.x) %}{{ variables.a }}{% endcall %}", ["a? x", "", "tool", ""]);
}

#[test]
fn namespaces_keep_their_attributes_apart() {
    variables(
        "{% set ns = namespace(a=variables.x, n=0) %}{% for d in variables.l %}{% set ns.b = d %}{% set ns.n = ns.n + 1 %}\
         {% endfor %}{{ ns.a.t }}{{ ns.b.u }}",
        "l l[]? l[].u x? x.t",
    );
    variables(
        "{% set ns = namespace(x=variables.a) %}{% set ns.x = variables.b %}{{ ns.x.t }}",
        "a? a.t? b? b.t?",
    );
    variables(
        "{% set ns = namespace(x=variables.a) %}{% for i in range(9) %}{{ ns.x.v }}{% set ns.x = ns.x.next %}{% endfor %}",
        "a?* a.next? a.v?",
    );
    variables(
        "{% set ns = namespace(l=[]) %}{% for d in variables.l %}{% set ns.l = ns.l + [d.x] %}{% endfor %}\
         {% for x in ns.l %}{{ x.t }}{% endfor %}",
        "l l[].x? l[].x.t?",
    );
}
