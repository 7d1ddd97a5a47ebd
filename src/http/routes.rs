//! The table of routes: every path, the methods that it takes, and for each of them a name, a role and a handler.

use actix_web::web::{self, ServiceConfig};
use actix_web::{FromRequest, Handler, HttpRequest, Responder, Route as ActixRoute, guard};

use super::error::ApiError;
use super::{
    agents, batch, chat, documents, ideas, render, requests, session_socket, session_stream, sessions,
    skill_files, skills, status, tools,
};
use base::model::DocumentKind;

/// Who may use a route. Each role may do what those before it may.
///
/// Everyone has every role as long as there are no keys to tell callers apart.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum Role {
    /// Anyone, also without a key: probes of whoever runs the service.
    Open,
    /// Clients that read the catalog and render prompts.
    Render,
    /// Clients that have prompts answered by models.
    Chat,
    /// Those who write prompts.
    Author,
    /// Those who look after the service: tools, environs, extensions and the store.
    Operator,
}

/// One method of one path.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Route {
    /// The name of the operation, unique among all routes.
    pub name: String,
    /// The method; a `GET` route takes `HEAD`, too.
    pub method: &'static str,
    /// The path, with its parameters in braces.
    pub path: String,
    /// Who may use it.
    pub role: Role,
}

/// A path with what it takes.
struct Path {
    path: String,
    endpoints: Vec<Endpoint>,
}

/// One method of a path, with its handler.
struct Endpoint {
    name: String,
    method: &'static str,
    role: Role,
    handler: ActixRoute,
}

/// All routes, in the order of the table.
pub fn routes() -> Vec<Route> {
    let of = |Path { path, endpoints }: Path| {
        endpoints.into_iter().map(move |Endpoint { name, method, role, .. }| Route {
            name,
            method,
            path: path.clone(),
            role,
        })
    };
    table().into_iter().flat_map(of).collect()
}

/// Adds all routes.
pub fn configure(config: &mut ServiceConfig) {
    table().into_iter().for_each(|path| path.add_to(config));
    config.default_service(web::to(no_route));
}

/// The table. What is used most comes first, as the router looks at one path after the other.
fn table() -> Vec<Path> {
    use Role::{Author, Chat, Open, Operator, Render};
    let mut table = vec![
        path("/api/render/prompts/{id}", [post("render", Render, render::rendered)]),
        path("/api/chat/prompts/{id}", [post("chat", Chat, chat::prompt)]),
        path("/v1/chat/completions", [post("completions", Chat, chat::completions)]),
        path("/v1/responses", [post("responses", Chat, chat::responses)]),
        path("/api/requests", [post("request", Chat, requests::solve)]),
        path("/api/requests/batch", [post("request_batch", Chat, batch::batch)]),
        path("/api/requests/prompts/{id}", [post("request_prompt", Chat, requests::prompt)]),
        path("/api/prompts/{id}/render", [post("render_prototype", Render, render::prototype)]),
        path("/api/render", [post("preview", Author, render::preview)]),
        path("/api/prompts/{id}/chat", [post("chat_prototype", Chat, chat::prompt)]),
        path("/v1/completions", [post("text_completions", Chat, chat::text_completions)]),
        path("/v1/embeddings", [post("embeddings", Chat, chat::embeddings)]),
        path("/v1/models", [get("models", Render, chat::models)]),
        path("/v1/models/{id:.+}", [get("model", Render, chat::model)]),
        // For clients that take the address of the service for the base URL of OpenAI's API.
        path("/chat/completions", [post("completions_without_version", Chat, chat::completions)]),
        path("/responses", [post("responses_without_version", Chat, chat::responses)]),
        path("/completions", [post("text_completions_without_version", Chat, chat::text_completions)]),
        path("/embeddings", [post("embeddings_without_version", Chat, chat::embeddings)]),
        path("/models", [get("models_without_version", Render, chat::models)]),
        path("/models/{id:.+}", [get("model_without_version", Render, chat::model)]),
        path("/api/ideas/{id}", [get("show_idea", Chat, ideas::idea)]),
        path("/api/ideas/{id}/replay", [post("replay_idea", Chat, ideas::replay)]),
        beside(DocumentKind::Skill, "match", post("match_skills", Chat, skills::choose)),
        path("/api/skills/{id}/sessions", [post("start_session", Chat, skills::start)]),
        path("/api/agents/{id}/sessions", [post("start_agent_session", Chat, agents::start)]),
        path(
            "/api/sessions",
            [
                get("list_sessions", Chat, sessions::list),
                post("start_given_session", Author, skills::start_given),
            ],
        ),
        path(
            "/api/sessions/{sid}",
            [
                get("show_session", Chat, sessions::show),
                endpoint("DELETE", "cancel_session", Chat, web::delete().to(sessions::cancel)),
            ],
        ),
        path("/api/sessions/{sid}/events", [post("session_event", Chat, sessions::event)]),
        path("/api/sessions/{sid}/messages", [post("session_message", Chat, agents::message)]),
        path("/api/sessions/{sid}/fork", [post("fork_session", Chat, sessions::fork)]),
        path("/api/sessions/{sid}/stream", [get("session_stream", Chat, session_stream::stream)]),
        path("/api/sessions/{sid}/ws", [get("session_socket", Chat, session_socket::socket)]),
        path("/api/tools/{id}/call", [post("call_tool", Operator, tools::call)]),
        beside(DocumentKind::Tool, "discover", post("discover_tools", Operator, tools::discover)),
        path("/api/skills/{id}/files/{path:.+}", [get("skill_file", Render, skill_files::file)]),
        path("/api/status", [get("status", Render, status::status)]),
        path("/api/store/confirm", [post("confirm_loss", Operator, status::confirm)]),
        path("/healthz", [get("alive", Open, status::alive)]),
        path("/readyz", [get("ready", Open, status::ready)]),
        path("/schemas/{name}.json", [get("schema", Render, status::schema)]),
    ];
    table.extend(DocumentKind::ALL.into_iter().flat_map(of_kind));
    table
}

/// The routes of a kind of documents.
fn of_kind(kind: DocumentKind) -> [Path; 2] {
    let list = move |app, query| documents::list(kind, app, query);
    [
        path(&format!("/api/{kind}s"), [get(&format!("list_{kind}s"), roles(kind).read, list)]),
        path(&format!("/api/{kind}s/{{id}}"), of_document(kind, |verb| format!("{verb}_{kind}"))),
    ]
}

/// A call at the path of the document whose id is `word`, which can be shown, stored and deleted nevertheless.
fn beside(kind: DocumentKind, word: &str, call: Endpoint) -> Path {
    let [show, put, delete] = of_document(kind, |verb| format!("{verb}_{kind}_{word}"));
    path(&format!("/api/{kind}s/{{id:{word}}}"), [call, show, put, delete])
}

/// What the path of a document takes.
fn of_document(kind: DocumentKind, name: impl Fn(&str) -> String) -> [Endpoint; 3] {
    let Roles { read, write } = roles(kind);
    let show = move |app, id, form| documents::show(kind, app, id, form);
    let put = move |app, id, request, body| documents::put(kind, app, id, request, body);
    let delete = move |app, id, request| documents::delete(kind, app, id, request);
    [
        get(&name("show"), read, show),
        endpoint("PUT", &name("put"), write, web::put().to(put)),
        endpoint("DELETE", &name("delete"), write, web::delete().to(delete)),
    ]
}

/// Who may read the documents of a kind, and who may write them.
struct Roles {
    read: Role,
    write: Role,
}

fn roles(kind: DocumentKind) -> Roles {
    match kind {
        DocumentKind::Prompt | DocumentKind::Skill | DocumentKind::Agent => {
            Roles { read: Role::Render, write: Role::Author }
        }
        // The values of environs are not for everyone.
        DocumentKind::Environ => Roles { read: Role::Author, write: Role::Operator },
        _ => Roles { read: Role::Render, write: Role::Operator },
    }
}

fn path<const N: usize>(path: &str, endpoints: [Endpoint; N]) -> Path {
    Path { path: path.to_owned(), endpoints: endpoints.into() }
}

fn endpoint(method: &'static str, name: &str, role: Role, handler: ActixRoute) -> Endpoint {
    Endpoint { name: name.to_owned(), method, role, handler }
}

/// `GET`, and `HEAD`, whose answers the server sends without their bodies.
fn get<F, Args>(name: &str, role: Role, handler: F) -> Endpoint
where
    F: Handler<Args>,
    Args: FromRequest + 'static,
    F::Output: Responder + 'static,
{
    let reading = guard::Any(guard::Get()).or(guard::Head());
    endpoint("GET", name, role, web::route().guard(reading).to(handler))
}

fn post<F, Args>(name: &str, role: Role, handler: F) -> Endpoint
where
    F: Handler<Args>,
    Args: FromRequest + 'static,
    F::Output: Responder + 'static,
{
    endpoint("POST", name, role, web::post().to(handler))
}

impl Path {
    /// Adds the path; another method than those that it takes is refused with their list.
    fn add_to(self, config: &mut ServiceConfig) {
        let methods = self.endpoints.iter().map(|endpoint| match endpoint.method {
            "GET" => "GET, HEAD",
            method => method,
        });
        let allowed = methods.collect::<Vec<_>>().join(", ");
        let refuse = move |request: HttpRequest| {
            let error = ApiError::method_not_allowed(request.method().as_str(), &allowed);
            async move { Err::<&str, _>(error) }
        };
        let resource = web::resource(self.path).default_service(web::to(refuse));
        let handlers = self.endpoints.into_iter().map(|endpoint| endpoint.handler);
        config.service(handlers.fold(resource, actix_web::Resource::route));
    }
}

async fn no_route(request: HttpRequest) -> Result<&'static str, ApiError> {
    Err(ApiError::route_not_found(request.path()))
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::collections::BTreeSet;

    #[test]
    fn every_route_has_a_name_of_its_own_and_only_probes_are_open() {
        let routes = routes();
        let names: BTreeSet<&str> = routes.iter().map(|route| route.name.as_str()).collect();
        assert_eq!(names.len(), routes.len());
        let open: Vec<&str> =
            routes.iter().filter(|route| route.role == Role::Open).map(|r| r.path.as_str()).collect();
        assert_eq!(open, ["/healthz", "/readyz"]);
    }
}
