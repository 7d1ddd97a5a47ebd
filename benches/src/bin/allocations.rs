//! Counts the allocations of our engines beside real Go and bare minijinja: the second half of `make bench-engines`.
//!
//! A program of its own, since the counting allocator would slow the engines that are timed.

use ai_prompt_benches::cases::Case;
use ai_prompt_benches::go::Go;
use ai_prompt_benches::{Outcome, jinja, ours, ours_jinja};
use allocation_counter::measure;
use serde::Deserialize;

/// What Go answers.
#[derive(Deserialize)]
struct Allocated {
    allocations: f64,
    bytes: f64,
    outputs: Vec<String>,
}

fn main() -> Outcome {
    let cases = Case::all()?;
    let mut go = Go::start()?;
    println!("allocations and their bytes, of both texts together");
    println!(
        "{:17} {:>6} {:>8} {:>6} {:>8} {:>9} {:>8} {:>9} {:>8}",
        "", "our Go", "bytes", "Go", "bytes", "our Jinja", "bytes", "minijinja", "bytes"
    );
    for case in &cases {
        let (ours, jinja) = (ours::Prepared::new(case)?, jinja::Prepared::new(case)?);
        let ours_jinja = ours_jinja::Prepared::new(case)?;
        case.check(
            "our Go engine",
            &ours.execute()?.map(|text| String::from_utf8_lossy(&text).into_owned()),
        )?;
        case.check("minijinja", &jinja.execute()?)?;
        let counted =
            [counted(|| ours.execute())?, counted(|| ours_jinja.execute())?, counted(|| jinja.execute())?];
        print(&format!("execute {}", case.name), counted, theirs(&mut go, case, "execute")?);
    }
    if let Some(case) = cases.first() {
        let counted = [
            counted(|| ours::parse(case))?,
            counted(|| ours_jinja::parse(case))?,
            counted(|| jinja::parse(case))?,
        ];
        print("parse", counted, theirs(&mut go, case, "parse")?);
    }
    Ok(())
}

/// How many allocations an operation makes, and of how many bytes.
fn counted<T>(operation: impl Fn() -> Outcome<T>) -> Outcome<(u64, u64)> {
    let mut result = Ok(());
    let info = measure(|| result = operation().map(drop));
    result.map(|()| (info.count_total, info.bytes_total))
}

fn theirs(go: &mut Option<Go>, case: &Case, operation: &str) -> Outcome<Option<(u64, u64)>> {
    let Some(go) = go else { return Ok(None) };
    let allocated: Allocated = go.measure(&case.task(operation, 100))?;
    case.check("Go", &allocated.outputs)?;
    Ok(Some((allocated.allocations as u64, allocated.bytes as u64)))
}

fn print(what: &str, [ours, ours_jinja, jinja]: [(u64, u64); 3], go: Option<(u64, u64)>) {
    let shown = |figure: Option<u64>| figure.map_or("-".to_owned(), |figure| figure.to_string());
    let (go_count, go_bytes) = (shown(go.map(|go| go.0)), shown(go.map(|go| go.1)));
    println!(
        "{what:17} {:>6} {:>8} {go_count:>6} {go_bytes:>8} {:>9} {:>8} {:>9} {:>8}",
        ours.0, ours.1, ours_jinja.0, ours_jinja.1, jinja.0, jinja.1
    );
}
