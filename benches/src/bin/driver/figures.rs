//! Durations and sizes as they are printed.

use std::time::Duration;

use ai_prompt_benches::statistics::percentile;

/// p50, p99 and the maximum of some durations, in milliseconds.
pub fn latencies(durations: &[Duration]) -> String {
    let ms: Vec<f64> = durations.iter().map(|duration| duration.as_secs_f64() * 1e3).collect();
    let at = |percent| percentile(&ms, percent);
    format!("p50 {:.2} ms, p99 {:.2} ms, max {:.2} ms", at(50.0), at(99.0), at(100.0))
}

/// KiB as MiB.
pub fn mib(kib: u64) -> String {
    format!("{:.1} MiB", kib as f64 / 1024.0)
}
