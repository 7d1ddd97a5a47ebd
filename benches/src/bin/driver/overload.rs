//! What overload does: heavy and middling renders at 0.8 of the capacity and at twice of it, and light requests beside each of
//! them, beside large bodies, and alone.

use std::sync::Arc;
use std::time::{Duration, Instant};

use serde_json::json;
use tokio::task::JoinSet;

use crate::figures::{latencies, mib};
use crate::options::Options;
use crate::process::Server;
use crate::{Outcome, client, memory};
use ai_prompt_benches::statistics::percentile;

/// Clients that ask without a pause when the capacity is measured.
const CLIENTS: usize = 4;

/// Light requests, per second.
const LIGHT_RATE: f64 = 200.0;

/// The prompts: rounds of a loop, and a text with one variable. The service runs heavy renders, which take some milliseconds, in
/// its pool, and middling ones, which take about one, on its serving threads.
const ROUNDS: &str = "{% for a in range(variables.n) %}{{ a }},{% endfor %}";
const HEAVY_ROUNDS: usize = 30_000;
const MIDDLING_ROUNDS: usize = 5_000;
const LIGHT: &str = "hello {{ variables.name }}";

/// Answers that came, by what they were.
#[derive(Default)]
struct Answers {
    accepted: Vec<Duration>,
    refused: Vec<Duration>,
    without_retry_after: usize,
    other: usize,
}

/// What is asked again and again.
#[derive(Clone)]
struct Request {
    url: Arc<str>,
    body: Arc<str>,
}

/// Measures and prints.
pub async fn run(options: &Options) -> Outcome {
    let server = Server::service(None, None, &[]).await?;
    let [heavy, middling, light] = prompts(&server).await?;
    let duration = options.duration(10);
    let alone = at_rate(&light, LIGHT_RATE, duration).await?;
    println!("light requests alone: {}", alone.described());
    for (kind, request) in [("heavy", heavy), ("middling", middling)] {
        let capacity = capacity(&request, duration).await?;
        println!("{kind} renders, closed loop of {CLIENTS}: {capacity:.0} per second");
        let calm = at_rate(&request, capacity * 0.8, duration).await?;
        println!("at 0.8 of that: {}", calm.described());
        let (crowded, beside) = tokio::try_join!(
            at_rate(&request, capacity * 2.0, duration),
            at_rate(&light, LIGHT_RATE, duration)
        )?;
        println!("at twice of that: {}", crowded.described());
        println!("light requests beside that: {}", beside.described());
        println!(
            "ratios of p99: accepted at 2.0 to 0.8: {:.2}; light beside {kind} ones to alone: {:.2}",
            crowded.p99() / calm.p99(),
            beside.p99() / alone.p99()
        );
    }
    let (large, peak) = large_bodies(&server, &light, duration).await?;
    println!("light requests beside two clients with bodies of 16 MB: {}", large.described());
    println!("peak memory then: {peak}");
    println!("ratio of p99: light beside large bodies to alone: {:.2}", large.p99() / alone.p99());
    memory::run().await
}

async fn prompts(server: &Server) -> Outcome<[Request; 3]> {
    for (name, text) in [("heavy", ROUNDS), ("middling", ROUNDS), ("light", LIGHT)] {
        let document = json!({"userPrompt": text, "syntax": "jinja"}).to_string();
        client::put(&server.url(&format!("/api/prompts/load.{name}")), document).await?;
    }
    let request = |name: &str, variables| Request {
        url: server.url(&format!("/api/render/prompts/load.{name}")).into(),
        body: json!({"variables": variables}).to_string().into(),
    };
    Ok([
        request("heavy", json!({"n": HEAVY_ROUNDS})),
        request("middling", json!({"n": MIDDLING_ROUNDS})),
        request("light", json!({"name": "Ada"})),
    ])
}

/// How many are answered per second when a few clients ask without a pause.
async fn capacity(request: &Request, duration: Duration) -> Outcome<f64> {
    let end = Instant::now() + duration;
    let mut clients = JoinSet::new();
    for _ in 0..CLIENTS {
        let request = request.clone();
        clients.spawn(async move {
            let mut answers = Answers::default();
            while Instant::now() < end {
                answers.ask(&request, Instant::now()).await?;
            }
            Outcome::Ok(answers.accepted.len())
        });
    }
    let mut total = 0;
    while let Some(accepted) = clients.join_next().await {
        total += accepted??;
    }
    Ok(total as f64 / duration.as_secs_f64())
}

/// Asks at a steady rate, whether answers come or not; times count from when a request was due.
async fn at_rate(request: &Request, rate: f64, duration: Duration) -> Outcome<Answers> {
    let (began, mut asked) = (tokio::time::Instant::now(), JoinSet::new());
    for number in 0..(rate * duration.as_secs_f64()) as usize {
        let due = began + Duration::from_secs_f64(number as f64 / rate);
        tokio::time::sleep_until(due).await;
        let request = request.clone();
        asked.spawn(async move {
            let mut answers = Answers::default();
            answers.ask(&request, due.into_std()).await?;
            Outcome::Ok(answers)
        });
    }
    let mut all = Answers::default();
    while let Some(answers) = asked.join_next().await {
        all.add(answers??);
    }
    Ok(all)
}

/// Light requests while two clients send one large body after the other; and the server's peak memory.
async fn large_bodies(server: &Server, light: &Request, duration: Duration) -> Outcome<(Answers, String)> {
    let items: Vec<_> = (0..450_000).map(|n| json!({"name": format!("item number {n}")})).collect();
    let body: Arc<str> = json!({"variables": {"name": "Ada", "items": items}}).to_string().into();
    let large = Request { url: light.url.clone(), body };
    let mut clients = JoinSet::new();
    let end = Instant::now() + duration;
    for _ in 0..2 {
        let large = large.clone();
        clients.spawn(async move {
            let mut answers = Answers::default();
            while Instant::now() < end {
                answers.ask(&large, Instant::now()).await?;
            }
            Outcome::Ok(answers)
        });
    }
    let answers = at_rate(light, LIGHT_RATE, duration).await?;
    while let Some(answers) = clients.join_next().await {
        let answers = answers??;
        println!("large bodies: {}", answers.described());
    }
    Ok((answers, mib(server.memory_kib("VmHWM")?)))
}

impl Answers {
    async fn ask(&mut self, request: &Request, due: Instant) -> Outcome {
        let answer = client::ask(&request.url, request.body.to_string()).await?;
        let took = due.elapsed();
        match answer.status {
            200 => self.accepted.push(took),
            429 | 503 => {
                self.refused.push(took);
                self.without_retry_after += usize::from(!answer.retry_after);
            }
            _ => self.other += 1,
        }
        Ok(())
    }

    fn add(&mut self, other: Answers) {
        self.accepted.extend(other.accepted);
        self.refused.extend(other.refused);
        self.without_retry_after += other.without_retry_after;
        self.other += other.other;
    }

    fn p99(&self) -> f64 {
        percentile(&self.accepted.iter().map(|took| took.as_secs_f64() * 1e3).collect::<Vec<f64>>(), 99.0)
    }

    fn described(&self) -> String {
        let mut text = format!("{} accepted ({})", self.accepted.len(), latencies(&self.accepted));
        if !self.refused.is_empty() {
            let (refused, bare) = (self.refused.len(), self.without_retry_after);
            text += &format!(
                "; {refused} refused ({}), {bare} of them without retry-after",
                latencies(&self.refused)
            );
        }
        if self.other > 0 {
            text += &format!("; {} other answers", self.other);
        }
        text
    }
}
