//! Every change to the files of a journal is detected.

use std::sync::Arc;

use super::{NONE, append, details, open, verify};
use crate::journal::{MemoryVolume, Volume};
use crate::settings::Retention;
use crate::verify::VerifyError;

const FEW: Retention = Retention { records: Some(64), ..NONE };

/// Three segments or more, of four records each.
fn written() -> Arc<MemoryVolume> {
    let volume = Arc::<MemoryVolume>::default();
    let mut journal = open(&volume, &FEW).unwrap();
    for now in 0..14 {
        append(&mut journal, &[&format!("record {now}")], now).unwrap();
    }
    assert!(volume.numbers().unwrap().len() >= 3);
    verify(&volume).unwrap();
    volume
}

fn bytes_of(volume: &MemoryVolume, number: u64) -> Vec<u8> {
    let segment = volume.open(number).unwrap().unwrap();
    let mut bytes = vec![0; usize::try_from(segment.size().unwrap().unwrap()).unwrap()];
    segment.read_at(&mut bytes, 0).unwrap();
    bytes
}

fn put(volume: &MemoryVolume, number: u64, bytes: &[u8]) {
    volume.remove(number).unwrap();
    volume.create(number).unwrap().write_at(bytes, 0).unwrap();
}

fn assert_broken(volume: &Arc<MemoryVolume>, what: &str) {
    assert!(matches!(verify(volume), Err(VerifyError::Broken(_))), "{what}");
}

/// Checks that the damage is detected, and still is after another append.
fn assert_stays_broken(volume: &Arc<MemoryVolume>, what: &str) {
    assert_broken(volume, what);
    let mut journal = open(volume, &FEW).unwrap_or_else(|why| panic!("{what}: {why:?}"));
    append(&mut journal, &["later"], 99).unwrap();
    assert_broken(volume, &format!("{what}, and later"));
    assert_eq!(details(volume).last().map(String::as_str), Some("later"), "{what}");
}

#[test]
fn every_changed_byte_is_found() {
    let volume = written();
    for number in volume.numbers().unwrap() {
        let whole = bytes_of(&volume, number);
        for place in 0..whole.len() {
            let mut changed = whole.clone();
            changed[place] ^= 0x10;
            put(&volume, number, &changed);
            assert_broken(&volume, &format!("segment {number}, byte {place}"));
        }
        put(&volume, number, &whole);
    }
    verify(&volume).unwrap();
}

#[test]
fn every_missing_end_is_found() {
    let full = written();
    for number in full.numbers().unwrap() {
        for upto in (0..bytes_of(&full, number).len() - 20).rev().step_by(7) {
            let volume = written();
            put(&volume, number, &bytes_of(&volume, number)[..upto]);
            assert_stays_broken(&volume, &format!("segment {number}, cut to {upto}"));
        }
    }
}

#[test]
fn a_segment_that_is_missing_or_was_swapped_is_found() {
    let numbers = written().numbers().unwrap();
    for number in &numbers {
        let volume = written();
        volume.remove(*number).unwrap();
        assert_stays_broken(&volume, &format!("without segment {number}"));
    }
    for pair in numbers.windows(2) {
        let volume = written();
        let (one, two) = (bytes_of(&volume, pair[0]), bytes_of(&volume, pair[1]));
        put(&volume, pair[0], &two);
        put(&volume, pair[1], &one);
        assert_broken(&volume, &format!("{pair:?} swapped"));
    }
}

#[test]
fn a_record_that_was_taken_out_put_in_or_moved_is_found() {
    let volume = written();
    let number = volume.numbers().unwrap()[1];
    let whole = bytes_of(&volume, number);
    let frames = frames(&whole);
    let [first, second, third] = [&frames[1], &frames[2], &frames[3]].map(|it| &whole[it.clone()]);
    let head = &whole[..frames[0].end];
    let rest = &whole[frames[3].end..];
    for (what, parts) in [
        ("taken out", vec![head, first, third, rest]),
        ("put in twice", vec![head, first, second, second, third, rest]),
        ("in another order", vec![head, second, first, third, rest]),
    ] {
        put(&volume, number, &parts.concat());
        assert_broken(&volume, what);
    }
}

/// The byte ranges of the frames of a segment; the first is the header, with the magic before it.
fn frames(bytes: &[u8]) -> Vec<std::ops::Range<usize>> {
    let (mut from, mut frames) = (8, Vec::new());
    while from < bytes.len() {
        let long = u32::from_le_bytes(bytes[from..from + 4].try_into().unwrap());
        let end = from + 4 + usize::try_from(long).unwrap();
        frames.push(from..end);
        from = end;
    }
    frames
}

#[test]
fn a_lost_or_changed_head_is_found_and_stays_found() {
    for what in ["emptied", "changed"] {
        let volume = written();
        let whole = volume.read_head().unwrap();
        let bytes = match what {
            "emptied" => vec![0; whole.len()],
            _ => whole.iter().map(|byte| byte ^ 1).collect(),
        };
        volume.write_head(0, &bytes).unwrap();
        assert_stays_broken(&volume, what);
    }
}

#[test]
fn an_older_head_does_not_hide_early_expiry() {
    let volume = written();
    let first = volume.numbers().unwrap()[0];
    volume.remove(first).unwrap();
    let Err(VerifyError::Broken(broken)) = verify(&volume) else { panic!("it is broken") };
    assert_eq!(broken.seq, 1);
}
