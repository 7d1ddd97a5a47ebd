//! What large requests and answers take in memory, each at a server of its own.

use std::fmt::Write as _;
use std::net::TcpStream;
use std::time::Duration;

use serde_json::{Value as Json, json};
use tokio::io::AsyncWriteExt;
use tokio::task::JoinSet;

use crate::figures::mib;
use crate::model_server::ModelServer;
use crate::process::Server;
use crate::{Outcome, client};

/// How many bodies come at the same time.
const BODIES: usize = 100;
/// How many answers of the model come at the same time, and how long each one is, in MB.
const ANSWERS: usize = 64;
const ANSWER_MB: usize = 33;

/// Measures and prints.
pub async fn run() -> Outcome {
    let records = records(15_000_000);
    let tiny = json!({"variables": {"items": vec![json!({"": 0}); 2_000_000]}}).to_string();
    for (name, prompt, body) in [
        ("records", "plain", &records),
        ("records, for a prompt with parameters", "checked", &records),
        ("objects of one number", "plain", &tiny),
    ] {
        let (server, idle) = server(&[]).await?;
        let url = server.url(&format!("/api/render/prompts/load.{prompt}"));
        let status = client::ask(&url, body.clone()).await?.status;
        let taken = server.memory_kib("VmHWM")?.saturating_sub(idle);
        let (size, times) = (body.len() as u64 / 1024, taken as f64 * 1024.0 / body.len() as f64);
        println!("a body of {} of {name}: {status}, {} more ({times:.1} times)", mib(size), mib(taken));
    }
    held_bodies(&records).await?;
    large_answers().await
}

/// A server with two prompts, and its memory then, in KiB.
async fn server(flags: &[&str]) -> Outcome<(Server, u64)> {
    let server = Server::service(None, None, flags).await?;
    let parameters = json!({"type": "object", "properties": {"items": {"type": "array"}}});
    let plain = json!({"userPrompt": "{{ variables.items | length }}"});
    let checked = json!({"userPrompt": "{{ variables.items | length }}", "parameters": parameters});
    for (name, document) in [("plain", plain), ("checked", checked)] {
        client::put(&server.url(&format!("/api/prompts/load.{name}")), document.to_string()).await?;
    }
    let idle = server.memory_kib("VmHWM")?;
    Ok((server, idle))
}

/// Variables of about so many bytes.
fn records(bytes: usize) -> String {
    let record = |n: usize| json!({"id": n, "name": format!("item number {n}"), "price": n as f64 / 100.0});
    let items: Vec<Json> = (0..bytes / 60).map(record).collect();
    json!({"variables": {"items": items}}).to_string()
}

/// Bodies that all lack their last byte.
async fn held_bodies(body: &str) -> Outcome {
    let (server, _) = server(&[]).await?;
    let address = server.base.trim_start_matches("http://").to_owned();
    let mut head = String::new();
    write!(head, "POST /api/render/prompts/load.plain HTTP/1.1\r\nhost: {address}\r\n")?;
    write!(head, "content-type: application/json\r\ncontent-length: {}\r\n\r\n", body.len())?;
    let mut connections = Vec::new();
    for _ in 0..BODIES {
        let stream = TcpStream::connect(&address)?;
        stream.set_nonblocking(true)?;
        let mut stream = tokio::net::TcpStream::from_std(stream)?;
        // Who is refused is cut off, and so cannot send all.
        if stream.write_all(head.as_bytes()).await.is_ok() {
            let _all_of_it = stream.write_all(&body.as_bytes()[..body.len() - 1]).await;
        }
        connections.push(stream);
    }
    tokio::time::sleep(Duration::from_millis(500)).await;
    let peak = mib(server.memory_kib("VmHWM")?);
    println!("{BODIES} bodies of {} that lack their last byte: peak {peak}", mib(body.len() as u64 / 1024));
    Ok(())
}

/// Long answers of the model, all at the same time.
async fn large_answers() -> Outcome {
    let models = ModelServer::start()?;
    let base = format!("llm.base_url={}", models.base);
    let (server, _) = server(&["-s", &base, "-s", "llm.api_key=bench"]).await?;
    let (url, mut chats) = (server.url("/v1/chat/completions"), JoinSet::new());
    let question = json!([{"role": "user", "content": "a long answer, please"}]);
    let body = json!({"model": format!("large-{ANSWER_MB}"), "messages": question}).to_string();
    for _ in 0..ANSWERS {
        let (url, body) = (url.clone(), body.clone());
        chats.spawn(async move { client::ask(&url, body).await });
    }
    let (mut whole, mut refused) = (0, 0);
    while let Some(chat) = chats.join_next().await {
        match chat??.status {
            200 => whole += 1,
            _ => refused += 1,
        }
    }
    let peak = mib(server.memory_kib("VmHWM")?);
    println!("{ANSWERS} answers of a model of {ANSWER_MB} MB: {whole} came, {refused} refused, peak {peak}");
    Ok(())
}
