//! What compiling, reading variables and rendering cost in both dialects, beside bare minijinja on the same workload.

use std::hint::black_box;
use std::sync::Arc;
use std::time::{Duration, Instant, SystemTime};

use criterion::{Criterion, Throughput, criterion_group, criterion_main};
use minijinja::{AutoEscape, Environment, Value as Engine};
use serde::Deserialize;
use template::value::{Map, Value, from_json};
use template::{
    Functions, Limits, NoSurroundings, Partials, RunBudget, Surroundings, Syntax, Template, Undefined,
};

const SHARED: &str = include_str!("../workload/shared.json");
const GO: [&str; 2] = [include_str!("../workload/system.go"), include_str!("../workload/user.go")];
const JINJA: [&str; 2] = [include_str!("../workload/system.j2"), include_str!("../workload/user.j2")];
const DIALECTS: [(&str, Syntax, [&str; 2]); 2] = [("go", Syntax::Go, GO), ("jinja", Syntax::Jinja, JINJA)];

/// One request of the workload.
struct Case {
    name: &'static str,
    body: &'static str,
    expected: &'static str,
}

const CASES: [Case; 3] = [
    Case {
        name: "small",
        body: include_str!("../workload/small.body.json"),
        expected: include_str!("../workload/small.expected.json"),
    },
    Case {
        name: "items40k",
        body: include_str!("../workload/items40k.body.json"),
        expected: include_str!("../workload/items40k.expected.json"),
    },
    Case {
        name: "text40k",
        body: include_str!("../workload/text40k.body.json"),
        expected: include_str!("../workload/text40k.expected.json"),
    },
];

/// The two messages that a case must render to.
#[derive(Deserialize)]
struct Expected {
    system: String,
    user: String,
}

impl Case {
    fn expected(&self) -> [String; 2] {
        let Expected { system, user } = serde_json::from_str(self.expected).unwrap();
        [system, user]
    }
}

/// Our engine: both texts of a prompt in one dialect.
fn compile(syntax: Syntax, texts: [&str; 2]) -> [Template; 2] {
    let partials: Arc<dyn Partials> = Arc::new(NoSurroundings);
    let surroundings = Surroundings { partials: &partials, functions: &NoSurroundings };
    texts.map(|text| {
        Template::compile("bench", &text.into(), syntax, surroundings, &Limits::default()).unwrap()
    })
}

fn member(body: &Value, name: &str) -> Value {
    body.get(name).unwrap().clone()
}

/// The data of one request over the shared environs, put together as the service does.
fn root(environs: &Arc<Map>, body: &[u8]) -> Arc<Map> {
    let variables = member(&from_json(body).unwrap(), "args");
    let root = Map::over(environs.clone(), vec![("variables".into(), variables)]);
    Arc::new(root.with_alias("args", "variables"))
}

fn render(templates: &[Template; 2], root: &Arc<Map>, functions: &Arc<dyn Functions>) -> [String; 2] {
    let limits = Limits::default();
    let run = RunBudget {
        steps: limits.steps,
        output_bytes: limits.output_bytes,
        deadline: Instant::now() + Duration::from_secs(60),
        undefined: Undefined::Strict,
        moment: SystemTime::now(),
        seed: 1,
    };
    templates.each_ref().map(|template| template.render(root, functions, &run).unwrap())
}

/// Bare minijinja: both texts in one prepared environment.
fn bare_environment() -> Environment<'static> {
    let mut env = Environment::new();
    env.set_auto_escape_callback(|_| AutoEscape::None);
    for (name, text) in ["system", "user"].into_iter().zip(JINJA) {
        env.add_template(name, text).unwrap();
    }
    env
}

#[derive(Deserialize)]
struct BareBody {
    args: Engine,
}

#[derive(Deserialize)]
struct BareEnvirons {
    company: Engine,
    policy: Engine,
    today: Engine,
}

/// The environs with the request's `args` beside them, as values of minijinja.
fn bare_root(environs: &BareEnvirons, body: &[u8]) -> Engine {
    let BareBody { args } = serde_json::from_slice(body).unwrap();
    let BareEnvirons { company, policy, today } = environs;
    minijinja::context! { args, company, policy, today }
}

fn bare_render(env: &Environment<'_>, root: &Engine) -> [String; 2] {
    ["system", "user"].map(|name| env.get_template(name).unwrap().render(root).unwrap())
}

fn compiling(criterion: &mut Criterion) {
    let mut group = criterion.benchmark_group("compile");
    for (dialect, syntax, texts) in DIALECTS {
        group.bench_function(dialect, |bencher| bencher.iter(|| compile(syntax, black_box(texts))));
    }
    group.bench_function("bare-minijinja", |bencher| bencher.iter(bare_environment));
    group.finish();
}

fn reading(criterion: &mut Criterion) {
    let environs = object(SHARED);
    let bare_environs: BareEnvirons = serde_json::from_str(SHARED).unwrap();
    for Case { name, body, .. } in CASES {
        let mut group = criterion.benchmark_group(format!("read/{name}"));
        group.throughput(Throughput::Bytes(body.len() as u64));
        group.bench_function("ours", |bencher| bencher.iter(|| root(&environs, black_box(body.as_bytes()))));
        group.bench_function("bare-minijinja", |bencher| {
            bencher.iter(|| bare_root(&bare_environs, black_box(body.as_bytes())));
        });
        group.finish();
    }
}

fn object(json: &str) -> Arc<Map> {
    from_json(json.as_bytes()).unwrap().as_map().unwrap().clone()
}

fn rendering(criterion: &mut Criterion) {
    let environs = object(SHARED);
    let bare_environs: BareEnvirons = serde_json::from_str(SHARED).unwrap();
    let bare = bare_environment();
    let functions: Arc<dyn Functions> = Arc::new(NoSurroundings);
    for case in CASES {
        let expected = case.expected();
        let mut group = criterion.benchmark_group(format!("render/{}", case.name));
        group.throughput(Throughput::Bytes(expected.iter().map(String::len).sum::<usize>() as u64));
        let data = root(&environs, case.body.as_bytes());
        for (dialect, syntax, texts) in DIALECTS {
            let templates = compile(syntax, texts);
            assert_eq!(render(&templates, &data, &functions), expected, "{dialect} {}", case.name);
            group.bench_function(dialect, |bencher| bencher.iter(|| render(&templates, &data, &functions)));
        }
        let data = bare_root(&bare_environs, case.body.as_bytes());
        assert_eq!(bare_render(&bare, &data), expected, "bare minijinja {}", case.name);
        group.bench_function("bare-minijinja", |bencher| bencher.iter(|| bare_render(&bare, &data)));
        group.finish();
    }
}

criterion_group! {
    name = benches;
    config = Criterion::default()
        .warm_up_time(Duration::from_millis(500))
        .measurement_time(Duration::from_millis(1500))
        .sample_size(50);
    targets = compiling, reading, rendering
}
criterion_main!(benches);
