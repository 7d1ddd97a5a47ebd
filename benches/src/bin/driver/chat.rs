//! Chat through a rendered prompt: the service, two bare proxies and the upstream itself, in turns, so that all see the
//! same machine.

use std::path::{Path, PathBuf};
use std::time::Instant;

use serde_json::{Value as Json, json};

use crate::completions::{self, BURST, CHUNKS, INSTANT};
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
/// How many are measured: the upstream directly, the bare proxies with reqwest and with awc, and the service.
const TARGETS: usize = 4;
/// Their turns: each comes as often before one of the others as after it.
const TURNS: [[usize; TARGETS]; 2] = [[0, 1, 2, 3], [0, 3, 2, 1]];

/// What answers, and the file with what it is asked.
struct Target {
    url: String,
    body: PathBuf,
}

/// How an answer comes.
#[derive(Clone, Copy, PartialEq)]
enum Kind {
    Whole,
    /// As a stream, chunk by chunk.
    Streamed,
    /// As a stream that is sent in one piece.
    Burst,
}

/// One kind of answer: from the upstream directly, through the bare proxies and through the service.
struct Row {
    name: &'static str,
    answer: String,
    targets: [Target; TARGETS],
    per_second: [Vec<f64>; TARGETS],
    /// The p50 of each round, in microseconds.
    p50: [Vec<f64>; TARGETS],
}

/// Measures and prints a table.
pub async fn run(options: &Options) -> Outcome {
    let (packages, bodies) = (tempfile::tempdir()?, tempfile::tempdir()?);
    workload::write_package(packages.path(), None)?;
    let models = ModelServer::start()?;
    let upstream = format!("{}/chat/completions", models.base);
    let bare = Server::proxy(&workload::folder(), &upstream, "reqwest").await?;
    let joining = Server::proxy(&workload::folder(), &upstream, "awc").await?;
    let flags = ["-s", &format!("llm.base_url={}", models.base), "-s", "llm.api_key=bench"];
    let ours = Server::service(None, Some(packages.path()), &flags).await?;
    let urls = [upstream, bare.url("/"), joining.url("/"), ours.url(workload::CHAT)];
    let mut rows = Vec::new();
    for kind in [Kind::Whole, Kind::Streamed, Kind::Burst] {
        rows.push(Row::verified(kind, &urls, &models, bodies.path())?);
    }
    for round in 1..=options.rounds(7) {
        eprintln!("round {round}");
        for row in &mut rows {
            row.load(TURNS[round % 2], options).await?;
            tokio::task::block_in_place(|| row.exchange())?;
        }
    }
    print_table(&rows);
    for (name, server) in [("reqwest", &bare), ("awc", &joining), ("ours", &ours)] {
        println!("peak memory of {name}: {}", mib(server.memory_kib("VmHWM")?));
    }
    Ok(())
}

impl Row {
    /// A row without figures, of servers that do what they must.
    fn verified(kind: Kind, urls: &[String; TARGETS], models: &ModelServer, bodies: &Path) -> Outcome<Row> {
        let mut body = workload::body(REQUEST)?;
        let (name, model, answer) = match kind {
            Kind::Whole => ("whole", INSTANT, completions::whole()),
            Kind::Streamed => ("streamed", INSTANT, completions::stream(CHUNKS)),
            Kind::Burst => ("burst", BURST, completions::stream(CHUNKS)),
        };
        body["model"] = json!(model);
        if kind != Kind::Whole {
            body["stream"] = json!(true);
        }
        let body = body.to_string().into_bytes();
        let [direct, proxies @ ..] = urls;
        for proxy in proxies {
            verify(proxy, &body, &answer, models)?;
        }
        let plain = bodies.join(format!("{name}.json"));
        std::fs::write(&plain, body)?;
        // The upstream is asked directly what it was asked last.
        let rendered = bodies.join(format!("{name}.rendered.json"));
        std::fs::write(&rendered, models.last_body())?;
        let targets = urls.each_ref().map(|url| Target {
            url: url.clone(),
            body: if url == direct { rendered.clone() } else { plain.clone() },
        });
        Ok(Row { name, answer, targets, per_second: Default::default(), p50: Default::default() })
    }

    /// Requests per second on 64 connections.
    async fn load(&mut self, turn: [usize; TARGETS], options: &Options) -> Outcome {
        for at in turn {
            let Target { url, body } = &self.targets[at];
            self.per_second[at].push(wrk::load(url, body, options.duration(4)).await?);
        }
        Ok(())
    }

    /// The times of one connection to each, many times.
    fn exchange(&mut self) -> Outcome {
        let mut times: [Vec<f64>; TARGETS] = Default::default();
        for _ in 0..SESSIONS {
            self.session(&mut times)?;
        }
        for (p50, times) in self.p50.iter_mut().zip(&times) {
            p50.push(median(times));
        }
        Ok(())
    }

    /// Adds the times of new connections, request by request.
    fn session(&self, times: &mut [Vec<f64>; TARGETS]) -> Outcome {
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
    println!(
        "chat with a rendered prompt, medians; ratios of ours to bare proxies (lowest..highest of a round)"
    );
    println!(
        "{:44} {:>7} {:>7} {:>7} {:>7} {:>20} {:>20}",
        "", "direct", "reqwest", "awc", "ours", "to reqwest", "to awc"
    );
    for Row { name, per_second, .. } in rows {
        print_row(&format!("{name}: requests per second, 64 connections"), per_second);
    }
    for Row { name, p50, .. } in rows {
        print_row(&format!("{name}: p50 of one connection, us"), p50);
        let added = p50.each_ref().map(|times| added(times, &p50[0]));
        print_row(&format!("{name}: added to direct, us"), &added);
    }
}

fn print_row(what: &str, figures: &[Vec<f64>; TARGETS]) {
    let [_, reqwest, awc, ours] = figures;
    print!("{what:44}");
    figures.iter().for_each(|figures| print!(" {:7.0}", median(figures)));
    println!(" {:>20} {:>20}", ratios(ours, reqwest), ratios(ours, awc));
}

/// How much longer than directly it took in each round.
fn added(times: &[f64], direct: &[f64]) -> Vec<f64> {
    times.iter().zip(direct).map(|(time, direct)| time - direct).collect()
}
