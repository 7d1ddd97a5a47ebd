//! Renders on 64 connections while a prompt and an environ are rewritten together every 200 ms: every answer is checked.

use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::{Duration, Instant};

use serde_json::{Value as Json, json};

use crate::figures::latencies;
use crate::options::Options;
use crate::process::Server;
use crate::redis::Redis;
use crate::{Outcome, client};

const CONNECTIONS: usize = 64;
const REWRITE_EVERY: Duration = Duration::from_millis(200);
const PROMPT: &str = "/api/render/prompts/live.prompt";

/// When each version was written.
type Written = Arc<Mutex<Vec<Instant>>>;

/// What the answers were like.
#[derive(Default)]
struct Tally {
    answers: usize,
    failed: usize,
    torn: usize,
    mixed: usize,
    newest: usize,
    ages: Vec<Duration>,
    example: Option<String>,
}

/// What one answer shows.
enum Seen {
    /// One version of the prompt, one of the environ: `(prompt, environ)`.
    Versions(usize, usize),
    /// More than one version of one document.
    Torn,
    /// No rendered prompt, or that of another request.
    Failed,
}

/// Measures and prints.
pub async fn run(options: &Options) -> Outcome {
    let duration = options.duration(60);
    let redis = Redis::start().await?;
    let (written, stopped) = (Written::default(), Arc::new(AtomicBool::new(false)));
    let mut connection = redis.connection(0)?;
    write(&mut connection, &written)?;
    let server = Server::service(Some(&redis.url(0)), None, &[]).await?;
    let writer = {
        let (written, stopped) = (written.clone(), stopped.clone());
        std::thread::spawn(move || {
            while !stopped.load(Ordering::Relaxed) {
                std::thread::sleep(REWRITE_EVERY);
                write(&mut connection, &written)?;
            }
            Outcome::Ok(())
        })
    };
    let end = Instant::now() + duration;
    let url = server.url(PROMPT);
    let clients: Vec<_> =
        (0..CONNECTIONS).map(|number| tokio::spawn(ask(url.clone(), number, end, written.clone()))).collect();
    let mut tally = Tally::default();
    for client in clients {
        tally.add(client.await?);
    }
    stopped.store(true, Ordering::Relaxed);
    writer.join().map_err(|_| "the writer broke off")??;
    tally.print(duration, versions(&written).len());
    if tally.is_good() { Ok(()) } else { Err("some renders failed or saw two versions at once".into()) }
}

fn versions(written: &Written) -> std::sync::MutexGuard<'_, Vec<Instant>> {
    written.lock().unwrap_or_else(PoisonError::into_inner)
}

/// Writes the next version of both documents in one step.
fn write(connection: &mut redis::Connection, written: &Written) -> Outcome {
    let version = versions(written).len();
    let environ = json!({"version": version, "deep": {"version": version}, "list": vec![version; 20]});
    let system = format!("P{version} E{{{{ live.version }}}} E{{{{ live.deep.version }}}} P{version}");
    let user =
        format!("{{% for v in live.list %}}E{{{{ v }}}} {{% endfor %}}P{version} {{{{ variables.echo }}}}");
    let messages = json!([{"role": "system", "content": system}, {"role": "user", "content": user}]);
    let prompt = json!({"name": "prompt", "syntax": "jinja", "messages": messages});
    redis::cmd("MSET")
        .arg("shenma:environs:live")
        .arg(environ.to_string())
        .arg("shenma:templates:live:prompt")
        .arg(prompt.to_string())
        .query::<()>(connection)?;
    versions(written).push(Instant::now());
    Ok(())
}

async fn ask(url: String, client: usize, end: Instant, written: Written) -> Tally {
    let mut tally = Tally::default();
    for number in 0.. {
        let asked = Instant::now();
        if asked >= end {
            break;
        }
        let echo = format!("client-{client}-{number}");
        let body = json!({"variables": {"echo": echo}}).to_string();
        match client::post(&url, body).await {
            Ok((200, answer)) => tally.count(&answer, &echo, asked, &written),
            Ok((status, answer)) => tally.fail(format!("{status} {answer}")),
            Err(error) => tally.fail(error.to_string()),
        }
    }
    tally
}

fn look(answer: &Json, echo: &str) -> Seen {
    let contents =
        [0, 1].map(|index| answer["rendered_prompt"][index]["content"].as_str().unwrap_or_default());
    let words: Vec<&str> = contents.iter().flat_map(|content| content.split_whitespace()).collect();
    if words.len() != 26 || words.last() != Some(&echo) {
        return Seen::Failed;
    }
    let of = |mark: char| {
        let mut versions: Vec<&str> = words.iter().filter_map(|word| word.strip_prefix(mark)).collect();
        versions.dedup();
        match versions.as_slice() {
            [version] => version.parse().ok(),
            _ => None,
        }
    };
    match (of('P'), of('E')) {
        (Some(prompt), Some(environ)) => Seen::Versions(prompt, environ),
        _ => Seen::Torn,
    }
}

impl Tally {
    fn count(&mut self, answer: &Json, echo: &str, asked: Instant, written: &Written) {
        self.answers += 1;
        match look(answer, echo) {
            Seen::Failed => self.fail(answer.to_string()),
            Seen::Torn => {
                self.torn += 1;
                self.example.get_or_insert(answer.to_string());
            }
            Seen::Versions(prompt, environ) => {
                self.mixed += usize::from(prompt != environ);
                let oldest = prompt.min(environ);
                self.newest = self.newest.max(oldest);
                let next = versions(written).get(oldest + 1).copied();
                self.ages.push(next.map_or(Duration::ZERO, |next| asked.saturating_duration_since(next)));
            }
        }
    }

    fn fail(&mut self, why: String) {
        self.failed += 1;
        self.example.get_or_insert(why);
    }

    fn add(&mut self, other: Tally) {
        self.answers += other.answers;
        self.failed += other.failed;
        self.torn += other.torn;
        self.mixed += other.mixed;
        self.newest = self.newest.max(other.newest);
        self.ages.extend(other.ages);
        self.example = self.example.take().or(other.example);
    }

    fn is_good(&self) -> bool {
        self.answers > 0 && self.failed + self.torn + self.mixed == 0
    }

    fn print(&self, duration: Duration, written: usize) {
        let rate = self.answers as f64 / duration.as_secs_f64();
        println!("{} answers ({rate:.0} a second) while {written} versions were written", self.answers);
        println!("failed renders: {}", self.failed);
        println!("answers with two versions of one document: {}", self.torn);
        println!("answers with a prompt and an environ of two versions: {}", self.mixed);
        println!("out of date by: {}", latencies(&self.ages));
        println!("newest version seen: {} of {}", self.newest, written.saturating_sub(1));
        if let Some(example) = &self.example {
            println!("first failure: {example}");
        }
    }
}
