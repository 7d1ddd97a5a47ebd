//! Medians, percentiles and ratios.

/// The value below which `percent` of all values lie; zero of none.
pub fn percentile(values: &[f64], percent: f64) -> f64 {
    let mut sorted = values.to_vec();
    sorted.sort_by(f64::total_cmp);
    let rank = (percent / 100.0 * sorted.len().saturating_sub(1) as f64).round() as usize;
    sorted.get(rank).copied().unwrap_or_default()
}

/// The middle one of some values.
pub fn median(values: &[f64]) -> f64 {
    percentile(values, 50.0)
}

/// The ratios of two measurements made in pairs: of the medians, the lowest and the highest.
pub fn ratios(ours: &[f64], theirs: &[f64]) -> String {
    let each: Vec<f64> = ours.iter().zip(theirs).map(|(ours, theirs)| ours / theirs).collect();
    let of_medians = median(ours) / median(theirs);
    format!("{of_medians:.2} ({:.2}..{:.2})", percentile(&each, 0.0), percentile(&each, 100.0))
}
