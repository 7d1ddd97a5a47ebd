//! The least that a chat service can be: actix-web and an HTTP client around minijinja, the yardsticks of `make bench-chat`.
//!
//! `proxy ADDRESS WORKLOAD_DIR UPSTREAM CLIENT` answers any `POST` with the upstream's answer to the workload's messages. The
//! client is `reqwest`, which hands an answer over chunk by chunk, or `awc`, with which actix-web joins all chunks that are ready.

use std::error::Error;

use actix_web::http::StatusCode;
use actix_web::http::header::{AUTHORIZATION, CONTENT_TYPE};
use actix_web::web::{Bytes, Data, post};
use actix_web::{App, HttpResponse, HttpResponseBuilder, HttpServer, rt};
use ai_prompt_benches::bare_prompt::{BarePrompt, Message};
use minijinja::Value;
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

async fn chat(prepared: Data<Prepared>, client: Data<AnyClient>, body: Bytes) -> HttpResponse {
    let Ok(Body { args, model, stream }) = serde_json::from_slice(&body) else {
        return HttpResponse::BadRequest().finish();
    };
    match prepared.prompt.messages(args) {
        Ok(messages) => client
            .pass_on(&prepared.upstream, &Payload { model, messages, stream })
            .await
            .unwrap_or_else(|error| HttpResponse::BadGateway().body(error.to_string())),
        Err(error) => HttpResponse::InternalServerError().body(error.to_string()),
    }
}

/// What asks the upstream.
enum AnyClient {
    Reqwest(Client),
    Awc(awc::Client),
}

const KEY: &str = "Bearer bench";

impl AnyClient {
    fn new(name: &str) -> Option<AnyClient> {
        match name {
            "reqwest" => {
                let builder =
                    base::outbound::plain_client().no_proxy().no_gzip().no_deflate().tcp_nodelay(true);
                builder.build().ok().map(AnyClient::Reqwest)
            }
            "awc" => Some(AnyClient::Awc(awc::Client::new())),
            _ => None,
        }
    }

    async fn pass_on(&self, upstream: &Url, payload: &Payload<'_>) -> Result<HttpResponse, Box<dyn Error>> {
        match self {
            AnyClient::Reqwest(client) => {
                let request = client.post(upstream.clone()).header(AUTHORIZATION.as_str(), KEY).json(payload);
                let answer = request.send().await?;
                let content_type =
                    answer.headers().get(CONTENT_TYPE.as_str()).map(|value| value.as_bytes().to_vec());
                let mut reply = reply(answer.status().as_u16(), content_type);
                Ok(match payload.stream {
                    true => reply.streaming(answer.bytes_stream()),
                    false => reply.body(answer.bytes().await?),
                })
            }
            AnyClient::Awc(client) => {
                let request = client.post(upstream.as_str()).insert_header((AUTHORIZATION, KEY));
                let mut answer = request.send_json(payload).await.map_err(|error| error.to_string())?;
                let content_type = answer.headers().get(CONTENT_TYPE).map(|value| value.as_bytes().to_vec());
                let mut reply = reply(answer.status().as_u16(), content_type);
                Ok(match payload.stream {
                    true => reply.streaming(answer),
                    false => reply.body(answer.body().await?),
                })
            }
        }
    }
}

fn reply(status: u16, content_type: Option<Vec<u8>>) -> HttpResponseBuilder {
    let mut reply = HttpResponse::build(StatusCode::from_u16(status).unwrap_or(StatusCode::BAD_GATEWAY));
    if let Some(content_type) = content_type {
        reply.insert_header((CONTENT_TYPE, content_type));
    }
    reply
}

fn main() -> Result<(), Box<dyn Error>> {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    let [address, folder, upstream, client] = arguments.as_slice() else {
        return Err("usage: proxy ADDRESS WORKLOAD_DIR UPSTREAM reqwest|awc".into());
    };
    let prepared = Data::new(Prepared { prompt: BarePrompt::load(folder)?, upstream: upstream.parse()? });
    AnyClient::new(client).ok_or("the client is `reqwest` or `awc`")?;
    let client = client.clone();
    // Each worker has a client of its own, so that a connection is driven by the thread that uses it.
    let server = HttpServer::new(move || {
        let client = AnyClient::new(&client).expect("a client can be built");
        App::new().app_data(prepared.clone()).app_data(Data::new(client)).default_service(post().to(chat))
    });
    Ok(rt::System::new().block_on(server.workers(2).tcp_nodelay(true).bind(address)?.run())?)
}
