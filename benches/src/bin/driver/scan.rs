//! What 100,000 environs and 10,000 prompts in Redis cost: at start, in memory, while idle, and for renders that use
//! none of them.

use std::time::{Duration, Instant};

use serde_json::json;

use crate::figures::mib;
use crate::options::Options;
use crate::process::Server;
use crate::redis::{Redis, set_all};
use crate::{Outcome, client, workload, wrk};
use ai_prompt_benches::statistics::{median, ratios};

const ENVIRONS: usize = 100_000;
const ENVIRON_BYTES: usize = 200;
const ENVIRONS_IN_MODULE: usize = 1_000;
const PROMPTS: usize = 10_000;
const PROMPTS_IN_EXTENSION: usize = 100;

/// How long the idle service is watched: several scans of the store.
const IDLE: Duration = Duration::from_secs(30);

/// How long a service that was paused gets to catch up before it is measured.
const CATCH_UP: Duration = Duration::from_secs(1);

/// Measures and prints.
pub async fn run(options: &Options) -> Outcome {
    let redis = Redis::start().await?;
    let (full, lean) = (redis.url(0), redis.url(1));
    let documents = workload::documents()?;
    set_all(&mut redis.connection(0)?, &environs())?;
    set_all(&mut redis.connection(0)?, &prompts())?;
    set_all(&mut redis.connection(0)?, &documents)?;
    set_all(&mut redis.connection(1)?, &documents)?;

    let full = Server::service(Some(&full), None, &[]).await?;
    println!("from start to ready: {:.2} s", full.ready_after.as_secs_f64());
    println!("counts: {}", client::get(&full.url("/api/status")).await?["counts"]);
    print_memory("after the load", &full)?;
    print_idle(&full).await?;

    let lean = Server::service(Some(&lean), None, &[]).await?;
    print_throughput(&full, &lean, options).await?;
    print_memory("at the end", &full)?;
    print_memory("at the end, without the unrelated documents", &lean)
}

fn environs() -> Vec<(String, String)> {
    let environ = |number: usize| {
        let module = number / ENVIRONS_IN_MODULE;
        let rest = ENVIRON_BYTES - json!({"number": number, "text": ""}).to_string().len();
        let value = json!({"number": number, "text": "x".repeat(rest)});
        (format!("shenma:environs:bulk{module}:item{number}"), value.to_string())
    };
    (0..ENVIRONS).map(environ).collect()
}

fn prompts() -> Vec<(String, String)> {
    let prompt = |number: usize| {
        let extension = number / PROMPTS_IN_EXTENSION;
        let text = match number % 2 {
            0 => format!("{number}: hello {{{{ .variables.name }}}}{{{{ if .bulk0 }}}}, again{{{{ end }}}}"),
            _ => format!("{number}: hello {{{{ variables.name }}}}{{% if bulk0 %}}, again{{% endif %}}"),
        };
        let document = json!({"name": format!("p{number}"), "userPrompt": text});
        (format!("shenma:templates:bulk{extension}:p{number}"), document.to_string())
    };
    (0..PROMPTS).map(prompt).collect()
}

fn print_memory(when: &str, server: &Server) -> Outcome {
    let (now, peak) = (server.memory_kib("VmRSS")?, server.memory_kib("VmHWM")?);
    println!("memory {when}: {} (peak {})", mib(now), mib(peak));
    Ok(())
}

async fn print_idle(server: &Server) -> Outcome {
    let (cpu, start) = (server.cpu_time()?, Instant::now());
    tokio::time::sleep(IDLE).await;
    let used = server.cpu_time()?.saturating_sub(cpu);
    let share = 100.0 * used.as_secs_f64() / start.elapsed().as_secs_f64();
    println!("processor while idle: {share:.1} % of one core over {} s", IDLE.as_secs());
    Ok(())
}

/// Renders of `small` with and without the unrelated documents, in turns; the other service stands still meanwhile.
async fn print_throughput(full: &Server, lean: &Server, options: &Options) -> Outcome {
    let (mut with, mut without) = (Vec::new(), Vec::new());
    for server in [full, lean] {
        workload::verify(&server.url(workload::JINJA), "small").await?;
    }
    for round in 1..=options.rounds(7) {
        eprintln!("round {round}");
        for (figures, server, other) in [(&mut with, full, lean), (&mut without, lean, full)] {
            other.pause()?;
            tokio::time::sleep(CATCH_UP).await;
            let url = server.url(workload::JINJA);
            figures.push(wrk::load(&url, &workload::body_file("small"), options.duration(4)).await?);
            other.resume()?;
        }
    }
    println!(
        "renders of small per second: {:.0} with, {:.0} without the unrelated documents, ratio {}",
        median(&with),
        median(&without),
        ratios(&with, &without)
    );
    Ok(())
}
