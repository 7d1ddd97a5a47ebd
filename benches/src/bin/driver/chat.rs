//! Chat through a rendered prompt: the service, a bare proxy and the upstream itself, in turns, so that all see the
//! same machine.

use std::path::{Path, PathBuf};
use std::time::Instant;

use serde_json::{Value as Json, json};

use crate::completions::{self, CHUNKS, INSTANT};
use crate::connection::Connection;
use crate::figures::mib;
use crate::model_server::ModelServer;
use crate::options::Options;
use crate::process::Server;
use crate::{Outcome, workload, wrk};
use ai_prompt_benches::statistics::{median, ratios};

/// The request of the workload that is measured.
const REQUEST: &str = "small";
/// How often in a round one connection to each is opened: which worker and core it meets is a matter of luck.
const SESSIONS: usize = 20;
/// How many requests such a connection makes.
const EXCHANGES: usize = 50;
/// The turns of direct, bare and ours: each comes as often after one of the others as after the other one.
const TURNS: [[usize; 3]; 2] = [[0, 1, 2], [0, 2, 1]];

/// What answers, and the file with what it is asked.
struct Target {
    url: String,
    body: PathBuf,
}

/// One kind of answer: from the upstream directly, through the bare proxy and through the service.
struct Row {
    name: &'static str,
    answer: String,
    targets: [Target; 3],
    per_second: [Vec<f64>; 3],
    /// The p50 of each round, in microseconds.
    p50: [Vec<f64>; 3],
}

/// Measures and prints a table.
pub async fn run(options: &Options) -> Outcome {
    let (packages, bodies) = (tempfile::tempdir()?, tempfile::tempdir()?);
    workload::write_package(packages.path())?;
    let models = ModelServer::start()?;
    let upstream = format!("{}/chat/completions", models.base);
    let bare = Server::proxy(&workload::folder(), &upstream).await?;
    let flags = ["-s", &format!("llm.base_url={}", models.base), "-s", "llm.api_key=bench"];
    let ours = Server::service(None, Some(packages.path()), &flags).await?;
    let urls = [upstream, bare.url("/"), ours.url(workload::CHAT)];
    let mut rows = Vec::new();
    for streamed in [false, true] {
        rows.push(Row::verified(streamed, &urls, &models, bodies.path())?);
    }
    for round in 1..=options.rounds(7) {
        eprintln!("round {round}");
        for row in &mut rows {
            row.load(TURNS[round % 2], options).await?;
            tokio::task::block_in_place(|| row.exchange())?;
        }
    }
    print_table(&rows);
    for (name, server) in [("bare", &bare), ("ours", &ours)] {
        println!("peak memory of {name}: {}", mib(server.memory_kib("VmHWM")?));
    }
    Ok(())
}

impl Row {
    /// A row without figures, of servers that do what they must.
    fn verified(streamed: bool, urls: &[String; 3], models: &ModelServer, bodies: &Path) -> Outcome<Row> {
        let mut body = workload::body(REQUEST)?;
        body["model"] = json!(INSTANT);
        let (name, answer) = match streamed {
            false => ("whole", completions::whole()),
            true => ("streamed", completions::stream(CHUNKS)),
        };
        if streamed {
            body["stream"] = json!(true);
        }
        let body = body.to_string().into_bytes();
        let [direct, bare, ours] = urls;
        verify(ours, &body, &answer, models)?;
        verify(bare, &body, &answer, models)?;
        let plain = bodies.join(format!("{name}.json"));
        std::fs::write(&plain, body)?;
        // The upstream is asked directly what the bare proxy has just asked it.
        let rendered = bodies.join(format!("{name}.rendered.json"));
        std::fs::write(&rendered, models.last_body())?;
        let targets = [(direct, &rendered), (bare, &plain), (ours, &plain)]
            .map(|(url, body)| Target { url: url.clone(), body: body.clone() });
        Ok(Row { name, answer, targets, per_second: Default::default(), p50: Default::default() })
    }

    /// Requests per second on 64 connections.
    async fn load(&mut self, turn: [usize; 3], options: &Options) -> Outcome {
        for at in turn {
            let Target { url, body } = &self.targets[at];
            self.per_second[at].push(wrk::load(url, body, options.duration(4)).await?);
        }
        Ok(())
    }

    /// The times of one connection to each, many times.
    fn exchange(&mut self) -> Outcome {
        let mut times: [Vec<f64>; 3] = Default::default();
        for _ in 0..SESSIONS {
            self.session(&mut times)?;
        }
        for (p50, times) in self.p50.iter_mut().zip(&times) {
            p50.push(median(times));
        }
        Ok(())
    }

    /// Adds the times of new connections, request by request.
    fn session(&self, times: &mut [Vec<f64>; 3]) -> Outcome {
        let mut connections = Vec::new();
        for target in &self.targets {
            connections.push(Connection::open(&target.url, &std::fs::read(&target.body)?)?);
        }
        for at in TURNS.iter().cycle().take(EXCHANGES).flatten().copied() {
            let began = Instant::now();
            let answer = connections[at].exchange()?;
            times[at].push(began.elapsed().as_secs_f64() * 1e6);
            same(&self.targets[at].url, &answer, &self.answer)?;
        }
        Ok(())
    }
}

/// Asserts that a server asks the upstream with the rendered messages, and answers what the upstream answers.
fn verify(url: &str, body: &[u8], answer: &str, models: &ModelServer) -> Outcome {
    same(url, &Connection::open(url, body)?.exchange()?, answer)?;
    let asked: Json = serde_json::from_slice(&models.last_body())?;
    if asked["messages"] == workload::messages(REQUEST)? {
        return Ok(());
    }
    Err(format!("{url} does not send the rendered messages: {asked}").into())
}

fn same(url: &str, answer: &str, expected: &str) -> Outcome {
    match answer == expected {
        true => Ok(()),
        false => Err(format!("{url} changes the upstream's answer: {answer}").into()),
    }
}

fn print_table(rows: &[Row]) {
    println!("chat with a rendered prompt, medians; ratios of ours to bare (lowest..highest of a round)");
    println!("{:44} {:>8} {:>8} {:>8} {:>20}", "", "direct", "bare", "ours", "ratio");
    for Row { name, per_second: [direct, bare, ours], .. } in rows {
        print_row(&format!("{name}: requests per second, 64 connections"), [direct, bare, ours]);
    }
    for Row { name, p50: [direct, bare, ours], .. } in rows {
        print_row(&format!("{name}: p50 of one connection, us"), [direct, bare, ours]);
        let [none, bare, ours] = [direct, bare, ours].map(|times| added(times, direct));
        print_row(&format!("{name}: added to direct, us"), [&none, &bare, &ours]);
    }
}

fn print_row(what: &str, [direct, bare, ours]: [&Vec<f64>; 3]) {
    let [direct_median, bare_median, ours_median] = [direct, bare, ours].map(|figures| median(figures));
    let ratio = ratios(ours, bare);
    println!("{what:44} {direct_median:8.0} {bare_median:8.0} {ours_median:8.0} {ratio:>20}");
}

/// How much longer than directly it took in each round.
fn added(times: &[f64], direct: &[f64]) -> Vec<f64> {
    times.iter().zip(direct).map(|(time, direct)| time - direct).collect()
}
