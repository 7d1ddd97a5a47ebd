//! The least that a chat service can be: actix-web and reqwest around minijinja, the yardstick of `make bench-chat`.
//!
//! `proxy ADDRESS WORKLOAD_DIR UPSTREAM` answers any `POST` with the upstream's answer to the workload's messages.

use actix_web::http::StatusCode;
use actix_web::http::header::CONTENT_TYPE;
use actix_web::web::{Bytes, Data, post};
use actix_web::{App, HttpResponse, HttpServer, rt};
use ai_prompt_benches::bare_prompt::{BarePrompt, Message};
use minijinja::Value;
use reqwest::header::{self, HeaderValue};
use reqwest::{Client, Url};
use serde::{Deserialize, Serialize};

struct Prepared {
    prompt: BarePrompt,
    upstream: Url,
}

#[derive(Deserialize)]
struct Body<'a> {
    #[serde(alias = "variables")]
    args: Value,
    model: &'a str,
    #[serde(default)]
    stream: bool,
}

#[derive(Serialize)]
struct Payload<'a> {
    model: &'a str,
    messages: [Message; 2],
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    stream: bool,
}

async fn chat(prepared: Data<Prepared>, client: Data<Client>, body: Bytes) -> HttpResponse {
    let Ok(Body { args, model, stream }) = serde_json::from_slice(&body) else {
        return HttpResponse::BadRequest().finish();
    };
    match prepared.prompt.messages(args) {
        Ok(messages) => pass_on(&client, &prepared.upstream, &Payload { model, messages, stream })
            .await
            .unwrap_or_else(|error| HttpResponse::BadGateway().body(error.to_string())),
        Err(error) => HttpResponse::InternalServerError().body(error.to_string()),
    }
}

async fn pass_on(client: &Client, upstream: &Url, payload: &Payload<'_>) -> reqwest::Result<HttpResponse> {
    let key = HeaderValue::from_static("Bearer bench");
    let answer =
        client.post(upstream.clone()).header(header::AUTHORIZATION, key).json(payload).send().await?;
    let status = StatusCode::from_u16(answer.status().as_u16()).unwrap_or(StatusCode::BAD_GATEWAY);
    let mut reply = HttpResponse::build(status);
    if let Some(content_type) = answer.headers().get(header::CONTENT_TYPE) {
        reply.insert_header((CONTENT_TYPE, content_type.as_bytes()));
    }
    Ok(match payload.stream {
        true => reply.streaming(answer.bytes_stream()),
        false => reply.body(answer.bytes().await?),
    })
}

fn main() -> Result<(), Box<dyn std::error::Error>> {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    let [address, folder, upstream] = arguments.as_slice() else {
        return Err("usage: proxy ADDRESS WORKLOAD_DIR UPSTREAM".into());
    };
    let prepared = Data::new(Prepared { prompt: BarePrompt::load(folder)?, upstream: upstream.parse()? });
    // Each worker has a client of its own, so that a connection is driven by the thread that uses it.
    let server = HttpServer::new(move || {
        let builder = Client::builder().no_proxy().no_gzip().no_deflate().tcp_nodelay(true);
        let client = builder.build().expect("a client can be built");
        App::new().app_data(prepared.clone()).app_data(Data::new(client)).default_service(post().to(chat))
    });
    Ok(rt::System::new().block_on(server.workers(2).tcp_nodelay(true).bind(address)?.run())?)
}
