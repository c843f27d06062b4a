//! What Linux knows about a process, and the middle of what was measured.

use std::fs;
use std::time::Duration;

/// A process and all that descend from it.
pub(crate) fn tree(root: u32) -> Vec<u32> {
    let parents: Vec<(u32, u32)> = fs::read_dir("/proc")
        .into_iter()
        .flatten()
        .filter_map(|entry| entry.ok()?.file_name().to_str()?.parse().ok())
        .filter_map(|process: u32| Some((process, stat(process, PARENT)? as u32)))
        .collect();
    let mut tree = vec![root];
    let mut at = 0;
    while let Some(parent) = tree.get(at).copied() {
        tree.extend(parents.iter().filter(|(_, of)| *of == parent).map(|(process, _)| process));
        at += 1;
    }
    tree
}

/// Fields of `/proc/PID/stat`, counted after the name of the program.
const PARENT: usize = 1;
const USER: usize = 11;
const SYSTEM: usize = 12;

/// `/proc/PID/stat` counts in hundredths of a second on every Linux.
const TICK: Duration = Duration::from_millis(10);

fn stat(process: u32, field: usize) -> Option<u64> {
    let text = fs::read_to_string(format!("/proc/{process}/stat")).ok()?;
    let (_, fields) = text.rsplit_once(')')?;
    fields.split_whitespace().nth(field)?.parse().ok()
}

/// CPU time of a process in user space and in the kernel, all threads.
///
/// The scheduler's own sum is exact to the nanosecond but forgets threads that ended; the ticks
/// remember them.
pub(crate) fn cpu(process: u32) -> Duration {
    let threads = fs::read_dir(format!("/proc/{process}/task")).into_iter().flatten();
    let exact: u64 = threads
        .filter_map(|thread| fs::read_to_string(thread.ok()?.path().join("schedstat")).ok())
        .filter_map(|text| text.split_whitespace().next()?.parse::<u64>().ok())
        .sum();
    let ticks = stat(process, USER).unwrap_or(0) + stat(process, SYSTEM).unwrap_or(0);
    Duration::from_nanos(exact).max(TICK * u32::try_from(ticks).unwrap_or(u32::MAX))
}

/// Resident memory of a process in bytes.
pub(crate) fn memory(process: u32) -> u64 {
    let text = fs::read_to_string(format!("/proc/{process}/status")).unwrap_or_default();
    let line = text.lines().find_map(|line| line.strip_prefix("VmRSS:"));
    let kilobytes = line.and_then(|line| line.split_whitespace().next()?.parse::<u64>().ok());
    kilobytes.unwrap_or(0) * 1024
}

/// The value below which the given share lies.
pub(crate) fn percentile(values: &[Duration], share: f64) -> Option<Duration> {
    let mut sorted = values.to_vec();
    sorted.sort_unstable();
    let at = (sorted.len() as f64 * share) as usize;
    sorted.get(at.min(sorted.len().saturating_sub(1))).copied()
}

/// The middle one, or the mean of the two in the middle.
pub(crate) fn median(values: &[f64]) -> Option<f64> {
    let mut sorted = values.to_vec();
    sorted.sort_unstable_by(f64::total_cmp);
    let upper = *sorted.get(sorted.len() / 2)?;
    let lower = *sorted.get(sorted.len().saturating_sub(1) / 2)?;
    Some((lower + upper) / 2.0)
}

pub(crate) fn micros(duration: Duration) -> f64 {
    duration.as_secs_f64() * 1e6
}
