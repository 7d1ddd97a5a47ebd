//! What calls of tools cost: waves beside one call, many renders beside bare requests, and a call of no time.

use std::path::Path;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, Instant};

use futures_util::future::try_join_all;
use serde_json::{Value as Json, json};

use crate::figures::latencies;
use crate::options::Options;
use crate::process::Server;
use crate::{Outcome, client, tool_server, workload, wrk};
use ai_prompt_benches::statistics::{median, ratios};

/// How long the tools take that take their time, in milliseconds.
const SLOW_MS: u64 = 50;
/// How many renders run at once, each with [`CALLS`] calls.
const RENDERS: usize = 200;
/// The independent calls of one render.
const CALLS: usize = 10;

/// The prompts, by name: texts in Jinja.
fn prompts() -> Vec<(&'static str, String)> {
    let ten: String = (0..CALLS).map(|at| format!("{{{{ slow_t{at}(variables.n) }}}}")).collect();
    vec![
        ("none", "{{ variables.n }}".to_owned()),
        ("instant", "{{ instant_t0(variables.n) }}".to_owned()),
        ("one", "{{ slow_t0(variables.n) }}".to_owned()),
        ("ten", ten),
        ("chain", "{{ slow_t0(slow_t1(slow_t2(variables.n))) }}".to_owned()),
    ]
}

/// Measures and prints.
pub async fn run(options: &Options) -> Outcome {
    let tools = tool_server::start()?;
    let packages = tempfile::tempdir()?;
    workload::write_package(packages.path(), None)?;
    let service = Server::service(None, Some(packages.path()), &["-s", "render.timeout_ms=20000"]).await?;
    register(&service, &tools).await?;
    waves(&service, options).await?;
    many(&service, &tools, options).await?;
    instant(&service, &tools, options).await?;
    drop(service);
    without(packages.path(), options).await
}

async fn register(service: &Server, tools: &str) -> Outcome {
    for (module, ms) in [("slow", SLOW_MS), ("instant", 0)] {
        for at in 0..CALLS {
            let document = json!({
                "module": module, "name": format!("t{at}"), "type": "restful", "timeoutMs": 20_000,
                "url": format!("{tools}/after/{ms}"), "parameters": {"properties": {"n": {}}},
            });
            client::put(&service.url(&format!("/api/tools/{module}.t{at}")), document.to_string()).await?;
        }
    }
    for (name, text) in prompts() {
        let document = json!({"userPrompt": text, "syntax": "jinja"});
        client::put(&service.url(&format!("/api/prompts/calls.{name}")), document.to_string()).await?;
    }
    Ok(())
}

/// Renders a prompt; `n` tells its calls from those of other renders.
async fn render(service: &Server, name: &str, n: usize) -> Outcome<Duration> {
    let body = json!({"variables": {"n": n}}).to_string();
    let began = Instant::now();
    let (status, answer) =
        client::post(&service.url(&format!("/api/render/prompts/calls.{name}")), body).await?;
    let took = began.elapsed();
    if status != 200 || answer.get("warnings").is_some() {
        return Err(format!("calls.{name}: {status} {answer}").into());
    }
    Ok(took)
}

async fn waves(service: &Server, options: &Options) -> Outcome {
    let mut times: [Vec<f64>; 3] = Default::default();
    for round in 0..options.rounds(20) {
        for (name, times) in ["one", "ten", "chain"].into_iter().zip(&mut times) {
            times.push(render(service, name, round).await?.as_secs_f64() * 1e3);
        }
    }
    let [one, ten, chain] = times;
    println!("a render with calls of {SLOW_MS} ms, medians; ratios to one call (lowest..highest of a round)");
    println!("  one call {:.1} ms", median(&one));
    println!("  {CALLS} independent calls {:.1} ms, {}", median(&ten), ratios(&ten, &one));
    println!("  a chain of three {:.1} ms, {}", median(&chain), ratios(&chain, &one));
    Ok(())
}

/// Many renders at once beside the same requests made bare, in turns.
async fn many(service: &Server, tools: &str, options: &Options) -> Outcome {
    let bare = base::outbound::plain_client().no_proxy().build()?;
    let (mut bare_times, mut our_times, mut plain) = (Vec::new(), Vec::new(), Vec::new());
    let rounds = options.rounds(9);
    // The first round of each sets its connections up.
    for round in 0..=rounds {
        let bare_time = bare_requests(&bare, tools).await?;
        let (our_time, times) = our_renders(service).await?;
        if round > 0 {
            bare_times.push(bare_time.as_secs_f64() * 1e3);
            our_times.push(our_time.as_secs_f64() * 1e3);
            plain.extend(times);
        }
    }
    println!("{RENDERS} renders of {CALLS} calls at once, medians of {rounds} rounds");
    println!("  bare join_all of the same requests {:.0} ms", median(&bare_times));
    println!("  renders {:.0} ms, ratio {}", median(&our_times), ratios(&our_times, &bare_times));
    println!("  a plain render meanwhile: {} ({} of them)", latencies(&plain), plain.len());
    Ok(())
}

async fn bare_requests(bare: &reqwest::Client, tools: &str) -> Outcome<Duration> {
    let url = format!("{tools}/after/{SLOW_MS}");
    let began = Instant::now();
    let requests = (0..RENDERS * CALLS).map(|n| {
        let request = bare.post(&url).json(&json!({"n": n}));
        async move { request.send().await?.error_for_status()?.text().await }
    });
    try_join_all(requests).await?;
    Ok(began.elapsed())
}

async fn our_renders(service: &Server) -> Outcome<(Duration, Vec<Duration>)> {
    let done = Arc::new(AtomicBool::new(false));
    let plain = async {
        let mut times = Vec::new();
        while !done.load(Ordering::Relaxed) {
            times.push(render(service, "none", 0).await?);
        }
        Outcome::Ok(times)
    };
    let calling = async {
        let began = Instant::now();
        try_join_all((0..RENDERS).map(|n| render(service, "ten", n))).await?;
        done.store(true, Ordering::Relaxed);
        Outcome::Ok(began.elapsed())
    };
    let (took, times) = tokio::try_join!(calling, plain)?;
    Ok((took, times))
}

/// What a call of no time adds to a render beside the request itself.
async fn instant(service: &Server, tools: &str, options: &Options) -> Outcome {
    let bare = base::outbound::plain_client().no_proxy().build()?;
    let url = format!("{tools}/after/0");
    let mut times: [Vec<f64>; 3] = Default::default();
    for n in 0..options.rounds(2_000) {
        let began = Instant::now();
        bare.post(&url).json(&json!({"n": n})).send().await?.json::<Json>().await?;
        let [request, none, one] = &mut times;
        request.push(began.elapsed().as_secs_f64() * 1e6);
        none.push(render(service, "none", n).await?.as_secs_f64() * 1e6);
        one.push(render(service, "instant", n).await?.as_secs_f64() * 1e6);
    }
    let [request, none, one] = times.map(|times| median(&times));
    println!("a call of 0 ms, medians");
    println!(
        "  the request by itself {request:.0} us, a render without a call {none:.0} us, with it {one:.0} us"
    );
    println!("  the call beyond the request {:.0} us", one - none - request);
    Ok(())
}

/// A prompt that calls nothing, where there are many tools and where there are none.
async fn without(packages: &Path, options: &Options) -> Outcome {
    let service = Server::service(None, Some(packages), &[]).await?;
    let alone = Server::service(None, Some(packages), &[]).await?;
    for at in 0..1_000 {
        let document =
            json!({"module": "m", "name": format!("t{at}"), "type": "restful", "url": "http://127.0.0.1:1/"});
        client::put(&service.url(&format!("/api/tools/m.t{at}")), document.to_string()).await?;
    }
    println!(
        "requests per second of a prompt without calls, 64 connections: with 1,000 tools, without any, ratio"
    );
    for (dialect, path) in [("jinja", workload::JINJA), ("go", workload::GO)] {
        let (mut with, mut none) = (Vec::new(), Vec::new());
        for _ in 0..options.rounds(5) {
            for (times, server) in [(&mut with, &service), (&mut none, &alone)] {
                times.push(
                    wrk::load(&server.url(path), &workload::body_file("small"), options.duration(3)).await?,
                );
            }
        }
        println!("  {dialect}: {:.0}, {:.0}, {}", median(&with), median(&none), ratios(&with, &none));
    }
    Ok(())
}
