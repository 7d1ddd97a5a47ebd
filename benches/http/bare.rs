//! The least that a render service can be: actix-web around minijinja, the yardstick of `make bench-http`.
//!
//! `bare ADDRESS WORKLOAD_DIR` answers any `POST` with the two messages of the workload.

use actix_web::web::{Bytes, Data, post};
use actix_web::{App, HttpResponse, HttpServer, rt};
use minijinja::{AutoEscape, Environment, Value, context};
use serde::{Deserialize, Serialize};

struct Prepared {
    env: Environment<'static>,
    environs: Environs,
}

#[derive(Deserialize)]
struct Environs {
    company: Value,
    policy: Value,
    today: Value,
}

#[derive(Deserialize)]
struct Body {
    args: Value,
}

#[derive(Serialize)]
struct Message {
    role: &'static str,
    content: String,
}

#[derive(Serialize)]
struct Reply {
    rendered_prompt: [Message; 2],
    status: &'static str,
}

async fn render(prepared: Data<Prepared>, body: Bytes) -> HttpResponse {
    let Ok(Body { args }) = serde_json::from_slice(&body) else { return HttpResponse::BadRequest().finish() };
    let Environs { company, policy, today } = &prepared.environs;
    let root = context! { args, company, policy, today };
    let message = |role| {
        let content = prepared.env.get_template(role)?.render(&root)?;
        Ok::<_, minijinja::Error>(Message { role, content })
    };
    match (message("system"), message("user")) {
        (Ok(system), Ok(user)) => {
            HttpResponse::Ok().json(Reply { rendered_prompt: [system, user], status: "success" })
        }
        (Err(error), _) | (_, Err(error)) => HttpResponse::InternalServerError().body(error.to_string()),
    }
}

fn main() -> Result<(), Box<dyn std::error::Error>> {
    let mut arguments = std::env::args().skip(1);
    let (Some(address), Some(folder)) = (arguments.next(), arguments.next()) else {
        return Err("usage: bare ADDRESS WORKLOAD_DIR".into());
    };
    let read = |name: &str| std::fs::read_to_string(format!("{folder}/{name}"));
    let mut env = Environment::new();
    env.set_auto_escape_callback(|_| AutoEscape::None);
    env.add_template_owned("system", read("system.j2")?)?;
    env.add_template_owned("user", read("user.j2")?)?;
    let prepared = Data::new(Prepared { env, environs: serde_json::from_str(&read("shared.json")?)? });
    let server =
        HttpServer::new(move || App::new().app_data(prepared.clone()).default_service(post().to(render)));
    Ok(rt::System::new().block_on(server.workers(2).bind(address)?.run())?)
}
