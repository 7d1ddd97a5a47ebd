//! Requests per second of the service, beside a bare handler, in turns, so that both see the same machine.

use crate::figures::mib;
use crate::options::Options;
use crate::process::Server;
use crate::workload::{GO, JINJA, REQUESTS, body_file, verify};
use crate::{Outcome, workload, wrk};
use ai_prompt_benches::statistics::{median, ratios};

/// One request measured: at the bare handler, and at ours in both dialects.
struct Row {
    request: &'static str,
    bare: Vec<f64>,
    jinja: Vec<f64>,
    go: Vec<f64>,
}

/// Measures and prints a table.
pub async fn run(options: &Options) -> Outcome {
    let packages = tempfile::tempdir()?;
    workload::write_package(packages.path(), None)?;
    let ours = Server::service(None, Some(packages.path()), &[]).await?;
    let bare = Server::bare(&workload::folder()).await?;
    let mut rows = Vec::new();
    for request in REQUESTS {
        for url in [bare.url("/"), ours.url(JINJA), ours.url(GO)] {
            verify(&url, request).await?;
        }
        rows.push(Row { request, bare: Vec::new(), jinja: Vec::new(), go: Vec::new() });
    }
    for round in 1..=options.rounds(7) {
        eprintln!("round {round}");
        for row in &mut rows {
            row.measure(&bare, &ours, options).await?;
        }
    }
    print_table(&rows);
    for (name, server) in [("bare", &bare), ("ours", &ours)] {
        println!("peak memory of {name}: {}", mib(server.memory_kib("VmHWM")?));
    }
    Ok(())
}

impl Row {
    async fn measure(&mut self, bare: &Server, ours: &Server, options: &Options) -> Outcome {
        let turns = [
            (&mut self.bare, bare.url("/")),
            (&mut self.jinja, ours.url(JINJA)),
            (&mut self.go, ours.url(GO)),
        ];
        for (figures, url) in turns {
            figures.push(wrk::load(&url, &body_file(self.request), options.duration(4)).await?);
        }
        Ok(())
    }
}

fn print_table(rows: &[Row]) {
    println!("requests per second, 64 connections, medians; ratios to bare (lowest..highest of a round)");
    println!("{:10} {:>8} {:>8} {:>20} {:>8} {:>20}", "", "bare", "jinja", "ratio", "go", "ratio");
    for Row { request, bare, jinja, go } in rows {
        println!(
            "{request:10} {:8.0} {:8.0} {:>20} {:8.0} {:>20}",
            median(bare),
            median(jinja),
            ratios(jinja, bare),
            median(go),
            ratios(go, bare),
        );
    }
}
