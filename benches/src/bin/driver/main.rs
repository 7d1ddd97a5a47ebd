//! Measures the release binary from outside, as clients see it: `make bench-http`, `bench-scan`, `bench-live`, `bench-hostile`, `bench-tools`, `bench-chat`,
//! `bench-streams`, `bench-overload`, `bench-sessions`.
//!
//! - `http`: requests per second, beside a bare actix-web handler around minijinja in the same run
//! - `scan`: start, memory and idle costs with 100,000 environs in Redis
//! - `live`: renders under load while documents change: failures, torn answers, how old they are
//! - `hostile`: latency of a normal render while hostile templates run
//! - `overload`: heavy renders at twice the capacity; light requests beside them, and beside large bodies
//! - `tools`: calls of tools in waves, many at once, and of no time, beside bare requests
//! - `chat`: answers of a model through a rendered prompt, beside a bare proxy in the same run
//! - `structured`: values that fit a schema, beside plain chats; part of `chat`
//! - `streams`: 1,000 streams held for a minute: failures, memory
//! - `sessions`: 1,000 waiting sessions: memory, the time of events beside the model's
//! - `process`, `redis`, `workload`, `wrk`, `client`, `connection`, `model_server`, `completions`, `tool_server`,
//!   `figures`: what these are made of

mod chat;
mod client;
mod completions;
mod connection;
mod figures;
mod hostile;
mod hostile_templates;
mod http;
mod live;
mod memory;
mod model_server;
mod options;
mod overload;
mod process;
mod redis;
mod scan;
mod sessions;
mod streams;
mod structured;
mod tool_server;
mod tools;
mod workload;
mod wrk;

use ai_prompt_benches::Outcome;
use options::Options;
use tokio::signal::unix::{SignalKind, signal};

const USAGE: &str = "usage: driver http|scan|live|hostile|overload|tools|chat|structured|streams|sessions [--seconds N] [--rounds N]";

#[tokio::main(worker_threads = 2)]
async fn main() -> Outcome {
    let mut arguments = std::env::args().skip(1);
    let what = arguments.next().ok_or(USAGE)?;
    let options = Options::parse(arguments)?;
    tokio::select! {
        done = measure(&what, &options) => done,
        // Returning from here ends the servers that were started.
        stopped = stopped() => stopped.and(Err("stopped".into())),
    }
}

async fn measure(what: &str, options: &Options) -> Outcome {
    match what {
        "http" => http::run(options).await,
        "scan" => scan::run(options).await,
        "live" => live::run(options).await,
        "hostile" => hostile::run(options).await,
        "overload" => overload::run(options).await,
        "tools" => tools::run(options).await,
        "chat" => {
            chat::run(options).await?;
            structured::run(options).await
        }
        "structured" => structured::run(options).await,
        "streams" => streams::run(options).await,
        "sessions" => sessions::run(options).await,
        _ => Err(USAGE.into()),
    }
}

/// Returns when somebody wants the program to end.
async fn stopped() -> Outcome {
    let mut terminated = signal(SignalKind::terminate())?;
    let mut interrupted = signal(SignalKind::interrupt())?;
    tokio::select! {
        _ = terminated.recv() => {}
        _ = interrupted.recv() => {}
    }
    Ok(())
}
