//! `make bench-policy`: how many commands the risk policy judges in a second on one core.
//!
//! The commands are those of the policy's own table: harmless, asked about and refused ones, wrappers, code of shells.

use std::path::Path;
use std::time::{Duration, Instant};

use ai_prompt_benches::{Outcome, rounds};
use policy::{Command, Level, Permissions, Policy, Rules, Surroundings};
use serde::Deserialize;

/// Rounds, if `--rounds N` does not say another number.
const ROUNDS: usize = 11;

#[derive(Deserialize)]
struct Case {
    command: Vec<String>,
}

fn main() -> Outcome {
    let rounds = rounds("policy", ROUNDS)?;
    let (policy, commands) = (policy()?, commands()?);
    let mut rates: Vec<f64> =
        (0..rounds).map(|_| commands.len() as f64 / round(&policy, &commands).as_secs_f64()).collect();
    rates.sort_by(f64::total_cmp);
    let levels =
        |level: Level| commands.iter().filter(|command| policy.classify(command).level == level).count();
    println!(
        "{} commands: {} L0, {} L1, {} L2",
        commands.len(),
        levels(Level::L0),
        levels(Level::L1),
        levels(Level::L2)
    );
    if let (Some(lowest), Some(median), Some(highest)) =
        (rates.first(), rates.get(rates.len() / 2), rates.last())
    {
        println!(
            "judgements a second on one core: {median:.0} ({lowest:.0}..{highest:.0}, {} rounds)",
            rates.len()
        );
    }
    Ok(())
}

/// The time for all commands once.
fn round(policy: &Policy, commands: &[Command]) -> Duration {
    let start = Instant::now();
    for command in commands {
        std::hint::black_box(policy.classify(std::hint::black_box(command)));
    }
    start.elapsed()
}

/// A judge in this repository, with a real configuration to read.
fn policy() -> Outcome<Policy> {
    let workspace = Path::new(env!("CARGO_MANIFEST_DIR")).join("..").canonicalize()?;
    let surroundings = Surroundings {
        cwd: workspace.clone(),
        home: workspace.parent().map(Path::to_path_buf),
        workspace,
        path: "/usr/local/bin:/usr/bin:/bin".to_owned(),
    };
    Ok(Policy::new(surroundings, Permissions::default(), Rules::default()))
}

fn commands() -> Outcome<Vec<Command>> {
    let mut commands = Vec::new();
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../crates/policy/tests/cases");
    for file in std::fs::read_dir(folder)? {
        for line in std::fs::read_to_string(file?.path())?.lines() {
            let case: Case = serde_json::from_str(line)?;
            let words = case.command.split_first().map(|(program, args)| (program.clone(), args.to_vec()));
            commands.extend(words.map(|(program, args)| Command { program, args, ..Command::default() }));
        }
    }
    Ok(commands)
}
