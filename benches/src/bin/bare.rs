//! The least that a render service can be: actix-web around minijinja, the yardstick of `make bench-http`.
//!
//! `bare ADDRESS WORKLOAD_DIR` answers any `POST` with the two messages of the workload.

use actix_web::web::{Bytes, Data, post};
use actix_web::{App, HttpResponse, HttpServer, rt};
use ai_prompt_benches::bare_prompt::{BarePrompt, Message};
use minijinja::Value;
use serde::{Deserialize, Serialize};

#[derive(Deserialize)]
struct Body {
    args: Value,
}

#[derive(Serialize)]
struct Reply {
    rendered_prompt: [Message; 2],
    status: &'static str,
}

async fn render(prompt: Data<BarePrompt>, body: Bytes) -> HttpResponse {
    let Ok(Body { args }) = serde_json::from_slice(&body) else { return HttpResponse::BadRequest().finish() };
    match prompt.messages(args) {
        Ok(rendered_prompt) => HttpResponse::Ok().json(Reply { rendered_prompt, status: "success" }),
        Err(error) => HttpResponse::InternalServerError().body(error.to_string()),
    }
}

fn main() -> Result<(), Box<dyn std::error::Error>> {
    let mut arguments = std::env::args().skip(1);
    let (Some(address), Some(folder)) = (arguments.next(), arguments.next()) else {
        return Err("usage: bare ADDRESS WORKLOAD_DIR".into());
    };
    let prompt = Data::new(BarePrompt::load(&folder)?);
    let server =
        HttpServer::new(move || App::new().app_data(prompt.clone()).default_service(post().to(render)));
    Ok(rt::System::new().block_on(server.workers(2).bind(address)?.run())?)
}
