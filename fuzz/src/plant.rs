//! Writes the seeds of a target into a folder: `plant TARGET FOLDER`.

use std::path::PathBuf;

use callgate_testkit::fuzz::seeds;

fn main() {
    let mut args = std::env::args().skip(1);
    let (target, folder) = (args.next().expect("a target"), args.next().expect("a folder"));
    let seeds = seeds::of(&target);
    for (number, seed) in seeds.iter().enumerate() {
        let file = PathBuf::from(&folder).join(format!("seed-{number:05}"));
        std::fs::write(file, seed).expect("a seed is written");
    }
    println!("{}", seeds.len());
}
