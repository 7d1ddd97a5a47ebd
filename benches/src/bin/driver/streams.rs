//! 1,000 streams held at once on one service: every one is read to its end and checked; memory while they last.

use std::sync::Arc;
use std::time::Duration;

use reqwest::RequestBuilder;
use serde_json::json;
use tokio::sync::mpsc;
use tokio::task::JoinSet;
use tokio::time::{Instant, sleep, sleep_until, timeout};

use crate::figures::mib;
use crate::model_server::ModelServer;
use crate::options::Options;
use crate::process::{self, Server};
use crate::{Outcome, completions, workload};

const STREAMS: usize = 1_000;
/// What a quiet stream may hold besides its events.
const KEEP_ALIVE: &str = ": keep-alive\n\n";
/// The files that the driver and the service, which inherits its limit, may each need open: two connections for each
/// stream, and some more.
const FILES: u64 = 2 * STREAMS as u64 + 200;
/// How long it may take until all streams are open.
const OPENING: Duration = Duration::from_secs(10);
/// How long the service gets to settle: after the opening, and after the end of all streams.
const SETTLING: Duration = Duration::from_secs(5);
/// How often the memory is printed.
const EVERY: Duration = Duration::from_secs(10);

/// Measures and prints.
pub async fn run(options: &Options) -> Outcome {
    process::raise_file_limit(FILES)?;
    let duration = options.duration(60).max(2 * OPENING);
    let packages = tempfile::tempdir()?;
    workload::write_package(packages.path(), None)?;
    let models = ModelServer::start()?;
    let base_url = format!("llm.base_url={}", models.base);
    let flags = ["-s", &base_url, "-s", "llm.api_key=bench", "-s", "llm.parallel=2000"];
    let service = Server::service(None, Some(packages.path()), &flags).await?;

    let before = print_memory("before", &service)?;
    let began = Instant::now();
    let streams = open(&service, duration).await?;
    let held = print_memory("with all streams open", &service)?;
    // The first stream ends this long after it has begun, or later.
    let growth = watch(&service, began, began + duration).await?;
    let failed = failures(streams).await?;
    sleep(SETTLING).await;
    print_memory("after all streams", &service)?;
    println!("memory per stream: {:.1} KiB", (held - before) / STREAMS as f64);
    println!("growth while they lasted: {growth:.0} KiB");
    println!("streams that failed: {failed} of {STREAMS}");
    if failed == 0 { Ok(()) } else { Err("some streams failed".into()) }
}

/// Starts all streams; returns when all are open.
async fn open(service: &Server, duration: Duration) -> Outcome<JoinSet<Outcome>> {
    let seconds = duration.as_secs();
    let mut body = workload::body("small")?;
    body["model"] = json!(format!("slow-{seconds}"));
    body["stream"] = json!(true);
    let client = base::outbound::plain_client().no_proxy().build()?;
    let request = client.post(service.url(workload::CHAT)).json(&body);
    let expected: Arc<str> = completions::stream(seconds as usize).into();
    let (opened, mut openings) = mpsc::channel(STREAMS);
    let mut streams = JoinSet::new();
    for _ in 0..STREAMS {
        let request = request.try_clone().ok_or("the request cannot be sent twice")?;
        streams.spawn(read(request, expected.clone(), opened.clone()));
    }
    let all = async {
        for _ in 0..STREAMS {
            openings.recv().await;
        }
    };
    if timeout(OPENING, all).await.is_ok() {
        return Ok(streams);
    }
    while let Some(ended) = streams.try_join_next() {
        ended??;
    }
    Err(format!("not all streams are open after {} s", OPENING.as_secs()).into())
}

/// Reads a stream to its end and checks it; its first bytes open it.
async fn read(request: RequestBuilder, expected: Arc<str>, opened: mpsc::Sender<()>) -> Outcome {
    let mut answer = request.send().await?.error_for_status()?;
    let mut bytes = Vec::new();
    while let Some(part) = answer.chunk().await? {
        if bytes.is_empty() {
            opened.send(()).await?;
        }
        bytes.extend_from_slice(&part);
    }
    let text = String::from_utf8(bytes)?;
    let events = text.split_inclusive("\n\n").filter(|event| *event != KEEP_ALIVE);
    match events.eq(expected.split_inclusive("\n\n")) {
        true => Ok(()),
        false => Err(format!("a stream is not that of the upstream: {text}").into()),
    }
}

/// Prints the memory now and then until shortly before the end; gives what it grew by since it had settled, in KiB.
async fn watch(service: &Server, began: Instant, end: Instant) -> Outcome<f64> {
    sleep(SETTLING).await;
    let settled = service.memory_kib("VmRSS")? as f64;
    let last = end - Duration::from_secs(1);
    let mut next = began + EVERY;
    while next < last {
        sleep_until(next).await;
        print_memory(&format!("after {} s", began.elapsed().as_secs()), service)?;
        next += EVERY;
    }
    sleep_until(last).await;
    Ok(print_memory("at the end of streaming", service)? - settled)
}

/// Waits for all streams; gives the number of those that failed and prints why the first did.
async fn failures(mut streams: JoinSet<Outcome>) -> Outcome<usize> {
    let mut failed = 0;
    while let Some(ended) = streams.join_next().await {
        if let Err(error) = ended? {
            failed += 1;
            if failed == 1 {
                println!("the first failure: {error}");
            }
        }
    }
    Ok(failed)
}

/// Prints and gives the memory of the service, in KiB.
fn print_memory(when: &str, service: &Server) -> Outcome<f64> {
    let memory = service.memory_kib("VmRSS")?;
    println!("memory {when}: {}", mib(memory));
    Ok(memory as f64)
}
