//! 1,000 waiting sessions on one service with an embedded store: the memory of each, and the time of their events beside the time of
//! the model, which is asked directly in turns.

use std::sync::Arc;
use std::time::Duration;

use serde_json::{Value as Json, json};
use tokio::task::JoinSet;
use tokio::time::{Instant, sleep};

use crate::figures::{latencies, mib};
use crate::model_server::ModelServer;
use crate::options::Options;
use crate::process::{self, Server};
use crate::{Outcome, client};
use ai_prompt_benches::statistics::percentile;

const SESSIONS: usize = 1_000;
/// How many events are under way at once, where it is not all of them.
const UNDER_WAY: usize = 16;
/// The model, which takes 20 ms for each answer.
const MODEL: &str = "after-20";
/// How many sessions come and go before the memory is measured, so that what every service needs is there.
const FIRST: usize = 100;
/// How long the service gets to settle before its memory is read.
const SETTLING: Duration = Duration::from_secs(1);
/// The files that the driver and the service, which inherits its limit, may each need open.
const FILES: u64 = 2 * SESSIONS as u64 + 200;

/// What is asked again and again: where, and with which body.
type Question = (String, String);

/// Measures and prints.
pub async fn run(options: &Options) -> Outcome {
    process::raise_file_limit(FILES)?;
    let models = ModelServer::start()?;
    let (base_url, model) = (format!("llm.base_url={}", models.base), format!("llm.default_model={MODEL}"));
    let flags = ["-s", &base_url, "-s", "llm.api_key=bench", "-s", &model, "-s", "skills.max_steps=1000000"];
    let service = Server::service(None, None, &flags).await?;
    let sessions = remembered(&service).await?;
    let event = json!({"type": "command_result", "stdout": " M src/main.rs\n", "exit_code": 0}).to_string();
    let events: Vec<Question> = sessions
        .iter()
        .map(|id| (service.url(&format!("/api/sessions/{id}/events")), event.clone()))
        .collect();
    let question = json!({"model": MODEL, "messages": [{"role": "user", "content": event}]}).to_string();
    let direct = vec![(format!("{}/chat/completions", models.base), question); SESSIONS];
    for round in 1..=options.rounds(3) {
        let until = || Instant::now() + options.duration(5);
        let what = format!("round {round}, {UNDER_WAY} under way");
        print(&what, &asked(&direct, UNDER_WAY, until()).await?, &asked(&events, UNDER_WAY, until()).await?);
        let (model, ours) = (once(&direct).await?, once(&events).await?);
        print(&format!("round {round}, all {SESSIONS} at once"), &model, &ours);
    }
    Ok(())
}

/// Starts the sessions, and prints what they take in memory; gives their ids.
async fn remembered(service: &Server) -> Outcome<Vec<String>> {
    for id in started(service, FIRST).await? {
        // The first time ends it, the second one removes it.
        for _ in 0..2 {
            client::delete(&service.url(&format!("/api/sessions/{id}"))).await?;
        }
    }
    let none = memory("without sessions", service).await?;
    let sessions = started(service, SESSIONS).await?;
    let waiting = memory("with 1,000 waiting sessions", service).await?;
    for id in &sessions {
        let stream = client::first_piece(&service.url(&format!("/api/sessions/{id}/stream"))).await?;
        if !stream.starts_with(b"id: ") {
            return Err(format!("a stream begins otherwise: {}", String::from_utf8_lossy(&stream)).into());
        }
    }
    let watched = memory("after each was watched", service).await?;
    let each = |with: f64| (with - none) / SESSIONS as f64;
    println!(
        "memory of a waiting session: {:.1} KiB; of one that was watched: {:.1} KiB",
        each(waiting),
        each(watched)
    );
    Ok(sessions)
}

/// Starts so many sessions, some at once; gives their ids.
async fn started(service: &Server, count: usize) -> Outcome<Vec<String>> {
    let skill = json!({"skill": {"content": "---\nname: bench\n---\nLook for changed files, and say what has changed."}});
    let start = (service.url("/api/sessions"), skill.to_string());
    let mut workers = JoinSet::new();
    for at in 0..UNDER_WAY {
        let (start, share) = (start.clone(), count / UNDER_WAY + usize::from(at < count % UNDER_WAY));
        workers.spawn(async move {
            let mut ids = Vec::new();
            for _ in 0..share {
                let answer = good(client::post(&start.0, start.1.clone()).await?)?;
                ids.push(answer["session_id"].as_str().ok_or("no id")?.to_owned());
            }
            Outcome::Ok(ids)
        });
    }
    let mut ids = Vec::new();
    while let Some(done) = workers.join_next().await {
        ids.extend(done??);
    }
    Ok(ids)
}

/// Asks the questions in turn, so many at once, again and again; gives how long each answer took.
async fn asked(questions: &[Question], at_once: usize, until: Instant) -> Outcome<Vec<Duration>> {
    let mut workers = JoinSet::new();
    for share in questions.chunks(questions.len().div_ceil(at_once)) {
        let share: Arc<[Question]> = share.into();
        workers.spawn(async move {
            let mut times = Vec::new();
            for question in share.iter().cycle() {
                if Instant::now() >= until && times.len() >= share.len() {
                    break;
                }
                times.push(answered(question).await?);
            }
            Outcome::Ok(times)
        });
    }
    let mut times = Vec::new();
    while let Some(done) = workers.join_next().await {
        times.extend(done??);
    }
    Ok(times)
}

/// Asks each question once, all at the same time.
async fn once(questions: &[Question]) -> Outcome<Vec<Duration>> {
    asked(questions, questions.len(), Instant::now()).await
}

/// Asks a question; gives how long the answer took.
async fn answered((url, body): &Question) -> Outcome<Duration> {
    let began = Instant::now();
    good(client::post(url, body.clone()).await?)?;
    Ok(began.elapsed())
}

fn good((status, answer): (u16, Json)) -> Outcome<Json> {
    if status < 300 { Ok(answer) } else { Err(format!("{status}: {answer}").into()) }
}

/// Prints and gives the memory of the service, in KiB.
async fn memory(when: &str, service: &Server) -> Outcome<f64> {
    sleep(SETTLING).await;
    let memory = service.memory_kib("VmRSS")?;
    println!("memory {when}: {}", mib(memory));
    Ok(memory as f64)
}

fn print(what: &str, model: &[Duration], events: &[Duration]) {
    println!("{what}: {} events", events.len());
    println!("  the model: {}", latencies(model));
    println!("  an event:  {}", latencies(events));
    let at = |times: &[Duration], percent| {
        percentile(&times.iter().map(Duration::as_secs_f64).collect::<Vec<_>>(), percent) * 1e3
    };
    let beside = |percent| at(events, percent) - at(model, percent);
    println!("  beside the model: p50 {:.2} ms, p99 {:.2} ms", beside(50.0), beside(99.0));
}
