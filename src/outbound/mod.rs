//! What all calls of other services have in common, whichever protocol they speak.
//!
//! - [`PerRuntime`]: clients, one for each async runtime
//! - [`Secrets`]: what is struck out of the far end's own words; [`heard`], [`told`]: how much of them is read and passed on

mod per_runtime;
mod secrets;

pub use per_runtime::PerRuntime;
pub use secrets::Secrets;

/// What the service calls itself.
pub const USER_AGENT: &str = concat!("ai-prompt-shell/", env!("CARGO_PKG_VERSION"));

/// What is read of the far end's own words about a failure: more than is told of them, so that no secret in them is cut in
/// two.
pub const HEARD_BYTES: usize = 16 << 10;
/// What is told of them.
const TOLD_BYTES: usize = 1024;

/// As much of a failure's body as is listened to.
pub async fn heard(mut response: reqwest::Response) -> Vec<u8> {
    let mut bytes = Vec::new();
    // What cannot be read of an error's text is not worth an error of its own.
    while bytes.len() < HEARD_BYTES
        && let Ok(Some(chunk)) = response.chunk().await
    {
        bytes.extend_from_slice(&chunk);
    }
    bytes
}

/// The beginning of what the far end says, as much as is listened to.
pub fn quoted(text: &str) -> String {
    beginning(text, HEARD_BYTES)
}

/// The beginning of what the far end says, as much as is passed on, without secrets.
pub fn told(text: String, secrets: &Secrets) -> String {
    beginning(&secrets.strike(text), TOLD_BYTES)
}

fn beginning(text: &str, bytes: usize) -> String {
    text.get(..text.floor_char_boundary(bytes)).unwrap_or(text).trim().to_owned()
}
