//! Requests that are checked, not counted; the load comes from `wrk`, or from many of these at once.

use std::sync::LazyLock;

use serde_json::Value as Json;

use crate::Outcome;

static CLIENT: LazyLock<reqwest::Client> =
    LazyLock::new(|| base::outbound::plain_client().build().expect("a client can be built"));

/// Posts a JSON body; gives the status and the JSON answer.
pub async fn post(url: &str, body: impl Into<reqwest::Body>) -> Outcome<(u16, Json)> {
    let request = CLIENT.post(url).header("content-type", "application/json").body(body);
    let answer = request.send().await?;
    let status = answer.status().as_u16();
    Ok((status, answer.json().await?))
}

/// What came of a request.
pub struct Answered {
    /// The status.
    pub status: u16,
    /// Whether it says when to ask again.
    pub retry_after: bool,
}

/// Posts a JSON body; reads the answer and tells only what came of it.
pub async fn ask(url: &str, body: String) -> Outcome<Answered> {
    let answer = CLIENT.post(url).header("content-type", "application/json").body(body).send().await?;
    let (status, retry_after) = (answer.status().as_u16(), answer.headers().contains_key("retry-after"));
    answer.bytes().await?;
    Ok(Answered { status, retry_after })
}

/// Puts a JSON document that must be taken.
pub async fn put(url: &str, body: String) -> Outcome {
    let answer = CLIENT.put(url).header("content-type", "application/json").body(body).send().await?;
    match answer.status().is_success() {
        true => Ok(()),
        false => Err(format!("{url}: {}", answer.text().await?).into()),
    }
}

/// Deletes something that must be there.
pub async fn delete(url: &str) -> Outcome {
    CLIENT.delete(url).send().await?.error_for_status()?;
    Ok(())
}

/// Gets the first piece of a stream, and leaves.
pub async fn first_piece(url: &str) -> Outcome<bytes::Bytes> {
    let mut stream = CLIENT.get(url).send().await?.error_for_status()?;
    Ok(stream.chunk().await?.unwrap_or_default())
}

/// Gets a JSON answer.
pub async fn get(url: &str) -> Outcome<Json> {
    Ok(CLIENT.get(url).send().await?.json().await?)
}

/// Whether anything answers at a URL, and, if it must be good, with 200.
pub async fn answers(url: &str, must_be_good: bool) -> bool {
    CLIENT.get(url).send().await.is_ok_and(|answer| !must_be_good || answer.status() == 200)
}
