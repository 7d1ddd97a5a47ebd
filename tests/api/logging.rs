//! The log of a running service, whatever becomes of the pipe that it is written to.

use std::io::{BufRead, BufReader};
use std::process::Stdio;
use std::time::Duration;

use rustix::process::Signal;
use tokio::time::timeout;

use support::process::Service;

const TRACE: &str = "[log]\nlevel = \"trace\"\n";

/// Has four clients send so many requests each; all must be answered.
async fn ask_often(service: &Service, requests: usize) {
    let clients = (0..4).map(|_| async {
        for _ in 0..requests {
            let asked = timeout(Duration::from_secs(20), service.client().get("/healthz")).await;
            assert_eq!(asked.expect("an answer, though nobody reads the log").status, 200);
        }
    });
    futures_util::future::join_all(clients).await;
}

#[actix_web::test]
async fn a_log_that_nobody_reads_holds_nobody_up_and_says_later_how_much_was_dropped() {
    let mut service = Service::begin(TRACE, |command| {
        command.stderr(Stdio::piped());
    })
    .await;
    let pipe = service.stderr();
    let dropped = async || {
        let status = service.client().get("/api/status").await;
        status.body["log"]["dropped_lines"].as_u64().unwrap()
    };
    ask_often(&service, 500).await;
    while dropped().await == 0 {
        ask_often(&service, 100).await;
    }
    let told = std::thread::spawn(move || {
        let lines = BufReader::new(pipe).lines().map_while(Result::ok);
        lines.into_iter().find(|line| line.contains("log lines were dropped"))
    });
    for _ in 0..1_000 {
        if told.is_finished() {
            break;
        }
        tokio::time::sleep(Duration::from_millis(10)).await;
    }
    assert!(told.is_finished(), "the log never says that lines were dropped");
    let line = told.join().unwrap().unwrap();
    assert!(line.contains("WARN"), "{line}");
    let (_, count) = line.split_once("lines=").unwrap();
    assert!(count.trim().parse::<u64>().unwrap() > 0, "{line}");
}

#[actix_web::test]
async fn a_log_and_a_greeting_that_go_nowhere_are_no_end_of_the_service() {
    let mut service = Service::begin(TRACE, |command| {
        let (gone, pipe) = std::io::pipe().unwrap();
        drop(gone);
        command.stdout(pipe).stderr(Stdio::piped());
    })
    .await;
    drop(service.stderr());
    ask_often(&service, 50).await;
    service.signal(Signal::TERM);
    assert_eq!(service.ended().await.code(), Some(0));
}
