//! What was measured, for people.

use std::time::Duration;

use crate::Measured;
use crate::ways::Way;

pub(crate) fn print(results: &[(Way, Measured)]) {
    println!("{:32} {:>9} {:>9} {:>11} {:>9}", "", "p50 µs", "p99 µs", "p50 more", "calls/s");
    let direct = results.first().map_or(0.0, |(_, measured)| percentile(&measured.calls, 0.5));
    for (way, measured) in results {
        let (p50, p99) = (percentile(&measured.calls, 0.5), percentile(&measured.calls, 0.99));
        println!(
            "{:32} {p50:>9.0} {p99:>9.0} {:>11.0} {:>9.0}",
            way.word(),
            p50 - direct,
            median(&measured.rates)
        );
    }
}

/// The value below which the given share lies, in microseconds.
fn percentile(values: &[Duration], share: f64) -> f64 {
    let mut sorted = values.to_vec();
    sorted.sort_unstable();
    let at = (sorted.len() as f64 * share) as usize;
    sorted.get(at.min(sorted.len().saturating_sub(1))).map_or(0.0, |it| it.as_secs_f64() * 1e6)
}

fn median(values: &[f64]) -> f64 {
    let mut sorted = values.to_vec();
    sorted.sort_unstable_by(f64::total_cmp);
    sorted.get(sorted.len() / 2).copied().unwrap_or(0.0)
}
