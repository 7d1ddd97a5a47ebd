//! A server for tools to call, on threads of its own: it answers with a number, after so many milliseconds.

use std::time::Duration;

use axum::extract::Path;
use axum::routing::post;

use crate::Outcome;

/// Starts the server and gives its address; it lasts as long as the program. `/after/MS` answers after that time.
pub fn start() -> Outcome<String> {
    let listener = std::net::TcpListener::bind("127.0.0.1:0")?;
    listener.set_nonblocking(true)?;
    let address = listener.local_addr()?;
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build()?;
    std::thread::spawn(move || {
        runtime.block_on(async {
            let listener = tokio::net::TcpListener::from_std(listener)?;
            axum::serve(listener, axum::Router::new().route("/after/{ms}", post(answer))).await
        })
    });
    Ok(format!("http://{address}"))
}

async fn answer(Path(ms): Path<u64>) -> &'static str {
    if ms > 0 {
        tokio::time::sleep(Duration::from_millis(ms)).await;
    }
    "7"
}
