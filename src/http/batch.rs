//! Batches of requests over HTTP: JSON lines in and out, in the same order.

use std::sync::Arc;

use actix_web::HttpResponse;
use actix_web::web::{Data, Query};
use futures_util::StreamExt;
use serde_json::{Value as Json, json};

use super::caller::RequestCaller;
use super::chat::streamed;
use super::error::ApiError;
use super::lines::LinesBody;
use super::requests::{Options, SolutionReply, explained_by, of_context, of_prompt, preview};
use crate::app::App;
use crate::chat::PromptBody;
use base::caller::Caller;
use base::model::{Id, ProblemDetail};
use template::value::parse_json;

/// `POST /api/requests/batch`
pub async fn batch(
    app: Data<App>,
    options: Query<Options>,
    RequestCaller(caller): RequestCaller,
    body: LinesBody,
) -> Result<HttpResponse, ApiError> {
    let LinesBody { lines, held } = body;
    let held = Arc::new(held);
    let (app, options) = (app.into_inner(), *options);
    let parallel = app.requests.batch_parallel();
    let replies = futures_util::stream::iter(lines.enumerate()).map(move |(index, line)| {
        // The bodies count against the budget of memory until the last of them has been answered.
        let (app, caller, _held) = (app.clone(), caller.clone(), held.clone());
        async move {
            let reply = match line_reply(&app, caller, &line, options).await {
                Ok(reply) => reply,
                Err(error) => json!({"error": error.to_json()}),
            };
            Ok::<_, std::convert::Infallible>(numbered(index, reply))
        }
    });
    Ok(streamed(&mut HttpResponse::Ok(), "application/x-ndjson", replies.buffered(parallel)))
}

/// The reply to one line of a batch: a request with a `context`, or with a `prompt` and `variables`.
async fn line_reply(app: &Arc<App>, caller: Caller, line: &[u8], options: Options) -> Result<Json, ApiError> {
    let unreadable = |error| ApiError::invalid_line(&ProblemDetail::from_json_error(&error));
    let (variables, mut body) = parse_json::<PromptBody>(line).map_err(unreadable)?.into_parts()?;
    let prompt = body.read::<String>("prompt");
    let prompt = prompt.map_err(|_| invalid_member("prompt", "must be the id of a prompt"))?;
    body.remove("prompt");
    let request = match (prompt, variables) {
        (Some(id), variables) => of_prompt(Id::parse(&id)?, variables, body, options.save)?,
        (None, Some(_)) => return Err(invalid_member("variables", "needs `prompt`, the id of a prompt")),
        (None, None) => of_context(body, options.save)?,
    };
    let n = request.wanted.n;
    if request.wanted.stream {
        return Err(ApiError::invalid_request("`stream` has no meaning in a batch"));
    }
    if options.dry_run {
        return Ok(json!(preview(app, &caller, request).await?));
    }
    let solution =
        app.requests.solve(&caller, request).await.map_err(|error| explained_by(error, options.explain))?;
    Ok(json!(SolutionReply::new(&solution, n, options.explain)))
}

fn invalid_member(member: &'static str, message: &str) -> ApiError {
    ApiError::invalid_request(&format!("`{member}` {message}")).about(member)
}

/// A line of the answer to a batch.
fn numbered(index: usize, reply: Json) -> actix_web::web::Bytes {
    let mut line = serde_json::Map::new();
    line.insert("index".to_owned(), index.into());
    if let Json::Object(members) = reply {
        line.extend(members);
    }
    format!("{}\n", Json::Object(line)).into()
}
