//! Load by `wrk`: as many requests as a server can answer on 64 connections.

use std::path::Path;
use std::time::Duration;

use tokio::process::Command;

use crate::Outcome;

/// What is another number in each request, where a body has it.
pub const MARK: &str = "{number}";

/// Requests per second to `url`, all with the body in `body_file`, but for [`MARK`].
pub async fn load(url: &str, body_file: &Path, duration: Duration) -> Outcome<f64> {
    let script = Path::new(env!("CARGO_MANIFEST_DIR")).join("src/bin/driver/post.lua");
    let output = Command::new("wrk")
        .args(["--connections", "64", "--threads", "2", "--duration"])
        .arg(format!("{}s", duration.as_secs()))
        .arg("--script")
        .args([&script, Path::new(url), Path::new("--"), body_file, Path::new(MARK)])
        .kill_on_drop(true)
        .output()
        .await
        .map_err(|error| format!("wrk does not start (apt install wrk): {error}"))?;
    let report = String::from_utf8_lossy(&output.stdout);
    if report.contains("Non-2xx") || report.contains("Socket errors") {
        return Err(format!("requests to {url} failed:\n{report}").into());
    }
    let figure = report.lines().find_map(|line| line.trim().strip_prefix("Requests/sec:"));
    let Some(figure) = figure else {
        return Err(format!("wrk failed: {report}{}", String::from_utf8_lossy(&output.stderr)).into());
    };
    Ok(figure.trim().parse()?)
}
