//! Measures the cost of a piece of plain text: `cargo run --release -p callgate-scan --example
//! flow`.

use std::hint::black_box;
use std::time::Instant;

use callgate_scan::Set;

const TEXT: &str = "The model explains how the parser works: it reads one frame, finds the text in \
                    it, and hands it on. `let x = frame.data()?;` is all there is to it. Then, on \
                    2026-11-15, someone asked for more: 12 items, each with a name. ";

fn main() {
    for detectors in
        [&["secret"][..], &["email"], &["card"], &["phone"], &["personal"], &["secret", "personal"]]
    {
        let mut builder = Set::builder();
        for name in detectors {
            if let Err(error) = builder.detector(0, name) {
                eprintln!("{error}");
            }
        }
        let Ok(set) = builder.build() else { continue };
        let mut flow = set.flow();
        let pieces: Vec<&str> = TEXT.split_inclusive(' ').collect();
        let mut changed = 0;
        for _ in 0..50 {
            pieces.iter().for_each(|piece| changed += usize::from(flow.push(piece).text.is_some()));
        }
        let begun = Instant::now();
        let rounds = 2000;
        for _ in 0..rounds {
            for piece in &pieces {
                black_box(flow.push(black_box(piece)));
            }
        }
        let each = begun.elapsed() / (rounds * u32::try_from(pieces.len()).unwrap_or(1));
        println!("{detectors:?}: {each:?} for a piece of {} bytes", TEXT.len() / pieces.len());
    }
}
