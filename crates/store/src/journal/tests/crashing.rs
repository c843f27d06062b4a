//! Crashes, full disks and failing syncs, at every point where they can happen.

use std::sync::Arc;

use super::sim::{End, SimVolume};
use super::{NONE, append, details, open, verify};
use crate::journal::Journal;
use crate::settings::Retention;

/// What is written, in batches.
const BATCHES: [&[&str]; 4] = [&["a", "b"], &["c"], &["d", "e", "f"], &["g"]];

/// Writes the batches until something fails. Returns the confirmed records.
fn write(journal: &mut Journal) -> Vec<&'static str> {
    let mut confirmed = Vec::new();
    for (now, batch) in (0..).zip(BATCHES) {
        if append(journal, batch, now).is_ok() {
            confirmed.extend_from_slice(batch);
        }
    }
    confirmed
}

/// Checks that every confirmed record that has not expired is there, in order, and nothing else
/// except the beginning of the next batch.
fn check(volume: &Arc<SimVolume>, confirmed: &[&str], what: &str) {
    let details = details(volume);
    let all: Vec<&str> = BATCHES.concat();
    let verified = verify(volume).unwrap_or_else(|why| panic!("{what}: {why}"));
    assert!(verified.last >= confirmed.len() as u64, "{what}: {details:?} lacks {confirmed:?}");
    assert_eq!(verified.records, details.len() as u64, "{what}");
    let from = usize::try_from(verified.expired).unwrap();
    let expected = &all[from..(from + details.len()).min(all.len())];
    assert_eq!(details, expected, "{what}");
}

fn crash_everywhere(retention: &Retention, end: End) {
    let mut bytes = 0;
    loop {
        let what = format!("{end:?} after {bytes} bytes, {retention:?}");
        let volume = Arc::new(SimVolume::dying_after(bytes));
        let confirmed = open(&volume, retention).map(|mut it| write(&mut it)).unwrap_or_default();
        let ran_through = !volume.is_dead();
        volume.restart(end);
        let mut journal = open(&volume, retention).unwrap_or_else(|why| panic!("{what}: {why:?}"));
        check(&volume, &confirmed, &what);
        append(&mut journal, &["and on"], 99).unwrap();
        verify(&volume).unwrap_or_else(|why| panic!("{what}, and on: {why}"));
        assert_eq!(details(&volume).last().map(String::as_str), Some("and on"), "{what}");
        if ran_through {
            assert_eq!(confirmed, BATCHES.concat());
            return;
        }
        bytes += 1;
    }
}

#[test]
fn a_crash_at_every_byte_leaves_a_sound_journal() {
    crash_everywhere(&NONE, End::Kill);
}

#[test]
fn so_does_one_while_segments_begin_and_leave() {
    crash_everywhere(&Retention { records: Some(3), ..NONE }, End::Kill);
}

#[test]
fn a_power_failure_at_every_byte_loses_nothing_that_was_confirmed() {
    crash_everywhere(&NONE, End::PowerLoss);
    crash_everywhere(&NONE, End::PartlyWritten);
}

#[test]
fn a_sync_that_fails_anywhere_loses_nothing_that_was_confirmed() {
    for retention in [NONE, Retention { bytes: Some(16_000), ..NONE }] {
        for many in [1, 2, 100] {
            for first in 0.. {
                let what = format!("{many} syncs from {first} on fail, {retention:?}");
                let volume = Arc::new(SimVolume::failing_syncs(first, many));
                let (mut one, mut two) =
                    (open(&volume, &retention).unwrap(), open(&volume, &retention).unwrap());
                let mut confirmed = Vec::new();
                for now in 0..6 {
                    let text = format!("{now}");
                    let writer = if now % 2 == 0 { &mut one } else { &mut two };
                    if append(writer, &[&text], now).is_ok() {
                        confirmed.push(text);
                    }
                }
                let reached = volume.syncs() > first;
                assert!(confirmed.len() == 6 || reached && many == 100, "{what}: {confirmed:?}");
                verify(&volume).unwrap_or_else(|why| panic!("{what}: {why}"));
                for end in [End::Kill, End::PowerLoss] {
                    volume.restart(end);
                    verify(&volume).unwrap_or_else(|why| panic!("{what}, {end:?}: {why}"));
                    let details = details(&volume);
                    let kept: Vec<&String> =
                        details.iter().filter(|it| confirmed.contains(it)).collect();
                    assert_eq!(kept, confirmed.iter().collect::<Vec<_>>(), "{what}, {end:?}");
                }
                if !reached {
                    break;
                }
            }
        }
    }
}

#[test]
fn a_batch_that_does_not_fit_on_a_full_disk_leaves_nothing() {
    for room in 0..2_000 {
        let volume = Arc::<SimVolume>::default();
        let mut journal = open(&volume, &NONE).unwrap();
        append(&mut journal, &["before"], 1).unwrap();
        volume.set_room(Some(room));
        let fits = append(&mut journal, &["large enough", "and another"], 2).is_ok();
        volume.set_room(None);
        append(&mut journal, &["after"], 3).unwrap();
        let expected = match fits {
            true => vec!["before", "large enough", "and another", "after"],
            false => vec!["before", "after"],
        };
        assert_eq!(details(&volume), expected, "room for {room} bytes");
        verify(&volume).unwrap();
        if fits {
            return;
        }
    }
    panic!("never was there room enough");
}
