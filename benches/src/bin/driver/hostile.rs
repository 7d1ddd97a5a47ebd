//! How long a normal render takes, one at a time, in peace and while ten hostile templates run all the time.

use std::collections::BTreeMap;
use std::time::{Duration, Instant};

use crate::figures::{latencies, mib};
use crate::options::Options;
use crate::process::Server;
use crate::{Outcome, client, hostile_templates, workload};

/// How many answers there were, by status and error code.
type Answers = BTreeMap<String, usize>;

/// Measures and prints.
pub async fn run(options: &Options) -> Outcome {
    let packages = tempfile::tempdir()?;
    workload::write_package(packages.path(), None)?;
    let server = Server::service(None, Some(packages.path()), &[]).await?;
    let url = server.url(workload::JINJA);
    workload::verify(&url, "small").await?;

    let duration = options.duration(30);
    print_normal("in peace", &url, duration / 3).await?;
    println!("peak memory in peace: {}", mib(server.memory_kib("VmHWM")?));
    let end = Instant::now() + duration;
    let attacks: Vec<_> = hostile_templates::bodies()
        .into_iter()
        .map(|body| tokio::spawn(attack(server.url("/api/render"), body, end)))
        .collect();
    print_normal("under attack", &url, duration).await?;
    for (number, attack) in (1..).zip(attacks) {
        println!("hostile template {number}: {:?}", attack.await??);
    }
    println!("peak memory under attack: {}", mib(server.memory_kib("VmHWM")?));
    println!("bytes logged: {}", server.logged()?);
    Ok(())
}

/// Renders `small` again and again, one at a time.
async fn print_normal(when: &str, url: &str, duration: Duration) -> Outcome {
    let body = std::fs::read_to_string(workload::body_file("small"))?;
    let (mut answers, mut times) = (Answers::new(), Vec::new());
    let end = Instant::now() + duration;
    while Instant::now() < end {
        let start = Instant::now();
        let (status, _) = client::post(url, body.clone()).await?;
        times.push(start.elapsed());
        *answers.entry(status.to_string()).or_default() += 1;
    }
    println!("a normal render {when}: {}, answers {answers:?}", latencies(&times));
    Ok(())
}

/// Asks for one hostile template again and again.
async fn attack(url: String, body: String, end: Instant) -> Outcome<Answers> {
    let mut answers = Answers::new();
    while Instant::now() < end {
        let (status, answer) = client::post(&url, body.clone()).await?;
        let code = answer["error"]["code"].as_str().unwrap_or("no error");
        *answers.entry(format!("{status} {code}")).or_default() += 1;
    }
    Ok(answers)
}
