//! Times our engines on the render workload, in turns: Go beside real Go, Jinja beside bare minijinja: `make bench-engines`.

use std::hint::black_box;
use std::time::{Duration, Instant};

use ai_prompt_benches::cases::Case;
use ai_prompt_benches::go::Go;
use ai_prompt_benches::statistics::{median, ratios};
use ai_prompt_benches::{Outcome, jinja, ours, ours_jinja, rounds};
use serde::Deserialize;

/// How long each engine is measured in a round.
const MILLIS: u64 = 100;

/// The nanoseconds that each engine took, a figure a round.
#[derive(Default)]
struct Row {
    ours: Vec<f64>,
    go: Vec<f64>,
    ours_jinja: Vec<f64>,
    jinja: Vec<f64>,
}

/// What Go answers.
#[derive(Deserialize)]
struct Timed {
    nanos: f64,
    outputs: Vec<String>,
}

fn main() -> Outcome {
    let rounds = rounds("engines", 15)?;
    let cases = Case::all()?;
    let mut go = Go::start()?;
    println!(
        "microseconds, medians of {rounds} rounds; ratios of ours to theirs (lowest..highest of a round)"
    );
    println!(
        "{:17} {:>8} {:>8} {:>18} {:>10} {:>9} {:>18}",
        "", "our Go", "Go", "ratio", "our Jinja", "minijinja", "ratio"
    );
    for case in &cases {
        executing(case, rounds, &mut go)?.print(&format!("execute {}", case.name));
    }
    if let Some(case) = cases.first() {
        parsing(case, rounds, &mut go)?.print("parse");
    }
    Ok(())
}

fn executing(case: &Case, rounds: usize, go: &mut Option<Go>) -> Outcome<Row> {
    let (ours, jinja) = (ours::Prepared::new(case)?, jinja::Prepared::new(case)?);
    let ours_jinja = ours_jinja::Prepared::new(case)?;
    case.check("our Go engine", &ours.execute()?.map(|text| String::from_utf8_lossy(&text).into_owned()))?;
    case.check("our Jinja engine", &ours_jinja.execute()?)?;
    case.check("minijinja", &jinja.execute()?)?;
    let mut row = Row::default();
    for _ in 0..rounds {
        row.ours.push(nanos(|| ours.execute())?);
        row.ours_jinja.push(nanos(|| ours_jinja.execute())?);
        row.jinja.push(nanos(|| jinja.execute())?);
        if let Some(go) = go {
            let timed: Timed = go.measure(&case.task("execute", MILLIS))?;
            case.check("Go", &timed.outputs)?;
            row.go.push(timed.nanos);
        }
    }
    Ok(row)
}

fn parsing(case: &Case, rounds: usize, go: &mut Option<Go>) -> Outcome<Row> {
    let mut row = Row::default();
    for _ in 0..rounds {
        row.ours.push(nanos(|| ours::parse(case))?);
        row.ours_jinja.push(nanos(|| ours_jinja::parse(case))?);
        row.jinja.push(nanos(|| jinja::parse(case))?);
        if let Some(go) = go {
            let timed: Timed = go.measure(&case.task("parse", MILLIS))?;
            row.go.push(timed.nanos);
        }
    }
    Ok(row)
}

/// The mean time of an operation that is repeated for [`MILLIS`].
fn nanos<T>(mut operation: impl FnMut() -> Outcome<T>) -> Outcome<f64> {
    let (start, mut times) = (Instant::now(), 0);
    while start.elapsed() < Duration::from_millis(MILLIS) {
        for _ in 0..10 {
            black_box(operation()?);
        }
        times += 10;
    }
    Ok(start.elapsed().as_nanos() as f64 / f64::from(times))
}

impl Row {
    fn print(&self, what: &str) {
        let micros = |nanos: &[f64]| match nanos {
            [] => "-".to_owned(),
            nanos => format!("{:.1}", median(nanos) / 1e3),
        };
        let beside = |ours: &[f64], theirs: &[f64]| match theirs {
            [] => "-".to_owned(),
            theirs => ratios(ours, theirs),
        };
        println!(
            "{what:17} {:>8} {:>8} {:>18} {:>10} {:>9} {:>18}",
            micros(&self.ours),
            micros(&self.go),
            beside(&self.ours, &self.go),
            micros(&self.ours_jinja),
            micros(&self.jinja),
            beside(&self.ours_jinja, &self.jinja),
        );
    }
}
